//! The only `unsafe` code outside the C library: ioctl and mmap.
#![allow(unsafe_code)]

pub mod file_map;
