//! The tree: parents are the sum of their children, whatever there is.

mod samples;

use neuron_core::instance::Chip;
use neuron_core::sample::ModelMemory;
use neuron_top::frame::Frame;
use neuron_top::tree::{Line, Node, Open, Sort, View, lines};
use proptest::prelude::*;

fn open_all() -> Open {
    let mut open = Open::default();
    open.toggle_all();
    open
}

fn all(frame: &Frame, filter: &str, sort: Sort) -> Vec<Line> {
    lines(frame, View { pid: None, filter, sort, open: &open_all() })
}

/// Every line with children has the sum of theirs.
fn adds_up(lines: &[Line]) -> Result<(), String> {
    for line in lines.iter().filter(|line| line.open.is_some()) {
        let children = || lines.iter().filter(|child| child.node.parent() == Some(line.node));
        let sums = children().fold((0_u64, 0_u64), |(device, host), child| {
            (device.saturating_add(child.device), host.saturating_add(child.host))
        });
        if children().count() == 0 || sums != (line.device, line.host) {
            return Err(format!("{line:?} has children of {sums:?}"));
        }
    }
    Ok(())
}

#[test]
fn the_published_tree_adds_up() {
    let frames = samples::frames(&samples::picture());
    let lines = all(&frames[1], "", Sort::Index);
    adds_up(&lines).unwrap();
    // 16 devices, 32 cores, and on each a model with a leaf for each of
    // constants and host memory, and four leaves of the core.
    assert_eq!(lines.len(), 16 + 32 * (1 + 1 + 2 + 4));
    let device: u64 = lines.iter().filter(|l| l.node.core.is_none()).map(|l| l.device).sum();
    assert_eq!(device, frames[1].processes[0].application.memory.device());
}

#[test]
fn order_and_filter() {
    let frames = samples::frames(&samples::many());
    let devices = |sort, filter: &str| -> Vec<u32> {
        let lines = all(&frames[1], filter, sort);
        lines.iter().filter(|line| line.node.core.is_none()).map(|line| line.node.device).collect()
    };
    assert_eq!(devices(Sort::Index, ""), (0..16).collect::<Vec<_>>());
    assert_eq!(devices(Sort::Use, "")[..4], [14, 15, 12, 13]);
    assert_eq!(devices(Sort::Index, "llama-3"), [6, 7]);
    assert_eq!(devices(Sort::Index, "worker-7"), [14, 15]);
    assert_eq!(devices(Sort::Index, "5002"), [4, 5]);
    assert_eq!(devices(Sort::Index, "nothing"), [0_u32; 0]);
    // A model without its process has no leaves of the core beside it.
    let lines = all(&frames[1], "llama-3", Sort::Index);
    adds_up(&lines).unwrap();
    assert!(lines.iter().all(|line| line.node.leaf.is_none() || line.node.model.is_some()));
}

#[test]
fn what_is_collapsed_is_not_listed() {
    let frames = samples::frames(&samples::one());
    let mut open = Open::default();
    let view = |open: &Open| {
        lines(&frames[1], View { pid: None, filter: "", sort: Sort::Index, open })
            .iter()
            .map(|line| line.label.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(view(&open), ["ND 0"]);
    open.set(Node::device(0), true);
    assert_eq!(view(&open), ["ND 0", "NC 0", "NC 1"]);
    open.toggle_all();
    assert_eq!(view(&open).len(), 3 + 1 + 3 + 4);
    open.set(Node::core(0, 0), false);
    assert_eq!(view(&open), ["ND 0", "NC 0", "NC 1"]);
    open.toggle_all();
    assert_eq!(view(&open).len(), 11);
    open.toggle_all();
    assert_eq!(view(&open), ["ND 0"]);
}

prop_compose! {
    fn memory()(code in 0..9_u64, tensors in 0..9_u64, constants in 0..9_u64, scratchpad in 0..9_u64, misc in 0..9_u64)
        -> ModelMemory {
        ModelMemory { code, tensors, constants, scratchpad, misc }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Models that hold more than their core is said to, models of no core,
    /// two processes on a core.
    #[test]
    fn parents_are_the_sum_of_their_children(
        models in prop::collection::vec((0..2_usize, 0..3_u32, 1..3_u32, 0..4_u32, memory(), memory()), 0..12),
        counters in prop::collection::vec((0..2_usize, 0..2_u32, 1..3_u32, 22..27_u32, 0..30_u64), 0..20),
        sort in prop::sample::select(vec![Sort::Index, Sort::Use, Sort::Device, Sort::Host]),
        filter in prop::sample::select(vec!["", "m1", "serve"]),
    ) {
        let mut sample = samples::machine("trn1.32xlarge", "i-0", Chip::Trainium1, 2, 4, 5);
        for (device, core, pid, id, host, memory) in models {
            let name = format!("m{id}");
            samples::model(&mut sample, device, pid, samples::loaded(id, core, &name, host, memory));
        }
        for (device, core, pid, counter, value) in counters {
            samples::count(&mut sample, device, pid, core, &[(counter, value)]);
        }
        let frame = &samples::frames(&[sample])[0];
        let lines = all(frame, filter, sort);
        prop_assert_eq!(adds_up(&lines), Ok(()));
        let mut nodes: Vec<Node> = lines.iter().map(|line| line.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        prop_assert_eq!(nodes.len(), lines.len());
    }
}
