//! Calls on tensors as events of an inspection.

use rtd_runtime::attributes;
use rtd_runtime::inspect::Kind;

use crate::call::Fault;
use crate::session;

/// Does something with a tensor of so many bytes, and tells it where events are
/// recorded.
pub(crate) fn tensor<T>(
    kind: Kind,
    (tensor, core): (usize, Option<u32>),
    size: usize,
    action: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let recorder = session::current()?.runtime.recorder();
    let Some(recorder) = recorder else { return action() };
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let attributes = attributes! { "tensor_id": wide(tensor), "size": wide(size) };
    let begun = recorder.begin(kind, core.unwrap_or(0), attributes);
    let done = action();
    recorder.end(begun, Vec::new());
    done
}

/// The same of several at once.
pub(crate) fn batch<T>(
    kind: Kind,
    count: u64,
    action: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let recorder = session::current()?.runtime.recorder();
    let Some(recorder) = recorder else { return action() };
    let begun = recorder.begin(kind, 0, attributes! { "num_batches": count });
    let done = action();
    recorder.end(begun, Vec::new());
    done
}
