//! neuron-ls on the captured trees of the real driver, against what the same
//! machines answered to ioctls.

use std::process::Command;

use neuron_tests::{bin, fixture, unpack_tree};
use serde_json::{Value, json};

struct Machine {
    name: &'static str,
    /// Logical cores of a device, and whether that can be configured.
    cores: u64,
    configurable: bool,
    memory: u64,
}

const MACHINES: &[Machine] = &[
    Machine { name: "inf1-4", cores: 4, configurable: false, memory: 8 << 30 },
    Machine { name: "trn1-16", cores: 2, configurable: false, memory: 32 << 30 },
    Machine { name: "trn2-16", cores: 4, configurable: true, memory: 96 << 30 },
];

fn neuron_ls(machine: &Machine, args: &[&str]) -> String {
    let root = unpack_tree(machine.name);
    let output = Command::new(bin("neuron-ls"))
        .args(args)
        .arg(format!("--source=kernel:{}", root.display()))
        .env_remove("NEURON_LOGICAL_NC_CONFIG")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", machine.name);
    assert_eq!(output.status.code(), Some(0), "{}", machine.name);
    String::from_utf8(output.stdout).unwrap()
}

/// `bdf` and connected devices that each node answered (`ioctl.txt`).
fn answered(machine: &Machine) -> Vec<(String, Value)> {
    let path = fixture(format!("real-driver/2.24.7.0-{}/ioctl.txt", machine.name));
    let text = std::fs::read_to_string(path).unwrap();
    let sections: Vec<&str> = text.split("== /dev/neuron").skip(1).collect();
    let of_node = |section: &str| {
        let field = |name: &str| {
            let rest = section.split_once(&format!(" {name}=")).unwrap().1;
            rest.split_whitespace().next().unwrap().to_owned()
        };
        let connected: Value = serde_json::from_str(&field("connected")).unwrap();
        (format!("0000:{}", field("bdf")), connected)
    };
    let nodes: Vec<_> =
        sections.into_iter().filter(|s| s.lines().next().unwrap().contains("O_RDWR")).collect();
    nodes.into_iter().map(of_node).collect()
}

#[test]
fn json_is_what_the_devices_answered() {
    for machine in MACHINES {
        let answered = answered(machine);
        let text = neuron_ls(machine, &["-j"]);
        assert!(!text.ends_with('\n'), "the original prints no newline at the end");
        let devices: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(devices.len(), answered.len());
        for (index, (device, (bdf, connected))) in devices.iter().zip(&answered).enumerate() {
            let first = index as u64 * machine.cores;
            let mut wanted = json!({
                "instance_type": "",
                "instance_id": "",
                "neuron_device": index,
                "bdf": bdf,
                "cpu_affinity": "0-1",
                "numa_node": "-1",
                "connected_to": connected,
                "nc_count": machine.cores,
                "memory_size": machine.memory,
                "neuroncore_ids": (first..first + machine.cores).collect::<Vec<_>>(),
                "neuron_processes": [],
            });
            if machine.configurable {
                wanted["logical_neuroncore_config"] = json!(2);
            }
            assert_eq!(device, &wanted, "{}", machine.name);
        }
    }
}

#[test]
fn the_table_has_a_row_for_each_device() {
    for machine in MACHINES {
        let text = neuron_ls(machine, &[]);
        for (index, (bdf, connected)) in answered(machine).iter().enumerate() {
            let row = text.lines().find(|line| line.contains(bdf.as_str())).unwrap();
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let list: Vec<String> =
                connected.as_array().unwrap().iter().map(Value::to_string).collect();
            assert_eq!(cells[1], index.to_string());
            assert_eq!(cells[2], machine.cores.to_string());
            assert_eq!(cells[4], format!("{} GB", machine.memory >> 30));
            assert_eq!(cells[5], list.join(", "));
            assert_eq!(&cells[7..9], ["0-1", "-1"]);
        }
        let lnc = text.contains("logical-neuroncore-config: 2");
        assert_eq!(lnc, machine.configurable, "{}", machine.name);
    }
}

/// The tree that was captured on 16 devices is drawn as the published torus.
#[test]
fn a_captured_torus_is_drawn_as_published() {
    let published =
        std::fs::read_to_string(fixture("..").join("../neuron-ls/tests/golden/torus.txt")).unwrap();
    for machine in &MACHINES[1..] {
        let text = neuron_ls(machine, &["-t"]);
        assert!(text.ends_with(&published), "{}:\n{text}", machine.name);
    }
}
