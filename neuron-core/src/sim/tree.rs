//! The tree of files that the driver would show for a state.
//!
//! One function lists a directory; reading a file is finding it in its
//! directory's list and rendering it. Paths, modes and formats are those of
//! driver 2.24.7.0 (driver.md §6), compared leaf by leaf with the recorded
//! trees in a test.

use super::state::{DRIVER_MEMORY, Device, Meter, State, fnv1a};
use crate::instance::{Arch, Chip, InstanceType};
use crate::sample::{CounterValue, DeviceState};
use crate::uapi::nds;

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory, mode 0755.
    Dir,
    /// A link and its target.
    Link(String),
    /// A file: permission bits and content. `None` reads as `EIO`.
    File(u32, Option<String>),
    /// A device node with its minor number.
    Node(u32),
}

/// Major number of the device nodes. The kernel assigns it freely; this is
/// the one of the recordings (our choice).
const MAJOR: u32 = 246;

type List = Vec<(String, Entry)>;

/// Entries of a directory; `None` when there is no such directory.
pub(super) fn list(state: &State, path: &[&str]) -> Option<List> {
    let kind = state.kind()?;
    match path {
        [] => Some(dirs(&["dev", "sys"])),
        ["dev"] => Some(present(state).map(|n| (node(n), Entry::Node(n))).collect()),
        ["sys"] => Some(dirs(&["bus", "class", "devices", "module"])),
        ["sys", "bus"] => Some(dirs(&["pci"])),
        ["sys", "bus", "pci"] => Some(dirs(&["devices"])),
        ["sys", "bus", "pci", "devices"] => Some(
            present(state)
                .filter_map(|n| Some((kind.pci(n)?.bdf.to_string(), Entry::Dir)))
                .collect(),
        ),
        ["sys", "bus", "pci", "devices", bdf] => pci_function(state, kind, bdf),
        ["sys", "class"] => Some(dirs(&["neuron_device"])),
        ["sys", "class", "neuron_device"] => Some(class(state)),
        ["sys", "devices"] => Some(dirs(&["virtual"])),
        ["sys", "devices", "virtual"] => Some(dirs(&["dmi", "neuron_device"])),
        ["sys", "devices", "virtual", "dmi"] => Some(dirs(&["id"])),
        ["sys", "devices", "virtual", "dmi", "id"] => Some(vec![
            file("product_name", 0o444, line(kind.name)),
            file("board_asset_tag", 0o444, line(&state.instance_id)),
            file("sys_vendor", 0o444, line("Amazon EC2")),
            file("bios_vendor", 0o444, line("Amazon EC2")),
        ]),
        ["sys", "devices", "virtual", "neuron_device"] => {
            Some(present(state).map(|n| (node(n), Entry::Dir)).collect())
        }
        ["sys", "devices", "virtual", "neuron_device", name, rest @ ..] => {
            let index = present(state).find(|n| node(*n) == *name)?;
            let device = state.devices.get(usize::try_from(index).ok()?)?;
            in_device(&Shown { state, kind, chip: kind.chip, index, device }, rest)
        }
        ["sys", "module"] => Some(dirs(&["neuron"])),
        ["sys", "module", "neuron"] => Some(vec![
            (String::from("parameters"), Entry::Dir),
            file("version", 0o444, line(super::state::DRIVER_VERSION)),
            file("refcnt", 0o444, line(&opens(state).to_string())),
        ]),
        ["sys", "module", "neuron", "parameters"] => {
            Some(PARAMETERS.iter().map(|(name, value)| file(name, 0o660, line(value))).collect())
        }
        _ => None,
    }
}

/// The entry of a path; `None` when there is none.
pub(super) fn find(state: &State, path: &[&str]) -> Option<Entry> {
    let Some((name, dir)) = path.split_last() else { return Some(Entry::Dir) };
    list(state, dir)?.into_iter().find(|(n, _)| n == name).map(|(_, entry)| entry)
}

/// Module parameters and their defaults (driver.md §1.6).
const PARAMETERS: &[(&str, &str)] = &[
    ("dev_nc_map", "1"),
    ("dup_helper_enable", "1"),
    ("force_die_flip", "0"),
    ("force_userver", "0"),
    ("mempool_host_memory_size", "33554432"),
    ("mempool_min_alloc_size", "4096"),
    ("mempool_small_alloc_max", "524288"),
    ("mempool_small_pool_size", "1073741824"),
    ("nc_per_dev_param", "1"),
    ("nmetric_log_posts", "1"),
    ("nmetric_metric_post_delay", "150000"),
    ("no_reset", "0"),
    ("userver_ctl", "0"),
    ("userver_etimeout", "600"),
    ("wc_enable", "1"),
];

/// Host memory categories of a device (driver.md §6.3).
const HOST_CATEGORIES: &[&str] = &[
    "application_memory",
    "constants",
    "dma_buffers",
    "dma_rings",
    DRIVER_MEMORY,
    "notifications",
    "tensors",
    "uncategorized",
];

/// Device memory categories of a core (driver.md §6.5).
const DEVICE_CATEGORIES: &[&str] = &[
    "collectives",
    "constants",
    "dma_rings",
    DRIVER_MEMORY,
    "model_code",
    "model_shared_scratchpad",
    "nonshared_scratchpad",
    "notifications",
    "runtime_memory",
    "tensors",
    "uncategorized",
];

/// The device that a path is in.
struct Shown<'a> {
    state: &'a State,
    kind: &'static InstanceType,
    chip: Chip,
    index: u32,
    device: &'a Device,
}

fn in_device(at: &Shown<'_>, path: &[&str]) -> Option<List> {
    let modern = at.chip.arch() != Arch::V1;
    match path {
        [] => Some(device_root(at)),
        ["power"] => Some(runtime_power()),
        ["info"] => {
            let mut list = dirs(&["architecture"]);
            list.push(file("notify_delay", 0o644, line("-1")));
            if modern {
                list.push(file("serial_number", 0o644, line(&serial(at))));
            }
            Some(list)
        }
        ["info", "architecture"] => Some(vec![
            file("arch_type", 0o644, line(at.chip.device_arch_text())),
            file("instance_type", 0o644, line(at.chip.family_text())),
            file("device_name", 0o644, line(at.chip.device_name())),
        ]),
        ["stats"] if modern => Some(dirs(&["hardware", "memory_usage", "power"])),
        ["stats"] => Some(dirs(&["memory_usage", "power"])),
        ["stats", "hardware"] if modern => {
            let ecc = at.device.ecc;
            Some(vec![
                file("sram_ecc_uncorrected", 0o644, number(ecc.sram_uncorrected)),
                file("mem_ecc_uncorrected", 0o644, number(ecc.mem_uncorrected)),
                file(
                    "mem_ecc_repairable_uncorrected",
                    0o644,
                    number(ecc.mem_repairable_uncorrected),
                ),
            ])
        }
        ["stats", "power"] => Some(vec![file("utilization", 0o644, power(at.state))]),
        ["stats", "memory_usage"] => Some(dirs(&["host_mem"])),
        ["stats", "memory_usage", "host_mem"] => Some(dirs(HOST_CATEGORIES)),
        ["stats", "memory_usage", "host_mem", leaf] if HOST_CATEGORIES.contains(leaf) => {
            Some(meter(at.device.host_meter(leaf, at.chip)))
        }
        [core, rest @ ..] => {
            let index: u32 = core.strip_prefix("neuron_core")?.parse().ok()?;
            let known = index < at.chip.core_count() && *core == format!("neuron_core{index}");
            known.then(|| in_core(at, index, rest)).flatten()
        }
    }
}

fn device_root(at: &Shown<'_>) -> List {
    let connected: Vec<String> = at.kind.connected(at.index).iter().map(u32::to_string).collect();
    let reset = match at.device.state {
        Some(DeviceState::Reset) => 0,
        None | Some(DeviceState::Ready) => 1,
        Some(DeviceState::Invalid | DeviceState::Unresponsive) => 2,
    };
    let mut list = dirs(&["info", "power", "stats"]);
    list.extend((0..at.chip.core_count()).map(|n| (format!("neuron_core{n}"), Entry::Dir)));
    list.extend([
        file("connected_devices", 0o400, line(&connected.join(", "))),
        file("core_count", 0o400, at.chip.core_count().to_string()),
        file("dev", 0o444, line(&format!("{MAJOR}:{}", at.index))),
        file("reset", 0o600, number(reset)),
        file("uevent", 0o644, format!("MAJOR={MAJOR}\nMINOR={0}\nDEVNAME=neuron{0}\n", at.index)),
        (String::from("subsystem"), Entry::Link(String::from("../../../../class/neuron_device"))),
    ]);
    list
}

fn in_core(at: &Shown<'_>, index: u32, path: &[&str]) -> Option<List> {
    let core = || at.device.core(index);
    let modern = at.chip.arch() != Arch::V1;
    match path {
        [] => Some(dirs(&["info", "stats"])),
        ["info"] => Some(dirs(&["architecture"])),
        ["info", "architecture"] => {
            Some(vec![file("arch_type", 0o644, line(at.chip.core_arch_text()))])
        }
        ["stats"] => {
            let mut list = dirs(&["memory_usage", "other_info", "status"]);
            if modern {
                list.push((String::from("tensor_engine"), Entry::Dir));
            }
            Some(list)
        }
        ["stats", "tensor_engine"] if modern => {
            let rows = (0..4).map(|row| format!("{row},0,0,0\n")).collect::<String>();
            let text = format!("xrow_grp,mm_active,wl_active,idle\n{rows}");
            Some(vec![file("pe_cntrs", 0o644, text)])
        }
        ["stats", "status"] => Some(
            counter_leaves("stats/status/").map(|leaf| (leaf.to_owned(), Entry::Dir)).collect(),
        ),
        ["stats", "other_info"] => {
            let mut list = dirs(&["reset_fail_count", "reset_req_count"]);
            list.extend(
                counter_leaves("stats/other_info/").map(|leaf| (leaf.to_owned(), Entry::Dir)),
            );
            Some(list)
        }
        ["stats", "other_info", "reset_fail_count"] => Some(counted(core().reset_failures)),
        ["stats", "other_info", "reset_req_count"] => Some(counted(core().reset_requests)),
        ["stats", "status" | "other_info", _] => counter(&core(), &path.join("/")).map(counted),
        ["stats", "memory_usage"] => Some(dirs(&["device_mem", "host_mem"])),
        ["stats", "memory_usage", "host_mem"] => Some(meter(core().host_memory)),
        ["stats", "memory_usage", "device_mem"] => {
            let mut list = meter(core().device_memory);
            list.extend(dirs(DEVICE_CATEGORIES));
            Some(list)
        }
        ["stats", "memory_usage", "device_mem", leaf] if DEVICE_CATEGORIES.contains(leaf) => {
            Some(meter(core().device_memory_by.get(*leaf).copied().unwrap_or_default()))
        }
        _ => None,
    }
}

/// Names of the counter directories in a directory of a core.
fn counter_leaves(dir: &'static str) -> impl Iterator<Item = &'static str> {
    nds::CORE_COUNTERS.iter().filter_map(move |c| c.sysfs_leaf?.strip_prefix(dir))
}

/// The totals of the counter that moves a leaf.
fn counter(core: &super::state::Core, leaf: &str) -> Option<CounterValue> {
    let counter = nds::CORE_COUNTERS.iter().find(|c| c.sysfs_leaf == Some(leaf))?;
    let value = core.counters.get(&counter.id).copied().unwrap_or_default();
    Some(CounterValue {
        total: value.total.wrapping_mul(counter.leaf_factor),
        present: value.present.wrapping_mul(counter.leaf_factor),
    })
}

/// Generic runtime power management files of the kernel, as it writes them
/// for a device without any.
fn runtime_power() -> List {
    let mut list = vec![
        file("async", 0o644, line("disabled")),
        (String::from("autosuspend_delay_ms"), Entry::File(0o644, None)),
        file("control", 0o644, line("auto")),
        file("runtime_enabled", 0o444, line("disabled")),
        file("runtime_status", 0o444, line("unsupported")),
    ];
    for zero in
        ["runtime_active_kids", "runtime_active_time", "runtime_suspended_time", "runtime_usage"]
    {
        list.push(file(zero, 0o444, line("0")));
    }
    list
}

fn class(state: &State) -> List {
    let mut list: List = present(state)
        .map(|n| (node(n), Entry::Link(format!("../../devices/virtual/neuron_device/{}", node(n)))))
        .collect();
    list.extend([
        file("node_id_2", 0o444, line("-1")),
        file("node_id_4", 0o444, line("-1")),
        file("server_id_2", 0o444, line("0000000000000000")),
        file("server_id_4", 0o444, line("0000000000000000")),
        file("ultraserver_mode", 0o444, line("")),
    ]);
    list
}

fn pci_function(state: &State, kind: &InstanceType, bdf: &str) -> Option<List> {
    let pci = present(state).filter_map(|n| kind.pci(n)).find(|p| p.bdf.to_string() == bdf)?;
    let id = format!("0x{:04x}", kind.chip.pci_device());
    Some(vec![
        file("class", 0o444, line("0x088000")),
        file("device", 0o444, line(&id)),
        file("local_cpulist", 0o444, line(pci.cpu_affinity)),
        file("numa_node", 0o644, line(&pci.numa_node.to_string())),
        file("revision", 0o444, line("0x01")),
        file("subsystem_device", 0o444, line(&id)),
        file("subsystem_vendor", 0o444, line("0x1d0f")),
        file("vendor", 0o444, line("0x1d0f")),
    ])
}

/// What the driver prints until it has a minute of samples; no power is
/// simulated, so it stays so (FINDINGS 16).
fn power(state: &State) -> String {
    format!("POWER_STATUS_NO_DATA,{},0.00,0.00,0.00\n", state.created)
}

/// A serial number made from the instance's name (our choice).
fn serial(at: &Shown<'_>) -> String {
    format!("{:016x}", fnv1a(format!("{}/{}", at.state.name, at.index).as_bytes()))
}

/// Opens of all processes, the driver module's reference count.
fn opens(state: &State) -> u64 {
    let processes = state.devices.iter().flat_map(|d| &d.processes);
    processes.fold(0, |sum, process| sum.saturating_add(u64::from(process.opens)))
}

/// Indices of the devices that are not gone.
fn present(state: &State) -> impl Iterator<Item = u32> {
    (0..).zip(&state.devices).filter(|(_, device)| !device.gone).map(|(index, _)| index)
}

fn node(index: u32) -> String {
    format!("neuron{index}")
}

fn meter(meter: Meter) -> List {
    vec![
        file("peak", 0o644, number(meter.peak)),
        file("present", 0o644, number(meter.present)),
        file("total", 0o644, number(meter.total)),
    ]
}

fn counted(value: CounterValue) -> List {
    vec![file("present", 0o644, number(value.present)), file("total", 0o644, number(value.total))]
}

fn dirs(names: &[&str]) -> List {
    names.iter().map(|name| ((*name).to_owned(), Entry::Dir)).collect()
}

fn file(name: &str, mode: u32, content: String) -> (String, Entry) {
    (name.to_owned(), Entry::File(mode, Some(content)))
}

fn line(text: &str) -> String {
    format!("{text}\n")
}

fn number(value: u64) -> String {
    format!("{value}\n")
}
