//! From figures to a record.

use std::collections::BTreeMap;

use neuron_core::instance::{Arch, Chip};
use neuron_core::model::{
    self, Application, CpuUse, DeviceHardware, Executions, MachineFacts, Origin,
};

use crate::config::{Config, OfApplication, OfSystem};
use crate::plan::Item;
use crate::reading::{Collected, Values};
use crate::wire;

/// Version of the published schema.
pub(crate) const SCHEMA: u32 = 1;

/// The record of a reading, but for what concerns this program and the
/// instance's metadata.
pub(crate) fn record(collected: &Collected, config: &Config) -> wire::Record {
    let mut record = wire::Record {
        neuron_hardware_info: hardware_info(&collected.facts, collected.no_devices.as_deref()),
        ..wire::Record::default()
    };
    for application in &collected.applications {
        let Some(entry) = config.selection(&application.tag) else { continue };
        let mut shown = wire::Application {
            pid: application.pid,
            neuron_runtime_tag: application.tag.clone(),
            neuron_runtime_version: application.runtime_version.clone().unwrap_or_default(),
            ..wire::Application::default()
        };
        let mut due = false;
        for (item, (period, values)) in &collected.groups {
            if let Item::Application(index, group) = item
                && *index == entry
            {
                due = true;
                add(&mut shown.report, *group, *period, values, application, &collected.facts);
            }
        }
        if due {
            record.neuron_runtime_data.push(shown);
        }
    }
    for (item, (period, values)) in &collected.groups {
        if let Item::System(group) = item {
            add_system(&mut record.system_data, *group, *period, values, collected);
        }
    }
    record.instance_info.instance_type = collected.facts.instance_type.clone().unwrap_or_default();
    record.instance_info.instance_id = collected.facts.instance_id.clone().unwrap_or_default();
    record.neuron_monitor = Some(wire::MonitorInfo {
        version: String::from(env!("CARGO_PKG_VERSION")),
        schema: SCHEMA,
        timestamp: collected.timestamp,
        record: 0,
        simulated: match &collected.facts.origin {
            Origin::Simulated(name) => name.clone(),
            Origin::Kernel | Origin::Root(_) => String::new(),
        },
    });
    record
}

fn hardware_info(facts: &MachineFacts, no_devices: Option<&str>) -> wire::HardwareInfo {
    wire::HardwareInfo {
        neuron_device_type: facts.chip.map_or("", Chip::device_type).to_owned(),
        neuron_device_version: facts.device_version().to_owned(),
        neuroncore_version: facts.core_version().to_owned(),
        neuron_device_count: facts.devices,
        neuron_device_memory_size: facts.device_memory,
        neuroncore_per_device_count: facts.cores_per_device,
        logical_neuroncore_config: if facts.devices == 0 { 0 } else { facts.lnc },
        error: match no_devices {
            Some("") => String::from("no Neuron driver here"),
            Some(reason) => model::printable(reason),
            None => String::new(),
        },
    }
}

fn add(
    report: &mut wire::Report,
    group: OfApplication,
    period: f64,
    values: &Values,
    application: &Application,
    facts: &MachineFacts,
) {
    let pid = application.pid;
    match (group, values) {
        (OfApplication::NeuroncoreCounters, Values::Cores(all)) => {
            if let Some(cores) = all.get(&pid) {
                report.neuroncore_counters = Some(cores_in_use(cores, period, facts));
            }
        }
        (OfApplication::ExecutionStats, Values::Executions(all)) => {
            report.execution_stats = all.get(&pid).map(|e| execution_stats(e, period));
        }
        (OfApplication::RuntimeVcpuUsage, Values::Processors(all)) => {
            report.neuron_runtime_vcpu_usage = all.get(&pid).map(|share| {
                let (vcpu_usage, error) = match share {
                    Ok(share) => {
                        (wire::VcpuShare { system: share.system, user: share.user }, String::new())
                    }
                    Err(error) => (wire::VcpuShare::default(), error.clone()),
                };
                wire::RuntimeVcpu { period, vcpu_usage, error }
            });
        }
        (OfApplication::MemoryUsed, _) => {
            report.memory_used = Some(memory_used(application, period, facts));
        }
        _ => {}
    }
}

fn cores_in_use(cores: &[model::CoreUse], period: f64, facts: &MachineFacts) -> wire::CoreCounters {
    let arch = facts.chip.map(Chip::arch);
    let one = |core: &model::CoreUse| {
        let first = core.index.saturating_mul(facts.lnc);
        let physical = |prefix: &str| -> BTreeMap<String, wire::PhysicalCore> {
            let numbered = (first..).zip(&core.physical);
            numbered
                .map(|(number, percent)| {
                    let core = wire::PhysicalCore { neuroncore_utilization: *percent };
                    (format!("{prefix}.{number}"), core)
                })
                .collect()
        };
        let several = core.physical.len() > 1;
        wire::CoreUse {
            effective_flops: (arch != Some(Arch::V1)).then(|| whole(core.flops)),
            neuroncore_utilization: core.utilization,
            v3d: (several && arch == Some(Arch::V3)).then(|| physical("nc_v3")),
            v4d: (several && arch == Some(Arch::V4)).then(|| physical("nc_v4")),
        }
    };
    wire::CoreCounters {
        period,
        neuroncores_in_use: cores.iter().map(|core| (core.index, one(core))).collect(),
        neuroncores_owned: cores.iter().filter(|core| core.owned).map(|core| core.index).collect(),
        error: String::new(),
    }
}

/// A rate as a whole number; a float beyond 64 bits saturates.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn execution_stats(executions: &Executions, period: f64) -> wire::ExecutionStats {
    let percentiles = |found: Option<model::Percentiles>| {
        found.map(|p| wire::Percentiles {
            p0: p.p0,
            p1: p.p1,
            p25: p.p25,
            p50: p.p50,
            p75: p.p75,
            p99: p.p99,
            p100: p.p100,
        })
    };
    wire::ExecutionStats {
        period,
        error_summary: errors(&executions.errors, None),
        execution_summary: outcomes(&executions.outcomes),
        latency_stats: wire::LatencyStats {
            device_latency: percentiles(executions.device_latency),
            total_latency: percentiles(executions.total_latency),
        },
        totals: Some(wire::Totals {
            error_summary: errors(&executions.errors_total, Some(executions.errors_total.generic)),
            execution_summary: outcomes(&executions.outcomes_total),
        }),
        error: String::new(),
    }
}

fn errors(errors: &model::Errors, generic: Option<u64>) -> wire::ErrorSummary {
    wire::ErrorSummary {
        generic,
        hardware: errors.hardware,
        model: errors.model,
        numerical: errors.numerical,
        runtime: errors.runtime,
        transient: errors.transient,
    }
}

fn outcomes(outcomes: &model::Outcomes) -> wire::ExecutionSummary {
    wire::ExecutionSummary {
        completed: outcomes.completed,
        completed_with_err: outcomes.completed_with_err,
        completed_with_num_err: outcomes.completed_with_num_err,
        failed_to_queue: outcomes.failed_to_queue,
        incorrect_input: outcomes.incorrect_input,
        timed_out: outcomes.timed_out,
    }
}

fn memory_used(application: &Application, period: f64, facts: &MachineFacts) -> wire::MemoryUsed {
    let memory = &application.memory;
    let core = |core: &model::CoreMemory| wire::CoreMemory {
        constants: core.constants,
        model_code: core.model_code,
        model_shared_scratchpad: core.model_shared_scratchpad,
        runtime_memory: core.runtime_memory,
        tensors: core.tensors,
    };
    wire::MemoryUsed {
        period,
        neuron_runtime_used_bytes: wire::UsedBytes {
            host: memory.host.total(),
            neuron_device: memory.device(),
            usage_breakdown: wire::RuntimeBreakdown {
                host: host(&memory.host),
                neuroncore_memory_usage: memory.cores.iter().map(|(i, c)| (*i, core(c))).collect(),
            },
        },
        loaded_models: memory.models.iter().map(|m| loaded_model(m, facts)).collect(),
        error: String::new(),
    }
}

fn host(host: &model::HostUse) -> wire::HostCategories {
    wire::HostCategories {
        application_memory: host.application_memory,
        constants: host.constants,
        dma_buffers: host.dma_buffers,
        tensors: host.tensors,
    }
}

fn loaded_model(model: &model::ModelUse, facts: &MachineFacts) -> wire::LoadedModel {
    let second = facts.chip.map(Chip::arch) == Some(Arch::V2);
    let subgraph = |part: &model::Subgraph| wire::Subgraph {
        memory_used_bytes: wire::DeviceUse {
            host: part.host.total(),
            neuron_device: part.memory.total(),
            usage_breakdown: wire::ModelBreakdown {
                host: host(&part.host),
                neuron_device: wire::DeviceCategories {
                    constants: part.memory.constants,
                    model_code: part.memory.model_code,
                    runtime_memory: part.memory.runtime_memory,
                    tensors: part.memory.tensors,
                },
            },
        },
        neuroncore_index: part.core,
        neuron_device_index: part.device,
        v2: second.then(|| format!("nc_v2.{}", part.core)),
    };
    wire::LoadedModel {
        name: model.name.clone(),
        uuid: model.uuid.clone(),
        model_id: u64::from(model.id),
        is_running: model.running,
        subgraphs: model
            .subgraphs
            .iter()
            .map(|(number, part)| (format!("sg_{number:02}"), subgraph(part)))
            .collect(),
    }
}

fn add_system(
    data: &mut wire::SystemData,
    group: OfSystem,
    period: f64,
    values: &Values,
    collected: &Collected,
) {
    match (group, values) {
        (OfSystem::VcpuUsage, Values::Cpus(cpus)) => {
            data.vcpu_usage = Some(match cpus {
                Ok(cpus) => vcpu_usage(cpus, period),
                Err(error) => {
                    wire::VcpuUsage { period, error: error.clone(), ..wire::VcpuUsage::default() }
                }
            });
        }
        (OfSystem::MemoryInfo, Values::Ram(ram)) => {
            data.memory_info = Some(match ram {
                Ok(ram) => wire::MemoryInfo {
                    period,
                    memory_total_bytes: ram.total,
                    memory_used_bytes: ram.used,
                    swap_total_bytes: ram.swap_total,
                    swap_used_bytes: ram.swap_used,
                    error: String::new(),
                },
                Err(error) => {
                    wire::MemoryInfo { period, error: error.clone(), ..wire::MemoryInfo::default() }
                }
            });
        }
        (OfSystem::HwCounters, Values::Hardware(devices)) => {
            // Firmware that is silent is told by device among the problems.
            let silent = collected.facts.problems.iter().find(|text| text.contains("ECC counters"));
            data.neuron_hw_counters = Some(wire::HwCounters {
                period,
                neuron_devices: (!devices.is_empty())
                    .then(|| devices.iter().map(hw_device).collect()),
                error: silent.cloned().unwrap_or_default(),
            });
        }
        _ => {}
    }
}

fn vcpu_usage(cpus: &CpuUse, period: f64) -> wire::VcpuUsage {
    let shares = |shares: &model::CpuShares| wire::CpuShares {
        user: shares.user,
        nice: shares.nice,
        system: shares.system,
        idle: shares.idle,
        io_wait: shares.io_wait,
        irq: shares.irq,
        soft_irq: shares.soft_irq,
    };
    wire::VcpuUsage {
        period,
        average_usage: shares(&cpus.average),
        usage_data: cpus.each.iter().map(|(number, each)| (*number, shares(each))).collect(),
        context_switch_count: cpus.context_switches,
        error: String::new(),
    }
}

fn hw_device(device: &DeviceHardware) -> wire::HwDevice {
    let (events, totals) = (device.events, device.totals);
    let totals = wire::EccTotals {
        mem_ecc_corrected: totals.mem_corrected,
        mem_ecc_repairable_uncorrected: totals.mem_repairable_uncorrected,
        mem_ecc_uncorrected: totals.mem_uncorrected,
        sram_ecc_corrected: totals.sram_corrected,
        sram_ecc_uncorrected: totals.sram_uncorrected,
    };
    wire::HwDevice {
        neuron_device_index: device.index,
        mem_ecc_corrected: events.mem_corrected.unwrap_or(0),
        mem_ecc_uncorrected: events.mem_uncorrected.unwrap_or(0),
        sram_ecc_corrected: events.sram_corrected.unwrap_or(0),
        sram_ecc_uncorrected: events.sram_uncorrected.unwrap_or(0),
        totals: (totals != wire::EccTotals::default()).then_some(totals),
        power: device.power.map(|power| wire::Power {
            time: power.epoch_seconds,
            min: power.min,
            max: power.max,
            avg: power.avg,
        }),
        unhealthy_components: device.unhealthy.clone(),
    }
}
