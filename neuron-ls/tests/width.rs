//! The table on terminals of different widths: no line is too wide, and no
//! fact of the original's layout is lost.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

mod samples;

use neuron_core::model::Inventory;
use neuron_ls::table::{Look, render};
use samples::{Printed, inf1, process, trn1_small, trn2n, trn2n_busy};

const WIDTHS: [usize; 4] = [80, 100, 120, 200];

fn look(width: Option<usize>, wide: bool, all_processes: bool) -> Look {
    Look { wide, all_processes, topology: false, width, color: false }
}

/// What a reader can find, whatever the arrangement: device facts by device
/// and the processes in order.
fn facts(text: &str) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let tables = Printed::all(text);
    let devices: Vec<Vec<String>> = [
        "NEURON DEVICE",
        "NEURON CORES",
        "NEURON CORE IDS",
        "NEURON MEMORY",
        "CONNECTED DEVICES",
        "PCI BDF",
        "CPU AFFINITY",
        "NUMA NODE",
    ]
    .iter()
    .filter(|heading| tables[0].columns.contains_key(**heading))
    .map(|heading| {
        let bodies = tables[0].blocks(heading).into_iter();
        bodies.map(|text| text.replace(' ', "").replace("0000:", "")).collect()
    })
    .collect();
    let processes = ["PID", "COMMAND", "RUNTIME VERSION"].iter().map(|heading| {
        let table = tables.last().unwrap();
        let joined = table.columns.get(*heading).map_or_else(Vec::new, |_| table.blocks(heading));
        joined.into_iter().filter(|text| !text.is_empty()).map(|t| t.replace(' ', "")).collect()
    });
    (devices, processes.collect())
}

#[track_caller]
fn fits_and_keeps(name: &str, inventory: &Inventory) {
    for (wide, all) in [(false, false), (true, false), (false, true), (true, true)] {
        let original = render(inventory, &look(None, wide, all));
        for width in WIDTHS {
            let text = render(inventory, &look(Some(width), wide, all));
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{name} at {width}: {widest} columns\n{text}");
            let (devices, mut processes) = facts(&text);
            let (expected_devices, mut expected) = facts(&original);
            assert_eq!(devices, expected_devices, "{name} at {width}\n{text}");
            // One table joins by device, two by device as well; a table without
            // rules is read line by line.
            for list in processes.iter_mut().chain(&mut expected) {
                *list = vec![list.concat()];
            }
            assert_eq!(processes, expected, "{name} at {width}\n{text}");
            if original.lines().all(|line| line.chars().count() <= width) {
                assert_eq!(text, original, "{name} at {width}");
            }
        }
    }
}

#[test]
fn idle_trn2() {
    fits_and_keeps("trn2n", &trn2n());
}

#[test]
fn busy_trn2() {
    fits_and_keeps("trn2n busy", &trn2n_busy());
}

#[test]
fn inf1_with_two_processes() {
    fits_and_keeps("inf1", &inf1());
}

#[test]
fn small_trn1_with_a_long_command() {
    let mut inventory = trn1_small();
    let command = format!("python {}", "x".repeat(200));
    inventory.devices[0].processes = Some(vec![process(1, &command, Some("2.27.23"))]);
    fits_and_keeps("trn1", &inventory);
}

#[test]
fn other_pci_domains_are_broken_and_not_cut() {
    let mut inventory = trn2n();
    for row in &mut inventory.devices {
        row.bdf = row.bdf.map(|mut bdf| {
            bdf.domain = 1;
            bdf
        });
    }
    fits_and_keeps("domains", &inventory);
    let text = render(&inventory, &look(Some(80), false, false));
    assert_eq!(Printed::all(&text)[0].blocks("PCI BDF")[0], "0001:cc:00.0");
}

#[test]
fn processes_get_their_own_table_when_they_must() {
    let narrow = Printed::all(&render(&trn2n_busy(), &look(Some(80), false, false)));
    assert_eq!(narrow.len(), 2);
    assert_eq!(narrow[1].headings, ["NEURON DEVICE", "PID", "COMMAND", "RUNTIME VERSION"]);
    assert_eq!(Printed::all(&render(&trn2n_busy(), &look(Some(200), false, false))).len(), 1);
}

#[test]
fn a_folded_command_starts_beside_its_pid() {
    let table = Printed::all(&render(&inf1(), &look(Some(80), true, false))).remove(1);
    let (pids, commands) = (table.body("PID"), table.body("COMMAND"));
    assert!(pids.len() > 4, "nothing was folded: {pids:?}");
    for (pid, command) in pids.iter().zip(&commands) {
        assert_eq!(!pid.is_empty(), command.starts_with("neuron-app0"), "{pid:?} {command:?}");
    }
}
