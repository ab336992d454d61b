//! A process that works on a simulated instance, for tests that kill it.
//!
//! `sim-worker DIR NAME DEVICE`: attaches, writes the counters and makes the
//! allocations of the process in the recordings (INDEX.txt), prints `ready`,
//! and holds everything until its stdin is closed.

use std::io::Read as _;

use neuron_core::sim::{Places, Sim};
use neuron_core::uapi::nds::core_counter as id;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, name, device] = args.as_slice() else {
        return Err("usage: sim-worker DIR NAME DEVICE".into());
    };
    let sim = Sim::open(&Places::only(dir), name)?;
    let process = sim.attach(device.parse()?)?;
    let store = process.datastore()?;
    store.set_device(0, 0x021c_0000_5b23)?;
    for (core, counter, value) in [
        (0, id::COMPLETED, 1000),
        (0, id::TIMED_OUT, 3),
        (0, id::ERROR_GENERIC, 5),
        (0, id::FAILURE, 6),
        (0, id::MODEL_LOAD_COUNT, 2),
        (0, id::INFERENCE_COUNT, 1010),
        (0, id::MAC_COUNT, 123_456),
        (0, id::TIME_IN_USE, 777_000),
        (0, id::HW_HBM_UE_ERROR, 4),
        (1, id::COMPLETED, 2000),
    ] {
        store.set_core(core, counter, value)?;
    }
    for (size, host, core, category) in [
        (1 << 20, false, 0, 9),
        (3 << 20, false, 0, 9),
        (64 << 10, false, 0, 8),
        (1 << 20, true, 0, 2),
        (4 << 10, true, 0, 1),
        (8 << 10, false, 1, 7),
    ] {
        process.allocate(size, host, core, category)?;
    }
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
