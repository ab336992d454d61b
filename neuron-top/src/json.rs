//! A frame as one line of JSON. Keys that neuron-monitor has are called the
//! same here and mean the same; its README lists them.

use std::collections::BTreeMap;
use std::time::Duration;

use neuron_core::model::{Application, CoreMemory, HostUse};
use serde::Serialize;

use crate::frame::{Core, Frame, Process, Share, Status, wide};
use crate::health::Note;

/// Version of the form. Keys may be added; none changes its meaning or goes
/// without another number here.
pub const FORM: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    form: u32,
    version: &'static str,
    timestamp: f64,
    instance_type: &'a str,
    instance_id: &'a str,
    simulated: &'a str,
    neuroncore_version: &'a str,
    logical_neuroncore_config: u32,
    /// Seconds that rates are of; null in a first reading, which has none.
    period: Option<f64>,
    neuron_devices: Vec<Device>,
    neuroncores: Vec<OnCore>,
    vcpu_usage: Option<Share>,
    memory_info: Option<Memory>,
    neuron_runtime_data: Vec<Runtime<'a>>,
    problems: &'a [Note],
    error: &'a str,
}

#[derive(Serialize)]
struct Device {
    neuron_device_index: u32,
    status: Status,
    neuroncores: u32,
}

#[derive(Serialize)]
struct OnCore {
    neuroncore: u32,
    neuron_device_index: u32,
    #[serde(flatten)]
    figures: Figures,
}

/// Null where it is not known.
#[derive(Serialize)]
struct Figures {
    neuroncore_utilization: Option<f64>,
    effective_flops: Option<f64>,
}

#[derive(Serialize)]
struct Memory {
    memory_total_bytes: u64,
    memory_used_bytes: u64,
    swap_total_bytes: u64,
    swap_used_bytes: u64,
}

#[derive(Serialize)]
struct Runtime<'a> {
    pid: u32,
    neuron_runtime_tag: &'a str,
    neuron_runtime_version: &'a str,
    command: &'a str,
    vcpu_usage: Option<Share>,
    /// The cores that it holds.
    neuroncores_in_use: BTreeMap<u32, Figures>,
    neuron_runtime_used_bytes: Used,
    loaded_models: Vec<Model<'a>>,
}

#[derive(Serialize)]
struct Used {
    host: u64,
    neuron_device: u64,
    usage_breakdown: Breakdown,
}

#[derive(Serialize)]
struct Breakdown {
    host: Host,
    neuroncore_memory_usage: BTreeMap<u32, OfCore>,
}

#[derive(Serialize)]
struct Host {
    application_memory: u64,
    constants: u64,
    dma_buffers: u64,
    tensors: u64,
}

#[derive(Serialize)]
struct OfCore {
    constants: u64,
    model_code: u64,
    model_shared_scratchpad: u64,
    runtime_memory: u64,
    tensors: u64,
}

#[derive(Serialize)]
struct Model<'a> {
    model_id: u32,
    name: &'a str,
    uuid: &'a str,
    is_running: bool,
    subgraphs: BTreeMap<String, Part>,
}

#[derive(Serialize)]
struct Part {
    neuron_device_index: u32,
    neuroncore_index: u32,
    host: u64,
    neuron_device: u64,
}

/// The frame with a newline behind it.
///
/// # Errors
///
/// None that a frame can cause; serde's interface has one.
pub fn line(frame: &Frame) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&document(frame))?;
    line.push(b'\n');
    Ok(line)
}

fn document(frame: &Frame) -> Document<'_> {
    let machine = &*frame.machine;
    let cores = machine.placed().flat_map(|(at, device)| {
        let known = frame.span.is_some() && device.status == Status::Ready;
        (0..device.cores).map(move |within| {
            let core = frame.cores.get(at + wide(within)).filter(|_| known);
            OnCore {
                neuroncore: device.first_core.saturating_add(within),
                neuron_device_index: device.index,
                figures: figures(core),
            }
        })
    });
    Document {
        form: FORM,
        version: env!("CARGO_PKG_VERSION"),
        timestamp: Duration::from_nanos(frame.taken).as_secs_f64(),
        instance_type: machine.instance_type.as_deref().unwrap_or_default(),
        instance_id: machine.instance_id.as_deref().unwrap_or_default(),
        simulated: machine.simulated.as_deref().unwrap_or_default(),
        neuroncore_version: machine.core_version,
        logical_neuroncore_config: machine.lnc,
        period: frame.span,
        neuron_devices: machine
            .devices
            .iter()
            .map(|device| Device {
                neuron_device_index: device.index,
                status: device.status,
                neuroncores: device.cores,
            })
            .collect(),
        neuroncores: cores.collect(),
        vcpu_usage: frame.cpu.as_ref().and_then(|cpu| cpu.as_ref().ok().copied()),
        memory_info: frame.ram.map(|ram| Memory {
            memory_total_bytes: ram.total,
            memory_used_bytes: ram.used,
            swap_total_bytes: ram.swap_total,
            swap_used_bytes: ram.swap_used,
        }),
        neuron_runtime_data: frame
            .processes
            .iter()
            .map(|process| runtime(frame, process))
            .collect(),
        problems: &frame.notes,
        error: frame.failure.as_deref().unwrap_or(""),
    }
}

fn figures(core: Option<&Core>) -> Figures {
    Figures {
        neuroncore_utilization: core.map(|core| core.utilization),
        effective_flops: core.map(|core| core.flops),
    }
}

fn runtime<'a>(frame: &Frame, process: &'a Process) -> Runtime<'a> {
    let application: &Application = &process.application;
    let ids: Vec<u32> = frame
        .machine
        .devices
        .iter()
        .flat_map(|device| (0..device.cores).map(|within| device.first_core.saturating_add(within)))
        .collect();
    let in_use = process.cores.iter().filter_map(|(at, core)| {
        let known = frame.span.map(|_| core);
        Some((*ids.get(*at)?, figures(known)))
    });
    let memory = &application.memory;
    Runtime {
        pid: application.pid,
        neuron_runtime_tag: &application.tag,
        neuron_runtime_version: application.runtime_version.as_deref().unwrap_or(""),
        command: &application.command,
        vcpu_usage: process.cpu.as_ref().and_then(|cpu| cpu.as_ref().ok().copied()),
        neuroncores_in_use: in_use.collect(),
        neuron_runtime_used_bytes: Used {
            host: memory.host.total(),
            neuron_device: memory.device(),
            usage_breakdown: Breakdown {
                host: host(&memory.host),
                neuroncore_memory_usage: memory
                    .cores
                    .iter()
                    .map(|(index, core)| (*index, of_core(core)))
                    .collect(),
            },
        },
        loaded_models: memory
            .models
            .iter()
            .map(|model| Model {
                model_id: model.id,
                name: &model.name,
                uuid: &model.uuid,
                is_running: model.running,
                subgraphs: model
                    .subgraphs
                    .iter()
                    .map(|(number, part)| {
                        let part = Part {
                            neuron_device_index: part.device,
                            neuroncore_index: part.core,
                            host: part.host.total(),
                            neuron_device: part.memory.total(),
                        };
                        (format!("sg_{number:02}"), part)
                    })
                    .collect(),
            })
            .collect(),
    }
}

fn host(host: &HostUse) -> Host {
    Host {
        application_memory: host.application_memory,
        constants: host.constants,
        dma_buffers: host.dma_buffers,
        tensors: host.tensors,
    }
}

fn of_core(core: &CoreMemory) -> OfCore {
    OfCore {
        constants: core.constants,
        model_code: core.model_code,
        model_shared_scratchpad: core.model_shared_scratchpad,
        runtime_memory: core.runtime_memory,
        tensors: core.tensors,
    }
}
