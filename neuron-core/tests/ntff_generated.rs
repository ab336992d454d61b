//! The generated code of the NTFF messages is what `proto/ntff.proto` gives.
//!
//! `NTFF_REGENERATE=1 cargo test -p neuron-core --features ntff --test ntff_generated`
//! writes it anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;
use std::path::Path;

use prost::Message as _;
use prost_build::Config;
use protox::Compiler;
use protox::prost_reflect::{Cardinality, DescriptorPool, FieldDescriptor, Kind};

const MANIFEST: &str = env!("CARGO_MANIFEST_DIR");
const HEAD: &str =
    "// Generated from proto/ntff.proto by tests/ntff_generated.rs; do not edit.\n\n";

fn compile() -> Compiler {
    let mut compiler = Compiler::new([Path::new(MANIFEST).join("proto")]).unwrap();
    compiler.include_source_info(true).open_file("ntff.proto").unwrap();
    compiler
}

/// The structs, by prost-build.
fn messages(compiler: &Compiler) -> String {
    let out = tempfile::tempdir().unwrap();
    let mut config = Config::new();
    config.out_dir(out.path()).btree_map(["."]);
    config.compile_fds(compiler.file_descriptor_set()).unwrap();
    HEAD.to_owned() + &std::fs::read_to_string(out.path().join("ntff.rs")).unwrap()
}

/// The table that [`neuron_core::ntff::wire`] walks by.
fn schema(pool: &DescriptorPool) -> String {
    let mut text = HEAD.to_owned();
    text += "use super::messages;\nuse super::table::{Enum, Field, Kind, Message};\n";
    let mut enums: Vec<_> = pool.all_enums().collect();
    enums.sort_by_key(|entry| entry.full_name().to_owned());
    for entry in enums {
        let prefix = upper_snake(entry.name()) + "_";
        writeln!(text, "\n/// The enum `{}`.", entry.name()).unwrap();
        writeln!(text, "pub static {}: Enum = Enum {{", upper_snake(entry.name())).unwrap();
        writeln!(text, "    name: {:?},\n    values: &[", entry.name()).unwrap();
        for value in entry.values() {
            let name = value.name().strip_prefix(&prefix).unwrap();
            writeln!(text, "        ({}, {name:?}),", value.number()).unwrap();
        }
        text += "    ],\n};\n";
    }
    let mut all: Vec<_> = pool.all_messages().collect();
    all.sort_by_key(|message| message.full_name().to_owned());
    for message in all {
        let name = message.full_name().strip_prefix("ntff.").unwrap();
        let memory = if message.is_map_entry() {
            // A key, a value and their share of a tree node.
            String::from("2 * size_of::<(String, String)>()")
        } else {
            format!("size_of::<messages::{name}>()")
        };
        writeln!(text, "\n/// The message `{name}`.").unwrap();
        writeln!(text, "pub static {}: Message = Message {{", constant(name)).unwrap();
        writeln!(text, "    name: {name:?},\n    memory: {memory},\n    fields: &[").unwrap();
        let mut fields: Vec<_> = message.fields().collect();
        fields.sort_by_key(FieldDescriptor::number);
        for field in fields {
            let repeated = field.cardinality() == Cardinality::Repeated;
            writeln!(
                text,
                "        Field {{ number: {}, name: {:?}, repeated: {repeated}, kind: {} }},",
                field.number(),
                field.name(),
                kind(&field)
            )
            .unwrap();
        }
        text += "    ],\n};\n";
    }
    text
}

fn kind(field: &FieldDescriptor) -> String {
    match field.kind() {
        Kind::Message(message) => {
            format!(
                "Kind::Message(&{})",
                constant(message.full_name().strip_prefix("ntff.").unwrap())
            )
        }
        Kind::Enum(entry) => format!("Kind::Enum(&{})", upper_snake(entry.name())),
        other => {
            let name = format!("{other:?}");
            let name = name.strip_prefix("Kind::").unwrap_or(&name).to_owned();
            let mut letters = name.chars();
            let first = letters.next().unwrap().to_uppercase().to_string();
            format!("Kind::{first}{}", letters.as_str())
        }
    }
}

fn constant(name: &str) -> String {
    name.split('.').map(upper_snake).collect::<Vec<_>>().join("_")
}

fn upper_snake(name: &str) -> String {
    let mut text = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

fn check(name: &str, wanted: &str) {
    let path = Path::new(MANIFEST).join("src/ntff/proto").join(name);
    if std::env::var_os("NTFF_REGENERATE").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == wanted, "{} is stale: run with NTFF_REGENERATE=1", path.display());
}

#[test]
fn generated_code_is_current() {
    let compiler = compile();
    check("messages.rs", &messages(&compiler));
    check("schema.rs", &schema(&compiler.descriptor_pool()));
}

/// ntff.md §3: 38 messages plus two map entries.
#[test]
fn the_schema_has_the_published_size() {
    let compiler = compile();
    let pool = compiler.descriptor_pool();
    assert_eq!(pool.all_messages().filter(|m| !m.is_map_entry()).count(), 38);
    assert_eq!(
        pool.all_messages().filter(protox::prost_reflect::MessageDescriptor::is_map_entry).count(),
        2
    );
    assert!(compiler.file_descriptor_set().encoded_len() > 1000);
}
