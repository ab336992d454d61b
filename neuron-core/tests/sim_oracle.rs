//! Every counter and every memory category of a simulated instance against
//! the counter oracle recorded from the driver.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;

use common::{fixture, simulated};
use neuron_core::instance::InstanceType;
use neuron_core::sim::{Places, Sim, View};

/// Numeric leaves of one moment of the oracle, zero leaves left out.
type Numbers = BTreeMap<String, u64>;

fn oracle(moment: &str) -> Numbers {
    let file = fixture("behaviour/counter-oracle-2.24.7.0-trn1.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let prefix = format!("{moment} ");
    let numbers: Numbers = text
        .lines()
        .filter_map(|line| line.strip_prefix(&prefix)?.split_once('='))
        .filter(|(path, _)| !LEFT_OUT.contains(path))
        .filter_map(|(path, value)| Some((path.to_owned(), value.parse().ok()?)))
        .collect();
    assert!(!numbers.is_empty(), "no {moment} in the oracle");
    numbers
}

/// Not counters.
const LEFT_OUT: &[&str] = &["info/notify_delay", "reset", "core_count"];

fn numbers(sim: &Sim) -> Numbers {
    simulated(&View::now(sim).unwrap(), 0)
        .into_iter()
        .filter(|(path, _)| path.contains("stats/") && !LEFT_OUT.contains(&path.as_str()))
        .filter_map(|(path, leaf)| Some((path, leaf.content?.trim().parse().ok()?)))
        .filter(|(_, value)| *value != 0)
        .collect()
}

#[track_caller]
fn check(sim: &Sim, moment: &str) {
    let (got, wanted) = (numbers(sim), oracle(moment));
    for path in got.keys().chain(wanted.keys()) {
        assert_eq!(got.get(path), wanted.get(path), "{moment} {path}");
    }
}

/// Allocations of one section: type, host flag, core, size and whether it
/// succeeded.
fn allocations(section: &str) -> Vec<(u32, bool, u32, u64, bool)> {
    let file = fixture("behaviour/counter-oracle-2.24.7.0-trn1.txt");
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .filter(|line| line.starts_with(&format!("{section} ")) && line.contains(" alloc type="))
        .map(|line| {
            let field = |name: &str| -> u64 {
                let rest = line.split_once(&format!(" {name}=")).unwrap().1;
                rest.split_whitespace().next().unwrap().parse().unwrap()
            };
            let small = |name: &str| u32::try_from(field(name)).unwrap();
            let ok = line.contains("-> 0 ");
            (small("type"), field("host") == 1, small("nc"), field("size"), ok)
        })
        .collect()
}

/// Sections A, A2, B and B2, in the order in which they were recorded.
#[test]
fn counters_and_categories_are_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let kind = InstanceType::find("trn1.32xlarge").unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    check(&sim, "A.before");

    let process = sim.attach(0).unwrap();
    let store = process.datastore().unwrap();
    for core in 0..2 {
        for id in 0..95 {
            let value = u64::from(core + 1) * 1_000_000 + u64::from(id) * 1000;
            store.set_core(core, id, value).unwrap();
        }
    }
    for id in (0..31).filter(|id| *id != 11) {
        store.set_device(id, 90_000_000 + u64::from(id) * 1000).unwrap();
    }
    assert!(store.set_device(11, 1).is_err(), "counter 11 crashes a real kernel");
    check(&sim, "A.alive");
    drop(process);
    check(&sim, "A.exited");

    let process = sim.attach(0).unwrap();
    process.datastore().unwrap().set_core(0, 1, 7).unwrap();
    drop(process);
    check(&sim, "A2.exited");

    for section in ["B", "B2"] {
        let process = sim.attach(0).unwrap();
        let list = allocations(section);
        assert!(list.len() >= 9, "{section}: {list:?}");
        for (category, host, core, size, ok) in list {
            let done = process.allocate(size, host, core, category);
            assert_eq!(done.is_ok(), ok, "{section} type {category} core {core} size {size}");
        }
        check(&sim, &format!("{section}.alive"));
        drop(process);
        check(&sim, &format!("{section}.exited"));
    }
}

/// behaviour/datastore-release-ioctl.txt: a release moves the counters while
/// the owner lives on, and frees no memory.
#[test]
fn a_release_aggregates_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let process = sim.attach(0).unwrap();
    let store = process.datastore().unwrap();
    store.set_core(0, 1, 1000).unwrap();
    store.set_core(0, 29, 123_456).unwrap();
    process.allocate(1 << 20, false, 0, 9).unwrap();
    process.release_datastore(store).unwrap();
    let after = numbers(&sim);
    assert_eq!(after["neuron_core0/stats/status/success/total"], 1000);
    assert_eq!(after["neuron_core0/stats/other_info/flop_count/total"], 246_912);
    assert_eq!(after["neuron_core0/stats/memory_usage/device_mem/total"], 1 << 20);
    // A fresh one starts at zero and adds up.
    process.datastore().unwrap().set_core(0, 1, 5).unwrap();
    drop(process);
    let after = numbers(&sim);
    assert_eq!(after["neuron_core0/stats/status/success/total"], 1005);
    assert_eq!(after["neuron_core0/stats/status/success/present"], 5);
    assert!(!after.contains_key("neuron_core0/stats/memory_usage/device_mem/total"));
}

/// behaviour/datastore-reader-writer.txt: `present` after a free is the freed
/// size.
#[test]
fn frees_leave_their_size_in_present() {
    let dir = tempfile::tempdir().unwrap();
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let process = sim.attach(0).unwrap();
    let first = process.allocate(1 << 20, false, 0, 9).unwrap();
    let second = process.allocate(3 << 20, false, 0, 9).unwrap();
    process.allocate(64 << 10, false, 0, 8).unwrap();
    let leaf = |name: &str| {
        let path = format!("neuron_core0/stats/memory_usage/device_mem/{name}");
        numbers(&sim).get(&path).copied().unwrap_or(0)
    };
    process.free(first).unwrap();
    assert_eq!([leaf("total"), leaf("present"), leaf("peak")], [3_211_264, 1_048_576, 4_259_840]);
    process.free(second).unwrap();
    assert_eq!([leaf("total"), leaf("present"), leaf("peak")], [65_536, 3_145_728, 4_259_840]);
    assert_eq!(leaf("tensors/present"), 3_145_728);
    assert!(process.free(second).is_err(), "freed twice");
    drop(process);
    assert_eq!([leaf("total"), leaf("present"), leaf("peak")], [0, 65_536, 4_259_840]);
}
