//! Read-only mapping of a process's datastore.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use rustix::fs::FileType;
use rustix::mm::{MapFlags, ProtFlags};

use crate::uapi::arg::NeuronDsInfo;
use crate::uapi::nds;

/// A datastore, mapped shared and read-only. Another process writes to it at
/// any time, so it is never lent as a slice: it is copied out.
///
/// The driver answers a mapping of any other length with unrelated device
/// memory when the caller is root, so the length is the one that the driver
/// returned and no other. The mapping stays valid after the owner ends, and
/// reads zeros then; after that the entry may go to another process, so a
/// reader acquires and maps afresh each time. A mapping keeps the device from
/// being reset through sysfs, even when the descriptor is closed.
#[derive(Debug)]
pub struct Mapping {
    /// Start of `words` words, until drop.
    start: NonNull<u64>,
    words: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only
// read; `start` is not shared with anything else.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps what `ACQUIRE_NEURON_DS` described, through a descriptor that is
    /// open for reading.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when the size is not that of a datastore
    /// ([`nds::SIZE`]), or the descriptor is a file that ends before it does;
    /// otherwise the errno of the driver.
    pub fn new(fd: BorrowedFd<'_>, info: &NeuronDsInfo) -> io::Result<Self> {
        let length = usize::try_from(info.size).unwrap_or(usize::MAX);
        if length != nds::SIZE {
            let reason = format!("size {length} is not that of a datastore, {}", nds::SIZE);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        refuse_short_file(fd, info.mmap_offset, length)?;
        let flags = (ProtFlags::READ, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches no
        // memory of this process that is in use.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), length, flags.0, flags.1, fd, info.mmap_offset)
        }?;
        let start = NonNull::new(start.cast::<u64>())
            .ok_or_else(|| io::Error::other("the kernel mapped address 0"))?;
        Ok(Self { start, words: length / 8 })
    }

    /// Fills `bytes` from an offset, a multiple of 8, for as far as the
    /// datastore goes, and says how far. Counters are of slightly different
    /// moments, but each is whole: words are read one by one.
    pub fn copy_out(&self, offset: usize, bytes: &mut [u8]) -> usize {
        let mut copied = 0;
        for (index, place) in (offset / 8..self.words).zip(bytes.chunks_mut(8)) {
            // SAFETY: `index` is below the number of words that are mapped.
            let word = unsafe { self.start.add(index) };
            // SAFETY: mapped for reading until drop, and page-aligned at the
            // start; volatile because another process writes to it.
            let value = unsafe { word.read_volatile() };
            place.copy_from_slice(value.to_ne_bytes().get(..place.len()).unwrap_or_default());
            copied += place.len();
        }
        copied
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: start and length are those of `mmap`; nothing borrows from
        // the mapping. An error would leave it mapped, which is harmless.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}

/// Reading a mapping beyond the end of a file kills the process. A device has
/// no such end.
fn refuse_short_file(fd: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<()> {
    let stat = rustix::fs::fstat(fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let end = u64::try_from(length).ok().and_then(|length| offset.checked_add(length));
    if end.is_some_and(|end| end <= size) {
        return Ok(());
    }
    let reason = format!("the file has {size} bytes, too few for a datastore at {offset}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn info(size: u32, mmap_offset: u64) -> NeuronDsInfo {
        NeuronDsInfo { pid: 0, mmap_offset, size }
    }

    #[test]
    fn a_mapping_reads_what_is_written() {
        let file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> =
            (0..262_144_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        file.write_all_at(&bytes, 4096).unwrap();
        let mapping = Mapping::new(file.as_fd(), &info(262_144, 4096)).unwrap();
        let mut copy = vec![0; nds::SIZE + 8];
        assert_eq!(mapping.copy_out(0, &mut copy), nds::SIZE);
        assert!(copy[..nds::SIZE] == bytes);
        let mut few = [0; 13];
        assert_eq!(mapping.copy_out(4096, &mut few), 13);
        assert_eq!(few, bytes[4096..4109]);
        assert_eq!(mapping.copy_out(nds::SIZE, &mut few), 0);
        // Shared: a later store is seen, also when the descriptor is gone.
        file.write_all_at(&77_u64.to_le_bytes(), 4096 + 264).unwrap();
        drop(file);
        assert_eq!(mapping.copy_out(264, &mut few[..8]), 8);
        assert_eq!(few[..8], 77_u64.to_le_bytes());
    }

    #[test]
    fn other_lengths_are_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        for size in [0, 4096, 262_143, 262_144 + 4096, u32::MAX] {
            let error = Mapping::new(file.as_fd(), &info(size, 0)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{size}");
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(262_143).unwrap();
        let error = Mapping::new(file.as_fd(), &info(262_144, 0)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        file.set_len(262_144).unwrap();
        assert!(Mapping::new(file.as_fd(), &info(262_144, 0)).is_ok());
        for offset in [4096, u64::MAX] {
            let error = Mapping::new(file.as_fd(), &info(262_144, offset)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
