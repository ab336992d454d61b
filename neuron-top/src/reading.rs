//! Readings of a source as frames. The only file that knows samples.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use neuron_core::Result;
use neuron_core::error::Error;
use neuron_core::model::{self, DeviceHardware, Inventory, MachineFacts};
use neuron_core::sample::{Sample, Wanted};
use neuron_core::source::{self, Source, Spec};
use neuron_core::units::Timestamp;

use crate::frame::{Frame, Parts};
use crate::health::{self, Resets};

/// What a frame needs. Firmware is asked apart ([`Watch`]): its answer can take
/// seconds.
const WANTED: Wanted = Wanted {
    processes: true,
    datastores: true,
    counters: false,
    firmware: false,
    usage: true,
    cpus: true,
    ram: true,
};

/// What health needs.
const HEALTH: Wanted = Wanted {
    processes: false,
    datastores: false,
    counters: true,
    firmware: true,
    usage: false,
    cpus: false,
    ram: false,
};

/// What was found last about the health of the devices.
#[derive(Debug, Default)]
pub(crate) struct Health {
    hardware: Vec<DeviceHardware>,
    problems: Vec<String>,
}

/// The newest [`Health`], from the thread that asks to the one that shows.
pub(crate) type Slot = Arc<Mutex<Health>>;

/// An open source and what was read of it last.
#[derive(Debug)]
pub struct Reading {
    source: Box<dyn Source>,
    before: Option<Sample>,
    frame: Option<Frame>,
    first_resets: Resets,
    slot: Slot,
}

impl Reading {
    /// Of a source that is open.
    pub fn of(source: Box<dyn Source>) -> Self {
        Self {
            source,
            before: None,
            frame: None,
            first_resets: Resets::new(),
            slot: Slot::default(),
        }
    }

    /// Opens the source that `--source` names, and a second time for health
    /// where that is not in every sample.
    ///
    /// # Errors
    ///
    /// When the text names no source, or it cannot be opened.
    pub(crate) fn open(spec: &str) -> Result<(Self, Option<Watch>)> {
        let spec: Spec = spec.parse()?;
        let reading = Self::of(source::open(&spec)?);
        let watch = match spec {
            Spec::Replay { .. } => None,
            _ => Some(Watch {
                source: source::open(&spec)?,
                before: None,
                slot: Arc::clone(&reading.slot),
            }),
        };
        Ok((reading, watch))
    }

    /// Reads once.
    ///
    /// # Errors
    ///
    /// When there is nothing to show. Once there was, a source that fails gives
    /// a frame that says so.
    pub fn frame(&mut self) -> Result<Frame> {
        let sample = match self.source.sample(WANTED) {
            Ok(sample) if sample.devices.is_empty() && self.frame.is_none() => {
                return Err(Error::NoDevices(String::from("no Neuron devices here")));
            }
            Ok(sample) => sample,
            Err(error) => {
                let Some(before) = &self.frame else { return Err(error) };
                let now = Timestamp::from_system_time(SystemTime::now()).unix_nanos();
                let frame = Frame::failed(before, told(&error), now);
                self.frame = Some(frame.clone());
                self.before = None;
                return Ok(frame);
            }
        };
        let mut frame = self.of_sample(&sample);
        let notes = self.notes(&sample, &frame);
        match &self.frame {
            Some(before) if *before.notes == notes => frame.notes = Arc::clone(&before.notes),
            _ => frame.notes = Arc::new(notes),
        }
        self.before = Some(sample);
        self.frame = Some(frame.clone());
        Ok(frame)
    }

    fn of_sample(&self, sample: &Sample) -> Frame {
        let earlier = self.before.as_ref();
        let span = earlier.and_then(|earlier| model::seconds_between(earlier, sample));
        let timed = earlier.filter(|_| span.is_some());
        // A recording at its end gives its last sample again: its rates stay.
        if let (Some(_), None, Some(frame)) = (earlier, span, &self.frame) {
            return Frame { taken: sample.taken.unix_nanos(), ..frame.clone() };
        }
        let parts = Parts {
            taken: sample.taken.unix_nanos(),
            span,
            facts: MachineFacts::of(sample),
            inventory: Inventory::of(sample),
            applications: model::applications(sample),
            cores: timed.map(|earlier| model::core_use(earlier, sample)).unwrap_or_default(),
            shares: timed
                .map(|earlier| model::processor_shares(earlier, sample))
                .unwrap_or_default(),
            cpu: timed.and_then(|earlier| model::cpu_use(earlier, sample)),
            ram: model::host_memory(sample).and_then(std::result::Result::ok),
        };
        Frame::of(parts, self.frame.as_ref())
    }

    fn notes(&mut self, sample: &Sample, frame: &Frame) -> Vec<health::Note> {
        let own = sample.devices.iter().any(|device| device.hardware.is_some());
        let mut problems = MachineFacts::of(sample).problems;
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let read;
        let hardware = match own {
            true => {
                read = model::hardware(self.before.as_ref(), sample);
                &read
            }
            false => &slot.hardware,
        };
        let more = slot.problems.iter().filter(|text| !problems.contains(text)).cloned();
        problems.extend(more.collect::<Vec<_>>());
        health::notes(hardware, &frame.machine, &problems, &mut self.first_resets)
    }
}

fn told(error: &Error) -> String {
    match error {
        Error::NoDevices(reason) if reason.is_empty() => String::from("no Neuron driver here"),
        Error::NoDevices(reason) => model::printable(reason),
        error => model::printable(&error.to_string()),
    }
}

/// Asks firmware, at its own pace.
#[derive(Debug)]
pub(crate) struct Watch {
    source: Box<dyn Source>,
    before: Option<Sample>,
    slot: Slot,
}

impl Watch {
    /// Time between two questions: firmware measures power once a minute.
    pub(crate) const PERIOD: Duration = Duration::from_secs(30);

    /// Asks once. A source that fails is told by the frames.
    pub(crate) fn ask(&mut self) {
        let Ok(sample) = self.source.sample(HEALTH) else { return };
        let found = Health {
            hardware: model::hardware(self.before.as_ref(), &sample),
            problems: MachineFacts::of(&sample).problems,
        };
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = found;
        self.before = Some(sample);
    }
}
