//! Opening device nodes. The driver knows two kinds of open (driver.md §2.1).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::{Arg, Mapping, ioctl};
use crate::uapi::arg::{AppInfo, AppsInfo, MemChunkInfo, NcMapEntry, NeuronDsInfo};
use crate::uapi::enums::AppsInfoFlags;
use crate::uapi::nds_ext::Extent;
use crate::uapi::request;

/// A device opened without attaching to it: takes no process slot, never waits
/// for a reset, is seen by nobody, and is closed at no cost.
///
/// Only requests of [`request::Access::Misc`] work. Closing *any* such
/// descriptor releases every core that this process has marked on the host, so
/// a process that owns cores opens one and keeps it.
#[derive(Debug)]
pub struct FreeAccess(OwnedFd);

/// A device that this process is attached to: it holds one of 16 slots and is
/// shown as a user of the device.
///
/// # Open
///
/// Opening a device in reset does not return before the reset ends, which can
/// be minutes: the kernel spins at full load, and neither a non-blocking flag
/// nor a handled signal ends it. Look at the device's `reset` leaf first, or
/// open on a thread that can be left behind.
///
/// # Close
///
/// The driver cleans up at the last close: 20 to 25 ms on Trainium and 1 s on
/// Inferentia, each time. Whoever samples an Inferentia keeps it open.
///
/// # No duplicates
///
/// The driver counts opens, not descriptors. Closing a duplicate detaches the
/// process at once although this descriptor stays usable: its datastore is
/// released, and an allocation that follows crashes the kernel. So there is no
/// way to clone this, and the descriptor is not lent outside of this module.
#[derive(Debug)]
pub struct Attached(OwnedFd);

impl FreeAccess {
    /// Opens a node for writing only, which is how the driver tells.
    ///
    /// # Errors
    ///
    /// Those of `open`: no node, no permission.
    pub fn open(path: &Path) -> io::Result<Self> {
        open(path, OFlags::WRONLY).map(Self)
    }

    /// Makes a request; see [`ioctl::call`](super::call).
    ///
    /// # Errors
    ///
    /// The errno of the driver, `EINVAL` for one that needs an attached
    /// process.
    pub fn call<T: Arg>(&self, request: u32, arg: &mut T) -> io::Result<i32> {
        ioctl::call(self.fd(), request, arg)
    }

    /// Where each logical physical-core is; see [`super::logical_to_physical`].
    ///
    /// # Errors
    ///
    /// The errno of the driver.
    pub fn logical_to_physical(&self) -> io::Result<Vec<NcMapEntry>> {
        super::logical_to_physical(self.fd())
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Attached {
    /// Opens a node for reading only, which attaches and is enough to acquire
    /// and map datastores (seen on drivers 2.24.7.0 and 2.25.4.0).
    ///
    /// # Errors
    ///
    /// Those of `open`; `EBUSY` when all slots are taken, `EINVAL` when the
    /// last reset of the device failed.
    pub fn open(path: &Path) -> io::Result<Self> {
        open(path, OFlags::RDONLY).map(Self)
    }

    /// Makes a request; see [`ioctl::call`](super::call).
    ///
    /// # Errors
    ///
    /// The errno of the driver.
    pub fn call<T: Arg>(&self, request: u32, arg: &mut T) -> io::Result<i32> {
        ioctl::call(self.fd(), request, arg)
    }

    /// The processes that are attached to the device, this one included.
    ///
    /// # Errors
    ///
    /// The errno of the driver; `InvalidData` when the answer is malformed.
    pub fn processes(&self) -> io::Result<Vec<AppInfo>> {
        let capacity = u16::try_from(AppsInfo::MAX_PROCESSES).unwrap_or(u16::MAX);
        let bytes = ioctl::processes(self.fd(), AppsInfoFlags::ALL, capacity)?;
        AppsInfo::parse(&bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }

    /// The first `length` bytes of a process's datastore on this device, for
    /// [`nds::parse`](crate::uapi::nds::parse); `None` when it has none, as a
    /// process without a runtime or one that has ended.
    ///
    /// The datastore is acquired and mapped afresh, since entries are reused.
    /// `pid` 0 would create one for the caller and is refused.
    ///
    /// # Errors
    ///
    /// The errno of the driver; `InvalidInput` for a pid that cannot be one.
    pub fn datastore(&self, pid: u32, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let owner = i32::try_from(pid).ok().filter(|pid| *pid > 0).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{pid} is not a process id"))
        })?;
        let mut info = NeuronDsInfo { pid: owner, ..NeuronDsInfo::default() };
        match self.call(request::ACQUIRE_NEURON_DS.number(), &mut info) {
            Ok(returned) => ioctl::refuse_positive(returned)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        let mapping = Mapping::new(self.fd(), &info)?;
        extent.gather(bytes, |offset, bytes| io::Result::Ok(mapping.copy_out(offset, bytes)))?;
        Ok(true)
    }

    /// Values of registers; see [`super::hardware_counters`].
    ///
    /// # Errors
    ///
    /// The errno of the driver.
    pub fn hardware_counters(&self, registers: &[u64]) -> io::Result<Vec<u32>> {
        super::hardware_counters(self.fd(), registers)
    }

    /// Allocations of a memory channel; see [`super::memory_chunks`].
    ///
    /// # Errors
    ///
    /// The errno of the driver.
    pub fn memory_chunks(&self, channel: u32, limit: u16) -> io::Result<Vec<MemChunkInfo>> {
        super::memory_chunks(self.fd(), channel, limit)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn open(path: &Path, access: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, access | OFlags::CLOEXEC, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uapi::arg::CompatibleVersion;

    /// A captured tree has plain files in place of nodes.
    #[test]
    fn a_plain_file_opens_but_answers_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let not_a_device = Some(25);
        let mut range = CompatibleVersion::default();
        let request = request::COMPATIBLE_VERSION.number();
        let free = FreeAccess::open(file.path()).unwrap();
        let error = free.call(request, &mut range).unwrap_err();
        assert_eq!(error.raw_os_error(), not_a_device);
        assert_eq!(free.logical_to_physical().unwrap_err().raw_os_error(), not_a_device);
        let attached = Attached::open(file.path()).unwrap();
        assert_eq!(attached.processes().unwrap_err().raw_os_error(), not_a_device);
        assert_eq!(
            attached.datastore(1, Extent::Head, &mut Vec::new()).unwrap_err().raw_os_error(),
            not_a_device
        );
        assert_eq!(attached.hardware_counters(&[0]).unwrap_err().raw_os_error(), not_a_device);
        assert_eq!(attached.memory_chunks(0, 1).unwrap_err().raw_os_error(), not_a_device);
    }

    #[test]
    fn pids_that_cannot_be_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let attached = Attached::open(file.path()).unwrap();
        for pid in [0, 1 << 31, u32::MAX] {
            let error = attached.datastore(pid, Extent::Head, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{pid}");
        }
    }

    #[test]
    fn a_missing_node_is_not_found() {
        let path = Path::new("/dev/neuron-that-is-not-there");
        for error in [FreeAccess::open(path).unwrap_err(), Attached::open(path).unwrap_err()] {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
