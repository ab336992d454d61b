//! Models of the bench, made by the builder.

use neuron_builder::models::SAMPLES;
use neuron_builder::{Activation, ElementType, Graph, HostNode, Model, NeuronNode};

/// A sample model with its inputs: name and bytes.
pub(crate) fn sample(name: &str) -> (Vec<u8>, Vec<(String, Vec<u8>)>) {
    let (_, make) = SAMPLES.iter().find(|(sample, _)| *sample == name).unwrap();
    let sample = make().unwrap();
    let inputs = sample.inputs.into_iter();
    let inputs = inputs.map(|(name, array)| (name, array.data().to_vec())).collect();
    (sample.built.bytes, inputs)
}

/// Bytes of the large input.
pub(crate) const LARGE: usize = 2 << 20;

/// A model with an input of 2 MiB whose output is 64 bytes of it.
pub(crate) fn large() -> Vec<u8> {
    let mut graph = Graph::new("large");
    let x = graph.input("x", ElementType::F32, &[1, LARGE / 4]).unwrap();
    let pieces = graph.split("part", x, 1, &[16, LARGE / 4 - 16]).unwrap();
    graph.output("y", pieces[0]).unwrap();
    Model::new("large", vec![graph]).build().unwrap().bytes
}

/// Shape of the tensors between the nodes of [`chain`].
const SHAPE: [usize; 2] = [128, 512];

/// Bytes of the input of [`chain`].
pub(crate) const CHAIN: usize = SHAPE[0] * SHAPE[1] * 4;

/// Four nodes on a core each, of the same work: activations one after the
/// other, which the software NeuronCore does on one thread.
pub(crate) fn chain() -> Vec<u8> {
    let node = |index: usize| {
        let name = |at: usize| match at {
            0 => "x".to_owned(),
            4 => "y".to_owned(),
            at => format!("t{at}"),
        };
        let mut graph = Graph::new(&format!("part{index}"));
        let mut x = graph.input(&name(index), ElementType::F32, &SHAPE).unwrap();
        for step in 0..8 {
            x = graph.activation(&format!("step{step}"), Activation::Tanh, x).unwrap();
        }
        graph.output(&name(index + 1), x).unwrap();
        HostNode::Neuron(NeuronNode { name: format!("sg_coreV1{index}"), cores: vec![graph] })
    };
    let model = Model { name: "chain".to_owned(), nodes: (0..4).map(node).collect() };
    model.build().unwrap().bytes
}
