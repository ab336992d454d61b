//! The built program: what goes to which stream, and how it ends.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

use std::process::{Command, Output};

/// Runs in an environment without the variables that it reads.
fn neuron_ls(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-ls"));
    for variable in ["NEURON_SOURCE", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command.args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn version_in_three_spellings() {
    for flag in ["-v", "-V", "--version"] {
        let output = neuron_ls(&[flag]);
        assert_eq!(output.status.code(), Some(0), "{flag}");
        assert_eq!(text(&output.stdout), concat!("neuron-ls ", env!("CARGO_PKG_VERSION"), "\n"));
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn help_is_a_result() {
    for flag in ["-h", "--help"] {
        let output = neuron_ls(&[flag]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("Exit status:"));
        assert_eq!(text(&output.stderr), "");
    }
}

/// sys-tools.md §13 row 7.
#[test]
fn bad_option_is_exit_1_with_nothing_on_stdout() {
    for args in [&["--badflag"][..], &["-j", "-o", "csv"], &["--interval", "1s"]] {
        let output = neuron_ls(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(text(&output.stdout), "");
        assert!(text(&output.stderr).starts_with("neuron-ls: "), "{:?}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("error: "));
    }
}

#[test]
fn bad_source_names_itself() {
    let output = neuron_ls(&["--source", "nonsense"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with("neuron-ls: source \"nonsense\": "), "{complaint}");
    assert_eq!(complaint.lines().count(), 1);
}

/// sys-tools.md §13 row 3: one line with `level=fatal` and nothing on stdout;
/// ours adds how to go on. Checked where there is no driver, which is to say
/// on every machine that builds this.
#[test]
fn without_a_driver_the_vendors_line_and_a_hint() {
    if std::path::Path::new("/sys/class/neuron_device").exists() {
        println!("skipped: this machine has the Neuron driver");
        return;
    }
    for args in [&[][..], &["-j"], &["--watch"], &["-o", "csv"]] {
        let output = neuron_ls(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
        let lines: Vec<&str> = text(&output.stderr).lines().collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("time=\"20"), "{lines:?}");
        assert!(lines[0].ends_with(
            "Z\" level=fatal msg=\"Failed to load MLA system information\" \
             error=\"failed to discover Neuron devices\""
        ));
        assert!(lines[1].starts_with("neuron-ls: "), "{lines:?}");
        assert!(lines[1].contains("--source sim:"), "{lines:?}");
    }
}

#[test]
fn help_into_a_closed_pipe_is_quiet_success() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-ls"));
    let output = command.arg("--help").stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_watch_ends_when_its_reader_has_gone() {
    let dir = std::env::temp_dir().join(format!("neuron-ls-gone-{}", std::process::id()));
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_neuron-ls"))
        .args(["--watch", "--interval", "1h", "--source", "sim:trn1.2xlarge"])
        .env("NEURON_SIM_DIR", &dir)
        .stdout(writer)
        .spawn()
        .unwrap();
    let mut first = [0];
    std::io::Read::read_exact(&mut &reader, &mut first).unwrap();
    drop(reader);
    let begin = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed().as_secs() > 10 {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it still watches");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(0));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_variable_that_is_no_text_is_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-ls"));
    let output =
        command.env("NEURON_SOURCE", std::ffi::OsStr::from_bytes(b"sim:\xff")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("neuron-ls: NEURON_SOURCE is not UTF-8"));
}

#[test]
fn a_missing_command_is_said_before_the_help() {
    let output = neuron_ls(&["sim"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with("neuron-ls: a command is missing\n\n"), "{said}");
    assert!(said.contains("\nUsage: neuron-ls sim"), "{said}");
}

#[test]
fn a_recording_without_devices_is_named() {
    let path = std::env::temp_dir().join(format!("neuron-ls-empty-{}", std::process::id()));
    std::fs::write(&path, "{\"neuron_recording\":1}\n{}\n").unwrap();
    let output = neuron_ls(&["--source", &format!("replay:{}", path.display())]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert_eq!(said, format!("neuron-ls: {}: the sample has no Neuron device\n", path.display()));
}
