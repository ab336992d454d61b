//! Reading a machine: captured trees, containers, and everything that refuses,
//! garbles or hangs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::doubles::{Fate, Moody, Spoilt};
use common::fixture;
use neuron_core::driver::{Deadlines, Files, HostFiles, Machine, Nodes, RecordedNodes, Setting};
use neuron_core::instance::{Arch, Chip, Identity, InstanceType};
use neuron_core::model::Inventory;
use neuron_core::sample::{DeviceState, Sample, Wanted};
use neuron_core::sim::{Places, Sim, View};
use neuron_core::source::{Spec, open};

const PROCESSES: Wanted =
    Wanted { processes: true, datastores: false, counters: false, firmware: false };
const EVERYTHING: Wanted =
    Wanted { processes: true, datastores: true, counters: true, firmware: true };

const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const EIO: i32 = 5;
const EINVAL: i32 = 22;

fn view(dir: &tempfile::TempDir, kind: &str) -> (Sim, View) {
    let kind = InstanceType::find(kind).unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let view = View::now(&sim).unwrap();
    (sim, view)
}

fn read(files: impl Files + 'static, nodes: impl Nodes + 'static, wanted: Wanted) -> Sample {
    let deadlines =
        Deadlines { attach: Duration::from_millis(300), firmware: Duration::from_millis(300) };
    let setting = Setting { deadlines, ..Setting::default() };
    Machine::new(Arc::new(files), Arc::new(nodes), setting)
        .sample(wanted, &Identity::default())
        .unwrap()
}

fn problems(sample: &Sample) -> String {
    let lines: Vec<String> =
        sample.problems.iter().map(|p| format!("{:?}: {}", p.device, p.text)).collect();
    for line in &lines {
        assert!(!line.contains('\n'), "{line:?}");
    }
    lines.join("\n")
}

/// What a view says: one line for devices with the same problem.
fn told(sample: &Sample) -> Vec<String> {
    Inventory::of(sample).problems.into_iter().map(|problem| problem.text).collect()
}

const TREE: &str = "sys/devices/virtual/neuron_device";

/// Fields of `ioctl.txt` for one node: what follows `name=` below a request.
fn recorded_field(recording: &str, node: usize, field: &str) -> String {
    let path = fixture(&format!("2.24.7.0-{recording}/ioctl.txt"));
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split("\n== ").find(|s| {
        s.trim_start_matches("== ").starts_with(&format!("/dev/neuron{node} O_RDWR"))
            || s.contains(&format!("\n== /dev/neuron{node} O_RDWR"))
    });
    let section = section.unwrap();
    let at = section.find(&format!(" {field}=")).unwrap_or_else(|| panic!("{node} {field}"));
    section[at + field.len() + 2..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn captured_trees_read_as_recorded() {
    for (name, chip, cores) in [
        ("inf1-4", Chip::Inferentia, 4),
        ("trn1-16", Chip::Trainium1, 2),
        ("trn2-16", Chip::Trainium2, 8),
    ] {
        let root = neuron_tests::unpack_tree(name);
        let spec: Spec = format!("kernel:{}", root.display()).parse().unwrap();
        let sample = open(&spec).unwrap().sample(EVERYTHING).unwrap();
        assert_eq!(problems(&sample), "", "{name}");
        assert_eq!(sample.host.driver_version.as_deref(), Some("2.24.7.0"));
        let count: usize = name.split('-').next_back().unwrap().parse().unwrap();
        assert_eq!(sample.devices.len(), count);
        for (node, device) in sample.devices.iter().enumerate() {
            assert_eq!((device.index, device.host_index), (node as u32, node as u32));
            assert_eq!((device.chip, device.core_count), (Some(chip), Some(cores)));
            assert_eq!(device.arch, Some(chip.arch()));
            assert_eq!(device.state, Some(DeviceState::Ready));
            let bdf = recorded_field(name, node, "bdf");
            assert_eq!(device.bdf.unwrap().short(), bdf, "{name} {node}");
            let connected: Vec<String> =
                device.connected.as_ref().unwrap().iter().map(u32::to_string).collect();
            assert_eq!(
                format!("[{}]", connected.join(",")),
                recorded_field(name, node, "connected")
            );
            assert_eq!(device.numa_node, Some(-1));
            assert_eq!(device.cpu_affinity.as_deref(), Some("0-1"));
            assert_eq!(device.processes.as_deref(), Some(&[][..]));
            assert_eq!(device.cores.len(), cores as usize);
            assert_eq!(device.cores[0].host_memory.unwrap().total, Some(4_530_176));
            // 24 status leaves and 6 of other_info (driver.md §6.8).
            assert_eq!(device.cores[0].counters.len(), 30);
            assert_eq!(device.host_memory.as_ref().unwrap().len(), 8);
            let modern = chip.arch() != Arch::V1;
            assert_eq!(device.serial_number.is_some(), modern);
            assert_eq!(device.hardware.is_some(), modern);
            assert_eq!(device.cores[0].tensor_engine.len(), if modern { 4 } else { 0 });
            assert!(device.power.is_some());
        }
    }
}

/// The overlays repeat what `ioctl.txt` says of each node.
#[test]
fn overlays_hold_what_was_recorded() {
    for name in ["inf1-4", "trn1-16", "trn2-16"] {
        let nodes = RecordedNodes::open(&fixture(&format!("overlays/{name}"))).unwrap().unwrap();
        let count: usize = name.split('-').next_back().unwrap().parse().unwrap();
        for node in 0..count {
            let free = nodes.open_free(node as u32).unwrap();
            assert_eq!(free.bdf(0).unwrap().short(), recorded_field(name, node, "bdf"));
        }
    }
}

#[test]
fn a_captured_tree_without_answers_says_what_is_unknown() {
    let root = tempfile::tempdir().unwrap();
    neuron_tests::unpack_tree_into("trn1-16", root.path()).unwrap();
    std::fs::remove_file(root.path().join("ioctl.json")).unwrap();
    std::fs::remove_file(root.path().join("sys/module/neuron/refcnt")).unwrap();
    let spec: Spec = format!("kernel:{}", root.path().display()).parse().unwrap();
    let sample = open(&spec).unwrap().sample(PROCESSES).unwrap();
    assert_eq!(sample.devices.len(), 16);
    assert!(sample.devices.iter().all(|d| d.bdf.is_none() && d.processes.is_none()));
    let told = told(&sample);
    assert!(told.len() <= 2, "{told:?}");
    for line in &told {
        assert!(line.starts_with("16 devices (neuron0 to neuron15): "), "{told:?}");
        assert!(line.contains("no recorded answers"), "{told:?}");
    }
}

/// Driver up to 2.26 without root: the two leaves are 0400, and so is `reset`.
#[test]
fn leaves_that_only_root_reads_come_from_the_drivers_table() {
    for (kind, first) in [
        ("trn1.32xlarge", vec![12, 3, 4, 1]),
        ("trn2.48xlarge", vec![12, 1, 3, 4]),
        ("inf2.48xlarge", vec![11, 1]),
        ("trn1.2xlarge", vec![]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (_sim, view) = view(&dir, kind);
        let count = view.state().devices.len();
        let mut files = Spoilt::new(view.clone(), &[]);
        for n in 0..count {
            for leaf in ["core_count", "connected_devices", "reset"] {
                files.fates.insert(format!("{TREE}/neuron{n}/{leaf}"), Fate::Errno(EACCES));
            }
        }
        let sample = read(files, view.clone(), PROCESSES);
        assert_eq!(problems(&sample), "", "{kind}");
        assert_eq!(sample.devices[0].connected.as_ref(), Some(&first), "{kind}");
        let chip = InstanceType::find(kind).unwrap().chip;
        assert_eq!(sample.devices[0].core_count, Some(chip.core_count()));
        assert_eq!(sample.devices[0].state, None);
    }
}

/// On Inferentia the links are firmware's, so the device is asked.
#[test]
fn links_of_inferentia_are_asked_when_sysfs_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "inf1.6xlarge");
    let mut files =
        Spoilt::new(view.clone(), &[("sys/module/neuron/refcnt", Fate::Holds(b"1\n".into()))]);
    for n in 0..4 {
        files.fates.insert(format!("{TREE}/neuron{n}/connected_devices"), Fate::Errno(EACCES));
    }
    let sample = read(files, view, PROCESSES);
    assert_eq!(sample.devices[1].connected, Some(vec![2, 0]));
    assert_eq!(problems(&sample), "");
}

#[test]
fn nobody_attached_means_that_nothing_is_attached_to() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn2.48xlarge");
    let nodes = Arc::new(Moody::new(view.clone()));
    let mut machine = Machine::new(Arc::new(view), nodes.clone(), Setting::default());
    let sample = machine.sample(PROCESSES, &Identity::default()).unwrap();
    assert!(sample.devices.iter().all(|d| d.processes.as_deref() == Some(&[])));
    assert_eq!(nodes.attaches.load(Ordering::Relaxed), 0);
}

/// The number of opens and requests per device is bounded.
#[test]
fn opens_and_requests_are_few() {
    let dir = tempfile::tempdir().unwrap();
    let (sim, _) = view(&dir, "trn2.48xlarge");
    let processes: Vec<_> = (0..16).map(|n| sim.attach(n).unwrap()).collect();
    let stores: Vec<_> = processes.iter().map(|p| p.datastore().unwrap()).collect();
    let view = View::now(&sim).unwrap();
    let files = Arc::new(Spoilt::new(view.clone(), &[]));
    let nodes = Arc::new(Moody::new(view));
    let mut machine = Machine::new(files.clone(), nodes.clone(), Setting::default());
    let sample = machine.sample(PROCESSES, &Identity::default()).unwrap();
    assert_eq!(sample.devices.len(), 16);
    assert!(sample.devices.iter().all(|d| d.processes.as_ref().unwrap().len() == 1));
    let opened = files.opened.lock().unwrap().len();
    // Per device: core_count, connected_devices, reset, numa_node,
    // local_cpulist. Per host: two lists, refcnt, version, one product name,
    // one command line (the same process everywhere).
    assert!(opened <= 16 * 5 + 6, "{opened}: {:?}", files.opened.lock().unwrap());
    assert_eq!(nodes.free_opens.load(Ordering::Relaxed), 1, "one node answers for all");
    assert_eq!(nodes.attaches.load(Ordering::Relaxed), 16);
    // Per device: the PCI address, the processes, one datastore.
    assert_eq!(nodes.requests.load(Ordering::Relaxed), 16 * 3);
    drop(stores);
}

#[test]
fn a_device_that_hangs_is_in_reset_and_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let reset = format!("{TREE}/neuron3/reset");
    let files = Spoilt::new(
        view.clone(),
        &[
            ("sys/module/neuron/refcnt", Fate::Holds(b"2\n".into())),
            (reset.as_str(), Fate::Errno(EACCES)),
        ],
    );
    let mut nodes = Moody::new(view);
    nodes.hangs.insert(3, Duration::from_secs(20));
    let begin = Instant::now();
    let sample = read(files, nodes, PROCESSES);
    assert!(begin.elapsed() < Duration::from_secs(10), "the tool hung with the device");
    assert_eq!(sample.devices[3].state, Some(DeviceState::Reset));
    assert_eq!(sample.devices[3].processes, None);
    let others = sample.devices.iter().filter(|d| d.index != 3);
    assert!(others.clone().count() == 15 && others.clone().all(|d| d.processes.is_some()));
    assert!(problems(&sample).contains("Some(3): did not open within"), "{}", problems(&sample));
}

/// A late answer is used by the next reading, and a device that still hangs is
/// not asked twice.
#[test]
fn a_hanging_device_is_asked_once() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.2xlarge");
    let files =
        Spoilt::new(view.clone(), &[("sys/module/neuron/refcnt", Fate::Holds(b"2\n".into()))]);
    let mut nodes = Moody::new(view);
    nodes.hangs.insert(0, Duration::from_millis(700));
    nodes.also = vec![1];
    let nodes = Arc::new(nodes);
    let deadlines = Deadlines { attach: Duration::from_millis(50), ..Deadlines::default() };
    let setting = Setting { deadlines, ..Setting::default() };
    let mut machine = Machine::new(Arc::new(files), nodes.clone(), setting);
    let mut sample = || machine.sample(PROCESSES, &Identity::default()).unwrap();
    assert_eq!(sample().devices[0].processes, None);
    assert_eq!(sample().devices[0].processes, None);
    assert_eq!(nodes.attaches.load(Ordering::Relaxed), 1);
    std::thread::sleep(Duration::from_millis(900));
    assert!(sample().devices[0].processes.is_some());
    assert!(sample().devices[0].processes.is_some());
    assert_eq!(nodes.attaches.load(Ordering::Relaxed), 1, "an attached device stays attached");
}

#[test]
fn states_that_forbid_attaching_are_respected() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let files = Spoilt::new(
        view.clone(),
        &[
            ("sys/module/neuron/refcnt", Fate::Holds(b"1\n".into())),
            (&format!("{TREE}/neuron1/reset"), Fate::Holds(b"0\n".into())),
            (&format!("{TREE}/neuron2/reset"), Fate::Holds(b"2\n".into())),
        ],
    );
    let nodes = Arc::new(Moody::new(view));
    let mut machine = Machine::new(Arc::new(files), nodes.clone(), Setting::default());
    let sample = machine.sample(PROCESSES, &Identity::default()).unwrap();
    assert_eq!(nodes.attaches.load(Ordering::Relaxed), 14);
    assert_eq!(sample.devices[1].state, Some(DeviceState::Reset));
    assert_eq!(sample.devices[2].state, Some(DeviceState::Invalid));
    let said = problems(&sample);
    assert!(said.contains("Some(1): is in reset") && said.contains("Some(2): failed"), "{said}");
}

#[test]
fn refusals_are_one_line_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let files =
        Spoilt::new(view.clone(), &[("sys/module/neuron/refcnt", Fate::Holds(b"1\n".into()))]);
    let mut nodes = Moody::new(view);
    nodes.refuses = (0..16).map(|n| (n, EACCES)).collect();
    nodes.refuses.insert(4, EBUSY);
    nodes.refuses.insert(5, EINVAL);
    let sample = read(files, nodes, PROCESSES);
    assert_eq!(sample.devices.len(), 16);
    let told = told(&sample);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("14 devices (neuron0 to neuron15)"), "{told:?}");
    assert!(told[0].contains("udev"), "{told:?}");
    assert!(told[1].starts_with("neuron4: ") && told[1].contains("16 processes"), "{told:?}");
    assert!(told[2].starts_with("neuron5: ") && told[2].contains("EINVAL"), "{told:?}");
}

#[test]
fn garbled_leaves_are_named_and_hide_nothing_else() {
    let leaf = |n: u32, name: &str| format!("{TREE}/neuron{n}/{name}");
    let spoilt: Vec<(String, Fate)> = vec![
        (leaf(0, "core_count"), Fate::Holds(b"many".into())),
        (leaf(1, "core_count"), Fate::Holds(b"1000000".into())),
        (leaf(2, "connected_devices"), Fate::Holds(b"1, x\n".into())),
        (leaf(3, "reset"), Fate::Holds(b"7\n".into())),
        (leaf(4, "core_count"), Fate::Holds(vec![0xff, 0xfe])),
        (leaf(5, "connected_devices"), Fate::Errno(EIO)),
        (String::from("sys/bus/pci/devices/0000:90:1b.0/numa_node"), Fate::Holds(b"x\n".into())),
        (leaf(7, "neuron_core0/stats/status/success/total"), Fate::Holds(b"-1\n".into())),
        (leaf(8, "stats/power/utilization"), Fate::Holds(b"POWER_STATUS_ODD,1\n".into())),
    ];
    let spoilt: Vec<(&str, Fate)> = spoilt.iter().map(|(p, f)| (p.as_str(), f.clone())).collect();
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let sample = read(Spoilt::new(view.clone(), &spoilt), view, EVERYTHING);
    let said = problems(&sample);
    assert_eq!(sample.problems.len(), spoilt.len(), "{said}");
    for (path, _) in &spoilt {
        assert!(said.contains(path), "{path} is not named in:\n{said}");
    }
    assert_eq!(sample.devices.len(), 16);
    assert_eq!(sample.devices[0].core_count, Some(2), "the generation's table");
    assert_eq!(sample.devices[15].core_count, Some(2));
}

#[test]
fn an_unknown_generation_is_said_and_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let mut files = Spoilt::new(view.clone(), &[]);
    for n in 0..16 {
        let path = format!("{TREE}/neuron{n}/info/architecture/instance_type");
        files.fates.insert(path, Fate::Holds(b"Trn9\n".into()));
    }
    let mut nodes = Moody::new(view);
    nodes.refuses = (0..16).map(|n| (n, EACCES)).collect();
    let sample = read(files, nodes, Wanted::default());
    assert!(problems(&sample).contains("\"Trn9\""), "{}", problems(&sample));
    assert_eq!(sample.problems.len(), 1, "{}", problems(&sample));
    assert_eq!(sample.devices[0].core_count, Some(2), "sysfs still tells");
}

/// A driver before 2.8, or a container without sysfs: the generation by
/// request, the product by PCI id.
#[test]
fn without_sysfs_the_nodes_tell_the_generation() {
    for (kind, chip) in [("inf2.48xlarge", Chip::Inferentia2), ("trn1.32xlarge", Chip::Trainium1)] {
        let dir = tempfile::tempdir().unwrap();
        let (_sim, view) = view(&dir, kind);
        let files = Spoilt::new(
            view.clone(),
            &[(TREE, Fate::Errno(2)), ("sys/module/neuron/refcnt", Fate::Errno(2))],
        );
        let mut files = files;
        for n in 0..16 {
            for leaf in
                ["info/architecture/instance_type", "core_count", "connected_devices", "reset"]
            {
                files.fates.insert(format!("{TREE}/neuron{n}/{leaf}"), Fate::Errno(2));
            }
        }
        let sample = read(files, view, PROCESSES);
        assert_eq!(sample.devices[0].chip, Some(chip), "{kind}");
        assert_eq!(sample.devices[0].core_count, Some(2));
        let links = InstanceType::find(kind).unwrap().connected(0);
        assert_eq!(sample.devices[0].connected, Some(links), "asked of the device");
        assert_eq!(problems(&sample), "");
    }
}

#[test]
fn silent_firmware_is_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let path = format!("{TREE}/neuron6/stats/hardware/mem_ecc_uncorrected");
    let files = Spoilt::new(view.clone(), &[(&path, Fate::Hangs(Duration::from_secs(20)))]);
    let begin = Instant::now();
    let sample = read(files, view, Wanted { firmware: true, ..Wanted::default() });
    assert!(begin.elapsed() < Duration::from_secs(10), "the tool hung with the firmware");
    assert_eq!(sample.devices[6].hardware, None);
    assert_eq!(sample.devices.iter().filter(|d| d.hardware.is_some()).count(), 15);
    assert!(
        problems(&sample).contains("Some(6): firmware did not answer"),
        "{}",
        problems(&sample)
    );
}

/// Mounts as a container and as a host has them (`/proc/PID/mountinfo`).
const CONTAINER: &[u8] = b"610 609 0:26 / / rw - overlay overlay rw
611 610 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw
612 610 0:60 / /dev rw,nosuid shared:1 - tmpfs tmpfs rw,size=65536k
613 612 0:61 / /dev/pts rw - devpts devpts rw
";
const HOST: &[u8] = b"22 1 259:1 / / rw shared:1 - ext4 /dev/root rw
24 27 0:6 / /dev rw,nosuid shared:2 - devtmpfs devtmpfs rw,mode=755
25 24 0:25 / /dev/shm rw - tmpfs tmpfs rw
";

/// On a host a missing node is said, and nothing is renumbered.
#[test]
fn missing_nodes_of_a_host_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    for missing in [vec![5], vec![0], vec![0, 15]] {
        let present = (0..16).filter(|n| !missing.contains(n));
        let names: Vec<String> = present.clone().map(|n| format!("neuron{n}")).collect();
        let mut files = Spoilt::new(
            view.clone(),
            &[
                ("dev", Fate::Holds(names.join(" ").into())),
                ("proc/self/mountinfo", Fate::Holds(HOST.into())),
            ],
        );
        let sample = read(files, view.clone(), Wanted::default());
        let indices: Vec<_> = sample.devices.iter().map(|d| (d.index, d.host_index)).collect();
        assert_eq!(indices, present.map(|n| (n, n)).collect::<Vec<_>>());
        let told = told(&sample);
        assert_eq!(told.len(), missing.len(), "{told:?}");
        for (line, n) in told.iter().zip(&missing) {
            assert!(line.starts_with(&format!("neuron{n}: in sysfs but ")), "{line}");
            assert!(line.contains(&format!("/dev/neuron{n} is missing; ")), "{line}");
        }
        // The same in a container is nobody's fault.
        files = Spoilt::new(
            view.clone(),
            &[
                ("dev", Fate::Holds(names.join(" ").into())),
                ("proc/self/mountinfo", Fate::Holds(CONTAINER.into())),
            ],
        );
        let sample = read(files, view.clone(), Wanted::default());
        assert_eq!(problems(&sample), "");
        assert_eq!(sample.devices[0].index, 0);
    }
}

#[test]
fn problems_of_a_container_name_devices_as_its_table_does() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn2.48xlarge");
    let garbled = format!("{TREE}/neuron13/core_count");
    let files = Spoilt::new(
        view.clone(),
        &[
            ("dev", Fate::Holds(b"neuron0".into())),
            ("dev/neuron0", Fate::Holds(b"13".into())),
            ("proc/self/mountinfo", Fate::Holds(CONTAINER.into())),
            (&garbled, Fate::Holds(b"x".into())),
        ],
    );
    let told = told(&read(files, view, Wanted::default()));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("neuron0 (host 13): "), "{told:?}");
}

/// The leaf says ready, the open hangs: the device is in reset.
#[test]
fn a_hanging_open_overrules_the_leaf() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.2xlarge");
    let files =
        Spoilt::new(view.clone(), &[("sys/module/neuron/refcnt", Fate::Holds(b"2\n".into()))]);
    let mut nodes = Moody::new(view);
    nodes.hangs.insert(0, Duration::from_secs(20));
    let sample = read(files, nodes, PROCESSES);
    assert_eq!(sample.devices[0].state, Some(DeviceState::Reset));
}

/// Neither sysfs nor PCI tell trn1 from inf2; what both have is known.
#[test]
fn a_generation_of_two_products_has_cores_and_memory() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let mut files = Spoilt::new(view.clone(), &[]);
    for n in 0..16 {
        for leaf in ["info/architecture/instance_type", "core_count"] {
            files.fates.insert(format!("{TREE}/neuron{n}/{leaf}"), Fate::Errno(2));
        }
    }
    files.fates.insert("sys/bus/pci/devices/0000:10:1c.0/device".into(), Fate::Errno(EACCES));
    let sample = read(files, view, Wanted::default());
    assert_eq!((sample.devices[0].arch, sample.devices[0].chip), (Some(Arch::V2), None));
    let inventory = Inventory::of(&sample);
    let device = &inventory.devices[3];
    assert_eq!((device.core_count, &device.core_ids[..]), (Some(2), &[6, 7][..]));
    assert_eq!(device.memory, Some(Chip::Trainium1.memory()));
    let told = told(&sample);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("product unknown: generation v2"), "{told:?}");
}

/// A driver before 2.9.4 has no request 106; an attached device still tells.
#[test]
fn a_refused_address_is_asked_of_an_attached_device() {
    let dir = tempfile::tempdir().unwrap();
    let (sim, _) = view(&dir, "trn1.2xlarge");
    let _process = sim.attach(0).unwrap();
    let view = View::now(&sim).unwrap();
    let mut nodes = Moody::new(view.clone());
    nodes.refuses_bdf = Some(EINVAL);
    let sample = read(view.clone(), nodes, Wanted::default());
    let said = problems(&sample);
    assert_eq!(sample.devices[0].bdf, None);
    assert!(said.contains("DEVICE_BDF_EXT failed") && !said.contains("has failed"), "{said}");

    let known = sample_bdf(&view);
    let mut nodes = Moody::new(view.clone());
    nodes.refuses_bdf = Some(EINVAL);
    nodes.attached_bdf = Some(known);
    let sample = read(view, nodes, PROCESSES);
    assert_eq!(sample.devices[0].bdf, Some(known));
    assert!(sample.devices[0].cpu_affinity.is_some(), "its place follows");
    assert_eq!(problems(&sample), "");
}

fn sample_bdf(view: &View) -> neuron_core::units::Bdf {
    view.open_free(0).unwrap().bdf(0).unwrap()
}

#[test]
fn what_is_no_file_does_not_hang() {
    let root = tempfile::tempdir().unwrap();
    neuron_tests::unpack_tree_into("inf1-4", root.path()).unwrap();
    let leaf = root.path().join(TREE).join("neuron2/core_count");
    std::fs::remove_file(&leaf).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&leaf).status().unwrap().success());
    let spec: Spec = format!("kernel:{}", root.path().display()).parse().unwrap();
    let sample = open(&spec).unwrap().sample(Wanted::default()).unwrap();
    let said = problems(&sample);
    assert!(said.contains("neuron2/core_count") && said.contains("no regular file"), "{said}");
    assert_eq!(sample.devices[2].core_count, Some(4));
}

#[test]
fn a_wrong_root_is_named() {
    let root = tempfile::tempdir().unwrap();
    let spec: Spec = format!("kernel:{}", root.path().display()).parse().unwrap();
    let text = open(&spec).unwrap().sample(Wanted::default()).unwrap_err().to_string();
    assert!(text.starts_with("no Neuron device below "), "{text}");
    assert!(text.contains(&root.path().display().to_string()), "{text}");
}

/// A pod with host devices 4 to 7 under their own names, and one with device
/// 13 renamed to 0.
#[test]
fn containers_count_from_their_first_device() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn2.48xlarge");
    let named = Spoilt::new(
        view.clone(),
        &[
            ("dev", Fate::Holds(b"null neuron4 neuron5 neuron6 neuron7 ng0n1".into())),
            ("proc/self/mountinfo", Fate::Holds(CONTAINER.into())),
        ],
    );
    let sample = read(named, view.clone(), PROCESSES);
    let indices: Vec<_> = sample.devices.iter().map(|d| (d.index, d.host_index)).collect();
    assert_eq!(indices, [(0, 4), (1, 5), (2, 6), (3, 7)]);
    assert_eq!(sample.devices[0].bdf.unwrap().to_string(), "0000:6f:00.0");
    assert_eq!(
        sample.devices[0].connected,
        Some(vec![8, 5, 7, 0]),
        "host indices, as the driver gives"
    );

    let renamed = Spoilt::new(
        view.clone(),
        &[
            ("dev", Fate::Holds(b"neuron0".into())),
            ("dev/neuron0", Fate::Holds(b"13".into())),
            ("proc/self/mountinfo", Fate::Holds(CONTAINER.into())),
        ],
    );
    let sample = read(renamed, view, Wanted::default());
    assert_eq!(problems(&sample), "");
    assert_eq!((sample.devices[0].index, sample.devices[0].host_index), (0, 13));
    assert_eq!(sample.devices[0].connected, Some(vec![12, 1, 9, 14]));
}

/// On a bare host a device that failed to appear leaves a hole, and the others
/// keep their numbers.
#[test]
fn a_missing_device_does_not_renumber_a_bare_host() {
    let dir = tempfile::tempdir().unwrap();
    let (sim, _) = view(&dir, "trn1.32xlarge");
    sim.inject(0, neuron_core::sim::Fault::Gone).unwrap();
    sim.inject(7, neuron_core::sim::Fault::Gone).unwrap();
    let view = View::now(&sim).unwrap();
    let sample = read(view.clone(), view, PROCESSES);
    let indices: Vec<_> = sample.devices.iter().map(|d| d.index).collect();
    assert_eq!(indices, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(sample.devices[0].bdf.unwrap().to_string(), "0000:10:1d.0");
    assert_eq!(sample.devices[6].bdf.unwrap().to_string(), "0000:20:1d.0");
    assert_eq!(problems(&sample), "");
}

/// A node whose sysfs directory is gone already.
#[test]
fn a_half_removed_device_is_shown_with_what_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let (_sim, view) = view(&dir, "trn1.32xlarge");
    let names: Vec<String> = (0..16).filter(|n| *n != 9).map(|n| format!("neuron{n}")).collect();
    let mut files = Spoilt::new(view.clone(), &[(TREE, Fate::Holds(names.join(" ").into()))]);
    for leaf in ["core_count", "connected_devices", "reset"] {
        files.fates.insert(format!("{TREE}/neuron9/{leaf}"), Fate::Errno(2));
    }
    let sample = read(files, view, PROCESSES);
    assert_eq!(sample.devices.len(), 16);
    assert!(problems(&sample).contains("neuron9"), "{}", problems(&sample));
}

#[test]
fn no_device_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let check = |wanted: &str| {
        let files = Arc::new(HostFiles::open(dir.path()).unwrap());
        let nodes = Arc::new(Moody::new(
            View::now(&view(&tempfile::tempdir().unwrap(), "trn1.2xlarge").0).unwrap(),
        ));
        let mut machine = Machine::new(files, nodes, Setting::default());
        let text = machine.sample(Wanted::default(), &Identity::default()).unwrap_err().to_string();
        assert!(text.contains(wanted) && !text.contains('\n'), "{text}");
    };
    check("not loaded");
    std::fs::create_dir_all(dir.path().join("sys/module/neuron")).unwrap();
    std::fs::write(dir.path().join("sys/module/neuron/version"), "2.24.7.0\n").unwrap();
    check("has no device");
    std::fs::create_dir_all(dir.path().join(TREE).join("neuron0")).unwrap();
    check("device nodes");
}
