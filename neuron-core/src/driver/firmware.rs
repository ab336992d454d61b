//! Leaves that firmware answers: serial number, ECC counters, health.
//!
//! With driver 2.24 each can block for 15 to 60 seconds when firmware does not
//! answer (FINDINGS 7). So each device is read by a thread of its own, last,
//! and what has not arrived by the deadline is left out and said.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use super::aside::{aside, no_thread};
use super::files::Files;
use super::leaf::{DEVICES, keep, text, value};
use crate::sample::{Device, Hardware, Power, Problem};

/// What one device's firmware said.
#[derive(Debug, Clone)]
struct Answer {
    serial_number: Option<String>,
    hardware: Option<Hardware>,
    power: Option<Power>,
    problems: Vec<Problem>,
}

/// Devices whose firmware was asked.
#[derive(Debug, Default)]
pub(crate) struct Firmware {
    /// Asked and not yet answered, by host index. They are not asked again
    /// before, or threads would pile up behind a device that is silent.
    pending: BTreeMap<u32, Receiver<Answer>>,
    /// Answers of files that stay as they are.
    known: BTreeMap<u32, Answer>,
}

impl Firmware {
    /// Reads the leaves of all devices at once, for at most `deadline`; one
    /// after the other where none of them can hang.
    pub(crate) fn read(
        &mut self,
        files: &Arc<dyn Files>,
        devices: &mut [Device],
        deadline: Duration,
        problems: &mut Vec<Problem>,
    ) {
        if files.answers_at_once() {
            for device in devices {
                let read = || read_device(&**files, device.host_index);
                let answer = if files.stays() {
                    self.known.entry(device.host_index).or_insert_with(read).clone()
                } else {
                    read()
                };
                keep_answer(device, answer, problems);
            }
            return;
        }
        for host in devices.iter().map(|device| device.host_index) {
            if self.pending.contains_key(&host) {
                continue;
            }
            let (files, (sender, receiver)) = (Arc::clone(files), mpsc::channel());
            let started = aside(move || {
                // The receiver is gone when the source was dropped.
                let _ = sender.send(read_device(&*files, host));
            });
            match started {
                Ok(_) => drop(self.pending.insert(host, receiver)),
                Err(error) => problems.push(Problem {
                    device: Some(host),
                    text: format!(
                        "serial number and ECC counters are unknown: {}",
                        no_thread(&error)
                    ),
                }),
            }
        }
        let end = Instant::now() + deadline;
        for device in devices {
            let Some(receiver) = self.pending.get(&device.host_index) else { continue };
            let left = end.saturating_duration_since(Instant::now());
            if let Ok(answer) = receiver.recv_timeout(left) {
                self.pending.remove(&device.host_index);
                keep_answer(device, answer, problems);
                continue;
            }
            problems.push(Problem {
                device: Some(device.host_index),
                text: format!(
                    "firmware did not answer within {:.1} s: serial number and ECC counters are \
                     unknown",
                    deadline.as_secs_f64()
                ),
            });
        }
    }
}

fn keep_answer(device: &mut Device, answer: Answer, problems: &mut Vec<Problem>) {
    device.serial_number = answer.serial_number;
    device.hardware = answer.hardware;
    device.power = device.power.or(answer.power);
    problems.extend(answer.problems);
}

fn read_device(files: &dyn Files, host: u32) -> Answer {
    let dir = format!("{DEVICES}/neuron{host}");
    let mut problems = Vec::new();
    let serial = text(files, &format!("{dir}/info/serial_number"));
    let serial_number = keep(&mut problems, host, serial).filter(|serial| !serial.is_empty());
    let mut count = |name: &str| {
        keep(&mut problems, host, value::<u64>(files, &format!("{dir}/stats/hardware/{name}")))
    };
    let hardware = Hardware {
        sram_ecc_uncorrected: count("sram_ecc_uncorrected"),
        sram_ecc_corrected: count("sram_ecc_corrected"),
        mem_ecc_uncorrected: count("mem_ecc_uncorrected"),
        mem_ecc_corrected: count("mem_ecc_corrected"),
        mem_ecc_repairable_uncorrected: count("mem_ecc_repairable_uncorrected"),
        unhealthy_components: unhealthy(files, &dir),
    };
    let hardware = Some(hardware).filter(|hardware| *hardware != Hardware::default());
    // The driver works it out once a minute; `busy` while the device resets.
    let power = super::counters::power(files, &format!("{dir}/stats/power/utilization")).ok();
    Answer { serial_number, hardware, power, problems }
}

/// The comma list of driver 2.30.2; absent before.
fn unhealthy(files: &dyn Files, dir: &str) -> Option<Vec<String>> {
    let path = format!("{dir}/stats/hardware/health_status/unhealthy_components");
    let list = text(files, &path).ok()?;
    Some(list.split(',').map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect())
}
