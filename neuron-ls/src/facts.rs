//! Facts of an inventory as text, the same in every form of output.

use neuron_core::model::{DeviceRow, DeviceState, Origin, ProcessRow};

/// What stands in a table for a value that is not known.
pub(crate) const UNKNOWN: &str = "-";

/// What stands for the runtime version of a process without a runtime.
pub(crate) const NO_RUNTIME: &str = "NA";

/// The processes that are listed: with a runtime, or all; `None` when the
/// device could not be asked.
pub(crate) fn shown(device: &DeviceRow, all: bool) -> Option<Vec<&ProcessRow>> {
    let processes = device.processes.as_ref()?;
    Some(processes.iter().filter(|p| all || p.runtime_version.is_some()).collect())
}

/// Runtime version of a process, `NA` for none.
pub(crate) fn runtime_version(process: &ProcessRow) -> &str {
    process.runtime_version.as_deref().unwrap_or(NO_RUNTIME)
}

/// Where the data came from; `None` for this machine's own driver, about which
/// the original says nothing.
pub(crate) fn unusual_source(origin: &Origin) -> Option<String> {
    match origin {
        Origin::Kernel => None,
        Origin::Root(root) => Some(format!("files below {root}")),
        Origin::Simulated(name) => Some(format!("simulated instance {name}")),
    }
}

/// The same for programs: `kernel` for this machine's own driver.
pub(crate) fn source(origin: &Origin) -> String {
    unusual_source(origin).unwrap_or_else(|| String::from("kernel"))
}

/// Name of a state.
pub(crate) fn state(state: DeviceState) -> &'static str {
    match state {
        DeviceState::Reset => "reset",
        DeviceState::Ready => "ready",
        DeviceState::Invalid => "invalid",
        DeviceState::Unresponsive => "unresponsive",
    }
}

/// Numbers joined by a separator.
pub(crate) fn joined(numbers: &[u32], separator: &str) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    texts.join(separator)
}

/// `0-3` when the numbers follow each other, otherwise a comma list.
pub(crate) fn range_or_list(numbers: &[u32]) -> String {
    let contiguous = numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) if contiguous && first != last => format!("{first}-{last}"),
        _ => joined(numbers, ", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists() {
        assert_eq!(range_or_list(&[]), "");
        assert_eq!(range_or_list(&[4]), "4");
        assert_eq!(range_or_list(&[4, 5]), "4-5");
        assert_eq!(range_or_list(&[0, 1, 2, 3]), "0-3");
        assert_eq!(range_or_list(&[0, 2, 3]), "0, 2, 3");
        assert_eq!(range_or_list(&[u32::MAX, 0]), "4294967295, 0");
    }
}
