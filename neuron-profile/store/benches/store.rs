//! The steps of `cargo xtask bench profile`, each a process of its own so that
//! memory and time are its own. Each prints one JSON object.
//!
//! ```text
//! store make CAPTURE EVENTS FILE      writes a trace of about so many events
//! store ingest NEFF TRACE ROOT        stores it
//! store rows NEFF TRACE               the engine alone, rows thrown away
//! store read ROOT COUNT               viewports, selections, open
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench fails by panicking"
)]

#[path = "support/make.rs"]
mod make;
#[path = "support/measure.rs"]
mod measure;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["make", capture, events, file] => make::make(capture, events.parse().unwrap(), file),
        ["ingest", neff, trace, root] => measure::ingest(neff, trace, root),
        ["rows", neff, trace] => measure::rows(neff, trace),
        ["read", root, count] => measure::read(root, count.parse().unwrap()),
        // `cargo bench` without arguments has nothing to do here.
        _ => return,
    };
    println!("{result}");
}
