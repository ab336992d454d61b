//! Opening, closing, version, statuses (`nrt.h`, `nrt_version.h`, `nrt_status.h`).

use std::ffi::{CStr, c_char};

use neuron_core::uapi::nrt::{API_MAJOR, API_MINOR, Status, Version, field, framework};

use crate::call::{Fault, answer, quietly};
use crate::{pointer, session};

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_init(
    framework: u32,
    framework_version: *const c_char,
    adapter_version: *const c_char,
) -> Status {
    answer("nrt_init", || {
        if framework == framework::INVALID || framework > framework::LAST {
            return Err(Fault::invalid(format!("no framework has the number {framework}")));
        }
        // SAFETY: null or text that a zero ends, says the header.
        let version = unsafe { pointer::text(framework_version, "the framework's version") }?;
        // SAFETY: as above.
        let adapter = unsafe { pointer::text(adapter_version, "the adapter's version") }?;
        session::open()?;
        let text = format!("opened for framework {framework} {version:?}, adapter {adapter:?}");
        crate::log::line(crate::log::Level::Info, "NRT:nrt_init", &text);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_close() {
    quietly("nrt_close", session::close);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_version(version: *mut Version, size: usize) -> Status {
    answer("nrt_get_version", || {
        let own = Version {
            major: API_MAJOR,
            minor: API_MINOR,
            patch: 0,
            maintenance: 0,
            detail: field(concat!("neuron-tools ", env!("CARGO_PKG_VERSION"), ", simulated")),
            git_hash: field(""),
        };
        // SAFETY: null or room for `size` bytes, says the header; no padding.
        unsafe { pointer::put_part(version, &own, size, "the version") }?;
        Ok(())
    })
}

/// The text lives as long as the library.
#[unsafe(no_mangle)]
extern "C" fn nrt_get_status_as_str(status: Status) -> *const c_char {
    macro_rules! texts {
        ($($name:ident)*) => {
            match status {
                $(Status::$name => concat!("NRT_", stringify!($name), "\0").as_bytes(),)*
                _ => b"NRT_STATUS_UNKNOWN\0",
            }
        };
    }
    let text = texts! {
        SUCCESS FAILURE INVALID INVALID_HANDLE RESOURCE TIMEOUT HW_ERROR QUEUE_FULL
        LOAD_NOT_ENOUGH_NC UNSUPPORTED_NEFF_VERSION FAIL_HOST_MEM_ALLOC UNINITIALIZED CLOSED
        QUEUE_EMPTY EXEC_UNIT_UNRECOVERABLE EXEC_BAD_INPUT EXEC_COMPLETED_WITH_NUM_ERR
        EXEC_COMPLETED_WITH_ERR EXEC_NC_BUSY EXEC_OOB COLL_PENDING EXEC_HW_ERR_COLLECTIVES
        EXEC_HW_ERR_HBM_UE EXEC_HW_ERR_NC_UE EXEC_HW_ERR_DMA_ABORT EXEC_SW_NQ_OVERFLOW
        EXEC_HW_ERR_REPAIRABLE_HBM_UE NETWORK_PROXY_FAILURE
    };
    CStr::from_bytes_with_nul(text).map_or(std::ptr::null(), CStr::as_ptr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_name() {
        for status in Status::ALL {
            let text = nrt_get_status_as_str(*status);
            // SAFETY: text that a zero ends, and that is never freed.
            let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap();
            assert_eq!(text.strip_prefix("NRT_"), status.name());
        }
    }
}
