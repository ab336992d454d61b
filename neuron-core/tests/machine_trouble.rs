//! Reading a machine on which everything refuses, garbles or hangs.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::doubles::{Fate, Moody, Spoilt};
use common::reading::{
    EACCES, EBUSY, EINVAL, EIO, EVERYTHING, PROCESSES, TREE, problems, read, told, view,
};
use neuron_core::driver::{Deadlines, Machine, Setting};
use neuron_core::instance::Identity;
use neuron_core::sample::{DeviceState, Wanted};
use neuron_core::source::{Spec, open};

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
