//! HBM as a NEFF sees it: buffers, and where each variable lies.

use crate::fault::Fault;
use crate::memory::{Buffer, OnChip};

/// The buffers of a run. Inputs and outputs are shared by its cores.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hbm {
    pub(crate) buffers: Vec<Buffer>,
}

/// Where a variable lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// SBUF of the core; an offset is partition x 0x40000 + byte.
    Sbuf,
    /// A part of a buffer.
    Hbm {
        /// Number of the buffer.
        buffer: usize,
        /// First byte in it.
        start: u64,
        /// Bytes.
        size: u64,
    },
}

impl Place {
    /// Offset in the buffer of bytes that lie in the variable.
    fn inside(self, start: u64, size: u64, offset: i64, length: usize) -> Result<i64, Fault> {
        let at = || {
            let from = u64::try_from(offset).ok()?;
            let end = from.checked_add(u64::try_from(length).ok()?)?;
            i64::try_from(start.checked_add(from)?).ok().filter(|_| end <= size)
        };
        at().ok_or_else(|| {
            Fault::address(format!("{length} bytes at {offset} of a variable of {size} bytes"))
        })
    }

    /// Copies bytes out of the variable.
    pub(crate) fn read(
        self,
        memory: &OnChip,
        hbm: &Hbm,
        offset: i64,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        match self {
            Self::Sbuf => {
                out.copy_from_slice(memory.sbuf_run(offset, out.len())?);
                Ok(())
            }
            Self::Hbm { .. } => self.read_hbm(hbm, offset, out),
        }
    }

    /// Refuses what a read or a write of these bytes refuses.
    pub(crate) fn check(
        self,
        memory: &OnChip,
        hbm: &Hbm,
        offset: i64,
        length: usize,
    ) -> Result<(), Fault> {
        match self {
            Self::Sbuf => memory.sbuf_run(offset, length).map(drop),
            Self::Hbm { buffer, start, size } => {
                let at = self.inside(start, size, offset, length)?;
                let buffer = hbm.buffers.get(buffer);
                buffer.ok_or_else(|| Fault::address("no such buffer"))?.check(at, length).map(drop)
            }
        }
    }

    /// Copies bytes out of a variable in HBM.
    pub(crate) fn read_hbm(self, hbm: &Hbm, offset: i64, out: &mut [u8]) -> Result<(), Fault> {
        let Self::Hbm { buffer, start, size } = self else {
            return Err(Fault::address("no variable in HBM"));
        };
        let at = self.inside(start, size, offset, out.len())?;
        let buffer = hbm.buffers.get(buffer);
        buffer.ok_or_else(|| Fault::address("no such buffer"))?.read(at, out)
    }

    /// Copies bytes into a variable in HBM.
    pub(crate) fn write_hbm(self, hbm: &mut Hbm, offset: i64, bytes: &[u8]) -> Result<(), Fault> {
        let Self::Hbm { buffer, start, size } = self else {
            return Err(Fault::address("no variable in HBM"));
        };
        let at = self.inside(start, size, offset, bytes.len())?;
        let buffer = hbm.buffers.get_mut(buffer);
        buffer.ok_or_else(|| Fault::address("no such buffer"))?.write(at, bytes)
    }

    /// Copies bytes into the variable.
    pub(crate) fn write(
        self,
        memory: &mut OnChip,
        hbm: &mut Hbm,
        offset: i64,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        match self {
            Self::Sbuf => {
                memory.sbuf_run_mut(offset, bytes.len())?.copy_from_slice(bytes);
                Ok(())
            }
            Self::Hbm { .. } => self.write_hbm(hbm, offset, bytes),
        }
    }
}
