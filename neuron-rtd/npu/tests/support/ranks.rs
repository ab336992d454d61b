//! Programs of several cores whose only work are collectives.

use neuron_core::isa::body::pseudo::Collective;
use neuron_core::isa::{Engine, Instruction, Opcode};
use neuron_core::neff::Builder;

use super::neff::{graph, plain, raising};

/// Semaphore that rises with each collective.
pub(crate) const DONE: u8 = 22;

/// A record that posts and raises [`DONE`] when the collective is done.
pub(crate) fn post(body: Collective) -> Instruction {
    let body = Collective { input_tensor_id: 1, output_tensor_id: 2, ..body };
    raising(plain(Opcode::PSEUDO_TRIGGER_COLLECTIVE, body), DONE)
}

/// A NEFF with one core for each stream, which SP runs: variable 1 is the
/// input `a0`, `a1`, .. of these bytes, variable 2 the output `out0`, ..;
/// `more` are further keys of each definition.
pub(crate) fn ranks(
    input: usize,
    output: usize,
    more: &str,
    streams: &[Vec<Instruction>],
) -> Vec<u8> {
    let mut builder = Builder::new(streams.len() as u32);
    let mut graphs = Vec::new();
    for (rank, stream) in streams.iter().enumerate() {
        let folder = format!("sg{rank:02}");
        let mut engines = String::new();
        for engine in Engine::ALL {
            let key = engine.key();
            engines += &format!(r#""{key}": "{key}.json", "{key}_instr": "{key}.bin", "#);
            let json = format!(r#"{{"dma": [], "instr": "{key}.bin", "name": "{key}"}}"#);
            builder.add(&format!("{folder}/{key}.json"), json.into_bytes()).unwrap();
            let records = if engine == Engine::Sp { stream.as_slice() } else { &[] };
            let bytes: Vec<u8> = records.iter().flat_map(Instruction::encode).collect();
            builder.add(&format!("{folder}/{key}.bin"), bytes).unwrap();
        }
        let definition = format!(
            r#"{{{engines}{more}"version": "0.6", "dma_queue": {{}}, "var": {{
                "SB": {{"type": "state-buffer", "var_id": 0}},
                "a{rank}": {{"type": "input", "var_id": 1, "size": {input}}},
                "out{rank}": {{"type": "output", "var_id": 2, "size": {output}}}}}}}"#
        );
        builder.add(&format!("{folder}/def.json"), definition.into_bytes()).unwrap();
        graphs.push(format!(r#"{{"definition": "{folder}/def.json", "name": "{folder}"}}"#));
    }
    let graphs = graphs.join(", ");
    let kelf = format!(r#"{{"graphs": [{graphs}], "version": "0.5", "target": "cayman"}}"#);
    builder.add("kelf-0.json", kelf.into_bytes()).unwrap();
    let names = |name: &str, size: usize| -> Vec<(String, u32)> {
        (0..streams.len()).map(|rank| (format!("{name}{rank}"), size as u32)).collect()
    };
    builder.add("neff.json", graph(&names("a", input), &names("out", output))).unwrap();
    let mut out = Vec::new();
    builder.write(&mut out).unwrap();
    out
}
