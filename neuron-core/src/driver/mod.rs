//! The kernel source: devices, sysfs, processes and datastores over movable roots.
