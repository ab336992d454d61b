//! Leaves that firmware answers: serial number, ECC counters, health.
//!
//! With driver 2.24 each can block for 15 to 60 seconds when firmware does not
//! answer (FINDINGS 7). So each device is read by a thread of its own, last,
//! and what has not arrived by the deadline is left out and said.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::aside::{aside, no_thread};
use super::files::Files;
use super::leaf::{DEVICES, keep, text, value};
use crate::sample::{Device, Hardware, Problem};

/// What one device's firmware said.
#[derive(Debug)]
struct Answer {
    host: u32,
    serial_number: Option<String>,
    hardware: Option<Hardware>,
    problems: Vec<Problem>,
}

/// Reads the leaves of all devices at once, for at most `deadline`.
pub(crate) fn read(
    files: &Arc<dyn Files>,
    devices: &mut [Device],
    deadline: Duration,
    problems: &mut Vec<Problem>,
) {
    let (sender, receiver) = mpsc::channel();
    let mut silent: Vec<u32> = Vec::with_capacity(devices.len());
    for device in &*devices {
        let (files, sender, host) = (Arc::clone(files), sender.clone(), device.host_index);
        let started = aside(move || {
            // The receiver is gone when the deadline has passed.
            let _ = sender.send(read_device(&*files, host));
        });
        match started {
            Ok(_) => silent.push(host),
            Err(error) => problems.push(Problem {
                device: Some(host),
                text: format!("serial number and ECC counters are unknown: {}", no_thread(&error)),
            }),
        }
    }
    drop(sender);
    let end = Instant::now() + deadline;
    while let Ok(answer) = receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
        silent.retain(|host| *host != answer.host);
        problems.extend(answer.problems);
        if let Some(device) = devices.iter_mut().find(|d| d.host_index == answer.host) {
            device.serial_number = answer.serial_number;
            device.hardware = answer.hardware;
        }
        if silent.is_empty() {
            break;
        }
    }
    problems.extend(silent.into_iter().map(|host| Problem {
        device: Some(host),
        text: format!(
            "firmware did not answer within {:.1} s: serial number and ECC counters are unknown",
            deadline.as_secs_f64()
        ),
    }));
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
    Answer { host, serial_number, hardware, problems }
}

/// The comma list of driver 2.30.2; absent before.
fn unhealthy(files: &dyn Files, dir: &str) -> Option<Vec<String>> {
    let path = format!("{dir}/stats/hardware/health_status/unhealthy_components");
    let list = text(files, &path).ok()?;
    Some(list.split(',').map(str::trim).filter(|c| !c.is_empty()).map(str::to_owned).collect())
}
