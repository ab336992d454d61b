//! What the environment says (neuron-rtd.md §4.5), read by `nrt_init` and by
//! the calls that are allowed before it.

use neuron_core::source::Spec;
use neuron_core::uapi::nrt::Status;
use rtd_runtime::{Machine, number};

use crate::call::Fault;

/// The instance and the cores.
pub(crate) fn machine() -> Result<Machine, Fault> {
    let source = read("NEURON_SOURCE").unwrap_or_else(|| "kernel".to_owned());
    let spec = source.parse::<Spec>().map_err(Fault::invalid)?;
    let Spec::Sim(spec) = spec else {
        let text = format!(
            "NEURON_SOURCE={source}: this library serves simulated instances only; set \
             NEURON_SOURCE=sim:trn1.2xlarge, or use libnrt of aws-neuronx-runtime-lib"
        );
        return Err(Fault::new(Status::FAILURE, text));
    };
    Ok(Machine::from_env(spec)?)
}

fn read(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Seconds that an execution may take, read at each load: 30, and 600 but for
/// Inf1.
pub(crate) fn timeout(inf1: bool) -> Result<u32, Fault> {
    let given: Option<u32> = number("NEURON_RT_EXEC_TIMEOUT")?;
    Ok(given.filter(|seconds| *seconds > 0).unwrap_or(if inf1 { 30 } else { 600 }))
}

/// Whether NaN in an output is told; off by default, as in the original.
pub(crate) fn numerical_errors() -> bool {
    read("NEURON_RT_NUMERICAL_ERRORS_VERBOSITY").is_some_and(|text| text == "critical")
}

/// Executions that may be under way when `nrt_execute` does not wait for them;
/// `None` when it does.
pub(crate) fn implicit_async() -> Result<Option<usize>, Fault> {
    let given: Option<usize> = number("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS")?;
    Ok(given.filter(|most| *most > 0))
}
