//! From the newest figures to families of metrics, in the order of a real
//! scrape (sys-tools.md §5.3), those of our own behind.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use neuron_core::catalog as row;

use super::state::{App, State, add_errors, add_status};
use super::text::{Format, Page, Samples};
use crate::wire::{CpuShares, ErrorSummary, ExecutionSummary};

/// What a page may hold beyond the original's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// Figures of each vCPU.
    pub(super) each_vcpu: bool,
}

/// The page of a state.
pub(super) fn render(state: &State, format: Format, extent: Extent) -> String {
    let instance = &state.instance;
    let mut common = vec![
        ("instance_name", instance.instance_name.as_str()),
        ("instance_id", &instance.instance_id),
        ("instance_type", &instance.instance_type),
        ("availability_zone", &instance.instance_availability_zone),
        ("region", &instance.instance_region),
        ("subnet_id", &instance.subnet_id),
    ];
    if !instance.ultraserver_id.is_empty() {
        common.push(("ultraserver_id", &instance.ultraserver_id));
    }
    let mut page = Page::new(format, &common, state.pods.as_ref());
    if state.records > 0 {
        machine(&mut page, state);
        applications(&mut page, state);
        devices(&mut page, state);
        vcpus(&mut page, state, extent);
    }
    monitor(&mut page, state);
    page.finish()
}

fn one(page: &mut Page<'_>, metric: &row::Metric, value: Option<f64>) {
    page.family(metric, |samples| {
        if let Some(value) = value {
            samples.float(&[], value);
        }
    });
}

fn whole(page: &mut Page<'_>, metric: &row::Metric, value: Option<u64>) {
    page.family(metric, |samples| {
        if let Some(value) = value {
            samples.count(&[], value);
        }
    });
}

fn machine(page: &mut Page<'_>, state: &State) {
    let memory = state.memory.as_ref();
    whole(page, &row::SYSTEM_MEMORY_TOTAL, memory.map(|m| m.memory_total_bytes));
    whole(page, &row::SYSTEM_MEMORY_USED, memory.map(|m| m.memory_used_bytes));
    whole(page, &row::SYSTEM_SWAP_TOTAL, memory.map(|m| m.swap_total_bytes));
    whole(page, &row::SYSTEM_SWAP_USED, memory.map(|m| m.swap_used_bytes));
    page.family(&row::SYSTEM_ECC_EVENTS, |samples| {
        const TYPES: [&str; 4] = [
            "mem_ecc_corrected",
            "mem_ecc_uncorrected",
            "sram_ecc_corrected",
            "sram_ecc_uncorrected",
        ];
        for (index, device) in &state.devices {
            samples.since(device.created);
            let index = index.to_string();
            for (kind, count) in TYPES.iter().zip(device.events) {
                samples.count(&[("event_type", kind), ("neuron_device_index", &index)], count);
            }
        }
    });
    let vcpu = state.vcpu.as_ref();
    whole(page, &row::SYSTEM_VCPU_COUNT, vcpu.map(|v| v.usage_data.len() as u64));
    page.family(&row::SYSTEM_VCPU_USAGE, |samples| {
        if let Some(vcpu) = vcpu {
            for (kind, ratio) in user_and_system(&vcpu.average_usage) {
                samples.float(&[("usage_type", kind)], ratio);
            }
        }
    });
    page.family(&row::INSTANCE_INFO, |samples| samples.float(&[], 1.0));
    let hardware = &state.hardware;
    page.family(&row::HARDWARE_INFO, |samples| {
        let labels = [
            ("neuron_device_count", hardware.neuron_device_count.to_string()),
            ("neuron_device_memory_size", hardware.neuron_device_memory_size.to_string()),
            ("neuroncore_per_device_count", hardware.neuroncore_per_device_count.to_string()),
        ];
        samples.float(&labels.each_ref().map(|(name, value)| (*name, value.as_str())), 1.0);
    });
    page.family(&row::DEVICE_KIND_INFO, |samples| {
        let lnc = hardware.logical_neuroncore_config.to_string();
        let labels = [
            ("logical_neuroncore_config", lnc.as_str()),
            ("neuron_device_type", &hardware.neuron_device_type),
            ("neuron_device_version", &hardware.neuron_device_version),
            ("neuroncore_version", &hardware.neuroncore_version),
        ];
        samples.float(&labels, 1.0);
    });
}

/// The original's two shares: user with nice, system with waiting for disks
/// and interrupts, each at most 1.
fn user_and_system(shares: &CpuShares) -> [(&'static str, f64); 2] {
    let system = shares.system + shares.io_wait + shares.irq + shares.soft_irq;
    [("user", ratio(shares.user + shares.nice)), ("system", ratio(system))]
}

fn ratio(percent: f64) -> f64 {
    percent.clamp(0.0, 100.0) / 100.0
}

/// Applications of one tag: their labels are the same, so their figures are
/// added up.
type ByTag<'a> = BTreeMap<&'a str, Vec<&'a App>>;

fn applications(page: &mut Page<'_>, state: &State) {
    let mut tags: ByTag<'_> = BTreeMap::new();
    for app in state.applications.values() {
        tags.entry(&app.tag).or_default().push(app);
    }
    executions(page, &tags);
    memory(page, &tags);
    page.family(&row::APPLICATION_VCPU, |samples| {
        for (tag, apps) in &tags {
            let shares = || apps.iter().filter_map(|app| app.vcpu);
            if shares().next().is_some() {
                let user: f64 = shares().map(|share| share.user).sum();
                let system: f64 = shares().map(|share| share.system).sum();
                for (kind, percent) in [("user", user), ("system", system)] {
                    samples.float(&[("runtime_tag", tag), ("usage_type", kind)], ratio(percent));
                }
            }
        }
    });
    cores(page, &tags);
    models(page, &tags);
    page.family(&row::APPLICATION_INFO, |samples| {
        for (pid, app) in &state.applications {
            let pid = pid.to_string();
            let labels = [
                ("pid", pid.as_str()),
                ("runtime_tag", &app.tag),
                ("runtime_version", &app.version),
            ];
            samples.float(&labels, 1.0);
        }
    });
}

fn began(apps: &[&App]) -> f64 {
    apps.iter().map(|app| app.created).fold(f64::INFINITY, f64::min)
}

fn executions(page: &mut Page<'_>, tags: &ByTag<'_>) {
    page.family(&row::APPLICATION_ERRORS, |samples| {
        for (tag, apps) in tags {
            let mut sum: Option<ErrorSummary> = None;
            for errors in apps.iter().filter_map(|app| app.errors) {
                add_errors(sum.get_or_insert_default(), errors);
            }
            let Some(sum) = sum else { continue };
            samples.since(began(apps));
            let kinds = [
                ("generic", sum.generic),
                ("numerical", Some(sum.numerical)),
                ("transient", Some(sum.transient)),
                ("model", Some(sum.model)),
                ("runtime", Some(sum.runtime)),
                ("hardware", Some(sum.hardware)),
            ];
            for (kind, count) in kinds {
                if let Some(count) = count {
                    samples.count(&[("error_type", kind), ("runtime_tag", tag)], count);
                }
            }
        }
    });
    page.family(&row::APPLICATION_STATUS, |samples| {
        for (tag, apps) in tags {
            if apps.iter().all(|app| app.errors.is_none()) {
                continue;
            }
            let mut sum = ExecutionSummary::default();
            apps.iter().for_each(|app| add_status(&mut sum, app.status));
            samples.since(began(apps));
            let kinds = [
                ("completed", sum.completed),
                ("completed_with_err", sum.completed_with_err),
                ("completed_with_num_err", sum.completed_with_num_err),
                ("timed_out", sum.timed_out),
                ("incorrect_input", sum.incorrect_input),
                ("failed_to_queue", sum.failed_to_queue),
            ];
            for (kind, count) in kinds {
                samples.count(&[("runtime_tag", tag), ("status_type", kind)], count);
            }
        }
    });
    let latency = |samples: &mut Samples<'_, '_>, device: bool| {
        for (tag, apps) in tags {
            let found = apps.iter().filter_map(|app| {
                if device { app.latency.device_latency } else { app.latency.total_latency }
            });
            // Of several applications the slowest.
            let mut slowest: BTreeMap<usize, (&str, f64)> = BTreeMap::new();
            for percentiles in found {
                for (at, (name, seconds)) in percentiles.named().into_iter().enumerate() {
                    let entry = slowest.entry(at).or_insert((name, seconds));
                    entry.1 = entry.1.max(seconds);
                }
            }
            for (name, seconds) in slowest.into_values() {
                samples.float(&[("percentile", name), ("runtime_tag", tag)], seconds);
            }
        }
    };
    page.family(&row::APPLICATION_LATENCY, |samples| latency(samples, false));
    page.family(&row::APPLICATION_DEVICE_LATENCY, |samples| latency(samples, true));
}

fn memory(page: &mut Page<'_>, tags: &ByTag<'_>) {
    let of = |apps: &[&App]| -> Vec<_> {
        let used = apps.iter().filter_map(|app| app.memory.as_ref());
        used.map(|memory| memory.neuron_runtime_used_bytes.clone()).collect()
    };
    let used: Vec<_> = tags.iter().map(|(tag, apps)| (*tag, of(apps))).collect();
    let used: Vec<_> = used.into_iter().filter(|(_, used)| !used.is_empty()).collect();
    page.family(&row::APPLICATION_MEMORY, |samples| {
        for (tag, used) in &used {
            let host = used.iter().map(|used| used.host).sum();
            let device = used.iter().map(|used| used.neuron_device).sum();
            for (place, bytes) in [("host", host), ("neuron_device", device)] {
                samples.count(&[("memory_location", place), ("runtime_tag", tag)], bytes);
            }
        }
    });
    let mut cores: BTreeMap<(&str, u32), [u64; 5]> = BTreeMap::new();
    for (tag, used) in &used {
        for (core, memory) in
            used.iter().flat_map(|used| &used.usage_breakdown.neuroncore_memory_usage)
        {
            let sums = cores.entry((tag, *core)).or_default();
            let values = [
                memory.constants,
                memory.model_code,
                memory.model_shared_scratchpad,
                memory.runtime_memory,
                memory.tensors,
            ];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
    let rows = [
        row::APPLICATION_CORE_CONSTANTS,
        row::APPLICATION_CORE_MODEL_CODE,
        row::APPLICATION_CORE_MODEL_SHARED_SCRATCHPAD,
        row::APPLICATION_CORE_RUNTIME_MEMORY,
        row::APPLICATION_CORE_TENSORS,
    ];
    for (at, metric) in rows.iter().enumerate() {
        page.family(metric, |samples| {
            for ((tag, core), sums) in &cores {
                let core = core.to_string();
                let labels = [
                    // The original's text for a label that it has no value for.
                    ("memory_location", "None"),
                    ("neuroncore", core.as_str()),
                    ("runtime_tag", tag),
                ];
                samples.count(&labels, sums.get(at).copied().unwrap_or(0));
            }
        });
    }
    page.family(&row::APPLICATION_HOST_MEMORY, |samples| {
        for (tag, used) in &used {
            let host = || used.iter().map(|used| used.usage_breakdown.host);
            let kinds = [
                ("application_memory", host().map(|host| host.application_memory).sum()),
                ("constants", host().map(|host| host.constants).sum()),
                ("dma_buffers", host().map(|host| host.dma_buffers).sum()),
                ("tensors", host().map(|host| host.tensors).sum()),
            ];
            for (kind, bytes) in kinds {
                samples.count(&[("category", kind), ("runtime_tag", tag)], bytes);
            }
        }
    });
}

/// A core as the applications of a tag use it.
#[derive(Debug, Default)]
struct Core<'a> {
    percent: f64,
    flops: Option<u64>,
    physical: BTreeMap<&'a str, f64>,
}

fn cores(page: &mut Page<'_>, tags: &ByTag<'_>) {
    let mut cores: BTreeMap<(&str, u32), Core<'_>> = BTreeMap::new();
    for (tag, apps) in tags {
        let in_use = apps.iter().filter_map(|app| app.cores.as_ref());
        for (index, core) in in_use.flat_map(|cores| &cores.neuroncores_in_use) {
            let sum = cores.entry((tag, *index)).or_default();
            sum.percent += core.neuroncore_utilization;
            if let Some(flops) = core.effective_flops {
                *sum.flops.get_or_insert_default() += flops;
            }
            for (name, physical) in core.v3d.iter().chain(&core.v4d).flatten() {
                *sum.physical.entry(name).or_default() += physical.neuroncore_utilization;
            }
        }
    }
    page.family(&row::APPLICATION_CORE_UTILIZATION, |samples| {
        for ((tag, index), core) in &cores {
            let index = index.to_string();
            samples.float(&[("neuroncore", &index), ("runtime_tag", tag)], ratio(core.percent));
        }
    });
    page.family(&row::APPLICATION_CORE_FLOPS, |samples| {
        for ((tag, index), core) in &cores {
            if let Some(flops) = core.flops {
                let index = index.to_string();
                samples.count(&[("neuroncore", &index), ("runtime_tag", tag)], flops);
            }
        }
    });
    page.family(&row::APPLICATION_CORE_PHYSICAL, |samples| {
        for ((tag, index), core) in &cores {
            let index = index.to_string();
            for (name, percent) in &core.physical {
                let labels =
                    [("neuroncore", index.as_str()), ("physical_core", name), ("runtime_tag", tag)];
                samples.float(&labels, ratio(*percent));
            }
        }
    });
}

fn models(page: &mut Page<'_>, tags: &ByTag<'_>) {
    let mut memory: BTreeMap<[String; 7], u64> = BTreeMap::new();
    let mut running: BTreeMap<[String; 4], bool> = BTreeMap::new();
    for (tag, apps) in tags {
        let loaded =
            apps.iter().filter_map(|app| app.memory.as_ref()).flat_map(|m| &m.loaded_models);
        for model in loaded {
            let id = model.model_id.to_string();
            let key = [id.clone(), model.name.clone(), model.uuid.clone(), (*tag).to_owned()];
            *running.entry(key).or_default() |= model.is_running;
            for (name, part) in &model.subgraphs {
                let used = &part.memory_used_bytes;
                for (place, bytes) in [("host", used.host), ("neuron_device", used.neuron_device)] {
                    let key = [
                        place.to_owned(),
                        id.clone(),
                        model.name.clone(),
                        part.neuron_device_index.to_string(),
                        part.neuroncore_index.to_string(),
                        (*tag).to_owned(),
                        name.clone(),
                    ];
                    *memory.entry(key).or_default() += bytes;
                }
            }
        }
    }
    page.family(&row::APPLICATION_MODEL_MEMORY, |samples| {
        const NAMES: [&str; 7] = [
            "memory_location",
            "model_id",
            "model_name",
            "neuron_device_index",
            "neuroncore_within_device",
            "runtime_tag",
            "subgraph",
        ];
        for (key, bytes) in &memory {
            let mut labels = NAMES.map(|name| (name, ""));
            labels.iter_mut().zip(key).for_each(|(label, value)| label.1 = value);
            samples.count(&labels, *bytes);
        }
    });
    page.family(&row::APPLICATION_MODEL_RUNNING, |samples| {
        const NAMES: [&str; 4] = ["model_id", "model_name", "model_uuid", "runtime_tag"];
        for (key, running) in &running {
            let mut labels = NAMES.map(|name| (name, ""));
            labels.iter_mut().zip(key).for_each(|(label, value)| label.1 = value);
            samples.count(&labels, u64::from(*running));
        }
    });
}

fn devices(page: &mut Page<'_>, state: &State) {
    page.family(&row::SYSTEM_ECC_REPAIRABLE, |samples| {
        for (index, device) in &state.devices {
            let count = device.totals.and_then(|totals| totals.mem_ecc_repairable_uncorrected);
            if let Some(count) = count {
                samples.count(&[("neuron_device_index", &index.to_string())], count);
            }
        }
    });
    page.family(&row::SYSTEM_POWER, |samples| {
        for (index, device) in &state.devices {
            let Some(power) = device.power else { continue };
            let index = index.to_string();
            for (name, percent) in [("min", power.min), ("max", power.max), ("avg", power.avg)] {
                let labels = [("neuron_device_index", index.as_str()), ("statistic", name)];
                samples.float(&labels, ratio(percent));
            }
        }
    });
    page.family(&row::SYSTEM_UNHEALTHY, |samples| {
        for (index, device) in &state.devices {
            let index = index.to_string();
            for component in &device.unhealthy {
                let labels = [("component", component.as_str()), ("neuron_device_index", &index)];
                samples.float(&labels, 1.0);
            }
        }
    });
}

fn vcpus(page: &mut Page<'_>, state: &State, extent: Extent) {
    page.family(&row::SYSTEM_VCPU_EACH, |samples| {
        let Some(vcpu) = state.vcpu.as_ref().filter(|_| extent.each_vcpu) else { return };
        for (number, shares) in &vcpu.usage_data {
            let number = number.to_string();
            for (kind, ratio) in user_and_system(shares) {
                samples.float(&[("usage_type", kind), ("vcpu", &number)], ratio);
            }
        }
    });
    page.family(&row::SYSTEM_CONTEXT_SWITCHES, |samples| {
        if state.vcpu.is_some() {
            samples.since(state.began);
            samples.count(&[], state.context_switches);
        }
    });
}

fn monitor(page: &mut Page<'_>, state: &State) {
    page.family(&row::MONITOR_INFO, |samples| {
        let simulated = state.monitor.as_ref().map_or("", |monitor| &monitor.simulated);
        let labels = [("simulated", simulated), ("version", env!("CARGO_PKG_VERSION"))];
        samples.float(&labels, 1.0);
    });
    let newest = (state.records > 0).then_some(state.newest);
    one(page, &row::MONITOR_TIMESTAMP, newest);
    page.family(&row::MONITOR_PERIOD, |samples| {
        for (group, period) in &state.periods {
            samples.float(&[("group", group)], *period);
        }
    });
    page.family(&row::MONITOR_GROUP_ERROR, |samples| {
        let names = state.periods.keys().chain(state.errors.keys());
        let names: std::collections::BTreeSet<&str> = names.copied().collect();
        for group in names {
            let count = state.errors.get(group).copied().unwrap_or(0);
            samples.count(&[("group", group)], count);
        }
    });
    whole(page, &row::MONITOR_RECORDS, Some(state.records));
    whole(page, &row::MONITOR_BAD_RECORDS, Some(state.bad_records));
    let own = state.own.as_ref();
    whole(page, &row::MONITOR_DROPPED, own.map(|own| own.dropped_records));
    whole(page, &row::MONITOR_LATE, own.map(|own| own.late_records));
    page.family(&row::MONITOR_COLLECTION, |samples| {
        for (group, seconds) in own.iter().flat_map(|own| &own.collection_seconds) {
            samples.float(&[("group", group)], *seconds);
        }
    });
    one(page, &row::PROCESS_CPU, Some(crate::own::cpu_seconds()));
    whole(page, &row::PROCESS_MEMORY, crate::own::resident_memory());
    one(page, &row::PROCESS_START, Some(*crate::own::STARTED));
}
