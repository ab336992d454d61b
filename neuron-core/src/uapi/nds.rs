//! Layout of the Neuron datastore (NDS): per-process counters (driver.md §5).

/// Ids of the device counters (driver.md §5.4).
pub mod device_counter {
    /// Runtime version, packed.
    pub const RUNTIME_VERSION: u32 = 0;
}
