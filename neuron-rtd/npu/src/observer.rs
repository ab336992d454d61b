//! What a layer above sees of a run: each instruction and each transfer, in
//! the order in which they act.

use std::sync::atomic::{AtomicBool, Ordering};

use neuron_core::isa::{Engine, Instruction};

use crate::collective::Post;
use crate::dma::Job;
use crate::errors::Errors;
use crate::time::Sink;

/// Where an instruction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct At {
    /// Physical core, from 0.
    pub core: usize,
    /// Engine.
    pub engine: Engine,
    /// Slot in the engine's stream.
    pub slot: usize,
}

/// Sees a run. Every method does nothing unless it is given.
///
/// The calls of one engine are in program order: `begin` once the waits hold,
/// then `queued` if the instruction starts a transfer, or `posted`, then `end`
/// after the updates. `transferred` follows `queued` in the order of each queue.
pub trait Observer {
    /// Whether the run shall end now, with [`Stop::Cancelled`]. Asked before
    /// each turn of the engines: what one instruction or transfer does is not
    /// cut short.
    ///
    /// [`Stop::Cancelled`]: crate::Stop::Cancelled
    fn cancelled(&self) -> bool {
        false
    }
    /// An instruction's waits hold; nothing of it has happened.
    fn begin(&mut self, _at: At, _instruction: &Instruction) {}
    /// An instruction and its updates are done.
    fn end(&mut self, _at: At, _instruction: &Instruction) {}
    /// An instruction gave a job to a queue.
    fn queued(&mut self, _at: At, _job: &Job) {}
    /// A job of a core is done, with its semaphore.
    fn transferred(&mut self, _core: usize, _job: &Job) {}
    /// An instruction gave its part to a collective.
    fn posted(&mut self, _at: At, _post: &Post) {}
    /// A collective is done, with the updates of its records.
    fn collected(&mut self, _posts: &[Post]) {}
    /// An instruction produced numerical errors; comes before its `end`, and
    /// not at all where there are none.
    fn errors(&mut self, _at: At, _errors: &Errors) {}
}

/// Sees nothing.
impl Observer for () {}

/// Sees nothing, and ends the run once the flag is set, by another thread. An
/// observer or sink that sees more hands `cancelled` on to one of these.
#[derive(Debug, Clone, Copy)]
pub struct Cancel<'a>(pub &'a AtomicBool);

impl Cancel<'_> {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Observer for Cancel<'_> {
    fn cancelled(&self) -> bool {
        self.is_set()
    }
}

impl Sink for Cancel<'_> {
    fn cancelled(&self) -> bool {
        self.is_set()
    }
}
