//! What there is to say about the health of devices: nothing, when all is well.
//!
//! No public interface of the driver tells that a device throttles; power at
//! its most is the nearest that it tells, and is called what it is.

use std::collections::BTreeMap;

use neuron_core::model::DeviceHardware;
use serde::Serialize;

use crate::frame::{Machine, Status};

/// Power, percent of the most, from which on a device is said to be at its
/// limit (our choice).
const POWER_LIMIT: f64 = 95.0;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Note {
    /// How bad it is.
    pub level: Level,
    /// One line.
    pub text: String,
}

/// How bad something is, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Work is or may be lost.
    Bad,
    /// To be looked at.
    Look,
}

/// Resets of devices when they were seen first: asked for, and failed.
pub(crate) type Resets = BTreeMap<u32, (u64, u64)>;

/// What there is to say. `problems` could not be read; `first` is completed
/// with devices that are new.
pub(crate) fn notes(
    hardware: &[DeviceHardware],
    machine: &Machine,
    problems: &[String],
    first: &mut Resets,
) -> Vec<Note> {
    let mut notes = Vec::new();
    for status in [Status::Lost, Status::Invalid, Status::Silent, Status::Reset] {
        let there = machine.devices.iter().filter(|device| device.status == status);
        let names: Vec<u32> = there.map(|device| device.index).collect();
        let level = if status == Status::Reset { Level::Look } else { Level::Bad };
        // Devices whose trouble is told below are not named twice.
        let untold = |index: &u32| {
            !problems.iter().any(|text| text.starts_with(&format!("neuron{index}:")))
                && !problems.iter().any(|text| text.contains(&format!("(neuron{index} to ")))
        };
        let names: Vec<u32> = names.into_iter().filter(untold).collect();
        if !names.is_empty() {
            let what = match status {
                Status::Lost => "is not there any more",
                Status::Invalid => "its last reset failed",
                Status::Silent => "gives no answer",
                _ => "is in reset",
            };
            notes.push(Note { level, text: format!("{}: {what}", listed(&names)) });
        }
    }
    notes.extend(problems.iter().map(|text| Note { level: Level::Bad, text: text.clone() }));
    for device in hardware {
        of_hardware(device, first, &mut notes);
    }
    notes.sort_by_key(|note| note.level);
    notes
}

fn of_hardware(device: &DeviceHardware, first: &mut Resets, notes: &mut Vec<Note>) {
    let name = format!("neuron{}", device.index);
    let mut say = |level, text: String| {
        notes.push(Note { level, text: format!("{name}: {text}") });
    };
    let (events, totals) = (device.events, device.totals);
    let count = |total: Option<u64>, new: Option<u64>, what: &str| {
        let total = total.filter(|total| *total > 0)?;
        let new = new.filter(|new| *new > 0).map_or(String::new(), |new| format!(" ({new} new)"));
        Some(format!("{total} {what}{new}"))
    };
    let uncorrected = [
        count(totals.mem_uncorrected, events.mem_uncorrected, "uncorrected ECC errors of HBM"),
        count(totals.sram_uncorrected, events.sram_uncorrected, "uncorrected ECC errors of SRAM"),
    ];
    for text in uncorrected.into_iter().flatten() {
        say(Level::Bad, text);
    }
    if let Some(text) = count(
        totals.mem_repairable_uncorrected,
        events.mem_repairable_uncorrected,
        "repairable ECC errors of HBM",
    ) {
        say(Level::Look, text);
    }
    let corrected: u64 = [events.mem_corrected, events.sram_corrected].into_iter().flatten().sum();
    if corrected > 0 {
        say(Level::Look, format!("{corrected} corrected ECC errors since it was read before"));
    }
    if let Some(list) = device.unhealthy.as_ref().filter(|list| !list.is_empty()) {
        say(Level::Bad, format!("unhealthy: {}", list.join(", ")));
    }
    if let Some((asked, failed)) = device.resets {
        let (asked_first, failed_first) = *first.entry(device.index).or_insert((asked, failed));
        if failed > failed_first {
            say(Level::Bad, format!("{} failed resets since the start", failed - failed_first));
        }
        if asked > asked_first {
            say(Level::Look, format!("{} resets since the start", asked - asked_first));
        }
    }
    if let Some(power) = device.power.filter(|power| power.max >= POWER_LIMIT) {
        say(
            Level::Look,
            format!("power up to {:.0}% of the most ({:.0}% mean)", power.max, power.avg),
        );
    }
}

/// `neuron3`, `neuron3 and neuron5`, `4 devices (neuron0 to neuron9)`.
fn listed(names: &[u32]) -> String {
    match names {
        [one] => format!("neuron{one}"),
        [one, two] => format!("neuron{one} and neuron{two}"),
        [first, .., last] => {
            format!("{} devices (neuron{first} to neuron{last})", names.len())
        }
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use neuron_core::model::{EccEvents, Power};

    use super::*;
    use crate::frame::Device;

    fn device(index: u32, status: Status) -> Device {
        Device { index, first_core: index * 2, cores: 2, status }
    }

    fn quiet(index: u32) -> DeviceHardware {
        DeviceHardware {
            index,
            events: EccEvents::default(),
            totals: EccEvents::default(),
            power: None,
            unhealthy: Some(Vec::new()),
            resets: Some((1, 0)),
        }
    }

    fn said(hardware: &[DeviceHardware], devices: Vec<Device>, problems: &[String]) -> Vec<String> {
        let machine = Machine { devices, ..Machine::default() };
        let mut first = Resets::from([(0, (1, 0)), (1, (1, 0))]);
        let all = notes(hardware, &machine, problems, &mut first);
        assert!(all.is_sorted_by_key(|note| note.level));
        all.into_iter().map(|note| note.text).collect()
    }

    #[test]
    fn nothing_is_said_of_healthy_devices() {
        let devices = vec![device(0, Status::Ready), device(1, Status::Unknown)];
        assert!(said(&[quiet(0), quiet(1)], devices, &[]).is_empty());
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        let hot = DeviceHardware {
            events: EccEvents {
                mem_uncorrected: Some(1),
                mem_corrected: Some(7),
                ..EccEvents::default()
            },
            totals: EccEvents {
                mem_uncorrected: Some(3),
                sram_uncorrected: Some(2),
                ..EccEvents::default()
            },
            power: Some(Power { epoch_seconds: 0.0, min: 80.0, max: 99.6, avg: 97.0 }),
            unhealthy: Some(vec![String::from("HBM")]),
            resets: Some((3, 1)),
            ..quiet(1)
        };
        let lost = vec![device(0, Status::Lost), device(1, Status::Ready)];
        assert_eq!(
            said(&[hot], lost, &[]),
            [
                "neuron0: is not there any more",
                "neuron1: 3 uncorrected ECC errors of HBM (1 new)",
                "neuron1: 2 uncorrected ECC errors of SRAM",
                "neuron1: unhealthy: HBM",
                "neuron1: 1 failed resets since the start",
                "neuron1: 7 corrected ECC errors since it was read before",
                "neuron1: 2 resets since the start",
                "neuron1: power up to 100% of the most (97% mean)",
            ]
        );
    }

    #[test]
    fn trouble_that_a_problem_tells_is_told_once() {
        let devices = vec![device(0, Status::Reset), device(2, Status::Silent)];
        let problems = [String::from("neuron2: no answer within 1 s")];
        assert_eq!(
            said(&[], devices, &problems),
            ["neuron2: no answer within 1 s", "neuron0: is in reset"]
        );
    }
}
