//! Small NEFFs from records, and copies of NEFFs with a member changed.

use neuron_core::isa::address::{Addr4, Addr8, Location, Pattern};
use neuron_core::isa::body::Body;
use neuron_core::isa::body::control::EventSemaphore;
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::event::{UpdateMode, WaitMode};
use neuron_core::isa::{Engine, Instruction, Opcode};
use neuron_core::neff::{Builder, Neff, Options};

/// Partitions of every variable of [`Small`].
pub(crate) const ROWS: u16 = 128;

/// Bytes between the variables of [`Small`] in a partition of SBUF.
pub(crate) const GAP: u32 = 0x4000;

/// An instruction that waits for a semaphore to reach a value.
pub(crate) fn after(mut instruction: Instruction, semaphore: u8, value: u32) -> Instruction {
    instruction.header.wait_mode = WaitMode(5);
    instruction.header.wait_index = semaphore;
    instruction.header.value = value;
    instruction
}

/// An instruction that adds 1 to a semaphore when it is done.
pub(crate) fn raising(mut instruction: Instruction, semaphore: u8) -> Instruction {
    instruction.header.update_mode = UpdateMode(0x13);
    instruction.header.update_index = semaphore;
    instruction
}

/// An instruction without wait and update.
pub(crate) fn plain(opcode: Opcode, body: impl Into<Body>) -> Instruction {
    Instruction::new(opcode, body).unwrap()
}

/// Waits for a semaphore, nothing else.
pub(crate) fn wait(semaphore: u8, value: u32) -> Instruction {
    after(plain(Opcode::EVENT_SEMAPHORE, EventSemaphore::default()), semaphore, value)
}

/// The whole of variable `index` in SBUF: `count` elements in each partition.
pub(crate) fn whole<const N: usize>(index: u32, count: u16) -> Pattern<N> {
    let mut pattern = Pattern { start: Addr4(index * GAP), steps: [1; N], counts: [1; N] };
    pattern.counts[0] = count;
    pattern
}

/// A NEFF of one core: inputs `a`, `b`, .. and the output `out`, each with 128
/// rows of so many bytes.
pub(crate) struct Small {
    pub(crate) inputs: Vec<u16>,
    pub(crate) output: u16,
    /// Records by engine.
    pub(crate) streams: [Vec<Instruction>; 5],
}

impl Small {
    /// Loads the inputs on SP into SBUF, variable i at byte `i x GAP` of each
    /// partition, raising semaphore 8 by 16 each, runs `work` on an engine once
    /// all are there, and stores what stands at `inputs x GAP`.
    pub(crate) fn around(
        inputs: &[u16],
        output: u16,
        engine: Engine,
        work: Vec<Instruction>,
    ) -> Self {
        let mut small = Self { inputs: inputs.to_vec(), output, streams: Default::default() };
        let count = u32::try_from(inputs.len()).unwrap();
        for (index, row) in (0..).zip(inputs) {
            small.on(Engine::Sp).push(transfer(index, *row, false));
        }
        small.on(engine).push(wait(8, 16 * count));
        let last = work.len() - 1;
        for (index, instruction) in work.into_iter().enumerate() {
            let done = if index == last { raising(instruction, 4) } else { instruction };
            small.on(engine).push(done);
        }
        small.on(Engine::Sp).push(after(transfer(count, output, true), 4, 1));
        small.on(Engine::Sp).push(wait(9, 16));
        small
    }

    pub(crate) fn on(&mut self, engine: Engine) -> &mut Vec<Instruction> {
        &mut self.streams[usize::from(engine.number())]
    }

    /// The file.
    pub(crate) fn build(&self) -> Vec<u8> {
        let names = ["a", "b", "c", "d"];
        let inputs = self.inputs.iter().zip(names).map(|(row, name)| (name, "input", *row));
        let all = inputs.chain([("out", "output", self.output)]);
        let variables: Vec<_> =
            all.map(|(name, kind, row)| (name, kind, u32::from(ROWS) * u32::from(row))).collect();
        file(&variables, &self.streams)
    }
}

/// The host graph: one Neuron node with these inputs and outputs, in bytes.
pub(crate) fn graph(inputs: &[(String, u32)], outputs: &[(String, u32)]) -> Vec<u8> {
    let count = inputs.len();
    let list = |parts: Vec<String>| parts.join(", ");
    let all = || inputs.iter().chain(outputs);
    let mut nodes: Vec<_> = inputs
        .iter()
        .map(|(name, _)| format!(r#"{{"op": "null", "name": "{name}", "inputs": []}}"#))
        .collect();
    nodes.push(format!(
        r#"{{"op": "tvm_op", "name": "node", "inputs": [{}], "output_names": [{}],
        "attrs": {{"func_name": "__kelf", "kelf": "kelf-0.json", "flatten_data": "0",
        "num_inputs": "{count}", "num_outputs": "{}"}}}}"#,
        list((0..count).map(|input| format!("[{input}, 0, 0]")).collect()),
        list(outputs.iter().map(|(name, _)| format!("{name:?}")).collect()),
        outputs.len(),
    ));
    let mut rows: Vec<_> = (0..=count).map(|row| row.to_string()).collect();
    rows.push((count + outputs.len()).to_string());
    format!(
        r#"{{"nodes": [{}], "arg_nodes": [{}], "heads": [{}], "node_row_ptr": [{}],
        "attrs": {{"shape": ["list_shape", [{}]], "dltype": ["list_str", [{}]]}}}}"#,
        list(nodes),
        list((0..count).map(|input| input.to_string()).collect()),
        list((0..outputs.len()).map(|output| format!("[{count}, {output}, 0]")).collect()),
        list(rows),
        list(all().map(|(_, bytes)| format!("[{bytes}]")).collect()),
        list(all().map(|_| r#""uint8""#.to_owned()).collect()),
    )
    .into_bytes()
}

/// A NEFF of one core: variable 0 is SBUF, the others follow with name, kind
/// and bytes; records by engine.
pub(crate) fn file(tensors: &[(&str, &str, u32)], streams: &[Vec<Instruction>; 5]) -> Vec<u8> {
    let mut variables = vec![r#""SB": {"type": "state-buffer", "var_id": 0}"#.to_owned()];
    for (id, (name, kind, size)) in (1..).zip(tensors) {
        variables
            .push(format!(r#""{name}": {{"type": "{kind}", "var_id": {id}, "size": {size}}}"#));
    }
    let mut builder = Builder::new(1);
    let mut engines = String::new();
    for (engine, records) in Engine::ALL.into_iter().zip(streams) {
        let key = engine.key();
        engines += &format!(r#""{key}": "{key}.json", "{key}_instr": "{key}.bin", "#);
        let json = format!(r#"{{"dma": [], "instr": "{key}.bin", "name": "{key}"}}"#);
        builder.add(&format!("sg00/{key}.json"), json.into_bytes()).unwrap();
        let bytes: Vec<u8> = records.iter().flat_map(Instruction::encode).collect();
        builder.add(&format!("sg00/{key}.bin"), bytes).unwrap();
    }
    let definition = format!(
        r#"{{{engines}"version": "0.6", "dma_queue": {{
        "q": {{"type": "data", "owner": "sp"}}, "qOut": {{"type": "data", "owner": "act"}}}},
        "var": {{{}}}}}"#,
        variables.join(", ")
    );
    builder.add("sg00/def.json", definition.into_bytes()).unwrap();
    let kelf = r#"{"graphs": [{"definition": "sg00/def.json", "name": "sg00"}],
        "version": "0.5", "target": "cayman"}"#;
    builder.add("kelf-0.json", kelf.as_bytes()).unwrap();
    let of = |wanted: &str| -> Vec<(String, u32)> {
        let all = tensors.iter().filter(|(_, kind, _)| *kind == wanted);
        all.map(|(name, _, size)| ((*name).to_owned(), *size)).collect()
    };
    builder.add("neff.json", graph(&of("input"), &of("output"))).unwrap();
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}

/// A transfer between variable `index + 1` and SBUF; semaphore 8 or, for the
/// output, 9.
fn transfer(index: u32, row: u16, output: bool) -> Instruction {
    let hbm = Addr8::of(Location::Variable { id: index + 1, offset: 0 }).unwrap();
    let sbuf = Addr8::of(Location::Variable { id: 0, offset: index * GAP }).unwrap();
    let (rows, row_step) = ([ROWS, 1], [i32::from(row), 0]);
    let partition_step = [0x4_0000, 0];
    let mut body = DmaDirect {
        semaphore: if output { 9 } else { 8 },
        increment: 16,
        src: hbm,
        src_steps: row_step,
        src_counts: rows,
        src_elem_size: row,
        dst: sbuf,
        dst_steps: partition_step,
        dst_counts: rows,
        dst_elem_size: row,
        ..DmaDirect::default()
    };
    if output {
        std::mem::swap(&mut body.src, &mut body.dst);
        std::mem::swap(&mut body.src_steps, &mut body.dst_steps);
    }
    plain(Opcode::PSEUDO_DMA_DIRECT2D, body)
}

/// A copy of a NEFF with one member changed.
pub(crate) fn changed(file: &[u8], member: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let neff = Neff::open(file, &Options::lenient().holding_all()).unwrap();
    let mut builder = Builder::with_header(neff.header.clone());
    let mut change = Some(change);
    for found in neff.members() {
        if found.name().ends_with('/') {
            continue;
        }
        let mut body = neff.body(found.name()).unwrap().unwrap().into_owned();
        if found.name() == member {
            change.take().unwrap()(&mut body);
        }
        builder.add(found.name(), body).unwrap();
    }
    assert!(change.is_none(), "no member {member}");
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}
