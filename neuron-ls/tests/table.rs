//! The table against published output.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

mod samples;

use neuron_core::model::{DeviceState, Origin};
use neuron_ls::table::{Look, render};
use samples::{Printed, golden, inf1, process, trn1_small, trn2n, trn2n_busy};

const PLAIN: Look =
    Look { wide: false, all_processes: false, topology: false, width: None, color: false };

#[test]
fn idle_machine_of_the_guide_byte_for_byte() {
    assert_eq!(render(&trn2n(), &PLAIN), golden("trn2n.48xlarge.txt"));
}

#[test]
fn idle_trn1_byte_for_byte() {
    assert_eq!(render(&trn1_small(), &PLAIN), golden("trn1.2xlarge.txt"));
}

/// The busy row that sys-tools.md §2.3 gives as cells.
#[test]
fn busy_trn1_is_the_measured_row() {
    let mut inventory = trn1_small();
    let command = "python equinox_mnist_verification.py";
    inventory.devices[0].processes = Some(vec![process(16237, command, Some("2.27.23"))]);
    let text = render(&inventory, &PLAIN);
    let row: Vec<&str> = text.lines().nth(6).unwrap().trim_matches('|').split('|').collect();
    let row: Vec<&str> = row.iter().map(|cell| cell.trim()).collect();
    let measured =
        ["0", "2", "0-1", "32 GB", "0000:00:1e.0", "16237", "0-7", "-1", command, "2.27.23"];
    assert_eq!(row, measured);
    let headings = Printed::all(&text).remove(0).headings;
    assert_eq!(headings[4..7], ["PCI BDF", "PID", "CPU AFFINITY"]);
    assert_eq!(headings[8..], ["COMMAND", "RUNTIME VERSION"]);
}

/// The guide's process samples are of the layout before tools 2.25. The
/// columns that both layouts have must agree, cell by cell with their padding,
/// and so must the rules; the address loses its domain first.
#[track_caller]
fn same_columns(ours: &str, published: &str, short_bdf: bool, blank_for_na: bool) {
    let mut ours = Printed::all(ours).remove(0);
    let mut published = Printed::all(published).remove(0);
    // Of the columns between BDF and VERSION only these are new.
    for new in ["NEURON CORE IDS", "CPU AFFINITY", "NUMA NODE"] {
        assert!(ours.columns.remove(new).is_some(), "{new}");
        ours.headings.retain(|heading| heading != new);
    }
    assert_eq!(ours.headings, published.headings);
    if short_bdf {
        let bare = |printed: &Printed, cut: &str| -> Vec<String> {
            let cells = printed.body("PCI BDF").into_iter();
            cells.map(|cell| cell.strip_prefix(cut).unwrap_or(&cell).to_owned()).collect()
        };
        assert_eq!(bare(&ours, "0000:"), bare(&published, ""));
        ours.columns.remove("PCI BDF");
        published.columns.remove("PCI BDF");
    }
    for (heading, cells) in &published.columns {
        // Output of 2021 has NA where newer output is blank.
        let last = cells.len() - 2;
        let mut cells = cells.clone();
        if blank_for_na && ["PID", "COMMAND", "RUNTIME VERSION"].contains(&heading.as_str()) {
            let cell = cells[last].as_mut().unwrap();
            assert_eq!(cell.trim(), "NA");
            *cell = cell.replace("NA", "  ");
        }
        assert_eq!(ours.columns[heading], cells, "{heading}");
    }
}

#[test]
fn wide_process_columns_of_the_guide() {
    let look = Look { wide: true, ..PLAIN };
    same_columns(&render(&trn2n_busy(), &look), &golden("trn2n.48xlarge-wide.txt"), true, false);
}

#[test]
fn all_processes_of_the_guide() {
    let look = Look { all_processes: true, ..PLAIN };
    same_columns(&render(&trn2n_busy(), &look), &golden("trn2n.48xlarge-all.txt"), true, false);
}

#[test]
fn two_processes_on_one_device_of_inf1() {
    let wide = Look { wide: true, ..PLAIN };
    let all = Look { all_processes: true, ..PLAIN };
    same_columns(&render(&inf1(), &PLAIN), &golden("inf1.6xlarge.txt"), false, true);
    same_columns(&render(&inf1(), &wide), &golden("inf1.6xlarge-wide.txt"), false, true);
    same_columns(&render(&inf1(), &all), &golden("inf1.6xlarge-all.txt"), false, false);
}

/// sys-tools.md §2.4: in a container without the host's pids no command is
/// known, so there is no COMMAND column, but PID and VERSION stay.
#[test]
fn no_command_column_without_commands() {
    let mut inventory = trn2n();
    inventory.devices.truncate(1);
    inventory.devices[0].processes = Some(vec![process(4711, "", Some("2.34.10"))]);
    let printed = Printed::all(&render(&inventory, &PLAIN)).remove(0);
    assert!(!printed.headings.contains(&String::from("COMMAND")));
    assert_eq!(printed.body("PID"), ["4711"]);
    assert_eq!(printed.body("RUNTIME VERSION"), ["2.34.10"]);
}

#[test]
fn what_is_not_known_is_a_dash() {
    let mut inventory = trn2n_busy();
    let row = &mut inventory.devices[1];
    row.core_count = None;
    row.core_ids.clear();
    row.memory = None;
    row.connected = None;
    row.bdf = None;
    row.cpu_affinity = None;
    row.numa_node = None;
    row.processes = None;
    let text = render(&inventory, &PLAIN);
    let row = text.lines().find(|line| line.starts_with("| 1 ")).unwrap();
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!(cells, ["1", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"]);
}

#[test]
fn unusual_sources_are_named_once_behind_the_header_lines() {
    let mut inventory = trn2n();
    inventory.origin = Origin::Simulated(String::from("lab"));
    let text = render(&inventory, &PLAIN);
    assert_eq!(text.lines().nth(3), Some("source: simulated instance lab"));
    assert_eq!(text.matches("simulated").count(), 1);
    inventory.origin = Origin::Root(String::from("/mnt/host"));
    assert_eq!(render(&inventory, &PLAIN).lines().nth(3), Some("source: files below /mnt/host"));
}

#[test]
fn devices_in_trouble_stand_out_on_a_terminal_only() {
    let mut inventory = trn2n();
    inventory.devices[3].state = Some(DeviceState::Invalid);
    inventory.devices[5].state = Some(DeviceState::Reset);
    inventory.devices[6].state = Some(DeviceState::Ready);
    assert_eq!(render(&inventory, &PLAIN), golden("trn2n.48xlarge.txt"));
    let text = render(&inventory, &Look { width: Some(120), color: true, ..PLAIN });
    assert_eq!(text.matches("\x1b[31m| 3 ").count(), 1);
    assert_eq!(text.matches("\x1b[33m| 5 ").count(), 1);
    assert_eq!(text.matches("\x1b[0m").count(), 2);
}

#[test]
fn scattered_core_ids_are_a_list() {
    let mut inventory = trn1_small();
    inventory.devices[0].core_ids = vec![1, 4];
    let printed = Printed::all(&render(&inventory, &PLAIN)).remove(0);
    assert_eq!(printed.body("NEURON CORE IDS"), ["1, 4"]);
}
