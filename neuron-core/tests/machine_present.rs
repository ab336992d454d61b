//! Which devices are there: containers, holes, half-removed devices, none at all.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::doubles::{Fate, Moody, Spoilt};
use common::reading::{PROCESSES, TREE, problems, read, told, view};
use neuron_core::driver::{HostFiles, Machine, Setting};
use neuron_core::instance::Identity;
use neuron_core::sample::Wanted;
use neuron_core::sim::View;
use neuron_core::source::{Spec, open};

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
