//! Samples that no reading gives but a recording may: nothing may panic, and no
//! control character may reach a terminal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use neuron_core::instance::{Arch, Chip};
use neuron_core::model::Inventory;
use neuron_core::sample::{Datastore, Device, DeviceState, Host, Origin, Problem, Process, Sample};
use neuron_core::units::Bdf;
use neuron_ls::csv;
use neuron_ls::json::{self, Content};
use neuron_ls::table::{self, Look};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

/// Numbers small, at the edges, and any.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..20_u32, Just(u32::MAX), Just(u32::MAX / 2 + 1), any::<u32>()]
}

fn text() -> impl Strategy<Value = String> {
    let hostile = "[\\u{0}-\\u{20}\\u{1b}\\u{7f}-\\u{9f}a-c,\"\\u{200b}\\u{300}\\u{202e}模]{0,50}";
    prop_oneof![hostile, any::<String>(), Just("x".repeat(500))]
}

fn process() -> impl Strategy<Value = Process> {
    let store = (btree_map(number(), any::<u64>(), 0..4), option::of(text()));
    let store = store.prop_map(|(device, tag)| Datastore { device, tag, ..Datastore::default() });
    (number(), option::of(text()), option::of(any::<u64>()), option::of(store)).prop_map(
        |(pid, command, memory, datastore)| Process {
            pid,
            command,
            host_memory: memory,
            device_memory: memory.map(|bytes| !bytes),
            datastore,
            ..Process::default()
        },
    )
}

fn device() -> impl Strategy<Value = Device> {
    let chip = option::of(proptest::sample::select(Chip::ALL.to_vec()));
    let arch = option::of((1..=4_u32).prop_map(|n| Arch::from_driver(n).unwrap()));
    let state = option::of(proptest::sample::select(vec![
        DeviceState::Reset,
        DeviceState::Ready,
        DeviceState::Invalid,
        DeviceState::Unresponsive,
    ]));
    let bdf = option::of((any::<u32>(), any::<u8>(), 0..32_u8, 0..8_u8).prop_map(
        |(domain, bus, slot, function)| {
            format!("{:04x}:{bus:02x}:{slot:02x}.{function}", domain & 0xffff)
                .parse::<Bdf>()
                .unwrap()
        },
    ));
    let facts = (number(), number(), option::of(number()), option::of(vec(number(), 0..6)));
    let texts = (option::of(text()), option::of(text()), option::of(any::<i32>()));
    (facts, chip, arch, state, bdf, texts, option::of(vec(process(), 0..4))).prop_map(
        |(
            (index, host_index, core_count, connected),
            chip,
            arch,
            state,
            bdf,
            (cpu_affinity, serial_number, numa_node),
            processes,
        )| Device {
            index,
            host_index,
            core_count,
            connected,
            chip,
            arch,
            state,
            bdf,
            cpu_affinity,
            serial_number,
            numa_node,
            processes,
            ..Device::default()
        },
    )
}

fn sample() -> impl Strategy<Value = Sample> {
    let host = (option::of(text()), option::of(text()), option::of(text()), option::of(number()));
    let host = host.prop_map(|(instance_type, instance_id, driver_version, config)| Host {
        instance_type,
        instance_id,
        driver_version,
        logical_nc_config: config,
    });
    let origin = prop_oneof![
        Just(Origin::Kernel),
        text().prop_map(Origin::Root),
        text().prop_map(Origin::Simulated)
    ];
    let problem =
        (option::of(number()), text()).prop_map(|(device, text)| Problem { device, text });
    (host, origin, vec(device(), 0..20), vec(problem, 0..6)).prop_map(
        |(host, origin, devices, problems)| Sample {
            host,
            origin,
            devices,
            problems,
            ..Sample::default()
        },
    )
}

/// Everything that is printed of an inventory.
fn documents(inventory: &Inventory) -> Vec<String> {
    let mut documents = Vec::new();
    for all_processes in [false, true] {
        for extended in [false, true] {
            documents.push(json::render(inventory, Content { all_processes, extended }).unwrap());
        }
        documents.push(csv::render(inventory, all_processes).replace("\r\n", "\n"));
        for width in [None, Some(20), Some(80), Some(132), Some(200)] {
            let look =
                Look { wide: all_processes, all_processes, topology: true, width, color: false };
            documents.push(table::render(inventory, &look));
        }
    }
    documents.extend(inventory.problems.iter().map(|problem| problem.text.clone()));
    documents
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn any_sample_can_be_printed(sample in sample()) {
        for document in documents(&Inventory::of(&sample)) {
            let control = document.chars().find(|c| c.is_control() && *c != '\n');
            prop_assert_eq!(control, None);
        }
    }
}

#[test]
fn impossible_numbers_are_unknown_and_said() {
    let device = |index, core_count| Device {
        index,
        host_index: index,
        chip: Some(Chip::Trainium1),
        core_count,
        ..Device::default()
    };
    let devices = vec![device(0, Some(u32::MAX)), device(u32::MAX, Some(2)), device(1, Some(128))];
    let inventory = Inventory::of(&Sample { devices, ..Sample::default() });
    let counts: Vec<_> = inventory.devices.iter().map(|d| d.core_count).collect();
    assert_eq!(counts, [None, Some(128), None]);
    let said: Vec<&str> = inventory.problems.iter().map(|p| p.text.as_str()).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("neuron0: ") && said[0].contains("4294967295"), "{said:?}");
    assert!(said[1].starts_with("neuron4294967295: "), "{said:?}");
}

/// Clients of the original declare plain integers; our own document says null.
#[test]
fn unknown_numbers_are_zero_for_clients_of_the_original() {
    let devices = vec![Device::default()];
    let inventory = Inventory::of(&Sample { devices, ..Sample::default() });
    let value = |extended| -> serde_json::Value {
        let content = Content { all_processes: false, extended };
        serde_json::from_str(&json::render(&inventory, content).unwrap()).unwrap()
    };
    let (theirs, ours) = (value(false), value(true));
    for key in ["nc_count", "memory_size"] {
        assert_eq!(theirs[0][key], 0, "{key}");
        assert!(ours[0][key].is_null(), "{key}");
    }
    assert_eq!(inventory.problems.len(), 2, "{:?}", inventory.problems);
}

/// A device that could not be asked shows so beside others that have processes.
#[test]
fn unknown_processes_are_a_dash_and_null() {
    let process = Process { pid: 7, datastore: Some(Datastore::default()), ..Process::default() };
    let device = |index, processes| Device {
        index,
        host_index: index,
        chip: Some(Chip::Trainium1),
        processes,
        ..Device::default()
    };
    let devices = vec![device(0, Some(vec![process])), device(1, None)];
    let inventory = Inventory::of(&Sample { devices, ..Sample::default() });
    let text = table::render(&inventory, &Look::default());
    let row = text.lines().find(|line| line.starts_with("| 1 ")).unwrap();
    assert!(row.trim_end_matches(['|', ' ']).ends_with('-'), "{text}");
    let content = Content { all_processes: false, extended: true };
    let value: serde_json::Value =
        serde_json::from_str(&json::render(&inventory, content).unwrap()).unwrap();
    assert!(value[1]["neuron_processes"].is_null());
}
