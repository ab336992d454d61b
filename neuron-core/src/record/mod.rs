//! Recordings of samples.
