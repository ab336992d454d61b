//! Requests whose argument holds addresses of lists: the lists are made here
//! and live as long as the request.

use std::io;
use std::os::fd::BorrowedFd;

use super::ioctl::{raw, refuse_positive};
use crate::uapi::arg::{
    DumpMemChunks, GetLogicalToPhysicalNcMap, MemChunkInfo, NcMapEntry, Plain, ReadHwCounters,
};
use crate::uapi::request;

/// Entries that request 120 accepts at most (driver.md §3.6).
const MAX_MAP_ENTRIES: u32 = 128;

/// Reads registers through the firmware, one value for each address.
///
/// # Errors
///
/// The errno of the driver; `InvalidInput` for more than 2^32 addresses.
pub fn hardware_counters(fd: BorrowedFd<'_>, registers: &[u64]) -> io::Result<Vec<u32>> {
    let mut values = vec![0_u32; registers.len()];
    let mut arg = ReadHwCounters {
        address: address(registers.as_ptr().cast()),
        data: address(values.as_mut_ptr().cast_const().cast()),
        count: count(registers.len())?,
    };
    let number = request::READ_HW_COUNTERS.number();
    // SAFETY: the driver reads `count` u64 of `registers` and writes `count`
    // u32 into `values`; both have that length and are borrowed for the call.
    let returned = unsafe { raw(fd, number, (&raw mut arg).cast()) }?;
    refuse_positive(returned)?;
    Ok(values)
}

/// Where each logical physical-core is: entry `i` is core `i`. On one device
/// the driver still answers for all of the platform's.
///
/// # Errors
///
/// The errno of the driver, 524 on generations without such a map.
pub fn logical_to_physical(fd: BorrowedFd<'_>) -> io::Result<Vec<NcMapEntry>> {
    // A count, then pairs of u32.
    let mut map = [0_u32; 1 + 2 * MAX_MAP_ENTRIES as usize];
    let mut arg = GetLogicalToPhysicalNcMap {
        map: address(map.as_mut_ptr().cast_const().cast()),
        max_map_entries: MAX_MAP_ENTRIES,
        mapping_version: 0,
    };
    let number = request::GET_LOGICAL_TO_PHYSICAL_NC_MAP.number();
    // SAFETY: the driver writes one u32 and at most `max_map_entries` pairs of
    // u32 into `map`, which has room for them and is borrowed for the call.
    let returned = unsafe { raw(fd, number, (&raw mut arg).cast()) }?;
    refuse_positive(returned)?;
    let [entries, pairs @ ..] = map;
    let pairs = pairs.chunks_exact(2).take(usize::try_from(entries).unwrap_or(usize::MAX));
    Ok(pairs
        .filter_map(|pair| match pair {
            [device_id, device_nc_idx] => {
                Some(NcMapEntry { device_id: *device_id, device_nc_idx: *device_nc_idx })
            }
            _ => None,
        })
        .collect())
}

/// Allocations of a memory channel, at most `limit`.
///
/// # Errors
///
/// The errno of the driver, `EAGAIN` when there are more than `limit`.
pub fn memory_chunks(
    fd: BorrowedFd<'_>,
    channel: u32,
    limit: u16,
) -> io::Result<Vec<MemChunkInfo>> {
    let mut chunks = vec![MemChunkInfo::ZERO; limit.into()];
    let mut arg = DumpMemChunks {
        hbm_index: channel,
        num_entries_in: limit.into(),
        num_entries_out: 0,
        data: address(chunks.as_mut_ptr().cast_const().cast()),
    };
    let number = request::DUMP_MEM_CHUNKS.number();
    // SAFETY: the driver writes at most `num_entries_in` structs into `chunks`,
    // which has room for them, holds plain integers and is borrowed for the
    // call.
    let returned = unsafe { raw(fd, number, (&raw mut arg).cast()) }?;
    refuse_positive(returned)?;
    chunks.truncate(usize::try_from(arg.num_entries_out).unwrap_or(usize::MAX));
    Ok(chunks)
}

/// An address as the driver wants it in a struct.
fn address(pointer: *const std::ffi::c_void) -> u64 {
    // usize has at most 64 bits on every Linux.
    u64::try_from(pointer.expose_provenance()).unwrap_or(u64::MAX)
}

fn count(length: usize) -> io::Result<u32> {
    u32::try_from(length)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "too many entries"))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_file_is_not_a_device() {
        let file = tempfile::tempfile().unwrap();
        let fd = file.as_fd();
        let errors = [
            hardware_counters(fd, &[0, 8]).unwrap_err(),
            logical_to_physical(fd).unwrap_err(),
            memory_chunks(fd, 0, 4).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.raw_os_error(), Some(25), "{error}");
        }
    }
}
