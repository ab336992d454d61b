//! Python's protobuf, from a descriptor set of the same schema, reads our
//! files as we do: every field of every message by name and value.
//!
//! Installs the `protobuf` package into a virtual environment under `target/`.
//! Without a `python3`, or where that package is not to be had, the test is
//! skipped by name.

#![cfg(feature = "ntff")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod ntff_support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use neuron_core::ntff::table::{Field, Kind, Message};
use neuron_core::ntff::wire::{Value, Visitor, Walker};
use neuron_core::ntff::{Limits, Mode, Reader, Writer, messages, schema};
use ntff_support::{TRACES, Whole, bytes, options};
use prost::Message as _;

const PACKAGE: &str = "protobuf==7.36.2";

/// Prints each value under its path, as `value` below does.
const SCRIPT: &str = r#"
import sys
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, unknown_fields

pool = descriptor_pool.DescriptorPool()
files = descriptor_pb2.FileDescriptorSet.FromString(open(sys.argv[1], "rb").read())
for file in files.file:
    pool.Add(file)

def value(field, value):
    if field.enum_type is not None:
        return "enum %d" % value
    if isinstance(value, bytes):
        return "bytes " + value.hex()
    if isinstance(value, str):
        return "text " + value.encode().hex()
    if isinstance(value, bool):
        return "bool %d" % value
    if isinstance(value, float):
        return "float %.9e" % value
    return "int %d" % value

def show(message, path, lines):
    if len(unknown_fields.UnknownFieldSet(message)) != 0:
        raise SystemExit("unknown fields in " + path)
    for field, values in message.ListFields():
        here = path + "." + field.name
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            entry = field.message_type.fields_by_name
            for key in values:
                lines.append("%s.key %s" % (here, value(entry["key"], key)))
                lines.append("%s.value %s" % (here, value(entry["value"], values[key])))
            continue
        for item in (values if field.is_repeated else [values]):
            if field.message_type is not None:
                show(item, here, lines)
            else:
                lines.append(here + " " + value(field, item))

kind, data = sys.argv[2], open(sys.argv[3], "rb").read()
if kind == "NtffInfo" and sys.argv[3].endswith(".ntff"):
    data = data[128:128 + int.from_bytes(data[1:9], "little")]
message = message_factory.GetMessageClass(pool.FindMessageTypeByName("ntff." + kind))()
message.ParseFromString(data)
lines = []
show(message, "", lines)
sys.stdout.write("\n".join(sorted(lines)))
"#;

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("ntff-python")
}

/// The interpreter of the environment; `None`, and a line that says so, where
/// it cannot be set up.
fn python() -> Option<PathBuf> {
    if !neuron_tests::require("python3") {
        return None;
    }
    let home = target().join("venv");
    let python = home.join("bin/python");
    let ready = |python: &Path| {
        let wanted = PACKAGE.rsplit('=').next().unwrap();
        let text = format!("import google.protobuf as p; assert p.__version__ == {wanted:?}");
        Command::new(python).args(["-c", &text]).output().is_ok_and(|out| out.status.success())
    };
    if !ready(&python) {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&home);
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--retries", "1", PACKAGE]);
        for (what, step) in [("python3 -m venv", &mut venv), ("pip install", &mut pip)] {
            let done = step.output().is_ok_and(|output| output.status.success());
            if !done {
                let why = format!("{PACKAGE} is not available ({what} failed)");
                neuron_tests::skipped("python_reads_what_we_write", &why);
                return None;
            }
        }
    }
    assert!(ready(&python));
    Some(python)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Prints the values of a walk in the form of the script. Zeros are left out
/// as a reader of proto3 cannot tell them from nothing.
#[derive(Default)]
struct Lines {
    path: Vec<&'static str>,
    lines: Vec<String>,
}

impl Visitor for Lines {
    fn enter(&mut self, field: &'static Field) {
        self.path.push(field.name);
    }
    fn leave(&mut self, _: &'static Field) {
        self.path.pop();
    }
    fn value(&mut self, field: &'static Field, value: Value<'_>) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let text = match value {
            Value::Bool(value) => format!("bool {}", u8::from(value)),
            Value::Unsigned(value) => format!("int {value}"),
            Value::Signed(value) => format!("int {value}"),
            Value::Float(value) => float(value.into()),
            Value::Double(value) => float(value),
            Value::Enum(_, value) => format!("enum {value}"),
            Value::Text(value) => format!("text {}", hex(value.as_bytes())),
            Value::Bytes(value) => format!("bytes {}", hex(value)),
        };
        let mut line = String::new();
        for name in self.path.iter().chain([&field.name]) {
            write!(line, ".{name}").unwrap();
        }
        self.lines.push(format!("{line} {text}"));
    }
    fn unknown(&mut self, message: &'static Message, number: u32, _: u64, _: &[u8]) {
        panic!("unknown field {number} of {}", message.name);
    }
}

/// As Python's `%.9e`.
fn float(value: f64) -> String {
    let text = format!("{value:.9e}");
    let (digits, exponent) = text.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("float {digits}e{sign}{:02}", exponent.abs())
}

fn ours(message: &'static Message, bytes: &[u8]) -> String {
    let mut lines = Lines::default();
    Walker::new(&mut lines, &Limits::default()).message(bytes, 0, message).unwrap();
    lines.lines.sort();
    lines.lines.join("\n")
}

/// A message with every field of its schema set, repeated ones twice, one
/// value of each oneof (the last).
fn full(message: &'static Message, seed: &mut u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in message.fields {
        for _ in 0..=u8::from(field.repeated) {
            *seed += 1;
            let number = *seed % 100 + 1;
            let mut put = |wire: u64, body: &[u8]| {
                prost::encoding::encode_varint((u64::from(field.number) << 3) | wire, &mut bytes);
                if wire == 2 {
                    prost::encoding::encode_varint(body.len() as u64, &mut bytes);
                }
                bytes.extend_from_slice(body);
            };
            let mut varint = Vec::new();
            match field.kind {
                Kind::Message(inner) => put(2, &full(inner, seed)),
                Kind::String => put(2, format!("text {number} ü").as_bytes()),
                Kind::Bytes => put(2, &number.to_be_bytes()),
                Kind::Float => put(5, &(number as f32 / 8.0).to_le_bytes()),
                Kind::Double => put(1, &(number as f64 / -16.0).to_le_bytes()),
                Kind::Bool => put(0, &[1]),
                Kind::Enum(list) => put(0, &[list.values.last().unwrap().0 as u8]),
                Kind::Int32 | Kind::Int64 => {
                    prost::encoding::encode_varint((-(number as i64)) as u64, &mut varint);
                    put(0, &varint);
                }
                Kind::Uint32 => {
                    prost::encoding::encode_varint(u64::from(u32::MAX) - number, &mut varint);
                    put(0, &varint);
                }
                Kind::Uint64 => {
                    prost::encoding::encode_varint(u64::MAX - number, &mut varint);
                    put(0, &varint);
                }
            }
        }
    }
    bytes
}

#[test]
fn python_reads_what_we_write() {
    let Some(python) = python() else { return };
    let home = target();
    let (script, descriptors) = (home.join("show.py"), home.join("ntff.binpb"));
    let mut compiler =
        protox::Compiler::new([Path::new(env!("CARGO_MANIFEST_DIR")).join("proto")]).unwrap();
    compiler.open_file("ntff.proto").unwrap();
    std::fs::write(&script, SCRIPT).unwrap();
    std::fs::write(&descriptors, compiler.encode_file_descriptor_set()).unwrap();
    let theirs = |kind: &str, file: &Path| {
        run(Command::new(&python).arg(&script).arg(&descriptors).arg(kind).arg(file))
    };

    // Files of ours: the real ones, written again.
    for name in TRACES {
        let whole = Whole::read(&bytes(name), Mode::Strict);
        let mut writer = Writer::new(Vec::new(), 6, whole.info).unwrap();
        for blob in &whole.blobs {
            writer.bytes(blob).unwrap();
        }
        let data = writer.finish().unwrap();
        let file = home.join("written.ntff");
        std::fs::write(&file, &data).unwrap();
        let reader = Reader::new(data.as_slice(), options(Mode::Strict)).unwrap();
        let lines = ours(&schema::NTFF_INFO, &reader.info().encode_to_vec());
        assert!(lines.lines().count() > 200);
        assert_eq!(theirs("NtffInfo", &file), lines, "{name}");
    }

    // Every field of every message, through prost.
    let file = home.join("full.pb");
    let mut seed = 0;
    let info = messages::NtffInfo::decode(full(&schema::NTFF_INFO, &mut seed).as_slice()).unwrap();
    let run =
        messages::NtraceInfo::decode(full(&schema::NTRACE_INFO, &mut seed).as_slice()).unwrap();
    let event =
        messages::NtraceEvent::decode(full(&schema::NTRACE_EVENT, &mut seed).as_slice()).unwrap();
    let cpu = messages::CpuUtil::decode(full(&schema::CPU_UTIL, &mut seed).as_slice()).unwrap();
    for (message, bytes) in [
        (&schema::NTFF_INFO, info.encode_to_vec()),
        (&schema::NTRACE_INFO, run.encode_to_vec()),
        (&schema::NTRACE_EVENT, event.encode_to_vec()),
        (&schema::CPU_UTIL, cpu.encode_to_vec()),
    ] {
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(theirs(message.name, &file), ours(message, &bytes), "{}", message.name);
    }
    // The system trace description of the real run, which we only read.
    let real = ntff_support::fixture("inspect/trace_info.pb");
    let lines = ours(&schema::NTRACE_INFO, &std::fs::read(&real).unwrap());
    assert_eq!(theirs("NtraceInfo", &real), lines);
}
