//! Reading a machine with short deadlines, and what it said.

use std::sync::Arc;
use std::time::Duration;

use neuron_core::driver::{Deadlines, Files, Machine, Nodes, Setting};
use neuron_core::instance::{Identity, InstanceType};
use neuron_core::model::Inventory;
use neuron_core::sample::{Sample, Wanted};
use neuron_core::sim::{Places, Sim, View};

pub const PROCESSES: Wanted = Wanted {
    processes: true,
    datastores: false,
    counters: false,
    firmware: false,
    usage: false,
    cpus: false,
    ram: false,
};
pub const EVERYTHING: Wanted =
    Wanted { usage: false, cpus: false, ram: false, ..Wanted::EVERYTHING };

pub const EACCES: i32 = 13;
pub const EBUSY: i32 = 16;
pub const EIO: i32 = 5;
pub const EINVAL: i32 = 22;

pub fn view(dir: &tempfile::TempDir, kind: &str) -> (Sim, View) {
    let kind = InstanceType::find(kind).unwrap();
    let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", kind).unwrap();
    let view = View::now(&sim).unwrap();
    (sim, view)
}

pub fn read(files: impl Files + 'static, nodes: impl Nodes + 'static, wanted: Wanted) -> Sample {
    let deadlines =
        Deadlines { attach: Duration::from_millis(300), firmware: Duration::from_millis(300) };
    let setting = Setting { deadlines, ..Setting::default() };
    Machine::new(Arc::new(files), Arc::new(nodes), setting)
        .sample(wanted, &Identity::default())
        .unwrap()
}

pub fn problems(sample: &Sample) -> String {
    let lines: Vec<String> =
        sample.problems.iter().map(|p| format!("{:?}: {}", p.device, p.text)).collect();
    for line in &lines {
        assert!(!line.contains('\n'), "{line:?}");
    }
    lines.join("\n")
}

/// What a view says: one line for devices with the same problem.
pub fn told(sample: &Sample) -> Vec<String> {
    Inventory::of(sample).problems.into_iter().map(|problem| problem.text).collect()
}

pub const TREE: &str = "sys/devices/virtual/neuron_device";
