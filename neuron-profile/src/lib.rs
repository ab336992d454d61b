//! Looks into NEFF and NTFF files.

pub mod neff;
pub mod ntff;
