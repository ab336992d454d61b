//! The instance: counts, memory, numbers of devices (`nrt.h`).

use neuron_core::instance::routing_to_device;
use neuron_core::uapi::nrt::{InstanceInfo, MemoryStats, Status, field, instance_numbers};

use crate::call::{Fault, answer};
use crate::environment;
use crate::{pointer, session, tensor};

/// What the environment names, also before `nrt_init`.
fn machine() -> Result<rtd_runtime::Machine, Fault> {
    match session::current() {
        Ok(session) => Ok(session.machine.clone()),
        Err(_) => environment::machine(),
    }
}

unsafe fn count(name: &str, to: *mut u32, of: impl FnOnce() -> Result<u32, Fault>) -> Status {
    answer(name, || {
        pointer::given(to, "the count")?;
        // SAFETY: null or room for a number, says the header.
        unsafe { pointer::put(to, of()?, "the count") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_total_vnc_count(to: *mut u32) -> Status {
    // SAFETY: handed on as it is.
    unsafe { count("nrt_get_total_vnc_count", to, || Ok(machine()?.total())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_total_nc_count(to: *mut u32) -> Status {
    // SAFETY: handed on as it is.
    unsafe { count("nrt_get_total_nc_count", to, || Ok(machine()?.total())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_visible_vnc_count(to: *mut u32) -> Status {
    // SAFETY: handed on as it is.
    unsafe { count("nrt_get_visible_vnc_count", to, || Ok(machine()?.visible())) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_visible_nc_count(to: *mut u32) -> Status {
    // SAFETY: handed on as it is.
    unsafe { count("nrt_get_visible_nc_count", to, || Ok(machine()?.visible())) }
}

/// The revision of a simulated device is empty.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_instance_info(to: *mut InstanceInfo, size: usize) -> Status {
    answer("nrt_get_instance_info", || {
        let kind = machine()?.spec.kind;
        let (family, number) = instance_numbers(kind.name);
        let arch_name = field(kind.chip.core_arch_text());
        let info = InstanceInfo { family, size: number, arch_name, device_revision: [0; 8] };
        // SAFETY: null or room for `size` bytes, says the header; no padding.
        unsafe { pointer::put_part(to, &info, size, "the instance info") }?;
        Ok(())
    })
}

/// Used: models and tensors of this process at the core. Limit: the core's
/// share of the device's memory.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_get_vnc_memory_stats(
    vnc: u32,
    to: *mut MemoryStats,
    size: usize,
    written: *mut usize,
) -> Status {
    answer("nrt_get_vnc_memory_stats", || {
        let session = session::current()?;
        let core = session.core(vnc.into())?;
        pointer::given(written, "the written size")?;
        let used = session.runtime.core_memory(core).saturating_add(tensor::used(core));
        let cores = session.runtime.cores();
        let limit = cores.kind().chip.memory().get() / u64::from(cores.per_device());
        let narrow = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let stats = MemoryStats { bytes_used: narrow(used), bytes_limit: narrow(limit) };
        // SAFETY: null or room for `size` bytes, says the header; no padding.
        let length = unsafe { pointer::put_part(to, &stats, size, "the memory stats") }?;
        // SAFETY: null or room for a size, says the header.
        unsafe { pointer::put(written, length, "the written size") }
    })
}

/// Devices of a simulated instance are those of the host.
#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_host_device_id_get(device: i32, to: *mut u32) -> Status {
    answer("nrt_host_device_id_get", || {
        let kind = machine()?.spec.kind;
        let found = u32::try_from(device).ok().filter(|device| *device < kind.device_count);
        let device =
            found.ok_or_else(|| Fault::invalid(format!("{} has no device {device}", kind.name)))?;
        // SAFETY: null or room for a number, says the header.
        unsafe { pointer::put(to, device, "the device id") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nrt_host_device_id_rid_map_get(count: *mut u32, to: *mut u32) -> Status {
    answer("nrt_host_device_id_rid_map_get", || {
        let kind = machine()?.spec.kind;
        // SAFETY: null or a number of the caller, says the header.
        let room = unsafe { pointer::get(count.cast_const(), "the count") }?;
        pointer::given(to, "the map")?;
        let order = routing_to_device(kind.chip, kind.device_count)
            .ok_or_else(|| Fault::invalid(format!("the order of {} is not known", kind.name)))?;
        let total = u32::try_from(order.len()).unwrap_or(u32::MAX);
        if room < total {
            return Err(Fault::invalid(format!("room for {room} entries, there are {total}")));
        }
        for (routing, device) in (0_u32..).zip(order) {
            let at = to.wrapping_add(usize::try_from(device).unwrap_or(usize::MAX));
            // SAFETY: a device is below the count, and the caller has room for
            // that many entries.
            unsafe { pointer::put(at, routing, "the map") }?;
        }
        // SAFETY: read above.
        unsafe { pointer::put(count, total, "the count") }
    })
}
