//! The recording source.
