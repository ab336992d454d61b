//! This process's side of a simulated device: attach, datastore, memory, cores.
//!
//! What a runtime does through ioctls on a real device. Everything is released
//! when the [`Attachment`] is dropped; when the process dies without that, the
//! next process that looks at the instance does it.

use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags};

use super::instance::Sim;
use super::reap;
use super::state::{Allocation, Attached, Device, PAGE, ProcessId, State};
use super::usage;
use crate::instance::Chip;
use crate::sample::DeviceState;
use crate::uapi::nds;
use crate::{Error, Result};

/// Processes that may be attached to one device (FINDINGS 26).
pub const PROCESS_SLOTS: usize = 16;

/// Cores that an allocation may name; those past the chip's own are accepted
/// and counted nowhere visible (FINDINGS 15).
const ALLOCATION_CORES: u32 = 8;

/// One simulated device, held open by this process.
#[derive(Debug)]
pub struct Attachment {
    sim: Sim,
    chip: Chip,
    device: u32,
    id: ProcessId,
}

impl Sim {
    /// Attaches this process to a device. Attaching again counts.
    ///
    /// # Errors
    ///
    /// A device that is gone, in reset or failed; 16 processes already there.
    pub fn attach(&self, device: u32) -> Result<Attachment> {
        let id = ProcessId::own().map_err(Error::io("read", "/proc/self/stat"))?;
        let refuse = |reason: String| Error::sim(self.name(), format!("neuron{device} {reason}"));
        let chip = self.update(|state| {
            let chip = chip_of(state)?;
            let entry = device_mut(state, device)?;
            match entry.state {
                None | Some(DeviceState::Ready) => {}
                Some(DeviceState::Reset) => {
                    return Err(refuse(String::from("is in reset; try again when it has ended")));
                }
                Some(DeviceState::Invalid | DeviceState::Unresponsive) => {
                    return Err(refuse(String::from("failed its last reset")));
                }
            }
            if let Some(process) = entry.process_mut(id) {
                process.opens += 1;
                return Ok(chip);
            }
            if entry.processes.len() >= PROCESS_SLOTS {
                return Err(refuse(format!("is busy: {PROCESS_SLOTS} processes are attached")));
            }
            entry.processes.push(Attached {
                id,
                opens: 1,
                datastore: false,
                allocations: Vec::new(),
            });
            Ok(chip)
        })?;
        Ok(Attachment { sim: self.clone(), chip, device, id })
    }

    /// Takes `count` physical cores for this process, contiguous, the first
    /// that fit between `first` and `last` (host-wide core indices,
    /// inclusive). Returns their indices.
    ///
    /// # Errors
    ///
    /// When fewer are free; the message names the longest free run.
    pub fn mark_cores(&self, count: u32, first: u32, last: u32) -> Result<Vec<u32>> {
        let id = ProcessId::own().map_err(Error::io("read", "/proc/self/stat"))?;
        self.update(|state| {
            let total = state.kind().map_or(0, crate::instance::InstanceType::total_cores);
            let mut run = Vec::new();
            let mut longest = 0;
            for core in first..=last.min(total.saturating_sub(1)) {
                if state.marks.contains_key(&core) {
                    run.clear();
                } else {
                    run.push(core);
                }
                longest = longest.max(run.len());
                if run.len() == usize::try_from(count).unwrap_or(usize::MAX) {
                    state.marks.extend(run.iter().map(|core| (*core, id)));
                    return Ok(run);
                }
            }
            let reason = format!(
                "NeuronCore(s) not available - requested {count}, available {longest} \
                 between cores {first} and {last}"
            );
            Err(Error::sim(self.name(), reason))
        })
    }

    /// Gives this process's cores back.
    ///
    /// # Errors
    ///
    /// When the state cannot be written.
    pub fn unmark_cores(&self, cores: &[u32]) -> Result<()> {
        let id = ProcessId::own().map_err(Error::io("read", "/proc/self/stat"))?;
        self.update(|state| {
            state.marks.retain(|core, owner| *owner != id || !cores.contains(core));
            Ok(())
        })
    }
}

impl Attachment {
    /// Index of the device.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Creates or gets this process's datastore on the device.
    ///
    /// # Errors
    ///
    /// When the file cannot be made.
    pub fn datastore(&self) -> Result<DatastoreWriter> {
        let path = self.sim.datastore_path(self.device, self.id);
        // Inside the change, so that no other process takes the entry for one
        // without a datastore while the file is being made.
        let file = self.change(|_, entry| {
            let process = entry.process_mut(self.id).ok_or_else(|| self.detached())?;
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
            let fail = |errno: rustix::io::Errno| Error::io("create", &path)(errno.into());
            let file =
                rustix::fs::openat(CWD, &path, flags, Mode::from_raw_mode(0o644)).map_err(fail)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(0o644)).map_err(fail)?;
            rustix::fs::ftruncate(&file, nds::SIZE as u64).map_err(fail)?;
            rustix::io::pwrite(&file, &nds::header(nds::VERSION), 0).map_err(fail)?;
            process.datastore = true;
            for (offset, sum) in usage::words(&process.allocations, None) {
                rustix::io::pwrite(&file, &sum.to_le_bytes(), offset as u64).map_err(fail)?;
            }
            Ok(file)
        })?;
        Ok(DatastoreWriter { file, path })
    }

    /// Releases the datastore: its counters move into the totals now, and it
    /// can be acquired anew.
    ///
    /// # Errors
    ///
    /// When the state cannot be written.
    pub fn release_datastore(&self, writer: DatastoreWriter) -> Result<()> {
        let counters = self.counters()?;
        drop(writer);
        self.change(|chip, entry| {
            let process = entry.process_mut(self.id).ok_or_else(|| self.detached())?;
            process.datastore = false;
            reap::aggregate(entry, chip, &counters);
            Ok(())
        })?;
        let path = self.sim.datastore_path(self.device, self.id);
        std::fs::remove_file(&path).map_err(Error::io("remove", path))
    }

    /// Allocates memory and returns its handle, never 0.
    ///
    /// `category` is the number of driver.md §3.5; any other number is booked
    /// as uncategorized. Sizes round up to pages.
    ///
    /// # Errors
    ///
    /// Size 0, a core number of 8 or more, no device memory left.
    pub fn allocate(&self, size: u64, host: bool, core: u32, category: u32) -> Result<u64> {
        let refuse = |reason: &str| {
            let text = format!("neuron{}: cannot allocate {size} bytes: {reason}", self.device);
            Error::sim(self.sim.name(), text)
        };
        if core >= ALLOCATION_CORES {
            return Err(refuse("no such core"));
        }
        let rounded = size.checked_next_multiple_of(PAGE).filter(|n| *n > 0);
        let rounded = rounded.ok_or_else(|| refuse("out of memory"))?;
        self.change(|chip, entry| {
            let free = chip.memory().get().saturating_sub(entry.device_memory_in_use());
            if !host && rounded > free {
                return Err(refuse(&format!("out of memory, {free} bytes are free")));
            }
            let handle = entry.last_handle.wrapping_add(1).max(1);
            let allocation = Allocation { handle, size: rounded, host, core, category };
            let process = entry.process_mut(self.id).ok_or_else(|| self.detached())?;
            process.allocations.push(allocation);
            self.show(process, allocation)?;
            entry.last_handle = handle;
            reap::charge(entry, chip, allocation);
            Ok(handle)
        })
    }

    /// Frees memory.
    ///
    /// # Errors
    ///
    /// A handle that this process does not hold.
    pub fn free(&self, handle: u64) -> Result<()> {
        self.change(|chip, entry| {
            let unknown = || {
                let text = format!("neuron{}: no memory with handle {handle}", self.device);
                Error::sim(self.sim.name(), text)
            };
            let process = entry.process_mut(self.id).ok_or_else(unknown)?;
            let at = process.allocations.iter().position(|a| a.handle == handle);
            let allocation = process.allocations.remove(at.ok_or_else(unknown)?);
            self.show(process, allocation)?;
            reap::discharge(entry, chip, allocation);
            Ok(())
        })
    }

    /// Writes the sum that an allocation has changed into the datastore, if
    /// there is one.
    fn show(&self, process: &Attached, changed: Allocation) -> Result<()> {
        if !process.datastore {
            return Ok(());
        }
        let path = self.sim.datastore_path(self.device, self.id);
        let fail = |errno: rustix::io::Errno| Error::io("write", &path)(errno.into());
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(fail)?;
        for (offset, sum) in usage::words(&process.allocations, Some(changed)) {
            rustix::io::pwrite(&file, &sum.to_le_bytes(), offset as u64).map_err(fail)?;
        }
        Ok(())
    }

    /// Changes this process's device under the lock.
    fn change<T>(&self, change: impl FnOnce(Chip, &mut Device) -> Result<T>) -> Result<T> {
        self.sim.update(|state| {
            let entry = device_mut(state, self.device)?;
            change(self.chip, entry)
        })
    }

    fn counters(&self) -> Result<reap::CoreCounters> {
        self.sim
            .counters(self.device, self.id, self.chip.core_count())
            .map_err(Error::io("read", self.sim.datastore_path(self.device, self.id)))
    }

    /// Somebody has taken this process off the device.
    fn detached(&self) -> Error {
        let text = format!("this process is no longer attached to neuron{}", self.device);
        Error::sim(self.sim.name(), text)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // Counters that cannot be read now stay for the next one who looks.
        let Ok(counters) = self.counters() else { return };
        let last = self.sim.update(|state| {
            let entry = device_mut(state, self.device)?;
            let Some(process) = entry.process_mut(self.id) else { return Ok(false) };
            process.opens = process.opens.saturating_sub(1);
            if process.opens > 0 {
                return Ok(false);
            }
            reap::end(entry, self.chip, self.id, &counters);
            Ok(true)
        });
        // An instance that was deleted meanwhile has nothing left to release.
        if last.unwrap_or(false) {
            let _ = std::fs::remove_file(self.sim.datastore_path(self.device, self.id));
        }
    }
}

/// Writes counters into this process's datastore of one device.
///
/// Each counter is one aligned 8-byte store, so a reader sees whole words.
/// The file is written by descriptor, not mapped: should somebody truncate
/// it, that is an error here and not a signal.
#[derive(Debug)]
pub struct DatastoreWriter {
    file: OwnedFd,
    path: std::path::PathBuf,
}

impl DatastoreWriter {
    /// Sets a device counter (driver.md §5.4). The dynamic sysfs bitmap is
    /// refused as on a real host, where storing it crashes the kernel.
    ///
    /// # Errors
    ///
    /// An unknown counter; a file that cannot be written.
    pub fn set_device(&self, counter: u32, value: u64) -> Result<()> {
        if counter == nds::device_counter::DYNAMIC_SYSFS_BITMAP {
            return Err(Error::content(&self.path, "device counter 11 must never be stored"));
        }
        self.store(nds::device_offset(counter), value)
    }

    /// Sets a counter of a core (driver.md §5.5).
    ///
    /// # Errors
    ///
    /// An unknown core or counter; a file that cannot be written.
    pub fn set_core(&self, core: u32, counter: u32, value: u64) -> Result<()> {
        self.store(nds::core_offset(core, counter), value)
    }

    /// Writes bytes of the block that only our runtime writes
    /// ([`crate::uapi::nds_ext`]); `offset` is from the start of the file.
    ///
    /// # Errors
    ///
    /// Bytes outside the block; a file that cannot be written.
    pub fn write_extension(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len());
        if offset < nds::UNUSED_FROM || end.is_none_or(|end| end > nds::SIZE) {
            return Err(Error::content(&self.path, format!("offset {offset} is not ours")));
        }
        self.write(offset, bytes)
    }

    fn store(&self, offset: Option<usize>, value: u64) -> Result<()> {
        let offset =
            offset.ok_or_else(|| Error::content(&self.path, "no such counter in the datastore"))?;
        self.write(offset, &value.to_le_bytes())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let fail = |errno: rustix::io::Errno| Error::io("write", &self.path)(errno.into());
        match rustix::io::pwrite(&self.file, bytes, offset as u64).map_err(fail)? {
            n if n == bytes.len() => Ok(()),
            n => Err(Error::content(&self.path, format!("only {n} bytes could be written"))),
        }
    }
}

fn chip_of(state: &State) -> Result<Chip> {
    state
        .kind()
        .map(|kind| kind.chip)
        .ok_or_else(|| Error::sim(&state.name, "is of an unknown instance type"))
}

/// The entry of a device that is there.
fn device_mut(state: &mut State, device: u32) -> Result<&mut Device> {
    let name = state.name.clone();
    usize::try_from(device)
        .ok()
        .and_then(|at| state.devices.get_mut(at))
        .filter(|entry| !entry.gone)
        .ok_or_else(|| Error::sim(name, format!("has no device neuron{device}")))
}
