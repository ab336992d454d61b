//! The exported functions, by header.
//!
//! They check pointers, look handles up and hand on. A pointer argument is null
//! or what its header says; that is the `unsafe` part of each.

mod asynchronous;
mod data;
mod devices;
mod execute;
mod model;
mod options;
mod profile;
mod setup;
mod strings;
mod sys_trace;
mod unserved;
