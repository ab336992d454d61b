//! The simulated sysfs tree against the recorded ones, leaf by leaf: path,
//! mode, kind and content, idle and while a process works and after it ended.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{assert_same, recorded, simulated};
use neuron_core::instance::InstanceType;
use neuron_core::sim::{Attachment, Places, Sim, View};
use neuron_core::uapi::nds::core_counter as id;

/// Leaves whose values the virtual machine made up.
const INVENTED: &[&str] = &["info/serial_number", "stats/power/utilization"];
/// As above, with the link partners of the recorded inf1.
const INVENTED_INF1: &[&str] = &["connected_devices", "stats/power/utilization"];

const RECORDINGS: &[(&str, &str, &[&str])] = &[
    ("2.24.7.0-inf1-4", "inf1.6xlarge", INVENTED_INF1),
    ("2.24.7.0-trn1-16", "trn1.32xlarge", INVENTED),
    ("2.24.7.0-trn2-16", "trn2.48xlarge", INVENTED),
];

fn instance(dir: &tempfile::TempDir, kind: &str) -> Sim {
    let kind = InstanceType::find(kind).unwrap();
    Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap()
}

/// The work of the recorded process (INDEX.txt).
fn work(sim: &Sim) -> Attachment {
    let process = sim.attach(0).unwrap();
    let store = process.datastore().unwrap();
    for (core, counter, value) in [
        (0, id::COMPLETED, 1000),
        (0, id::TIMED_OUT, 3),
        (0, id::ERROR_GENERIC, 5),
        (0, id::FAILURE, 6),
        (0, id::MODEL_LOAD_COUNT, 2),
        (0, id::INFERENCE_COUNT, 1010),
        (0, id::MAC_COUNT, 123_456),
        (0, id::TIME_IN_USE, 777_000),
        (0, id::HW_HBM_UE_ERROR, 4),
        (1, id::COMPLETED, 2000),
    ] {
        store.set_core(core, counter, value).unwrap();
    }
    for (size, host, core, category) in [
        (1 << 20, false, 0, 9),
        (3 << 20, false, 0, 9),
        (64 << 10, false, 0, 8),
        (1 << 20, true, 0, 2),
        (4 << 10, true, 0, 1),
        (8 << 10, false, 1, 7),
    ] {
        process.allocate(size, host, core, category).unwrap();
    }
    process
}

#[test]
fn idle_busy_and_ended_are_as_recorded() {
    for (recording, kind, invented) in RECORDINGS {
        let dir = tempfile::tempdir().unwrap();
        let sim = instance(&dir, kind);
        let check = |moment: &str| {
            let wanted = recorded(&format!("{recording}/sysfs-{moment}.txt"));
            let got = simulated(&View::now(&sim).unwrap(), 0);
            assert_same(&got, &wanted, invented, &format!("{kind} {moment}"));
        };
        check("idle");
        let process = work(&sim);
        check("process-alive");
        drop(process);
        check("after-kill");
    }
}

/// Connected devices, device numbers and names of every device in the
/// captured trees.
#[test]
fn every_device_is_as_captured() {
    for (tree, kind) in [("trn1-16", "trn1.32xlarge"), ("trn2-16", "trn2.48xlarge")] {
        let dir = tempfile::tempdir().unwrap();
        let view = View::now(&instance(&dir, kind)).unwrap();
        let packed = std::fs::File::open(common::fixture(&format!("trees/{tree}.tar.gz"))).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
        let mut compared = 0;
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().trim_start_matches("./").to_owned();
            let path = path.trim_end_matches('/');
            // PCI addresses differ from host to host.
            if path.is_empty() || path.starts_with("sys/bus/pci/devices/") {
                continue;
            }
            let found = view.entry(path).unwrap_or_else(|_| panic!("{kind} has no {path}"));
            let invented = INVENTED.iter().any(|leaf| path.ends_with(leaf));
            if entry.header().entry_type().is_file() && !path.starts_with("dev/") && !invented {
                let mut text = String::new();
                std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
                let neuron_core::sim::Entry::File(_, content) = found else {
                    panic!("{path}: {found:?}")
                };
                assert_eq!(content.unwrap_or_default(), text, "{kind} {path}");
                compared += 1;
            }
        }
        assert!(compared > 3000, "{compared}");
    }
}
