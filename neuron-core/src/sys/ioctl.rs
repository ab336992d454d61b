//! Requests to the driver.
//!
//! The driver does not follow one rule for its results: some requests return a
//! positive number for an error or a special case (driver.md §3.1). It is
//! handed on, and the caller decides.

use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};

use crate::uapi::arg::*;
use crate::uapi::request::{self, Request};

mod sealed {
    pub trait Sealed {}
}

/// An argument that can be handed to the driver as it is: integers only, none
/// of them an address that the driver follows.
///
/// # Safety
///
/// The type is `repr(C)`, every bit pattern is a valid value of it, and each
/// of `REQUESTS` reads and writes no memory of the caller but
/// `size_of::<Self>()` bytes at the argument.
pub unsafe trait Arg: sealed::Sealed + Plain {
    /// The requests that take this argument.
    const REQUESTS: &'static [Request];
}

macro_rules! arguments {
    ($($ty:ty: $($request:ident),*;)*) => {$(
        impl sealed::Sealed for $ty {}

        // SAFETY: declared in `uapi::arg` as repr(C) of integers and arrays of
        // integers, or an integer itself; no field holds a user address
        // (driver.md §3.4); the sizes of the requests are checked below.
        unsafe impl Arg for $ty {
            const REQUESTS: &'static [Request] = &[$(request::$request),*];
        }

        $(const _: () = assert!(request::$request.arg_size() == size_of::<$ty>());)*
    )*};
}

arguments! {
    u8: DEVICE_READY, DEVICE_RESET_STATUS;
    i32: DEVICE_APP_PID;
    DeviceBasicInfo: DEVICE_BASIC_INFO;
    DeviceInfo: DEVICE_INFO;
    DeviceBdf: DEVICE_BDF;
    DeviceBdfExt: DEVICE_BDF_EXT;
    DeviceDriverInfo: DRIVER_INFO_GET;
    CompatibleVersion: COMPATIBLE_VERSION;
    HostDeviceId: HOST_DEVICE_ID;
    HostDeviceIdToRidMap: HOST_DEVICE_ID_TO_RID_MAP;
    DeviceReset: NC_RESET;
    DeviceReady: NC_RESET_READY;
    NcPidStateDump: NC_PID_STATE_DUMP;
    NeuronDsInfo: ACQUIRE_NEURON_DS, RELEASE_NEURON_DS;
    Crwl: CRWL_READER_ENTER, CRWL_READER_EXIT, CRWL_WRITER_ENTER, CRWL_WRITER_DOWNGRADE;
    CrwlNcMap: CRWL_NC_RANGE_MARK, CRWL_NC_RANGE_UNMARK;
    CrwlNcMapExt: CRWL_NC_RANGE_MARK_EXT0, CRWL_NC_RANGE_UNMARK_EXT0;
    CinitSet: CINIT_SET_STATE;
    NcModelStartedCount: NC_MODEL_STARTED_COUNT;
    Semaphore: SEMAPHORE_INCREMENT, SEMAPHORE_DECREMENT, SEMAPHORE_READ, SEMAPHORE_WRITE;
    Event: EVENT_SET, EVENT_GET;
    NotificationsInitV2: NOTIFICATIONS_INIT_V2;
    NotificationsInitWithReallocV2: NOTIFICATIONS_INIT_WITH_REALLOC_V2;
    MemGetExtendedInfo: MEM_GET_EXTENDED_INFO;
    MemFree: MEM_FREE;
    MemCopy64: MEM_COPY64;
    Memset64: MEMSET64;
    MemGetMcMmapInfoV2: MEM_MC_GET_INFO_V2;
    ResourceMmapInfo: RESOURCE_MMAP_INFO;
    HbmScrubStart: HBM_SCRUB_START;
    HbmScrubWait: HBM_SCRUB_WAIT;
    PodInfo: POD_INFO;
    PodStatus: POD_STATUS;
    PodStatusV2: POD_STATUS_V2;
    PodCtrl: POD_CTRL;
    PodCtrlV2: POD_CTRL_V2;
}

/// Makes a request with the argument that belongs to it. The result is what
/// the driver returned, 0 or positive; a positive one is not success unless
/// the request says so (1 of `NC_RESET`: an equal one is pending).
///
/// # Errors
///
/// The errno of the driver. `InvalidInput`, and no request made, when the
/// number is not one that takes this argument.
pub fn call<T: Arg>(fd: BorrowedFd<'_>, request: u32, arg: &mut T) -> io::Result<i32> {
    let row = T::REQUESTS.iter().find(|row| row.number() == request);
    let Some(row) = row.filter(|row| row.arg_size() == size_of::<T>()) else {
        let reason = format!("request {request:#010x} does not take an argument of this type");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    };
    // SAFETY: `T: Arg` says that this request touches no memory of the caller
    // but the struct, which is borrowed exclusively for the call.
    unsafe { raw(fd, row.number(), std::ptr::from_mut(arg).cast()) }
}

/// Asks for the processes that are attached to a device: the answer of
/// `DEVICE_GET_ALL_APPS_INFO` as bytes for
/// [`AppsInfo::parse`](crate::uapi::arg::AppsInfo::parse), with room for
/// `capacity` processes.
///
/// # Errors
///
/// The errno of the driver; `Other` when it returned a positive number.
pub fn processes(fd: BorrowedFd<'_>, flags: u16, capacity: u16) -> io::Result<Vec<u8>> {
    let request = AppsInfo::request(flags, capacity);
    // The driver's struct is aligned to 8 bytes.
    let mut words: Vec<u64> = request
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            u64::from_ne_bytes(word)
        })
        .collect();
    let number = request::DEVICE_GET_ALL_APPS_INFO.number();
    // SAFETY: the driver reads the header and writes at most `capacity` entries
    // behind it; the vector holds the header and `capacity` entries, and is
    // borrowed exclusively for the call.
    let returned = unsafe { raw(fd, number, words.as_mut_ptr().cast()) }?;
    refuse_positive(returned)?;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.truncate(request.len());
    Ok(bytes)
}

/// For requests of which a positive result is an error: the driver returns the
/// number of bytes that it could not copy (driver.md §3.1).
///
/// # Errors
///
/// `Other` for everything but 0.
pub fn refuse_positive(returned: i32) -> io::Result<()> {
    match returned {
        0 => Ok(()),
        other => Err(io::Error::other(format!("the driver returned {other}"))),
    }
}

/// Makes a request with the argument at an address.
///
/// # Safety
///
/// What the driver reads and writes for this request, at `arg` and at the
/// addresses found there, is memory that the caller holds exclusively, of the
/// sizes that the request states, until this returns.
pub(super) unsafe fn raw(fd: BorrowedFd<'_>, request: u32, arg: *mut c_void) -> io::Result<i32> {
    // SAFETY: the descriptor is borrowed, so it is open; the caller vouches for
    // the memory; `Call` hands on number, address and result unchanged.
    let result = unsafe { rustix::ioctl::ioctl(fd, Call { request, arg }) };
    result.map_err(io::Error::from)
}

/// A request as `rustix` makes it.
struct Call {
    request: u32,
    arg: *mut c_void,
}

// SAFETY: `IS_MUTATING` is the careful choice, the address comes from the
// caller of `raw`, and the result is the system call's own.
unsafe impl Ioctl for Call {
    type Output = i32;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.request
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.arg
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> rustix::io::Result<i32> {
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    /// `ENOTTY` in the numbering of Linux.
    const NO_DEVICE: i32 = 25;

    #[test]
    fn a_file_is_not_a_device() {
        let file = tempfile::tempfile().unwrap();
        let mut info = DeviceBasicInfo::default();
        let request = request::DEVICE_BASIC_INFO.number();
        let error = call(file.as_fd(), request, &mut info).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(NO_DEVICE));
        let error = processes(file.as_fd(), 0xF, 16).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(NO_DEVICE));
    }

    /// All of these have the size of the struct, or encode size 8.
    #[test]
    fn an_argument_goes_with_its_own_requests_only() {
        let file = tempfile::tempfile().unwrap();
        let mut info = DeviceDriverInfo::default();
        for request in [
            request::READ_HW_COUNTERS,
            request::DUMP_MEM_CHUNKS,
            request::DRIVER_INFO_SET,
            request::DEVICE_INFO,
        ] {
            let error = call(file.as_fd(), request.number(), &mut info).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", request.name());
            assert_eq!(error.raw_os_error(), None);
        }
        let error = call(file.as_fd(), 0x0000_4E63, &mut info).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    /// A request that every descriptor answers shows that the argument is
    /// written and the result handed on: `FIONREAD` of a pipe.
    #[test]
    fn the_argument_is_written() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"seven b").unwrap();
        let mut count = 0_i32;
        // SAFETY: FIONREAD (0x541B) writes one int at the address.
        let returned = unsafe { raw(reader.as_fd(), 0x541B, (&raw mut count).cast()) };
        assert_eq!((returned.unwrap(), count), (0, 7));
    }

    #[test]
    fn positive_results_are_errors_where_asked() {
        assert!(refuse_positive(0).is_ok());
        assert_eq!(refuse_positive(22).unwrap_err().to_string(), "the driver returned 22");
    }
}
