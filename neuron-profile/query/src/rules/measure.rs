//! The figures of rules: arithmetic over metrics.

use super::{Measured, Seen};

/// Engines by the name of their metrics, and how a sentence calls them.
pub(super) const ENGINES: [(&str, &str, &str); 5] = [
    ("tensor", "tensor_engine_active_time_percent", "the tensor engine"),
    ("vector", "vector_engine_active_time_percent", "the vector engine"),
    ("scalar", "scalar_engine_active_time_percent", "the scalar engine"),
    ("gpsimd", "gpsimd_engine_active_time_percent", "the GpSimd engine"),
    ("sync", "sync_engine_active_time_percent", "the sync engine"),
];

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Part of a whole; `None` for a whole of nothing.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// What is won when a share of the time goes away.
fn without(share: f64) -> Option<f64> {
    (share < 1.0).then(|| 1.0 / (1.0 - share))
}

/// The busiest engine but one: its name, its words, its share of the time.
fn busiest(seen: &mut Seen<'_>, but: &str) -> Option<(&'static str, &'static str, f64)> {
    let mut best: Option<(&'static str, &'static str, f64)> = None;
    for (name, metric, words) in ENGINES {
        if name != but
            && let Some(active) = seen.get(metric)
            && best.is_none_or(|(_, _, most)| active > most)
        {
            best = Some((name, words, active));
        }
    }
    best
}

pub(super) fn faults(seen: &mut Seen<'_>) -> Option<Measured> {
    let faults = seen.get("error_count")?;
    let sentence = match faults {
        1.0 => String::from("the hardware told a fault"),
        _ => format!("the hardware told {faults} faults"),
    };
    Some(Measured { value: faults, weight: 1.0, speedup: None, sentence, engine: "" })
}

pub(super) fn incomplete(seen: &mut Seen<'_>) -> Option<Measured> {
    let warnings = seen.get("warning_count")?;
    let losses = seen.get("loss_count").unwrap_or(0.0);
    let words = if warnings == 1.0 { "warning says" } else { "warnings say" };
    let told = format!("{warnings} {words} that numbers of this profile are incomplete");
    let marks = if losses == 1.0 { "record has" } else { "records have" };
    let lost = format!("{losses} {marks} the mark that others of their ring are lost");
    let sentence = match (warnings > 0.0, losses > 0.0) {
        (true, true) => format!("{told}, and {lost}"),
        (false, true) => lost,
        _ => told,
    };
    let value = if warnings > 0.0 { warnings } else { losses };
    Some(Measured { value, weight: 0.0, speedup: None, sentence, engine: "" })
}

pub(super) fn idle(seen: &mut Seen<'_>) -> Option<Measured> {
    let idle = 1.0 - seen.get("total_active_time_percent")?;
    let sentence = format!("nothing runs for {} of the execution", percent(idle));
    Some(Measured { value: idle, weight: idle, speedup: without(idle), sentence, engine: "" })
}

/// No engine and no DMA is the bottleneck: they take turns.
pub(super) fn turns(seen: &mut Seen<'_>) -> Option<Measured> {
    let active = seen.get("total_active_time_percent")?;
    let dma = seen.get("dma_active_time_percent")?;
    let (engine, words, most) = busiest(seen, "")?;
    let (engine, words, most) = if dma > most { ("", "DMA", dma) } else { (engine, words, most) };
    let value = share(most, active)?;
    let sentence = format!(
        "engines and DMA take turns: something runs for {} of the execution, the busiest of them, \
         {words}, for {}",
        percent(active),
        percent(most)
    );
    let speedup = share(active, most);
    Some(Measured { value, weight: active - most, speedup, sentence, engine })
}

pub(super) fn dma_bound(seen: &mut Seen<'_>) -> Option<Measured> {
    let dma = seen.get("dma_active_time_percent")?;
    let (_, words, engine) = busiest(seen, "")?;
    let sentence = format!(
        "DMA is active for {} of the execution, the busiest engine, {words}, for {}",
        percent(dma),
        percent(engine)
    );
    // The longest of the others stays.
    let speedup = share(dma, engine);
    let held = dma > 1.25 * engine;
    held.then_some(Measured { value: dma, weight: dma - engine, speedup, sentence, engine: "" })
}

pub(super) fn memory_bound(seen: &mut Seen<'_>) -> Option<Measured> {
    let intensity = seen.get("mm_arithmetic_intensity")?;
    let ridge = seen.get("peak_flops_bandwidth_ratio")?;
    let dma = seen.get("dma_active_time_percent")?;
    let value = share(intensity, ridge)?;
    let sentence = format!(
        "the products do {intensity:.1} FLOPs for a byte of device memory, the core needs \
         {ridge:.1} to be busy"
    );
    let weight = dma * (1.0 - value);
    let held = intensity > 0.0;
    held.then_some(Measured { value, weight, speedup: None, sentence, engine: "" })
}

pub(super) fn reloads(seen: &mut Seen<'_>) -> Option<Measured> {
    let read = seen.get("hbm_read_bytes")?;
    let needed = seen.get("inputs_and_weights_size_bytes")?;
    let dma = seen.get("dma_active_time_percent")?;
    let value = share(read, needed)?;
    let sentence = format!(
        "{read:.0} bytes are read from device memory, {value:.1} times the inputs and weights"
    );
    let weight = dma * (1.0 - 1.0 / value.max(1.0));
    Some(Measured { value, weight, speedup: None, sentence, engine: "" })
}

pub(super) fn one_engine(seen: &mut Seen<'_>) -> Option<Measured> {
    let tensor = seen.get("tensor_engine_active_time_percent")?;
    let (engine, words, active) = busiest(seen, "tensor")?;
    let sentence = format!(
        "{words} is active for {} of the execution, the tensor engine for {}",
        percent(active),
        percent(tensor)
    );
    let held = active > 1.25 * tensor;
    held.then_some(Measured {
        value: active,
        weight: active - tensor,
        speedup: share(active, tensor),
        sentence,
        engine,
    })
}

pub(super) fn waits(seen: &mut Seen<'_>) -> Option<Measured> {
    let total = seen.get("total_time")?;
    let waited = seen.get("tensor_engine_semaphore_wait_time")?;
    let active = seen.get("tensor_engine_active_time_percent")?;
    let value = share(waited, total)?;
    let sentence = format!(
        "the tensor engine is ready but waits for semaphores for {} of the execution",
        percent(value)
    );
    let weight = value.min(1.0 - active);
    let held = active > 0.0;
    held.then_some(Measured { value, weight, speedup: without(weight), sentence, engine: "" })
}

pub(super) fn underused(seen: &mut Seen<'_>) -> Option<Measured> {
    let active = seen.get("tensor_engine_active_time_percent")?;
    let used = seen.get("mfu_estimated_percent")?;
    let value = share(used, active)?;
    let sentence = format!(
        "while the tensor engine is active, the FLOPs of the model are {} of what it could do",
        percent(value)
    );
    // Products that are as dense as they can be take this share of the time.
    let weight = active * (1.0 - value);
    let held = used > 0.0;
    held.then_some(Measured { value, weight, speedup: None, sentence, engine: "" })
}

pub(super) fn transposes(seen: &mut Seen<'_>) -> Option<Measured> {
    let part = seen.get("transpose_flops")?;
    let whole = seen.get("hardware_flops")?;
    let active = seen.get("tensor_engine_active_time_percent")?;
    let value = share(part, whole)?;
    let sentence = format!("{} of the FLOPs of the array are transposes", percent(value));
    let weight = value * active;
    Some(Measured { value, weight, speedup: without(weight), sentence, engine: "" })
}

pub(super) fn spills(seen: &mut Seen<'_>) -> Option<Measured> {
    let reloaded = seen.get("spill_reload_bytes")?;
    let read = seen.get("hbm_read_bytes")?;
    let dma = seen.get("dma_active_time_percent")?;
    let value = share(reloaded, read)?;
    let sentence =
        format!("{} of what is read from device memory is reloaded spills", percent(value));
    Some(Measured { value, weight: value * dma, speedup: None, sentence, engine: "" })
}

pub(super) fn small_packets(seen: &mut Seen<'_>) -> Option<Measured> {
    let value = seen.get("dma_packet_average_bytes")?;
    let dma = seen.get("dma_active_time_percent")?;
    let sentence = format!("a DMA packet moves {value:.0} bytes on average");
    let weight = dma * (1.0 - value / 512.0);
    Some(Measured { value, weight, speedup: None, sentence, engine: "" })
}

pub(super) fn throttled(seen: &mut Seen<'_>) -> Option<Measured> {
    let limit = seen.get("throttle_avg_util_limit_nc0_percent")?;
    let active = seen.get("tensor_engine_active_time_percent")?;
    let sentence =
        format!("the power limit lets the tensor engine run at {} on average", percent(limit));
    let weight = active * (1.0 - limit);
    let held = limit > 0.0;
    held.then_some(Measured {
        value: limit,
        weight,
        speedup: without(weight),
        sentence,
        engine: "",
    })
}

/// Kernels cover less than they could on the engine where that matters most.
pub(super) fn coverage(seen: &mut Seen<'_>) -> Option<Measured> {
    const COVERED: [(&str, &str); 3] = [
        ("tensor", "tensor_engine_kernel_instruction_percent"),
        ("vector", "vector_engine_kernel_instruction_percent"),
        ("scalar", "scalar_engine_kernel_instruction_percent"),
    ];
    // Without any, the sources of kernels are not known rather than absent.
    let mut known = false;
    let mut worst: Option<Measured> = None;
    for (engine, metric) in COVERED {
        let words = ENGINES.iter().find(|(name, _, _)| *name == engine);
        let Some((_, active, words)) = words else { continue };
        let (Some(covered), Some(active)) = (seen.get(metric), seen.get(active)) else { continue };
        known |= covered > 0.0;
        let weight = active * (1.0 - covered);
        if worst.as_ref().is_none_or(|worst| weight > worst.weight) {
            let sentence = format!(
                "{} of the instructions of {words} come from kernels, the others from the compiler",
                percent(covered)
            );
            worst = Some(Measured { value: covered, weight, speedup: None, sentence, engine });
        }
    }
    worst.filter(|_| known)
}
