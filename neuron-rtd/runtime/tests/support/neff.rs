//! Small NEFFs with a host graph: a chain of nodes from `x` to `y`.
//!
//! A Neuron node copies its input to its output by DMA, a CPU node applies a
//! built-in operator; all tensors are fp32 of one size.

use neuron_core::isa::address::{Addr8, Location};
use neuron_core::isa::body::Body;
use neuron_core::isa::body::control::EventSemaphore;
use neuron_core::isa::body::dma::DmaDirect;
use neuron_core::isa::event::WaitMode;
use neuron_core::isa::{Engine, Instruction, Opcode};
use neuron_core::neff::{Builder, Packing};

/// A node of the chain.
#[derive(Debug, Clone, Copy)]
pub enum Node {
    /// Copies, on so many cores of which the first does the work.
    Copy(u32),
    /// As [`Node::Copy`], and then waits for what never happens.
    Deadlock,
    /// An operator on the host.
    Cpu(&'static str),
}

/// A NEFF.
#[derive(Debug, Clone)]
pub struct Chain {
    /// Its name.
    pub name: &'static str,
    /// Bytes of every tensor: a multiple of 4 up to 64 KiB - 4, or of 512.
    pub bytes: u32,
    /// The nodes.
    pub nodes: Vec<Node>,
}

fn plain(opcode: Opcode, body: impl Into<Body>) -> Instruction {
    Instruction::new(opcode, body).unwrap()
}

fn wait(semaphore: u8, value: u32) -> Instruction {
    let mut instruction = plain(Opcode::EVENT_SEMAPHORE, EventSemaphore::default());
    instruction.header.wait_mode = WaitMode(5);
    instruction.header.wait_index = semaphore;
    instruction.header.value = value;
    instruction
}

/// Copies variable 0 to variable 1, raising semaphore 8 by 16.
fn copy(bytes: u32) -> Instruction {
    let (rows, row) = if bytes < 1 << 16 { (1, bytes) } else { (128, bytes / 128) };
    let row = u16::try_from(row).unwrap();
    let place = |id| Addr8::of(Location::Variable { id, offset: 0 }).unwrap();
    let body = DmaDirect {
        semaphore: 8,
        increment: 16,
        src: place(0),
        src_steps: [i32::from(row), 0],
        src_counts: [rows, 1],
        src_elem_size: row,
        dst: place(1),
        dst_steps: [i32::from(row), 0],
        dst_counts: [rows, 1],
        dst_elem_size: row,
        ..DmaDirect::default()
    };
    plain(Opcode::PSEUDO_DMA_DIRECT2D, body)
}

impl Chain {
    /// A chain of 64-byte tensors.
    pub fn new(name: &'static str, nodes: &[Node]) -> Self {
        Self { name, bytes: 64, nodes: nodes.to_vec() }
    }

    fn tensor(&self, index: usize) -> String {
        match index {
            0 => "x".to_owned(),
            last if last == self.nodes.len() => "y".to_owned(),
            between => format!("t{between}"),
        }
    }

    /// The file.
    pub fn build(&self) -> Vec<u8> {
        self.build_with(0)
    }

    /// The file, with a member of so many bytes that nothing uses, as a bare tar.
    pub fn build_with(&self, unused: usize) -> Vec<u8> {
        let mut builder = Builder::new(1);
        if unused > 0 {
            builder.packing = Packing::Bare;
            builder.add("unused.bin", vec![7; unused]).unwrap();
        }
        builder.header.set_name(self.name);
        builder.header.set_build_version("tests");
        let mut nodes = vec![
            r#"{"op": "null", "name": "x", "inputs": [], "attrs": {"is_param": "0"}}"#.to_owned(),
        ];
        let mut folder = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let (input, output) = (self.tensor(index), self.tensor(index + 1));
            let attrs = match node {
                Node::Cpu(name) => format!(r#""func_name": "{name}""#),
                Node::Copy(_) | Node::Deadlock => {
                    let kelf = format!("kelf-{index}.json");
                    let cores = if let Node::Copy(cores) = node { *cores } else { 1 };
                    let mut graphs = Vec::new();
                    for core in 0..cores {
                        let stuck = matches!(node, Node::Deadlock);
                        self.subgraph(&mut builder, folder, &input, &output, core == 0, stuck);
                        graphs.push(format!(
                            r#"{{"definition": "sg{folder:02}/def.json", "name": "sg{folder:02}"}}"#
                        ));
                        folder += 1;
                    }
                    let text = format!(
                        r#"{{"graphs": [{}], "version": "0.5", "target": "cayman"}}"#,
                        graphs.join(", ")
                    );
                    builder.add(&kelf, text.into_bytes()).unwrap();
                    format!(r#""func_name": "__kelf", "kelf": "{kelf}""#)
                }
            };
            nodes.push(format!(
                r#"{{"op": "tvm_op", "name": "node{index}", "inputs": [[{index}, 0, 0]],
                "output_names": ["{output}"], "attrs": {{{attrs}, "num_inputs": "1",
                "num_outputs": "1", "flatten_data": "0"}}}}"#
            ));
        }
        let count = self.nodes.len();
        let numbers = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
        let repeat = |text: String| vec![text; count + 1].join(", ");
        let graph = format!(
            r#"{{"nodes": [{}], "arg_nodes": [0], "heads": [[{count}, 0, 0]],
            "node_row_ptr": [{}], "attrs": {{"shape": ["list_shape", [{}]],
            "dltype": ["list_str", [{}]], "storage_id": ["list_int", [{}]]}}}}"#,
            nodes.join(", "),
            numbers(count + 2),
            repeat(format!("[1, {}]", self.bytes / 4)),
            repeat("\"float32\"".to_owned()),
            numbers(count + 1)
        );
        builder.add("neff.json", graph.into_bytes()).unwrap();
        let mut out = std::io::Cursor::new(Vec::new());
        builder.write(&mut out).unwrap();
        out.into_inner()
    }

    fn subgraph(
        &self,
        builder: &mut Builder<'_>,
        folder: u32,
        input: &str,
        output: &str,
        works: bool,
        stuck: bool,
    ) {
        let mut engines = String::new();
        for engine in Engine::ALL {
            let key = engine.key();
            engines += &format!(r#""{key}": "{key}.json", "{key}_instr": "{key}.bin", "#);
            let json = format!(r#"{{"dma": [], "instr": "{key}.bin", "name": "{key}"}}"#);
            builder.add(&format!("sg{folder:02}/{key}.json"), json.into_bytes()).unwrap();
            let mut records = Vec::new();
            if works && engine == Engine::Sp {
                records.push(copy(self.bytes));
                records.push(wait(8, 16));
            }
            if stuck && engine == Engine::Sp {
                records.push(wait(9, 1));
            }
            let bytes: Vec<u8> = records.iter().flat_map(Instruction::encode).collect();
            builder.add(&format!("sg{folder:02}/{key}.bin"), bytes).unwrap();
        }
        let size = self.bytes;
        let definition = format!(
            r#"{{{engines}"version": "0.6", "dma_queue": {{}}, "var": {{
            "{input}": {{"type": "input", "var_id": 0, "size": {size}}},
            "{output}": {{"type": "output", "var_id": 1, "size": {size}}}}}}}"#
        );
        builder.add(&format!("sg{folder:02}/def.json"), definition.into_bytes()).unwrap();
    }
}
