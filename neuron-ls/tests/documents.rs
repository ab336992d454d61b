//! JSON and CSV, read back by readers of their own.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

mod samples;

use std::collections::BTreeSet;

use neuron_core::catalog;
use neuron_core::model::{DeviceState, Inventory, Origin};
use neuron_core::units::Bytes;
use neuron_ls::csv;
use neuron_ls::json::{self, Content};
use samples::{device, golden, instance, process, trn1_small, trn2n, trn2n_busy};
use serde::Deserialize;

/// The original's object as a client declares it. Fields of this order.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Original {
    instance_type: String,
    instance_id: String,
    neuron_device: u32,
    bdf: String,
    cpu_affinity: String,
    numa_node: String,
    connected_to: Option<Vec<u32>>,
    nc_count: u32,
    logical_neuroncore_config: Option<u32>,
    memory_size: u64,
    neuroncore_ids: Vec<u32>,
    neuron_processes: Vec<OriginalProcess>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct OriginalProcess {
    pid: u32,
    command: String,
    neuron_runtime_version: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Extended {
    #[expect(dead_code)]
    instance_type: String,
    #[expect(dead_code)]
    instance_id: String,
    #[expect(dead_code)]
    neuron_device: u32,
    #[expect(dead_code)]
    bdf: String,
    #[expect(dead_code)]
    cpu_affinity: String,
    #[expect(dead_code)]
    numa_node: String,
    #[expect(dead_code)]
    connected_to: Option<Vec<u32>>,
    #[expect(dead_code)]
    nc_count: Option<u32>,
    #[expect(dead_code)]
    logical_neuroncore_config: Option<u32>,
    #[expect(dead_code)]
    memory_size: Option<u64>,
    #[expect(dead_code)]
    neuroncore_ids: Vec<u32>,
    neuron_processes: Option<Vec<ExtendedProcess>>,
    device_type: Option<String>,
    arch: Option<String>,
    host_device: u32,
    state: Option<String>,
    serial_number: Option<String>,
    driver_version: Option<String>,
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtendedProcess {
    #[expect(dead_code)]
    pid: u32,
    #[expect(dead_code)]
    command: String,
    #[expect(dead_code)]
    neuron_runtime_version: String,
    host_memory: Option<u64>,
    device_memory: Option<u64>,
    tag: Option<String>,
}

const ORIGINAL: Content = Content { all_processes: false, extended: false };
const EXTENDED: Content = Content { all_processes: false, extended: true };

fn original(inventory: &Inventory) -> String {
    json::render(inventory, ORIGINAL).unwrap()
}

/// Keys of the objects at one depth of indent, in printed order.
fn keys(text: &str, indent: usize) -> Vec<&str> {
    let lead = format!("{}\"", " ".repeat(indent));
    let named = text.lines().filter_map(|line| line.strip_prefix(&lead)?.split_once("\": "));
    named.map(|(key, _)| key).collect()
}

/// The guide's two elements byte for byte. What differs is undone on our side:
/// the guide is older than the instance keys and shows addresses without
/// domain; on its side the brackets it moved and the ellipsis between devices.
#[test]
fn guide_sample_byte_for_byte() {
    let mut inventory = trn2n();
    inventory.devices.retain(|row| [0, 15].contains(&row.index));
    for row in &mut inventory.devices {
        let command = "neuron-bench exec --run-as-cc-neff --...";
        row.processes = Some(vec![process(113_985, command, Some("2.0.0"))]);
    }
    let ours: Vec<String> = original(&inventory)
        .lines()
        .filter(|line| !line.trim_start().starts_with("\"instance_"))
        .map(|line| line.replace("\"bdf\": \"0000:", "\"bdf\": \""))
        .collect();
    let published = golden("trn2n.48xlarge.json");
    let (open, close) = ("  {", "  },");
    let published: Vec<String> = published
        .lines()
        .filter(|line| line.trim() != "...")
        .map(|line| match line {
            "  }" => String::from("    }"),
            line if line == open || line == close => format!("  {line}"),
            line if line.starts_with("      ") => format!("  {line}"),
            line => line.to_owned(),
        })
        .collect();
    assert_eq!(ours, published);
}

/// The element of sys-tools.md §2.6 (tools 2.28), with the keys of tools 2.32.
#[test]
fn measured_trn1_element() {
    let text = original(&trn1_small());
    assert!(text.starts_with("[\n    {\n        \"instance_type\": \"trn1.2xlarge\",\n"), "{text}");
    assert!(text.ends_with("        \"neuron_processes\": []\n    }\n]"), "{text}");
    assert!(!text.contains("logical_neuroncore_config"));
    let read: Vec<Original> = serde_json::from_str(&text).unwrap();
    let measured = Original {
        instance_type: String::from("trn1.2xlarge"),
        instance_id: String::from("i-0123456789abcdef0"),
        neuron_device: 0,
        bdf: String::from("0000:00:1e.0"),
        cpu_affinity: String::from("0-7"),
        numa_node: String::from("-1"),
        connected_to: None,
        nc_count: 2,
        logical_neuroncore_config: None,
        memory_size: 34_359_738_368,
        neuroncore_ids: vec![0, 1],
        neuron_processes: Vec::new(),
    };
    assert_eq!(read, [measured]);
    assert!(text.contains("\"connected_to\": null"));
}

#[test]
fn keys_come_in_the_original_order_and_ours_behind() {
    let mut inventory = trn2n_busy();
    inventory.devices.truncate(1);
    inventory.devices[0].serial_number = Some(String::from("9ff5434815c8bd80"));
    let expected = [
        "instance_type",
        "instance_id",
        "neuron_device",
        "bdf",
        "cpu_affinity",
        "numa_node",
        "connected_to",
        "nc_count",
        "logical_neuroncore_config",
        "memory_size",
        "neuroncore_ids",
        "neuron_processes",
    ];
    let ours = [
        "device_type",
        "arch",
        "host_device",
        "state",
        "serial_number",
        "driver_version",
        "source",
    ];
    let process = ["pid", "command", "neuron_runtime_version"];
    let text = original(&inventory);
    assert_eq!(keys(&text, 8), expected);
    assert_eq!(keys(&text, 16), process);
    let text = json::render(&inventory, EXTENDED).unwrap();
    assert_eq!(keys(&text, 8), [&expected[..], &ours[..]].concat());
    assert_eq!(keys(&text, 16), [&process[..], &["host_memory", "device_memory", "tag"]].concat());
    let known: BTreeSet<&str> = catalog::METRICS.iter().map(|metric| metric.json).collect();
    for key in keys(&text, 8).into_iter().chain(keys(&text, 16)) {
        assert!(known.contains(key), "{key} is not in the catalogue");
    }
}

#[test]
fn commands_are_whole_and_processes_without_runtime_need_the_flag() {
    let inventory = trn2n_busy();
    let read: Vec<Original> = serde_json::from_str(&original(&inventory)).unwrap();
    assert_eq!(read.len(), 16);
    // Compatibility checklist, sys-tools.md §13 row 2.
    let cores: Vec<u32> = read.iter().flat_map(|d| d.neuroncore_ids.clone()).collect();
    assert_eq!(cores, (0..64).collect::<Vec<u32>>());
    assert_eq!(read.iter().map(|d| d.nc_count).sum::<u32>(), 64);
    for device in &read {
        assert_eq!(device.neuron_processes.len(), 1);
        assert_eq!(device.neuron_processes[0].command, samples::BENCH);
    }
    let all = json::render(&inventory, Content { all_processes: true, ..ORIGINAL }).unwrap();
    let read: Vec<Original> = serde_json::from_str(&all).unwrap();
    assert_eq!(read[3].neuron_processes[1].neuron_runtime_version, "NA");
}

#[test]
fn what_is_not_known_keeps_the_types() {
    let mut row = device(7, neuron_core::instance::Chip::Trainium1, 2, "00:00.0");
    row.arch = None;
    row.chip = None;
    row.core_count = None;
    row.core_ids.clear();
    row.memory = None;
    row.connected = None;
    row.bdf = None;
    row.processes = None;
    let mut inventory = instance("", "", vec![row]);
    inventory.instance_type = None;
    let read: Vec<Original> = serde_json::from_str(&original(&inventory)).unwrap();
    assert_eq!((read[0].bdf.as_str(), read[0].numa_node.as_str()), ("", ""));
    assert_eq!((read[0].nc_count, read[0].memory_size), (0, 0));
    assert!(original(&inventory).contains("\"neuron_processes\": []"));

    let text = json::render(&inventory, EXTENDED).unwrap();
    let read: Vec<Extended> = serde_json::from_str(&text).unwrap();
    assert!(read[0].neuron_processes.is_none());
    assert_eq!((&read[0].device_type, &read[0].arch, &read[0].state), (&None, &None, &None));
    assert!(!text.contains("serial_number"));
}

fn lab() -> Inventory {
    let mut inventory = trn2n();
    inventory.devices.truncate(2);
    inventory.origin = Origin::Simulated(String::from("lab"));
    inventory.driver_version = Some(String::from("2.24.7.0"));
    let row = &mut inventory.devices[0];
    row.host_index = 13;
    row.state = Some(DeviceState::Ready);
    row.serial_number = Some(String::from("9ff5434815c8bd80"));
    let mut one = process(5, "python -c \"print('a,b')\"", Some("2.27.23"));
    one.host_memory = Some(Bytes::from_bytes(4096));
    one.device_memory = Some(Bytes::from_gib(1));
    one.tag = Some(String::from("train"));
    row.processes = Some(vec![one, process(6, "", Some("2.27.23"))]);
    inventory
}

#[test]
fn our_keys_hold_our_facts() {
    let text = json::render(&lab(), EXTENDED).unwrap();
    let read: Vec<Extended> = serde_json::from_str(&text).unwrap();
    let device = &read[0];
    assert_eq!(device.device_type.as_deref(), Some("trainium2"));
    assert_eq!(device.arch.as_deref(), Some("v3"));
    assert_eq!(device.host_device, 13);
    assert_eq!(device.state.as_deref(), Some("ready"));
    assert_eq!(device.serial_number.as_deref(), Some("9ff5434815c8bd80"));
    assert_eq!(device.driver_version.as_deref(), Some("2.24.7.0"));
    assert_eq!(device.source, "simulated instance lab");
    let process = &device.neuron_processes.as_ref().unwrap()[0];
    assert_eq!((process.host_memory, process.device_memory), (Some(4096), Some(1 << 30)));
    assert_eq!(process.tag.as_deref(), Some("train"));
}

/// A reader of RFC 4180 written for this test.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('"', true) if chars.peek() == Some(&'"') => field.push(chars.next().unwrap()),
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\r', false) => {
                assert_eq!(chars.next(), Some('\n'), "CR without LF");
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => field.push(c),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !quoted, "unfinished row");
    rows
}

#[test]
fn csv_has_a_row_for_each_process_on_each_device() {
    let rows = parse_csv(&csv::render(&lab(), false));
    assert!(rows.iter().all(|row| row.len() == csv::COLUMNS.len()));
    let header = &rows[0];
    let of = |row: usize, name: &str| {
        rows[row][header.iter().position(|key| key == name).unwrap()].as_str()
    };
    assert_eq!(rows.len(), 4);
    assert_eq!((of(1, "neuron_device"), of(1, "pid")), ("0", "5"));
    assert_eq!(of(1, "command"), "python -c \"print('a,b')\"");
    assert_eq!((of(2, "neuron_device"), of(2, "pid"), of(2, "tag")), ("0", "6", ""));
    assert_eq!((of(3, "neuron_device"), of(3, "pid")), ("1", ""));
    assert_eq!(of(1, "connected_to"), "12 3 4 1");
    assert_eq!(of(1, "neuroncore_ids"), "0 1 2 3");
    assert_eq!(of(1, "cpu_affinity"), "48-95,144-191");
    assert_eq!(of(1, "memory_size"), "103079215104");
    assert_eq!((of(1, "arch"), of(1, "host_device"), of(1, "state")), ("v3", "13", "ready"));
    assert_eq!((of(1, "host_memory"), of(1, "device_memory")), ("4096", "1073741824"));
    assert_eq!(of(1, "source"), "simulated instance lab");
}

#[test]
fn csv_header_is_the_catalogue() {
    let rows = parse_csv(&csv::render(&trn1_small(), false));
    for (key, metric) in rows[0].iter().zip(csv::COLUMNS) {
        assert_eq!(key, metric.json);
        assert_eq!(catalog::find(metric.id), Some(metric));
    }
    let unique: BTreeSet<&String> = rows[0].iter().collect();
    assert_eq!(unique.len(), rows[0].len());
}
