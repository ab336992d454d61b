//! Which devices this process sees, and by which numbers.

use std::collections::BTreeSet;

use super::files::Files;
use super::leaf::DEVICES;
use crate::{Error, Result};

/// A visible device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// `N` of `/dev/neuronN`.
    pub(crate) node: u32,
    /// Index on the host.
    pub(crate) host: u32,
    /// Index for this process.
    pub(crate) index: u32,
    /// Whether sysfs has its directory.
    pub(crate) in_sysfs: bool,
}

/// The visible devices, ascending, and how many the host has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visible {
    pub(crate) devices: Vec<Found>,
    /// Devices in sysfs, which shows all of the host even in a container.
    pub(crate) host_count: Option<u32>,
}

/// Finds the devices.
///
/// Nodes are what counts: a container sees the whole host in sysfs but can
/// use only the nodes it was given. A node's minor number is its host index,
/// whatever it is called. Inside a container devices are numbered from the
/// first visible one, as the runtime does; that it is a container shows by
/// sysfs starting lower than the nodes do (driver.md §7.6).
///
/// `sysfs_will_do` accepts a tree without any node, such as a capture.
///
/// # Errors
///
/// [`Error::NoDevices`].
pub(crate) fn discover(files: &dyn Files, sysfs_will_do: bool) -> Result<Visible> {
    let in_sysfs = numbers(files, DEVICES);
    let mut nodes: Vec<(u32, u32)> = numbers(files, "dev")
        .into_iter()
        .map(|node| {
            let minor = files.minor(&format!("dev/neuron{node}")).ok().flatten();
            (node, minor.unwrap_or(node))
        })
        .collect();
    if nodes.is_empty() && sysfs_will_do {
        nodes = in_sysfs.iter().map(|n| (*n, *n)).collect();
    }
    let Some(first) = nodes.iter().map(|(_, host)| *host).min() else {
        return Err(Error::NoDevices(reason(files, in_sysfs.len())));
    };
    let starts_lower = in_sysfs.first().is_none_or(|lowest| *lowest < first);
    let offset = if starts_lower { first } else { 0 };
    let mut devices: Vec<Found> = nodes
        .into_iter()
        .map(|(node, host)| Found {
            node,
            host,
            index: host - offset,
            in_sysfs: in_sysfs.contains(&host),
        })
        .collect();
    devices.sort_by_key(|found| found.index);
    let host_count = u32::try_from(in_sysfs.len()).ok().filter(|n| *n > 0);
    Ok(Visible { devices, host_count })
}

/// Numbers of the entries called `neuronN` in a directory.
fn numbers(files: &dyn Files, directory: &str) -> BTreeSet<u32> {
    let names = files.list(directory).unwrap_or_default();
    names
        .iter()
        .filter_map(|name| {
            let digits = name.strip_prefix("neuron")?;
            let plain = digits.bytes().all(|b| b.is_ascii_digit()) && digits.len() <= 4;
            plain.then(|| digits.parse().ok()).flatten()
        })
        .collect()
}

fn reason(files: &dyn Files, in_sysfs: usize) -> String {
    if in_sysfs > 0 {
        return format!(
            "the host has {in_sysfs} Neuron device(s) but no node {} is here; \
             pass the device nodes into this container",
            files.display("dev/neuron0").display()
        );
    }
    if files.read("sys/module/neuron/version").is_ok() {
        return String::from("the neuron driver is loaded but has no device");
    }
    String::from("the neuron driver is not loaded")
}
