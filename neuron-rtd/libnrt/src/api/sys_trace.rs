//! Events of the runtime, fetched as JSON (`nrt_sys_trace.h`).

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use neuron_core::uapi::nrt::Status;
use rtd_runtime::inspect::{self, Kind};

use super::options::{Wanted, make};
use super::strings;
use crate::call::{Fault, answer, quietly};
use crate::handle::Table;
use crate::{pointer, session};

static TRACE: Table<Mutex<Wanted>> = Table::new("system trace config", 7);
static FETCH: Table<Mutex<Fetch>> = Table::new("fetch options", 8);

/// Texts that callers have, by address.
static TEXTS: LazyLock<Mutex<HashMap<usize, CString>>> = LazyLock::new(Mutex::default);

/// What is fetched: all, where nothing is said.
#[derive(Debug, Clone, Copy)]
struct Fetch {
    most: u64,
    core: Option<u32>,
}

impl Default for Fetch {
    fn default() -> Self {
        Self { most: u64::MAX, core: None }
    }
}

fn texts() -> MutexGuard<'static, HashMap<usize, CString>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn change<T>(
    table: &Table<Mutex<T>>,
    options: *const c_void,
    change: impl FnOnce(&mut T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let options = table.get(options)?;
    change(&mut options.lock().unwrap_or_else(PoisonError::into_inner))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_config_allocate(to: *mut *mut c_void) -> Status {
    // SAFETY: handed on as it is.
    unsafe { make("nrt_sys_trace_config_allocate", &TRACE, Mutex::default(), to) }
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_config_set_defaults(options: *mut c_void) {
    quietly("nrt_sys_trace_config_set_defaults", || {
        change(&TRACE, options, |own| {
            *own = Wanted::default();
            Ok(())
        })
    });
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_config_free(options: *mut c_void) {
    quietly("nrt_sys_trace_config_free", || TRACE.remove(options).map(drop));
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_config_set_max_events_per_nc(options: *mut c_void, most: u64) {
    quietly("nrt_sys_trace_config_set_max_events_per_nc", || {
        change(&TRACE, options, |own| {
            own.most = most;
            Ok(())
        })
    });
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_config_set_capture_enabled_for_nc(
    options: *mut c_void,
    core: u32,
    on: bool,
) {
    quietly("nrt_sys_trace_config_set_capture_enabled_for_nc", || {
        change(&TRACE, options, |own| {
            own.core(core, on);
            Ok(())
        })
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_config_set_capture_enabled_for_event_type(
    options: *mut c_void,
    name: *const c_char,
    on: bool,
) -> Status {
    answer("nrt_sys_trace_config_set_capture_enabled_for_event_type", || {
        // SAFETY: null or text that a zero ends, says the header.
        change(&TRACE, options, |own| unsafe { own.kind(name, on) })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_config_get_enabled_event_types(
    options: *mut c_void,
    to: *mut *mut *mut c_char,
    count: *mut usize,
) -> Status {
    answer("nrt_sys_trace_config_get_enabled_event_types", || {
        change(&TRACE, options, |own| {
            let on = Kind::ALL.iter().filter(|kind| own.kinds.has(**kind));
            let words: Vec<&str> = on.map(|kind| kind.name()).collect();
            // SAFETY: null or room, says the header.
            unsafe { strings::hand(&words, to, count) }
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_get_event_types(
    to: *mut *mut *mut c_char,
    count: *mut usize,
) -> Status {
    answer("nrt_sys_trace_get_event_types", || {
        let words = Kind::ALL.map(Kind::name);
        // SAFETY: null or room, says the header.
        unsafe { strings::hand(&words, to, count) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_free_event_types(list: *mut *mut c_char, count: usize) {
    quietly("nrt_sys_trace_free_event_types", || {
        // SAFETY: null or a list of this library, says the header.
        unsafe { strings::take_back(list, count) }
    });
}

/// Refused while an inspection is under way, which keeps the events itself.
#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_start(options: *mut c_void) -> Status {
    answer("nrt_sys_trace_start", || {
        let session = session::current()?;
        let wanted = TRACE.get(options)?;
        let wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let begun = session.runtime.record(&wanted.options(session.cores()));
        begun.map(drop).map_err(|failure| session.fault(failure))
    })
}

/// Events that were not fetched are gone.
#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_stop() -> Status {
    answer("nrt_sys_trace_stop", || {
        let session = session::current()?;
        session.runtime.end_record().map_err(|failure| session.fault(failure))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_fetch_options_allocate(to: *mut *mut c_void) -> Status {
    // SAFETY: handed on as it is.
    unsafe { make("nrt_sys_trace_fetch_options_allocate", &FETCH, Mutex::default(), to) }
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_fetch_options_set_defaults(options: *mut c_void) {
    quietly("nrt_sys_trace_fetch_options_set_defaults", || {
        change(&FETCH, options, |own| {
            *own = Fetch::default();
            Ok(())
        })
    });
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_fetch_options_free(options: *mut c_void) {
    quietly("nrt_sys_trace_fetch_options_free", || FETCH.remove(options).map(drop));
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_fetch_options_set_max_events_per_nc(options: *mut c_void, most: u64) {
    quietly("nrt_sys_trace_fetch_options_set_max_events_per_nc", || {
        change(&FETCH, options, |own| {
            own.most = most;
            Ok(())
        })
    });
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_fetch_options_set_nc_idx(options: *mut c_void, core: u64) {
    quietly("nrt_sys_trace_fetch_options_set_nc_idx", || {
        change(&FETCH, options, |own| {
            let core = u32::try_from(core);
            own.core = Some(core.map_err(|_| Fault::invalid("there is no such core"))?);
            Ok(())
        })
    });
}

/// Each event is given once. Null options fetch all; the size is that without
/// the zero at the end.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_sys_trace_fetch_events(
    buffer: *mut *mut c_char,
    size: *mut usize,
    options: *const c_void,
) -> Status {
    answer("nrt_sys_trace_fetch_events", || {
        let session = session::current()?;
        pointer::given(buffer, "the buffer")?;
        pointer::given(size, "the size")?;
        let fetch = match options.is_null() {
            true => Fetch::default(),
            false => *FETCH.get(options)?.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let recorder = session.runtime.recorder();
        let recorder = recorder.ok_or_else(|| Fault::invalid("no system trace is under way"))?;
        let text = inspect::json(&recorder.take(fetch.most, fetch.core));
        let length = text.len();
        let text = CString::new(text).map_err(|_| Fault::new(Status::FAILURE, "a zero in JSON"))?;
        let to = text.as_ptr().cast_mut();
        texts().insert(to.addr(), text);
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { pointer::put(buffer, to, "the buffer") }?;
        // SAFETY: not null; room for a size, says the header.
        unsafe { pointer::put(size, length, "the size") }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_sys_trace_buffer_free(buffer: *mut c_char) {
    quietly("nrt_sys_trace_buffer_free", || {
        let known = texts().remove(&buffer.addr());
        known.map(drop).ok_or_else(|| {
            let text = format!("{buffer:p} is no buffer of this library");
            Fault::new(Status::INVALID_HANDLE, text)
        })
    });
}
