//! What the tests of the runtime share: NEFFs, a backend whose nodes wait for
//! the test, and short forms of the calls.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

pub mod neff;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use neuron_core::instance::InstanceType;
use rtd_runtime::backend::{NodeFault, NodeImage, NodeRun, NodeTensor, Tensors};
use rtd_runtime::{
    Backend, Cores, Data, Failure, Input, LoadParams, Quiet, Request, Runtime, Settings, Software,
};

/// All cores of an inf1.6xlarge: 16 on four devices.
pub fn cores() -> Cores {
    Cores::new(InstanceType::find("inf1.6xlarge").unwrap(), &[]).unwrap()
}

pub fn runtime(backend: Box<dyn Backend>) -> Runtime {
    Runtime::new(cores(), backend, Box::new(()), Settings::default(), Arc::new(Quiet)).unwrap()
}

pub fn software() -> Runtime {
    runtime(Box::new(Software::default()))
}

/// A request that gives 64 bytes of `byte` to `x`.
pub fn request(model: u32, byte: u8) -> Request {
    let data = Input::Inline(Data::new([byte; 64]));
    Request { model, inputs: vec![("x".to_owned(), data)], outputs: Vec::new() }
}

pub fn into(group: u32) -> LoadParams {
    LoadParams { group: Some(group), ..LoadParams::default() }
}

/// Waits until something holds, and fails after a minute: the machine may have
/// much else to do.
#[track_caller]
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What the test and the nodes of [`Gated`] know of each other.
#[derive(Debug, Default)]
pub struct Gates {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    /// How many runs of a node may end, by node.
    open: BTreeMap<String, u64>,
    /// Runs that have begun: node and first input byte.
    begun: Vec<(String, u8)>,
    /// Runs under way, by node.
    running: BTreeMap<String, u32>,
    /// Most runs of a node at once, and of all nodes together.
    most: BTreeMap<String, u32>,
    most_together: u32,
    free: bool,
}

impl Gates {
    /// Lets `count` runs of a node end.
    pub fn open(&self, node: &str, count: u64) {
        *self.state.lock().unwrap().open.entry(node.to_owned()).or_default() += count;
        self.changed.notify_all();
    }

    /// Lets every run end.
    pub fn free(&self) {
        self.state.lock().unwrap().free = true;
        self.changed.notify_all();
    }

    pub fn begun(&self) -> Vec<(String, u8)> {
        self.state.lock().unwrap().begun.clone()
    }

    pub fn most(&self, node: &str) -> u32 {
        self.state.lock().unwrap().most.get(node).copied().unwrap_or(0)
    }

    pub fn most_together(&self) -> u32 {
        self.state.lock().unwrap().most_together
    }
}

/// A backend whose nodes copy `x..` to their output once the test lets them.
#[derive(Debug, Default)]
pub struct Gated {
    pub gates: Arc<Gates>,
    software: Software,
}

#[derive(Debug)]
struct GatedNode {
    name: String,
    gates: Arc<Gates>,
    inner: Box<dyn rtd_runtime::backend::Node>,
}

impl Backend for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn load(&self, image: &NodeImage<'_>) -> Result<Box<dyn rtd_runtime::backend::Node>, Failure> {
        let inner = self.software.load(image)?;
        let name = format!("{}@{}", image.name, image.first_core);
        Ok(Box::new(GatedNode { name, gates: Arc::clone(&self.gates), inner }))
    }
}

impl rtd_runtime::backend::Node for GatedNode {
    fn tensors(&self) -> &[NodeTensor] {
        self.inner.tensors()
    }

    fn run(&self, inputs: &Tensors) -> Result<NodeRun, NodeFault> {
        let first = inputs.values().next().and_then(|data| data.first()).copied().unwrap_or(0);
        let mut state = self.gates.state.lock().unwrap();
        state.begun.push((self.name.clone(), first));
        let running = state.running.entry(self.name.clone()).or_default();
        *running += 1;
        let now = *running;
        let most = state.most.entry(self.name.clone()).or_default();
        *most = now.max(*most);
        let together = state.running.values().sum();
        state.most_together = state.most_together.max(together);
        loop {
            let open = state.open.entry(self.name.clone()).or_default();
            if *open > 0 {
                *open -= 1;
                break;
            }
            if state.free {
                break;
            }
            state = self.gates.changed.wait(state).unwrap();
        }
        *state.running.get_mut(&self.name).unwrap() -= 1;
        drop(state);
        self.inner.run(inputs)
    }
}

/// A runtime whose nodes wait, and the gates.
pub fn gated() -> (Runtime, Arc<Gates>) {
    let backend = Gated::default();
    let gates = Arc::clone(&backend.gates);
    (runtime(Box::new(backend)), gates)
}
