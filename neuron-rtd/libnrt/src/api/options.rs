//! Option objects of captures (`nrt_profile.h`): they can be made, set and read;
//! which captures there are is in [`super::profile`].

use std::collections::BTreeSet;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use neuron_core::uapi::nrt::Status;
use rtd_runtime::InspectOptions;
use rtd_runtime::inspect::{EVENTS, Kinds};

use super::strings;
use crate::call::{Fault, answer, quietly};
use crate::handle::Table;
use crate::pointer;

/// What an inspection may record.
const ACTIVITIES: [&str; 4] = ["system_profile", "device_profile", "host_memory", "cpu_util"];

/// Options of an inspection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inspect {
    pub(super) session: c_int,
    pub(super) folder: String,
    pub(super) activities: [bool; 4],
    pub(super) always: bool,
    pub(super) on_failure: bool,
    pub(super) events: Wanted,
}

/// Which events are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Of each core at most.
    pub(super) most: u64,
    /// Cores of which none are.
    pub(super) without: BTreeSet<u32>,
    pub(super) kinds: Kinds,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { most: EVENTS, without: BTreeSet::new(), kinds: Kinds::default() }
    }
}

impl Wanted {
    /// Keeps the events of a core, or not.
    pub(super) fn core(&mut self, core: u32, on: bool) {
        if on {
            self.without.remove(&core);
        } else {
            self.without.insert(core);
        }
    }

    /// Keeps the events of a type, or not.
    ///
    /// # Safety
    ///
    /// The name is null or text that a zero ends.
    pub(super) unsafe fn kind(&mut self, name: *const c_char, on: bool) -> Result<(), Fault> {
        // SAFETY: the caller vouches for it.
        let name = unsafe { pointer::text(name, "the event type") }?;
        for kind in Kinds::named(&name)? {
            self.kinds.set(kind, on);
        }
        Ok(())
    }

    /// The same for a process of so many cores.
    pub(super) fn options(&self, cores: u32) -> InspectOptions {
        let cores = (!self.without.is_empty())
            .then(|| (0..cores).filter(|core| !self.without.contains(core)).collect());
        let (most, kinds) = (self.most, self.kinds);
        InspectOptions { most, kinds, cores, ..InspectOptions::default() }
    }
}

impl Default for Inspect {
    fn default() -> Self {
        let folder = "./output".to_owned();
        let (activities, events) = ([true; 4], Wanted::default());
        Self { session: 1, folder, activities, always: false, on_failure: false, events }
    }
}

pub(super) static INSPECT: Table<Mutex<Inspect>> = Table::new("inspect config", 5);
pub(super) static CONTINUOUS: Table<Mutex<String>> = Table::new("continuous profile options", 6);

pub(super) unsafe fn make<T>(
    name: &str,
    table: &Table<T>,
    thing: T,
    to: *mut *mut c_void,
) -> Status {
    answer(name, || {
        pointer::given(to, "the options")?;
        let handle = table.insert(Arc::new(thing));
        // SAFETY: not null; room for a pointer, says the header.
        unsafe { pointer::put(to, handle, "the options") }
    })
}

/// Changes the options of an inspection.
fn change(
    name: &str,
    options: *const c_void,
    change: impl FnOnce(&mut Inspect) -> Result<(), Fault>,
) -> Status {
    answer(name, || {
        let options = INSPECT.get(options)?;
        change(&mut options.lock().unwrap_or_else(PoisonError::into_inner))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_allocate(to: *mut *mut c_void) -> Status {
    // SAFETY: handed on as it is.
    unsafe { make("nrt_inspect_config_allocate", &INSPECT, Mutex::default(), to) }
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_set_defaults(options: *mut c_void) -> Status {
    change("nrt_inspect_config_set_defaults", options, |own| {
        *own = Inspect::default();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_free(options: *mut c_void) -> Status {
    answer("nrt_inspect_config_free", || INSPECT.remove(options).map(drop))
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_set_session_id(options: *mut c_void, session: c_int) -> Status {
    change("nrt_inspect_config_set_session_id", options, |own| {
        own.session = session;
        Ok(())
    })
}

unsafe fn folder(path: *const c_char) -> Result<String, Fault> {
    // SAFETY: null or text that a zero ends, says the header.
    let path = unsafe { pointer::text(path, "the folder") }?;
    if path.is_empty() {
        return Err(Fault::invalid("the folder is empty"));
    }
    Ok(path)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_set_output_dir(
    options: *mut c_void,
    path: *const c_char,
) -> Status {
    change("nrt_inspect_config_set_output_dir", options, |own| {
        // SAFETY: handed on as it is.
        own.folder = unsafe { folder(path) }?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_set_sys_trace_max_events_per_nc(
    options: *mut c_void,
    most: u64,
) -> Status {
    change("nrt_inspect_config_set_sys_trace_max_events_per_nc", options, |own| {
        own.events.most = most;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_set_capture_enabled_for_nc(
    options: *mut c_void,
    core: u32,
    on: bool,
) -> Status {
    change("nrt_inspect_config_set_capture_enabled_for_nc", options, |own| {
        own.events.core(core, on);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_set_capture_enabled_for_event_type_string(
    options: *mut c_void,
    name: *const c_char,
    on: bool,
) -> Status {
    change("nrt_inspect_config_set_capture_enabled_for_event_type_string", options, |own| {
        // SAFETY: null or text that a zero ends, says the header.
        unsafe { own.events.kind(name, on) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_set_enable_inspect(options: *mut c_void, on: bool) -> Status {
    change("nrt_inspect_config_set_enable_inspect", options, |own| {
        own.always = on;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn nrt_inspect_config_set_enable_inspect_on_fail(
    options: *mut c_void,
    on: bool,
) -> Status {
    change("nrt_inspect_config_set_enable_inspect_on_fail", options, |own| {
        own.on_failure = on;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_set_activity(
    options: *mut c_void,
    name: *const c_char,
    on: bool,
) -> Status {
    change("nrt_inspect_config_set_activity", options, |own| {
        // SAFETY: null or text that a zero ends, says the header.
        let name = unsafe { pointer::text(name, "the activity") }?;
        let mut known = name == "all";
        for (activity, enabled) in ACTIVITIES.iter().zip(&mut own.activities) {
            if name == "all" || name == *activity {
                *enabled = on;
                known = true;
            }
        }
        let list = ACTIVITIES.join(", ");
        if known { Ok(()) } else { Err(Fault::invalid(format!("{name:?} is none of {list}, all"))) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_get_all_activity_types(
    to: *mut *mut *mut c_char,
    count: *mut usize,
) -> Status {
    let words = [ACTIVITIES.as_slice(), &["all"]].concat();
    answer("nrt_inspect_config_get_all_activity_types", || {
        // SAFETY: null or room, says the header.
        unsafe { strings::hand(&words, to, count) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_get_enabled_activity_types(
    options: *mut c_void,
    to: *mut *mut *mut c_char,
    count: *mut usize,
) -> Status {
    change("nrt_inspect_config_get_enabled_activity_types", options, |own| {
        let enabled = ACTIVITIES.iter().zip(own.activities).filter(|(_, on)| *on);
        let words: Vec<&str> = enabled.map(|(word, _)| *word).collect();
        // SAFETY: null or room, says the header.
        unsafe { strings::hand(&words, to, count) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_inspect_config_free_activity_types(list: *mut *mut c_char, count: usize) {
    quietly("nrt_inspect_config_free_activity_types", || {
        // SAFETY: null or a list of the functions above, says the header.
        unsafe { strings::take_back(list, count) }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_profile_continuous_options_allocate(to: *mut *mut c_void) -> Status {
    let folder = Mutex::new("./output".to_owned());
    // SAFETY: handed on as it is.
    unsafe { make("nrt_profile_continuous_options_allocate", &CONTINUOUS, folder, to) }
}

#[unsafe(no_mangle)]
extern "C" fn nrt_profile_continuous_options_free(options: *mut c_void) -> Status {
    answer("nrt_profile_continuous_options_free", || CONTINUOUS.remove(options).map(drop))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_profile_continuous_options_set_output_dir(
    options: *mut c_void,
    path: *const c_char,
) -> Status {
    answer("nrt_profile_continuous_options_set_output_dir", || {
        let options = CONTINUOUS.get(options)?;
        // SAFETY: handed on as it is.
        let path = unsafe { folder(path) }?;
        *options.lock().unwrap_or_else(PoisonError::into_inner) = path;
        Ok(())
    })
}
