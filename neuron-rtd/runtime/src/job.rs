//! One inference on its way through the steps of a model.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant;

use crate::model::Model;
use crate::plan::Plan;
use crate::request::{Data, Outcome};
use crate::shared::SharedBuffer;

/// Called once with the outcome, on the thread that ends the inference.
pub(crate) type Waiter = Box<dyn FnOnce(Outcome) + Send>;

/// The bytes of a value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Inline(Data),
    Shared(Arc<SharedBuffer>, u64),
    Own(Arc<Vec<u8>>),
}

impl Value {
    /// The bytes, moved where nobody else needs them.
    pub(crate) fn into_bytes(self) -> Result<Vec<u8>, String> {
        match self {
            Self::Inline(data) => Ok(data.bytes().to_vec()),
            Self::Shared(buffer, bytes) => buffer.read(bytes),
            Self::Own(bytes) => {
                Ok(Arc::try_unwrap(bytes).unwrap_or_else(|bytes| bytes.as_ref().clone()))
            }
        }
    }
}

/// Values between steps.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) slots: Vec<Option<Value>>,
    /// When each value is there, in simulated time.
    times: Vec<u64>,
    /// How often each value is still needed.
    uses: Vec<usize>,
    /// Inputs that each step still lacks.
    lacks: Vec<usize>,
    pub(crate) steps_left: usize,
    pub(crate) device_nanos: Option<u64>,
    /// When all outputs are there, in simulated time; 0 before.
    pub(crate) ended: u64,
}

impl Values {
    /// The inputs of an inference that arrives at this simulated time.
    pub(crate) fn new(plan: &Plan, inputs: Vec<(usize, Value)>, arrived: u64) -> Self {
        let mut uses: Vec<usize> = plan.takers.iter().map(Vec::len).collect();
        for port in &plan.outputs {
            if let Some(uses) = uses.get_mut(port.value) {
                *uses += 1;
            }
        }
        let mut values = Self {
            slots: vec![None; plan.values],
            times: vec![arrived; plan.values],
            uses,
            lacks: plan.steps.iter().map(|step| step.takes.len()).collect(),
            steps_left: plan.steps.len(),
            device_nanos: None,
            ended: 0,
        };
        for (at, value) in inputs {
            values.put(plan, at, value, arrived);
        }
        values
    }

    /// Stores a value that is there at `time`; gives the steps that now have
    /// all they need.
    pub(crate) fn put(&mut self, plan: &Plan, at: usize, value: Value, time: u64) -> Vec<usize> {
        if let Some(slot) = self.times.get_mut(at) {
            *slot = time;
        }
        if self.uses.get(at).copied().unwrap_or(0) > 0
            && let Some(slot) = self.slots.get_mut(at)
        {
            *slot = Some(value);
        }
        let mut ready = Vec::new();
        for step in plan.takers.get(at).into_iter().flatten() {
            if let Some(lacks) = self.lacks.get_mut(*step) {
                *lacks = lacks.saturating_sub(1);
                if *lacks == 0 {
                    ready.push(*step);
                }
            }
        }
        ready
    }

    /// Steps that need nothing but what is there.
    pub(crate) fn ready(&self) -> Vec<usize> {
        let lacks = self.lacks.iter().enumerate();
        lacks.filter(|(_, lacks)| **lacks == 0).map(|(step, _)| step).collect()
    }

    /// When a value is there, in simulated time.
    pub(crate) fn time(&self, at: usize) -> u64 {
        self.times.get(at).copied().unwrap_or(0)
    }

    /// Uses a value once; the last use takes it away.
    pub(crate) fn take(&mut self, at: usize) -> Option<Value> {
        let uses = self.uses.get_mut(at)?;
        *uses = uses.saturating_sub(1);
        let slot = self.slots.get_mut(at)?;
        if *uses == 0 { slot.take() } else { slot.clone() }
    }
}

/// How far an inference is.
pub(crate) enum End {
    /// Under way.
    Pending { begun: bool, waiter: Option<Waiter> },
    /// Done; nobody has fetched it.
    Done(Box<Outcome>),
    /// Fetched.
    Taken,
}

/// An inference.
pub(crate) struct Job {
    pub(crate) cookie: u64,
    pub(crate) model: Weak<Model>,
    pub(crate) posted: Instant,
    /// When its time is over; set when its first step begins.
    pub(crate) deadline: OnceLock<Instant>,
    pub(crate) values: Mutex<Values>,
    pub(crate) sinks: Vec<(String, Arc<SharedBuffer>)>,
    pub(crate) end: Mutex<End>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("cookie", &self.cookie).finish_non_exhaustive()
    }
}

impl Job {
    /// Notes that a step begins; `false` when the inference has ended.
    pub(crate) fn begin(&self) -> bool {
        match &mut *self.end.lock().unwrap_or_else(PoisonError::into_inner) {
            End::Pending { begun, .. } => {
                *begun = true;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn is_pending(&self) -> bool {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*end, End::Pending { .. })
    }
}
