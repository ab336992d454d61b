//! Every fuzz target in one program. `FUZZ_TARGET` names the one to run; `list`
//! prints the names. To add one, add a row to the table of its format.

#![no_main]

use std::sync::OnceLock;

type Target = fn(&[u8]);

const TARGETS: &[(&str, Target)] = &[
    ("uapi-apps", neuron_core::uapi::fuzz::apps),
    ("uapi-datastore", neuron_core::uapi::fuzz::datastore),
    #[cfg(feature = "record")]
    ("record-file", neuron_core::record::fuzz::file),
    #[cfg(feature = "ntff")]
    ("ntff-header", neuron_core::ntff::fuzz::header),
    #[cfg(feature = "ntff")]
    ("ntff-message", neuron_core::ntff::fuzz::message),
    #[cfg(feature = "ntff")]
    ("ntff-container", neuron_core::ntff::fuzz::container),
    #[cfg(feature = "ntff")]
    ("ntff-records", neuron_core::ntff::fuzz::records),
    #[cfg(feature = "ntff")]
    ("ntff-inspect", neuron_core::ntff::fuzz::inspect),
    #[cfg(feature = "neff")]
    ("neff-header", neuron_core::neff::fuzz::header),
    #[cfg(feature = "neff")]
    ("neff-tar", neuron_core::neff::fuzz::tar),
    #[cfg(feature = "neff")]
    ("neff-gzip", neuron_core::neff::fuzz::gzip),
    #[cfg(feature = "neff")]
    ("neff-json", neuron_core::neff::fuzz::json),
    #[cfg(feature = "neff")]
    ("neff-protobuf", neuron_core::neff::fuzz::protobuf),
    #[cfg(feature = "neff")]
    ("neff-npy", neuron_core::neff::fuzz::npy),
    #[cfg(feature = "neff")]
    ("neff-open", neuron_core::neff::fuzz::open),
    #[cfg(feature = "neff")]
    ("neff-payload", neuron_core::neff::fuzz::payload),
    #[cfg(feature = "isa")]
    ("isa-record", neuron_core::isa::fuzz::record),
    #[cfg(feature = "isa")]
    ("isa-asm", neuron_core::isa::fuzz::asm),
    #[cfg(feature = "isa")]
    ("isa-stream", neuron_core::isa::fuzz::stream),
    #[cfg(feature = "npu")]
    ("npu-records", npu::fuzz::records),
    #[cfg(feature = "npu")]
    ("npu-payload", npu::fuzz::payload),
];

/// The target of this run, found before the first input.
static CHOSEN: OnceLock<Target> = OnceLock::new();

fn choose() -> Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    if let Some((_, target)) = TARGETS.iter().find(|(known, _)| *known == name) {
        return *target;
    }
    for (known, _) in TARGETS {
        println!("{known}");
    }
    std::process::exit(if name == "list" { 0 } else { 2 });
}

libfuzzer_sys::fuzz_target!(init: { CHOSEN.get_or_init(choose); }, |data: &[u8]| {
    CHOSEN.get_or_init(choose)(data);
});
