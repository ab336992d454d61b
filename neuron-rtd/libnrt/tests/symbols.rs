//! What the shared object exports: the functions of the headers, and the
//! variable that tells whose it is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use neuron_core::uapi::nrt::MARKER;

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Names before an opening bracket, outside comments, types and macros.
fn declared() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(support::here().join("include/nrt")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut code = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("/*") {
            code += before;
            rest = after.split_once("*/").unwrap().1;
        }
        code += rest;
        let lines = code.lines().filter(|line| !line.trim_start().starts_with('#'));
        let code: Vec<&str> = lines.collect();
        for piece in code.join("\n").split('(').map(str::trim_end) {
            let at =
                piece.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |i| i + 1);
            let name = &piece[at..];
            if name.starts_with("nrt_") || name.starts_with("nrta_") {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn exactly_the_functions_of_the_headers_are_exported() {
    if !neuron_tests::require("nm") {
        return;
    }
    let library = support::library();
    let listed = output(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let mut exported: BTreeSet<String> = BTreeSet::new();
    for line in listed.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, kind, name] = words.as_slice() else { panic!("{line}") };
        // text, or read-only data; names without a version
        assert!(["T", "R"].contains(kind), "{line}");
        assert!(!name.contains('@'), "{line}");
        exported.insert((*name).to_owned());
    }
    assert!(exported.remove(MARKER), "the variable that tells whose it is");
    let declared = declared();
    assert!(declared.len() > 100, "{declared:?}");
    let odd: Vec<&String> = exported.symmetric_difference(&declared).collect();
    assert!(odd.is_empty(), "declared or exported, not both: {odd:?}");
    // what the sheet lists and C programs cannot do without
    for name in [
        "nrt_init",
        "nrt_close",
        "nrt_load",
        "nrt_unload",
        "nrt_execute",
        "nrt_execute_repeat",
        "nrt_tensor_attach_buffer",
        "nrt_tensor_allocate_slice",
        "nrta_execute_schedule",
        "nrt_get_status_as_str",
        "nrt_profile_start",
        "nrt_profile_stop",
        "nrt_get_version",
    ] {
        assert!(declared.contains(name), "{name}");
    }
}

#[test]
fn the_loader_knows_it_as_libnrt_so_1() {
    if !neuron_tests::require("nm") {
        return;
    }
    // of the same package
    let dynamic = output(Command::new("readelf").arg("-d").arg(support::library()));
    assert!(dynamic.contains("Library soname: [libnrt.so.1]"), "{dynamic}");
    assert!(!dynamic.contains("TEXTREL"), "{dynamic}");
}

/// The layouts of both sides, as a C compiler sees them.
#[test]
fn structs_have_the_same_layout_in_c() {
    use neuron_core::uapi::nrt::{
        AsyncError, Batch, BatchOp, InstanceInfo, MemoryStats, TensorInfo, TensorInfoArray, Version,
    };
    use std::mem::offset_of;

    let Some(lab) = support::Lab::new() else { return };
    let mut text =
        String::from("#include \"check.h\"\n#define SAME(what) _Static_assert(what, #what)\n");
    let mut same = |what: &str, value: usize| text += &format!("SAME({what} == {value});\n");
    same("sizeof(nrt_version_t)", size_of::<Version>());
    same("offsetof(nrt_version_t, rt_detail)", offset_of!(Version, detail));
    same("offsetof(nrt_version_t, git_hash)", offset_of!(Version, git_hash));
    same("sizeof(nrt_instance_info_t)", size_of::<InstanceInfo>());
    same("offsetof(nrt_instance_info_t, arch_name)", offset_of!(InstanceInfo, arch_name));
    same(
        "offsetof(nrt_instance_info_t, device_revision)",
        offset_of!(InstanceInfo, device_revision),
    );
    same("sizeof(nrt_vnc_memory_stats_t)", size_of::<MemoryStats>());
    same("sizeof(nrt_tensor_info_t)", size_of::<TensorInfo>());
    same("offsetof(nrt_tensor_info_t, usage)", offset_of!(TensorInfo, usage));
    same("offsetof(nrt_tensor_info_t, size)", offset_of!(TensorInfo, size));
    same("offsetof(nrt_tensor_info_t, dtype)", offset_of!(TensorInfo, dtype));
    same("offsetof(nrt_tensor_info_t, shape)", offset_of!(TensorInfo, shape));
    same("offsetof(nrt_tensor_info_t, ndim)", offset_of!(TensorInfo, ndim));
    same("offsetof(nrt_tensor_info_array_t, tensor_array)", offset_of!(TensorInfoArray, tensors));
    same("sizeof(nrt_tensor_batch_op_t)", size_of::<BatchOp>());
    same("offsetof(nrt_tensor_batch_op_t, buffer)", offset_of!(BatchOp, buffer));
    same("sizeof(nrt_tensor_batch_t)", size_of::<Batch>());
    same("offsetof(nrt_tensor_batch_t, num_ops)", offset_of!(Batch, num_ops));
    same("sizeof(nrta_error_t)", size_of::<AsyncError>());
    for status in neuron_core::uapi::nrt::Status::ALL {
        same(&format!("NRT_{}", status.name().unwrap()), usize::try_from(status.0).unwrap());
    }
    let source = lab.path("layout.c");
    std::fs::write(&source, text).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wno-unused-function", "-fsyntax-only"]);
    gcc.arg("-I")
        .arg(support::here().join("include"))
        .arg("-I")
        .arg(support::here().join("tests/c"));
    output(gcc.arg(&source));
    // and each header stands alone, in C++ too
    let cpp = neuron_tests::require("g++");
    for entry in std::fs::read_dir(support::here().join("include/nrt")).unwrap() {
        for language in ["c", "c++"].into_iter().take(if cpp { 2 } else { 1 }) {
            let mut gcc = Command::new("gcc");
            gcc.args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", language]);
            gcc.arg("-I").arg(support::here().join("include"));
            let header = entry.as_ref().unwrap().path();
            let source = lab.path("alone.c");
            std::fs::write(&source, format!("#include \"{}\"\n", header.display())).unwrap();
            output(gcc.arg(&source));
        }
    }
}
