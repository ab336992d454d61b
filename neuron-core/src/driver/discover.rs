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
    /// Devices of sysfs whose node is missing although this is the host, by
    /// host index.
    pub(crate) missing: Vec<u32>,
}

/// Finds the devices.
///
/// Nodes are what counts: a container sees the whole host in sysfs but can
/// use only the nodes it was given. A node's minor number is its host index,
/// whatever it is called. Inside a container devices are numbered from the
/// first visible one, as the runtime does (driver.md §7.6). Where sysfs has
/// devices without a node, this is either a container, which was not given
/// them, or a host on which they are missing; what `/dev` is tells which.
///
/// `sysfs_will_do` accepts a tree without any node, such as a capture; there
/// it is a container when sysfs starts lower than the nodes do.
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
        let reason = if sysfs_will_do {
            String::from("it has neither sys/devices/virtual/neuron_device nor dev/neuron0")
        } else {
            reason(files, in_sysfs.len())
        };
        return Err(Error::NoDevices(reason));
    };
    let unseen: Vec<u32> =
        in_sysfs.iter().copied().filter(|n| !nodes.iter().any(|(_, host)| host == n)).collect();
    let missing =
        if !sysfs_will_do && !unseen.is_empty() && is_host(files) { unseen } else { Vec::new() };
    let starts_lower = in_sysfs.first().is_none_or(|lowest| *lowest < first);
    let offset = if starts_lower && missing.is_empty() { first } else { 0 };
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
    Ok(Visible { devices, host_count, missing })
}

/// Whether `/dev` is the kernel's own: a container gets a `tmpfs`.
fn is_host(files: &dyn Files) -> bool {
    let Ok(bytes) = files.read("proc/self/mountinfo") else { return false };
    let text = String::from_utf8_lossy(&bytes);
    // `24 27 0:6 / /dev rw - devtmpfs devtmpfs rw`; a later mount covers an
    // earlier one.
    let mut of_dev = text.lines().filter(|line| line.split(' ').nth(4) == Some("/dev"));
    let kind = of_dev.next_back().and_then(|line| line.split_once(" - ")?.1.split(' ').next());
    kind == Some("devtmpfs")
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
