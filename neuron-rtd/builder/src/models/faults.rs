//! Models that go wrong, each in one way.

use neuron_core::isa::body::control::EventSemaphore;
use neuron_core::isa::event::WaitMode;
use neuron_core::isa::{Engine, Instruction, Opcode};

use super::{Sample, Weights, inputs};
use crate::array::{Array, ElementType};
use crate::emit::{Line, engine_semaphore};
use crate::error::{BuildError, Result};
use crate::graph::{Activation, Graph, TwoTensors};
use crate::lower::lower;
use crate::model::Model;

/// `y = relu(x) + x`, but that ACT first waits for DVE, which waits for ACT.
///
/// In the end ACT waits for semaphore 6, DVE's, DVE for semaphore 4, ACT's,
/// POOL for the sum that it should store, and SP for the end of the others.
pub(super) fn deadlock() -> Result<Sample> {
    let shape = [128, 64];
    let mut graph = Graph::new("deadlock");
    let x = graph.input("x", ElementType::F32, &shape)?;
    let relu = graph.activation("relu", Activation::Relu, x)?;
    let y = graph.two("add", TwoTensors::Add, relu, x)?;
    graph.output("y", y)?;
    let mut core = lower(&graph)?;
    let body = EventSemaphore::default();
    let wait = Instruction::new(Opcode::EVENT_SEMAPHORE, body);
    let mut wait = wait.ok_or_else(|| BuildError::Operator {
        layer: "deadlock".to_owned(),
        reason: "EVENT_SEMAPHORE has another payload".to_owned(),
    })?;
    wait.header.wait_mode = WaitMode(0x05);
    wait.header.wait_index = engine_semaphore(Engine::Dve);
    wait.header.value = 1;
    // after the two records of the prologue
    core.streams.engines[usize::from(Engine::Act.number())]
        .insert(2, Line { instruction: wait, part: None });
    Ok(Sample {
        name: "deadlock",
        about: "ACT and DVE wait for each other",
        built: Model::new("deadlock", vec![graph.clone()]).pack(&[vec![core]])?,
        graphs: vec![graph],
        weights: Vec::new(),
        inputs: inputs(&[("x", &shape)])?,
    })
}

/// `y = relu(x) / d`, where every third element of d is zero: infinities, and
/// NaN where both are zero.
pub(super) fn divide_by_zero() -> Result<Sample> {
    let shape = [128, 64];
    let mut weights = Weights::new(6);
    let mut numbers = Vec::new();
    for index in 0..shape[0] * shape[1] {
        numbers.push(if index % 3 == 0 { 0.0 } else { weights.next() });
    }
    let d = Array::from_f32(ElementType::F32, &shape, &numbers)?;
    let mut graph = Graph::new("divide-by-zero");
    let x = graph.input("x", ElementType::F32, &shape)?;
    let divisor = graph.constant("d", d.clone())?;
    let relu = graph.activation("relu", Activation::Relu, x)?;
    let y = graph.two("divide", TwoTensors::Divide, relu, divisor)?;
    graph.output("y", y)?;
    Sample::new(
        "divide-by-zero",
        "a quotient by zeros among other numbers: infinities and NaN, counted as numerical errors",
        &Model::new("divide-by-zero", vec![graph]),
        vec![("d".to_owned(), d)],
        inputs(&[("x", &shape)])?,
    )
}
