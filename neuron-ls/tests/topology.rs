//! The drawing of the links.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

mod samples;

use neuron_core::instance::{Chip, Links};
use neuron_core::model::{DeviceRow, Inventory};
use neuron_ls::table::{Look, render};
use samples::{device, golden, inf1, instance, trn1_small, trn2n};

/// What follows the table, from the two empty lines on.
fn drawing(inventory: &Inventory) -> String {
    let look =
        Look { wide: false, all_processes: false, topology: true, width: None, color: false };
    let text = render(inventory, &look);
    let end = text.rfind("+\n").unwrap() + 2;
    text[end..].to_owned()
}

fn linked(chip: Chip, links: Links, count: u32) -> Inventory {
    let devices = (0..count).map(|index| {
        let mut row: DeviceRow = device(index, chip, 2, &format!("00:{index:02x}.0"));
        row.connected = Some(links.neighbours(index, count));
        row
    });
    instance("", "", devices.collect())
}

#[test]
fn torus_of_the_guide_byte_for_byte() {
    assert_eq!(drawing(&trn2n()), golden("torus.txt"));
}

/// The order in which a device lists its links does not matter.
#[test]
fn torus_by_either_order_is_the_same_drawing() {
    for (chip, links) in
        [(Chip::Trainium1, Links::TorusByDirection), (Chip::Trainium2, Links::TorusByEngine)]
    {
        assert_eq!(drawing(&linked(chip, links, 16)), golden("torus.txt"), "{links:?}");
    }
}

#[test]
fn chain_of_the_older_guide_byte_for_byte() {
    assert_eq!(drawing(&inf1()), format!("\n\n{}", golden("chain.txt")));
}

#[test]
fn chain_of_sixteen_goes_on_in_a_second_row() {
    let expected = "\n\nNeuron Device Topology\n\n  \
        [ 0 ]◄––►[ 1 ]◄––►[ 2 ]◄––►[ 3 ]◄––►[ 4 ]◄––►[ 5 ]◄––►[ 6 ]◄––►[ 7 ]◄––►\n  \
        [ 8 ]◄––►[ 9 ]◄––►[10 ]◄––►[11 ]◄––►[12 ]◄––►[13 ]◄––►[14 ]◄––►[15 ]\n";
    assert_eq!(drawing(&linked(Chip::Inferentia, Links::ChainEastFirst, 16)), expected);
}

#[test]
fn ring_of_twelve_wraps_around() {
    let expected = "\n\nNeuron Device Topology\n\n\
        *––►[ 0 ]◄––►[ 1 ]◄––►[ 2 ]◄––►[ 3 ]◄––►[ 4 ]◄––►[ 5 ]◄––►\n    \
        [ 6 ]◄––►[ 7 ]◄––►[ 8 ]◄––►[ 9 ]◄––►[10 ]◄––►[11 ]◄––*\n\
        \nLegend:\n\n        *––► = Wrap-around link\n";
    assert_eq!(drawing(&linked(Chip::Inferentia2, Links::Ring, 12)), expected);
}

#[test]
fn chain_of_six_of_inf2() {
    let expected =
        "\n\nNeuron Device Topology\n\n  [ 0 ]◄––►[ 1 ]◄––►[ 2 ]◄––►[ 3 ]◄––►[ 4 ]◄––►[ 5 ]\n";
    assert_eq!(drawing(&linked(Chip::Inferentia2, Links::Chain, 6)), expected);
}

#[test]
fn single_device_is_its_cell() {
    assert_eq!(drawing(&trn1_small()), "\n\nNeuron Device Topology\n\n  [ 0 ]\n");
}

/// Two tori side by side, as the driver's table says for 32 devices.
#[test]
fn unconnected_parts_are_drawn_one_after_the_other() {
    let text = drawing(&linked(Chip::Trainium1, Links::TorusByDirection, 32));
    let one = golden("torus.txt");
    let (torus, legend) = one.split_at(one.find("\nLegend").unwrap());
    assert!(text.starts_with(&format!("{torus}\n      *        *")), "{text}");
    assert!(text.contains("*––►[28 ]◄––►[29 ]◄––►[30 ]◄––►[31 ]◄––*\n"), "{text}");
    assert!(text.ends_with(legend), "{text}");
    assert_eq!(text.matches("Legend").count(), 1);
}

#[test]
fn devices_behind_a_switch_are_listed() {
    let text = drawing(&linked(Chip::Trainium3, Links::Switch, 4));
    let body: String = (0..4).map(|i| format!("[ {i} ] ── no links\n")).collect();
    assert_eq!(text, format!("\n\nNeuron Device Topology\n\n{body}"));
}

/// sys-tools.md §2.6, container view: host device 13 is device 0 here and its
/// links keep the host's indices.
#[test]
fn links_that_leave_the_container_are_listed_and_explained() {
    let mut row = device(0, Chip::Trainium2, 4, "0000:e1:00.0");
    row.host_index = 13;
    row.connected = Some(vec![12, 1, 9, 14]);
    assert_eq!(
        drawing(&instance("trn2.48xlarge", "", vec![row])),
        "\n\nNeuron Device Topology\n\n[ 0 ] (host 13) ── 12, 1, 9, 14\n\
         \nLinks name devices by their index on the host; not visible here: 1, 9, 12, 14\n"
    );
}

/// All sixteen devices, numbered differently in the container: the links are
/// followed by host index, and the cells show what this process sees.
#[test]
fn renumbered_devices_are_drawn_by_their_own_index() {
    let mut inventory = linked(Chip::Inferentia2, Links::Chain, 3);
    inventory.devices[0].connected = Some(vec![5]);
    inventory.devices[1].connected = Some(vec![4, 6]);
    inventory.devices[2].connected = Some(vec![5]);
    for (row, host) in inventory.devices.iter_mut().zip(4..) {
        row.host_index = host;
    }
    assert!(drawing(&inventory).ends_with("\n\n  [ 0 ]◄––►[ 1 ]◄––►[ 2 ]\n"));
}

#[test]
fn a_missing_device_or_a_link_with_one_end_is_listed() {
    let mut missing = trn2n();
    missing.devices.remove(5);
    let text = drawing(&missing);
    assert!(text.contains("\n[ 1 ] ── 13, 0, 5, 2\n"), "{text}");
    assert!(text.ends_with("on the host; not visible here: 5\n"), "{text}");

    let mut one_end = trn2n();
    one_end.devices[5].connected = Some(vec![1, 4, 9]);
    assert!(drawing(&one_end).contains("\n[ 5 ] ── 1, 4, 9\n"));

    let mut unknown = trn2n();
    unknown.devices[5].connected = None;
    assert!(drawing(&unknown).contains("\n[ 5 ] ── not known\n"));
}

/// Four links each, but no torus: a drawing would lie.
#[test]
fn other_graphs_of_degree_four_are_listed() {
    let devices = (0..16u32).map(|index| {
        let mut row = device(index, Chip::Trainium2, 4, "00:00.0");
        row.connected = Some([1, 2, 14, 15].iter().map(|step| (index + step) % 16).collect());
        row
    });
    let text = drawing(&instance("", "", devices.collect()));
    assert!(text.contains("\n[15 ] ── 0, 1, 13, 14\n"), "{text}");
}
