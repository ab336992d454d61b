//! What a client asks for, and what it gets.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::Failure;
use crate::shared::SharedBuffer;

/// Bytes that somebody else owns, such as a received message.
#[derive(Clone)]
pub struct Data(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Data {
    /// Takes bytes.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}

/// Where the bytes of an input are.
#[derive(Debug, Clone)]
pub enum Input {
    /// Here.
    Inline(Data),
    /// In shared memory, from its first byte on. They are read when the
    /// inference needs them.
    Shared(Arc<SharedBuffer>),
}

/// An inference.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The model.
    pub model: u32,
    /// Inputs by name.
    pub inputs: Vec<(String, Input)>,
    /// Where outputs go; those that are not named come back inline.
    pub outputs: Vec<(String, Arc<SharedBuffer>)>,
}

/// How an inference ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// `None` for success. With [`crate::Code::NumErr`] there are outputs too.
    pub failure: Option<Failure>,
    /// Outputs that were not written to shared memory, in the model's order.
    pub outputs: Vec<(String, Vec<u8>)>,
    /// Outputs that were, with their sizes.
    pub written: Vec<(String, Arc<SharedBuffer>, u64)>,
    /// From the request to the result.
    pub latency: Duration,
}

impl Outcome {
    /// No outputs.
    pub fn failed(failure: Failure) -> Self {
        Self {
            failure: Some(failure),
            outputs: Vec::new(),
            written: Vec::new(),
            latency: Duration::ZERO,
        }
    }
}
