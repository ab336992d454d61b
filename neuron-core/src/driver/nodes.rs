//! What device nodes answer, apart from how they are asked.
//!
//! The kernel source asks by ioctl, a captured tree looks in its recorded
//! answers, a simulated instance in its state.
//!
//! There are two ways to ask (driver.md §2.1). A free-access open disturbs
//! nothing and never waits. An attaching open takes one of 16 slots, is seen
//! by others, costs up to a second when it is closed and spins for the whole
//! time of a reset; it is the last resort.

use std::fmt::Debug;
use std::io;

use crate::uapi::arg::AppInfo;
use crate::uapi::nds_ext::Extent;
use crate::units::Bdf;

/// The device nodes of a machine, `N` of `/dev/neuronN`.
pub trait Nodes: Debug + Send + Sync {
    /// Whether attaching can hang and detaching takes long. Only with a
    /// driver's nodes; what answers from a file is asked directly, which saves
    /// two threads per device.
    fn can_hang(&self) -> bool {
        true
    }

    /// Opens a node without attaching.
    ///
    /// # Errors
    ///
    /// Those of `open`.
    fn open_free(&self, node: u32) -> io::Result<Box<dyn FreeNode>>;

    /// Attaches to a node. Can hang in the caller while the device is in
    /// reset: to be called where that does not matter.
    ///
    /// # Errors
    ///
    /// Those of `open`: `EBUSY` when 16 processes are attached, `EINVAL` when
    /// the device's last reset failed.
    fn attach(&self, node: u32) -> io::Result<Box<dyn AttachedNode>>;
}

/// Answers that need no attaching.
pub trait FreeNode: Debug {
    /// Generation as the driver numbers it.
    ///
    /// # Errors
    ///
    /// Those of the request.
    fn arch(&self) -> io::Result<u32>;

    /// PCI address of the device `ahead` places behind this one in host order.
    ///
    /// # Errors
    ///
    /// Those of the request; `EINVAL` when there is no such device.
    fn bdf(&self, ahead: u32) -> io::Result<Bdf>;
}

/// Answers that only an attached process gets.
pub trait AttachedNode: Debug + Send {
    /// Host indices of the connected devices, in the driver's order.
    ///
    /// # Errors
    ///
    /// Those of the request.
    fn connected(&self) -> io::Result<Vec<u32>>;

    /// PCI address of this device, for drivers that give it to nobody else
    /// (before 2.9.4).
    ///
    /// # Errors
    ///
    /// Those of the request.
    fn bdf(&self) -> io::Result<Bdf> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The attached processes, this one included.
    ///
    /// # Errors
    ///
    /// Those of the request; an answer that makes no sense.
    fn users(&self) -> io::Result<Vec<AppInfo>>;

    /// Reads a process's datastore on this device, as much of it as is asked
    /// for, in the place of what `bytes` hold; `false` when it has none.
    ///
    /// # Errors
    ///
    /// Those of the requests and of the mapping.
    fn datastore(&self, pid: u32, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<bool>;
}

/// An answer that is not what it should be, as an [`io::Error`].
pub(crate) fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
