//! One function for each fuzz target: outside bytes in, nothing out. The
//! property tests and the fuzzer call the same functions, and these call what
//! a runtime calls. A run has small limits, so that unbounded work shows as a
//! time-out and unbounded memory as such.

use std::fmt::Write as _;

use neuron_core::isa::field::RECORD_BYTES;
use neuron_core::isa::{Engine, Opcode};
use neuron_core::neff::digest::{self, Hasher};
use neuron_core::neff::{Builder, Neff, Options, Usage};

use crate::program::Program;
use crate::run::{Limits, Tensors};
use crate::time::{Timing, Trace};

/// Bytes of each tensor of a program made of records.
const TENSOR: usize = 4096;

/// Bytes of inputs that a run gets.
const INPUTS: u64 = 1 << 20;

/// Targets of the container, by the first byte of the input.
const WORDS: [&str; 4] = ["sunda", "cayman", "mariana", "npu-sim"];

fn limits() -> Limits {
    Limits { instructions: 32, output_bytes: INPUTS, packets: 4096, moved_bytes: 4 << 20 }
}

/// Records of any bytes: 64 each, after one that selects the generation and
/// the number of cores. Each goes to one of the engines that run its opcode,
/// so that most of them get as far as their operands.
pub fn records(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let (records, _) = rest.as_chunks::<RECORD_BYTES>();
    let cores = usize::from(first >> 2 & 1) + 1;
    let mut streams = vec![vec![Vec::new(); Engine::ALL.len()]; cores];
    for record in records {
        let [opcode, _, _, choice, ..] = record;
        let engines = Opcode(*opcode).info().map(|info| info.engines);
        let able: Vec<Engine> = engines.iter().flat_map(|engines| engines.iter()).collect();
        let choice = usize::from(*choice);
        let engine = able.get(choice % able.len().max(1)).copied().unwrap_or(Engine::Sp);
        let core = streams.get_mut(choice / 16 % cores);
        let stream = core.and_then(|core| core.get_mut(usize::from(engine.number())));
        if let Some(stream) = stream {
            stream.extend_from_slice(record);
        }
    }
    let word = WORDS.get(usize::from(first & 3)).copied().unwrap_or_default();
    if let Some(file) = container(word, &streams) {
        neff(&file);
    }
}

/// Any bytes as the payload of a file whose header fits.
pub fn payload(bytes: &[u8]) {
    let mut header = Builder::new(1).header;
    header.data_size = bytes.len() as u64;
    let mut hasher = Hasher::for_packager(header.packager);
    hasher.update(bytes);
    header.hash = digest::field(&hasher.finish(), digest::WRITTEN_FORM);
    let mut file = header.to_bytes().to_vec();
    file.extend_from_slice(bytes);
    neff(&file);
}

/// A whole file: loaded, then run both ways.
pub fn neff(bytes: &[u8]) {
    let mut options = Options::strict().holding_all();
    options.limits.unpacked = 16 << 20;
    options.limits.json = 1 << 20;
    options.limits.ratio_floor = 1 << 20;
    let Ok(neff) = Neff::open(bytes, &options) else { return };
    let Ok(program) = Program::from_node(&neff, None) else { return };
    let limits = limits();
    let only = Timing { limits, ..Timing::only(&program) };
    let _ = program.run_timed(&Tensors::new(), &only, &mut Trace::new());
    let inputs = || program.tensors().iter().filter(|tensor| tensor.usage == Usage::Input);
    let bytes = inputs().try_fold(0u64, |sum, tensor| sum.checked_add(tensor.bytes));
    if bytes.is_none_or(|bytes| bytes > INPUTS) {
        return;
    }
    let tensors: Tensors = inputs()
        .map(|tensor| {
            let pattern = (0..tensor.bytes).map(|at| (at.wrapping_mul(37) >> 3) as u8);
            (tensor.name.clone(), pattern.collect())
        })
        .collect();
    let _ = program.run_with(&tensors, &limits, &mut ());
    let both = Timing { limits, ..Timing::of(&program) };
    let _ = program.run_timed(&tensors, &both, &mut ());
}

/// A file of these streams by core and engine. Variable 0 is SBUF, 1 an input,
/// 2 an output, 3 scratch, 4 an address table; each engine has block 0 of the
/// queue `q`, which loads the input.
fn container(target: &str, cores: &[Vec<Vec<u8>>]) -> Option<Vec<u8>> {
    let mut builder = Builder::new(u32::try_from(cores.len()).ok()?);
    let mut graphs = String::new();
    for (core, streams) in cores.iter().enumerate() {
        let gap = if core == 0 { "" } else { ", " };
        let folder = format!("sg{core:02}");
        let mut engines = String::new();
        for (engine, stream) in Engine::ALL.into_iter().zip(streams) {
            let key = engine.key();
            write!(engines, r#""{key}": "{key}.json", "{key}_instr": "{key}.bin", "#).ok()?;
            let json = format!(
                r#"{{"instr": "{key}.bin", "name": "{key}", "dma": [{{"queue": "q", "id": 0,
                "semaphore": 3, "desc": [{{"from": "a", "from_off": 0, "from_sizes": [64, 8],
                "from_steps": [1, 64], "to": "SB", "to_off": 0, "to_sizes": [64, 8],
                "to_steps": [1, 262144], "id": 0}}]}}]}}"#
            );
            builder.add(&format!("{folder}/{key}.json"), json.into_bytes()).ok()?;
            builder.add(&format!("{folder}/{key}.bin"), stream.clone()).ok()?;
        }
        let definition = format!(
            r#"{{{engines}"version": "0.6",
            "dma_queue": {{"q": {{"type": "data", "owner": "sp"}}}},
            "replica_groups": [[0], [0, 1]], "src_target_pairs": [[[0, 0]], [[0, 1], [1, 0]]],
            "var": {{
                "SB": {{"type": "state-buffer", "var_id": 0}},
                "a": {{"type": "input", "var_id": 1, "size": {TENSOR}}},
                "out": {{"type": "output", "var_id": 2, "size": {TENSOR}}},
                "tmp": {{"type": "tmp-buf", "var_id": 3, "size": {TENSOR}}},
                "table": {{"type": "dge-table", "var_id": 4, "list": [1, 2, 3]}}}}}}"#
        );
        builder.add(&format!("{folder}/def.json"), definition.into_bytes()).ok()?;
        write!(graphs, r#"{gap}{{"definition": "{folder}/def.json", "name": "{folder}"}}"#).ok()?;
    }
    let kelf = format!(r#"{{"graphs": [{graphs}], "version": "0.5", "target": "{target}"}}"#);
    builder.add("kelf-0.json", kelf.into_bytes()).ok()?;
    let graph = format!(
        r#"{{"nodes": [{{"op": "null", "name": "a", "inputs": []}}, {{"op": "tvm_op",
        "name": "node", "inputs": [[0, 0, 0]], "output_names": ["out"], "attrs": {{
        "func_name": "__kelf", "kelf": "kelf-0.json", "num_inputs": "1", "num_outputs": "1",
        "flatten_data": "0"}}}}], "arg_nodes": [0], "heads": [[1, 0, 0]],
        "node_row_ptr": [0, 1, 2], "attrs": {{"shape": ["list_shape", [[{TENSOR}], [{TENSOR}]]],
        "dltype": ["list_str", ["uint8", "uint8"]]}}}}"#
    );
    builder.add("neff.json", graph.into_bytes()).ok()?;
    let mut out = Vec::new();
    builder.write(&mut out).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Were it refused, the target would try nothing.
    #[test]
    fn the_container_loads() {
        for word in WORDS {
            for cores in 1..3 {
                let streams = vec![vec![Vec::new(); 5]; cores];
                let program = Program::from_neff(&container(word, &streams).unwrap());
                assert_eq!(program.unwrap().cores().len(), cores, "{word}");
            }
        }
    }
}
