//! Reading a machine: captured trees, and how little is asked of a device.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use common::doubles::{Fate, Moody, Spoilt};
use common::fixture;
use common::reading::{EACCES, EINVAL, EVERYTHING, PROCESSES, TREE, problems, read, told, view};
use neuron_core::driver::{Machine, Nodes as _, RecordedNodes, Setting};
use neuron_core::instance::{Arch, Chip, Identity, InstanceType};
use neuron_core::model::Inventory;
use neuron_core::sample::{DeviceState, Wanted};
use neuron_core::sim::View;
use neuron_core::source::{Spec, open};

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
