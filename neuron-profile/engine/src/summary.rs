//! The metrics of an execution, by the formulas of profiler.md §2.6.
//!
//! Settled on four exports (107 metrics each, all equal but the version of the tool). What the sheet leaves
//! open and the exports settle:
//!
//! * Times of engines leave out EVENT_SEMAPHORE; active times are unions over
//!   all cores.
//! * Peaks are those of all physical cores of the logical core; the bandwidth
//!   of device memory is that of one stack whatever their number.
//! * `mfu_estimated` equals `mfu_inst_estimated` without HLO statistics.
//! * `hfu_estimated` divides by [`HFU_FACTOR`] more than its formula says.
//! * Cycle counts are rounded down; `nc_idx` is the sum of the cores' numbers.
//! * Shares of throttling are whole nanoseconds by whole nanoseconds up to the
//!   last record.
//! * `dma_transfer_*` are 0 without notifications of descriptor generation; how
//!   the viewer counts with them no export shows, so they are left out then.

use neuron_core::engine::Engine;

use crate::capture::{Capture, version_text};
use crate::cores::QueueKind;
use crate::source::ReadAt;
use crate::totals::Totals;

/// By how much the viewer's `hfu_estimated` is smaller than the quotient of
/// operations and peak: 1 + 1/(6,400 x 6,400), in all four exports to the last
/// digit. Where it comes from is unknown; `mfu` and the layers do not have it.
pub const HFU_FACTOR: f64 = 1.0 + 1.0 / 40_960_000.0;

/// A number or a word.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A count, or bytes.
    Count(u64),
    /// Anything measured.
    Real(f64),
    /// A version or a name.
    Text(String),
}

impl Value {
    /// As a number; `None` for a word.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(real(*count)),
            Self::Real(real) => Some(*real),
            Self::Text(_) => None,
        }
    }
}

/// A metric of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Name.
    pub name: String,
    /// Group of the viewer's table.
    pub group: &'static str,
    /// Value; times in s, shares from 0 to 1.
    pub value: Value,
}

/// Groups of the viewer's table, in its order.
pub const GROUPS: [&str; 14] = [
    "overall_stats",
    "data_movement",
    "software_data_movement",
    "hardware_data_movement",
    "tensor_engine",
    "vector_engine",
    "scalar_engine",
    "sync_engine",
    "gpsimd_engine",
    "cc_engine",
    "system",
    "throttling_nc0",
    "throttling_nc1",
    "server_upload",
];

/// Engines in the order of the groups; the group is the name of its metrics.
const ENGINES: [(Engine, &str); 5] = [
    (Engine::Pe, "tensor_engine"),
    (Engine::Dve, "vector_engine"),
    (Engine::Act, "scalar_engine"),
    (Engine::Sp, "sync_engine"),
    (Engine::Pool, "gpsimd_engine"),
];

#[allow(clippy::cast_precision_loss, reason = "metrics are real numbers")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

fn seconds(ps: u64) -> f64 {
    real(ps) / 1e12
}

/// A quotient; 0 for nothing by nothing, so that no metric is not a number.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of cycles, not negative; beyond 64 bits it saturates"
)]
pub(crate) fn cycles(seconds: f64, clock: f64) -> u64 {
    (seconds * clock) as u64
}

struct List(Vec<Metric>);

impl List {
    fn push(&mut self, group: &'static str, name: impl Into<String>, value: Value) {
        self.0.push(Metric { name: name.into(), group, value });
    }

    fn real(&mut self, group: &'static str, name: impl Into<String>, value: f64) {
        self.push(group, name, Value::Real(value));
    }

    fn count(&mut self, group: &'static str, name: impl Into<String>, value: u64) {
        self.push(group, name, Value::Count(value));
    }

    fn text(&mut self, group: &'static str, name: &str, value: String) {
        self.push(group, name, Value::Text(value));
    }

    /// A time and its share of the whole.
    fn time(&mut self, group: &'static str, name: &str, ps: u64, whole: f64) {
        self.real(group, name, seconds(ps));
        self.real(group, format!("{name}_percent"), share(seconds(ps), whole));
    }
}

/// All metrics, in a fixed order.
pub fn summary<S: ReadAt + ?Sized>(capture: &Capture<'_, S>, totals: &Totals) -> Vec<Metric> {
    let mut list = List(Vec::new());
    let total = seconds(capture.total_ps());
    overall(&mut list, capture, totals, total);
    movement(&mut list, capture, totals, total);
    origins(&mut list, totals);
    engines(&mut list, capture, totals, total);
    collectives(&mut list);
    system(&mut list, capture);
    throttling(&mut list, totals);
    list.0
}

/// Peak of all cores.
fn peak<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> f64 {
    capture.chip.peak() * real(u64::try_from(capture.cores.len()).unwrap_or(1))
}

fn hardware_flops(totals: &Totals) -> u64 {
    2 * totals.traffic.elements
}

fn transpose_flops(totals: &Totals) -> u64 {
    2 * totals.transpose_elements
}

fn memory_bytes(totals: &Totals) -> u64 {
    totals.traffic.hbm_read + totals.traffic.hbm_write
}

fn model_flops<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> u64 {
    2 * capture.hlo_macs.unwrap_or(0)
}

fn overall<S: ReadAt + ?Sized>(
    list: &mut List,
    capture: &Capture<'_, S>,
    totals: &Totals,
    total: f64,
) {
    const GROUP: &str = "overall_stats";
    let count =
        |of: fn(&crate::totals::CoreTotals) -> u64| totals.cores.iter().map(of).sum::<u64>();
    let events = count(|core| core.updates);
    let instructions = count(|core| core.instructions.iter().sum());
    let packets = count(|core| core.packets);
    list.real(GROUP, "total_time", total);
    list.time(GROUP, "total_active_time", totals.all_active(), total);
    list.count(GROUP, "neuroncore_cycle_count", cycles(total, capture.chip.clock));
    list.count(GROUP, "trace_count", events + instructions + packets);
    list.count(GROUP, "event_count", events);
    list.count(GROUP, "model_flops", model_flops(capture));
    list.count(GROUP, "hardware_flops", hardware_flops(totals));
    list.count(GROUP, "transpose_flops", transpose_flops(totals));
    let useful = real(hardware_flops(totals).saturating_sub(transpose_flops(totals)));
    list.real(GROUP, "mm_arithmetic_intensity", share(useful, real(memory_bytes(totals))));
    let ratio = capture.chip.peak() / capture.chip.memory_bandwidth;
    list.real(GROUP, "peak_flops_bandwidth_ratio", ratio);
}

fn movement<S: ReadAt + ?Sized>(
    list: &mut List,
    capture: &Capture<'_, S>,
    totals: &Totals,
    total: f64,
) {
    const GROUP: &str = "data_movement";
    let traffic = &totals.traffic;
    let packets = &totals.packets;
    list.time(GROUP, "dma_active_time", packets.active(), total);
    let clock = capture.chip.clock;
    list.count(GROUP, "dma_active_cycles", cycles(seconds(packets.active()), clock));
    list.real(GROUP, "dma_packet_time", seconds(packets.time));
    list.real(GROUP, "dma_transfer_time", 0.0);
    list.count(GROUP, "dma_transfer_average_bytes", 0);
    let queues: usize = capture.cores.iter().map(|core| core.queues.len()).sum();
    list.count(GROUP, "dma_queue_count", u64::try_from(queues).unwrap_or(u64::MAX));
    let bytes = &capture.tensor_bytes;
    let read = bytes.inputs + bytes.weights;
    list.count(GROUP, "inputs_and_weights_size_bytes", read);
    list.count(GROUP, "inputs_outputs_weights_size_bytes", read + bytes.outputs);
    list.count(GROUP, "weight_size_bytes", bytes.weights);
    let memory = capture.chip.memory_bandwidth;
    let used = share(real(memory_bytes(totals)), total) / memory;
    list.real(GROUP, "mbu_estimated_percent", used);
    list.real(GROUP, "mbu_min_read_util_percent", share(real(read), total) / memory);
    list.count(GROUP, "hbm_read_bytes", traffic.hbm_read);
    list.count(GROUP, "hbm_write_bytes", traffic.hbm_write);
    list.count(GROUP, "sbuf_read_bytes", traffic.sbuf_read);
    list.count(GROUP, "sbuf_write_bytes", traffic.sbuf_write);
    list.count(GROUP, "psum_read_bytes", traffic.psum_read);
    list.count(GROUP, "psum_write_bytes", traffic.psum_write);
    list.count(GROUP, "psum_read_sbuf_write_count", totals.psum_read_sbuf_write_count);
    list.count(GROUP, "psum_read_sbuf_write_bytes", traffic.psum_read_sbuf_write);
    if totals.spill_save + totals.spill_reload > 0 {
        // The exports, none of which spills, do not have them.
        list.count(GROUP, "spill_save_bytes", totals.spill_save);
        list.count(GROUP, "spill_reload_bytes", totals.spill_reload);
    }
    let queue = |kind| totals.packets_by_kind.get(&kind).map_or(0, |packets| packets.bytes);
    list.count(GROUP, "input_queue_bytes", queue(QueueKind::Input));
    list.count(GROUP, "output_queue_bytes", queue(QueueKind::Output));
    list.count(GROUP, "weight_queue_bytes", 0);
}

/// Packets by who wrote their descriptors.
fn origins(list: &mut List, totals: &Totals) {
    let none = crate::totals::PacketTotals::default();
    let of = |kind| totals.packets_by_kind.get(&kind).unwrap_or(&none);
    let all = &totals.packets;
    let (software, hardware) = (of(QueueKind::SoftwareDynamic), of(QueueKind::HardwareDynamic));
    let active = seconds(all.active());
    for (group, name, packets) in [
        ("software_data_movement", "software_dynamic", software),
        ("hardware_data_movement", "hardware_dynamic", hardware),
    ] {
        list.time(group, &format!("{name}_dma_active_time"), packets.active(), active);
        list.count(group, format!("{name}_dma_packet_count"), packets.count);
        let part = share(real(packets.count), real(all.count));
        list.real(group, format!("{name}_dma_packet_percent"), part);
        list.count(group, format!("{name}_dma_size"), packets.bytes);
        let part = share(real(packets.bytes), real(all.bytes));
        list.real(group, format!("{name}_dma_size_percent"), part);
    }
    const GROUP: &str = "data_movement";
    let static_count = all.count - software.count - hardware.count;
    let static_bytes = all.bytes - software.bytes - hardware.bytes;
    // Of the static packets the exports hold those of ring 14 alone; the sum
    // over further rings counts overlaps between them twice.
    let static_active: u64 = totals
        .packets_by_kind
        .iter()
        .filter(|(kind, _)| {
            !matches!(kind, QueueKind::SoftwareDynamic | QueueKind::HardwareDynamic)
        })
        .map(|(_, packets)| packets.active())
        .sum();
    list.time(GROUP, "static_dma_active_time", static_active, active);
    let dynamic = seconds(software.active()) + seconds(hardware.active());
    list.real(GROUP, "dynamic_dma_active_time_percent", share(dynamic, active));
    list.count(GROUP, "static_dma_packet_count", static_count);
    let (count, bytes) = (real(all.count), real(all.bytes));
    list.real(GROUP, "static_dma_packet_percent", share(real(static_count), count));
    let dynamic_count = software.count + hardware.count;
    list.real(GROUP, "dynamic_dma_packet_percent", share(real(dynamic_count), count));
    list.count(GROUP, "static_dma_size", static_bytes);
    list.real(GROUP, "static_dma_size_percent", share(real(static_bytes), bytes));
    let dynamic_bytes = software.bytes + hardware.bytes;
    list.real(GROUP, "dynamic_dma_size_percent", share(real(dynamic_bytes), bytes));
}

fn engines<S: ReadAt + ?Sized>(
    list: &mut List,
    capture: &Capture<'_, S>,
    totals: &Totals,
    total: f64,
) {
    for (engine, group) in ENGINES {
        list.real(group, format!("{group}_instruction_time"), seconds(totals.time(engine)));
        list.time(group, &format!("{group}_active_time"), totals.active(engine), total);
        list.count(group, format!("{group}_instruction_count"), totals.count(engine));
    }
    const GROUP: &str = "tensor_engine";
    list.count(GROUP, "matmul_instruction_count", totals.products);
    let hardware = real(hardware_flops(totals));
    let useful = hardware - real(transpose_flops(totals));
    let model = real(model_flops(capture));
    let estimated = if model > 0.0 { model } else { useful };
    let peak = peak(capture);
    let rate = |flops: f64| share(flops, total) / peak;
    // What memory allows: operations per byte by those of the peaks.
    let bytes = real(memory_bytes(totals));
    let reachable =
        |flops: f64| (share(flops, bytes) / (peak / capture.chip.memory_bandwidth)).min(1.0);
    for (name, flops) in [("mfu", estimated), ("mfu_hlo", model), ("mfu_inst", useful)] {
        list.real(GROUP, format!("{name}_estimated_percent"), rate(flops));
        let most = format!("{name}_max_achievable_estimated_percent");
        list.real(GROUP, most, reachable(flops));
    }
    list.real(GROUP, "hfu_estimated_percent", rate(hardware) / HFU_FACTOR);
    list.real("scalar_engine", "activate_instruction_time", seconds(totals.activate_time));
    list.count("scalar_engine", "activate_instruction_count", totals.activates);
}

/// No real trace with collectives was found, so their records are not read.
fn collectives(list: &mut List) {
    const GROUP: &str = "cc_engine";
    for name in ["cc_op", "cc_cores_instruction"] {
        list.real(GROUP, format!("{name}_time"), 0.0);
        list.time(GROUP, &format!("{name}_active_time"), 0, 0.0);
        list.count(GROUP, format!("{name}_count"), 0);
    }
}

fn system<S: ReadAt + ?Sized>(list: &mut List, capture: &Capture<'_, S>) {
    const GROUP: &str = "system";
    let info = &capture.info;
    let sum = |of: fn(&crate::cores::Core) -> u32| -> u64 {
        capture.cores.iter().map(|core| u64::from(of(core))).sum()
    };
    list.text(GROUP, "instance_type", info.instance_type.clone());
    list.count(GROUP, "nd_idx", sum(|core| core.device));
    list.count(GROUP, "nc_idx", sum(|core| core.number));
    list.text(GROUP, "compiler_version", capture.compiler_version.clone());
    list.text(GROUP, "runtime_version", version_text(info.neuron_runtime_version.as_ref()));
    list.text(GROUP, "driver_version", version_text(info.neuron_driver_version.as_ref()));
    let collectives = version_text(info.neuron_collectives_version.as_ref());
    list.text(GROUP, "collectives_version", collectives);
    list.text(GROUP, "profiler_version", env!("CARGO_PKG_VERSION").to_owned());
}

fn throttling(list: &mut List, totals: &Totals) {
    const GROUPS: [&str; 2] = ["throttling_nc0", "throttling_nc1"];
    let last = real(totals.last / 1000);
    for (index, core) in totals.cores.iter().enumerate() {
        if core.throttle.is_empty() {
            continue;
        }
        let group = GROUPS.get(index).copied().unwrap_or("throttling_nc1");
        list.count(group, format!("throttle_active_nc{index}_time_ns"), core.throttled_ns);
        for (activity, (ns, weighted)) in &core.throttle {
            let name = format!("throttle_activity_{activity}");
            let part = share(real(*ns), last);
            list.real(group, format!("{name}_active_time_nc{index}_percent"), part);
            let limit = share(*weighted, real(*ns));
            list.real(group, format!("{name}_avg_util_limit_nc{index}_percent"), limit);
        }
        let weighted: f64 = core.throttle.values().map(|(_, weighted)| weighted).sum();
        let limit = share(weighted, last);
        list.real(group, format!("throttle_avg_util_limit_nc{index}_percent"), limit);
    }
}
