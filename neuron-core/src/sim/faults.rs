//! Faults that can be injected into a simulated device.

use std::str::FromStr;

use super::instance::Sim;
use crate::sample::DeviceState;
use crate::{Error, Result};

/// A fault of one device, or its repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The device has vanished.
    Gone,
    /// The device is in reset, until [`Fault::Ready`].
    Reset,
    /// The last reset failed.
    Invalid,
    /// Back to normal; ECC counters stay.
    Ready,
    /// Uncorrected on-chip memory errors.
    SramEcc(u64),
    /// Uncorrected device memory errors.
    MemEcc(u64),
    /// Uncorrected but repairable device memory errors.
    RepairableMemEcc(u64),
}

/// `gone`, `reset`, `invalid`, `ready`, `sram-ecc=N`, `mem-ecc=N`,
/// `mem-ecc-repairable=N`.
impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = match text.split_once('=') {
            Some((name, count)) => (
                name,
                Some(count.parse().map_err(|_| format!("{count:?} is not a number of errors"))?),
            ),
            None => (text, None),
        };
        match (name, count) {
            ("gone", None) => Ok(Self::Gone),
            ("reset", None) => Ok(Self::Reset),
            ("invalid", None) => Ok(Self::Invalid),
            ("ready", None) => Ok(Self::Ready),
            ("sram-ecc", Some(n)) => Ok(Self::SramEcc(n)),
            ("mem-ecc", Some(n)) => Ok(Self::MemEcc(n)),
            ("mem-ecc-repairable", Some(n)) => Ok(Self::RepairableMemEcc(n)),
            _ => Err(format!(
                "unknown fault {text:?}; known are gone, reset, invalid, ready, \
                 sram-ecc=N, mem-ecc=N, mem-ecc-repairable=N"
            )),
        }
    }
}

impl Sim {
    /// Injects a fault, or repairs the device.
    ///
    /// # Errors
    ///
    /// When the instance has no such device or cannot be written.
    pub fn inject(&self, device: u32, fault: Fault) -> Result<()> {
        self.update(|state| {
            let name = state.name.clone();
            let entry = usize::try_from(device).ok().and_then(|at| state.devices.get_mut(at));
            let entry =
                entry.ok_or_else(|| Error::sim(name, format!("has no device neuron{device}")))?;
            match fault {
                Fault::Gone => entry.gone = true,
                Fault::Reset => entry.state = Some(DeviceState::Reset),
                Fault::Invalid => entry.state = Some(DeviceState::Invalid),
                Fault::Ready => {
                    entry.gone = false;
                    entry.state = None;
                }
                Fault::SramEcc(n) => entry.ecc.sram_uncorrected = n,
                Fault::MemEcc(n) => entry.ecc.mem_uncorrected = n,
                Fault::RepairableMemEcc(n) => entry.ecc.mem_repairable_uncorrected = n,
            }
            Ok(())
        })
    }
}
