//! Inventories written by hand, equal to the published samples, and a reader
//! of printed tables that shares nothing with the program.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may end so")]

use std::collections::BTreeMap;

use neuron_core::instance::Chip;
use neuron_core::model::{DeviceRow, Inventory, Origin, ProcessRow};

pub const BENCH: &str = "neuron-bench exec --run-as-cc-neff --warmup none \
    --fixed-instance-count 64 --enable-only-latency --seconds 120";

pub fn golden(name: &str) -> String {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn device(index: u32, chip: Chip, cores: u32, bdf: &str) -> DeviceRow {
    DeviceRow {
        index,
        host_index: index,
        arch: Some(chip.arch()),
        chip: Some(chip),
        state: None,
        core_count: Some(cores),
        core_ids: (index * cores..(index + 1) * cores).collect(),
        memory: Some(chip.memory()),
        connected: Some(Vec::new()),
        bdf: Some(bdf.parse().unwrap()),
        cpu_affinity: None,
        numa_node: None,
        serial_number: None,
        processes: Some(Vec::new()),
    }
}

pub fn process(pid: u32, command: &str, version: Option<&str>) -> ProcessRow {
    ProcessRow {
        pid,
        command: command.to_owned(),
        runtime_version: version.map(str::to_owned),
        host_memory: None,
        device_memory: None,
        tag: None,
    }
}

pub fn instance(instance_type: &str, instance_id: &str, devices: Vec<DeviceRow>) -> Inventory {
    Inventory {
        origin: Origin::Kernel,
        instance_type: Some(instance_type.to_owned()),
        instance_id: Some(instance_id.to_owned()),
        driver_version: None,
        logical_nc_config: None,
        devices,
        problems: Vec::new(),
    }
}

/// The machine of the guide's newest samples: PCI bus and links by device.
pub fn trn2n() -> Inventory {
    const ROWS: [(u8, [u32; 4]); 16] = [
        (0xcc, [12, 3, 4, 1]),
        (0xb5, [13, 0, 5, 2]),
        (0xb6, [14, 1, 6, 3]),
        (0xcb, [15, 2, 7, 0]),
        (0x6f, [0, 7, 8, 5]),
        (0x58, [1, 4, 9, 6]),
        (0x59, [2, 5, 10, 7]),
        (0x6e, [3, 6, 11, 4]),
        (0x9b, [4, 11, 12, 9]),
        (0x84, [5, 8, 13, 10]),
        (0x85, [6, 9, 14, 11]),
        (0x9a, [7, 10, 15, 8]),
        (0xf8, [8, 15, 0, 13]),
        (0xe1, [9, 12, 1, 14]),
        (0xe2, [10, 13, 2, 15]),
        (0xf7, [11, 14, 3, 12]),
    ];
    let devices = (0..).zip(ROWS).map(|(index, (bus, links))| {
        let mut row = device(index, Chip::Trainium2, 4, &format!("0000:{bus:02x}:00.0"));
        row.connected = Some(links.to_vec());
        let near = (4..12).contains(&index);
        row.numa_node = Some(if near { 0 } else { 1 });
        row.cpu_affinity = Some(if near { "0-47,96-143" } else { "48-95,144-191" }.to_owned());
        row
    });
    let mut inventory = instance("trn2n.48xlarge", "i-aabbccdd123456789", devices.collect());
    inventory.logical_nc_config = Some(2);
    inventory
}

/// The same with the guide's benchmark on every device and neuron-ls itself.
pub fn trn2n_busy() -> Inventory {
    let mut inventory = trn2n();
    for row in &mut inventory.devices {
        row.processes = Some(vec![
            process(268_911, BENCH, Some("2.0.0")),
            process(269_192, "neuron-ls --show-all-procs", None),
        ]);
    }
    inventory
}

/// The inf1.6xlarge of the older guide.
pub fn inf1() -> Inventory {
    let tail = "infer --input-data-directory ~/my_input_data --inference-count 5000 --log debug";
    let app =
        |pid: u32, number: u32| process(pid, &format!("neuron-app0{number} {tail}"), Some("2.0.0"));
    let users =
        [vec![app(23518, 1), app(23531, 2)], vec![app(23595, 1)], vec![app(23608, 2)], vec![]];
    let links = [vec![1], vec![2, 0], vec![3, 1], vec![2]];
    let devices = (0..).zip(users.into_iter().zip(links)).map(|(index, (mut users, links))| {
        let mut row =
            device(index, Chip::Inferentia, 4, &format!("0000:00:{:02x}.0", 0x1c + index));
        users.push(process(23764, "neuron-monitor", None));
        users.push(process(23829, "neuron-ls --show-all-procs", None));
        row.connected = Some(links);
        row.processes = Some(users);
        row.cpu_affinity = Some(String::from("0-23"));
        row.numa_node = Some(-1);
        row
    });
    instance("inf1.6xlarge", "i-aabbccdd123456789", devices.collect())
}

/// The machine of sys-tools.md §2.3.
pub fn trn1_small() -> Inventory {
    let mut row = device(0, Chip::Trainium1, 2, "0000:00:1e.0");
    row.cpu_affinity = Some(String::from("0-7"));
    row.numa_node = Some(-1);
    instance("trn1.2xlarge", "i-0123456789abcdef0", vec![row])
}

/// A printed table: columns by heading, each with the raw cells of its lines
/// (`None` for a rule).
#[derive(Debug, PartialEq, Eq)]
pub struct Printed {
    pub headings: Vec<String>,
    pub columns: BTreeMap<String, Vec<Option<String>>>,
}

impl Printed {
    /// The tables of a text, in order.
    pub fn all(text: &str) -> Vec<Self> {
        let framed: Vec<&str> =
            text.lines().map(strip_colour).filter(|l| l.starts_with(['+', '|'])).collect();
        // A table ends where the next top rule follows a rule directly.
        let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
        for line in framed {
            let last = groups.last_mut().unwrap();
            if line.starts_with('+') && last.last().is_some_and(|l: &&str| l.starts_with('+')) {
                groups.push(vec![line]);
            } else {
                last.push(line);
            }
        }
        groups.iter().map(|lines| Self::of(lines)).collect()
    }

    fn of(lines: &[&str]) -> Self {
        let cells = |line: &str| -> Vec<String> {
            let inner = line.strip_prefix('|').unwrap().strip_suffix('|').unwrap();
            inner.split('|').map(str::to_owned).collect()
        };
        let (first, second) = (cells(lines[1]), cells(lines[2]));
        let headings: Vec<String> = first
            .iter()
            .zip(&second)
            .map(|(a, b)| format!("{} {}", a.trim(), b.trim()).trim().to_owned())
            .collect();
        let mut columns = BTreeMap::new();
        for (place, heading) in headings.iter().enumerate() {
            let mut column = vec![Some(first[place].clone()), Some(second[place].clone())];
            column.extend(
                lines[3..].iter().map(|l| l.starts_with('|').then(|| cells(l)[place].clone())),
            );
            assert!(columns.insert(heading.clone(), column).is_none(), "{heading} twice");
        }
        Self { headings, columns }
    }

    /// Cells of a column without padding, headings and rules.
    pub fn body(&self, heading: &str) -> Vec<String> {
        let column = self.columns.get(heading).unwrap_or_else(|| panic!("no column {heading}"));
        column[2..].iter().flatten().map(|cell| cell.trim().to_owned()).collect()
    }

    /// Cells of a column joined within each block that a rule closes; without
    /// rules between, line by line.
    pub fn blocks(&self, heading: &str) -> Vec<String> {
        let column = &self.columns[heading][3..];
        let ruled = column[..column.len() - 1].contains(&None);
        if !ruled {
            return column.iter().flatten().map(|cell| cell.trim().to_owned()).collect();
        }
        column
            .split(Option::is_none)
            .filter(|block| !block.is_empty())
            .map(|block| block.iter().flatten().map(|c| c.trim()).collect::<String>())
            .collect()
    }
}

fn strip_colour(line: &str) -> &str {
    let line =
        line.split_once('m').filter(|(head, _)| head.starts_with('\x1b')).map_or(line, |s| s.1);
    line.strip_suffix("\x1b[0m").unwrap_or(line)
}
