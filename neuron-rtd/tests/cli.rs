//! neuron-cli against a daemon.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::process::Command;

use support::Daemon;
use support::neff::{Chain, Node};

/// Runs neuron-cli; gives its code, stdout and stderr.
fn cli(daemon: &Daemon, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuron-cli"));
    command.args(args).env("NEURON_RTD_ADDRESS", daemon.address());
    let output = command.current_dir(daemon.dir.path()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn good(daemon: &Daemon, args: &[&str]) -> String {
    let (code, out, error) = cli(daemon, args);
    assert_eq!((code, error.as_str()), (0, ""), "{args:?}");
    out
}

#[test]
fn models_are_loaded_listed_run_and_reset() {
    let daemon = Daemon::start(&[]);
    let write =
        |name: &str, body: &[u8]| std::fs::write(daemon.dir.path().join(name), body).unwrap();
    write("copy.neff", &Chain::new("copy", &[Node::Copy(1)]).build());
    assert_eq!(good(&daemon, &["list-ncg"]), "Device count 4 NC count 16\nNo NCG Found\n");
    assert_eq!(good(&daemon, &["list-model"]), "Found 0 models\n");
    assert_eq!(good(&daemon, &["load", "copy.neff"]), "10001\n");
    assert_eq!(
        good(&daemon, &["load", "--ncg-id", "0", "--nc-count", "5", "copy.neff"]),
        "10002\n"
    );
    assert_eq!(good(&daemon, &["load", "--ncg-id", "2", "copy.neff"]), "10003\n");
    assert_eq!(good(&daemon, &["create-ncg", "2"]), "NCG 3 with 2 NeuronCores\n");
    assert_eq!(good(&daemon, &["start", "10002"]), "");
    assert_eq!(
        good(&daemon, &["list-ncg"]),
        "Device count 4 NC count 16\n\
         Found 3 NCG's\n\
         +--------+----------+--------------------+----------------+\n\
         | NCG ID | NC COUNT | DEVICE START INDEX | NC START INDEX |\n\
         +--------+----------+--------------------+----------------+\n\
         | 1      | 1        | 0                  | 0              |\n\
         | 2      | 5        | 0                  | 1              |\n\
         | 3      | 2        | 1                  | 2              |\n\
         +--------+----------+--------------------+----------------+\n"
    );
    let models = good(&daemon, &["list-model"]);
    let row = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = models.lines().filter(|l| l.starts_with("| ")).map(row).collect();
    assert_eq!(rows[0][1..3], ["UUID", "MODEL ID"]);
    assert_eq!(rows[1][1].len(), 32);
    assert_eq!(rows[1][2..9], ["10001", "READY", "0", "0", "1", "1", "copy"]);
    assert_eq!(rows[2][2..9], ["10002", "READY", "0", "1", "1", "2", "copy"]);
    assert_eq!(rows[3][3], "STANDBY");

    let data: Vec<u8> = (0..64).collect();
    write("x.bin", &data);
    let said = good(&daemon, &["infer", "10001", "-i", "x=x.bin"]);
    assert_eq!(said, "y: 64 bytes\n");
    assert_eq!(good(&daemon, &["infer", "10002", "-i", "x=x.bin", "-o", "y=y.npy"]), "");
    let npy = std::fs::read(daemon.dir.path().join("y.npy")).unwrap();
    assert_eq!(npy[128..], data, "{}", String::from_utf8_lossy(&npy[..128]));
    assert_eq!(good(&daemon, &["infer", "10001", "-i", "x=y.npy", "-o", "y=z.bin"]), "");
    assert_eq!(std::fs::read(daemon.dir.path().join("z.bin")).unwrap(), data);
    let stat = good(&daemon, &["stat"]);
    assert!(stat.starts_with("serving: software NeuronCore on inf1.6xlarge\n"), "{stat}");
    assert!(stat.contains("| inferences completed            | 3     |"), "{stat}");

    good(&daemon, &["stop", "10002"]);
    good(&daemon, &["unload", "10003"]);
    good(&daemon, &["destroy-ncg", "3"]);
    for _ in 0..2 {
        good(&daemon, &["reset"]);
    }
    assert_eq!(good(&daemon, &["list-ncg"]), "Device count 4 NC count 16\nNo NCG Found\n");
}

#[test]
fn what_fails_is_one_line_with_code_and_reason() {
    let daemon = Daemon::start(&[]);
    std::fs::write(daemon.dir.path().join("bad.neff"), b"not a NEFF").unwrap();
    std::fs::write(daemon.dir.path().join("x"), b"x").unwrap();
    for (args, wanted, said) in [
        (&["load", "bad.neff"][..], 1, "load: NERR_INVALID (2): [NEFF:neff_parse]"),
        (&["load", "none.neff"], 1, "cannot read none.neff"),
        (&["load", "/dev/zero"], 1, "cannot read /dev/zero: is no file"),
        (&["load", "--ncg-id", "0", "bad.neff"], 1, "load: NERR_INVALID (2): [NEFF:neff_parse]"),
        (&["load", "--enable-direct-file-load", "bad.neff"], 1, "rtd.allow_neff_file"),
        (&["start", "10001"], 1, "start: NERR_INVALID_HANDLE (3): [NMGR:kmgr_find_model] Failed"),
        (&["create-ncg", "17"], 1, "NERR_RESOURCE_NC (9)"),
        (&["infer", "5", "-i", "x=x"], 1, "there is no model 5"),
        (&["infer", "5", "-i", "x"], 1, "use NAME=FILE"),
        (&["-a", "unix:/nothing/here", "list-ncg"], 1, "no daemon at unix:/nothing/here: "),
        (&["-a", "here", "list-ncg"], 1, "use unix:PATH or HOST:PORT"),
        (&["frob"], 2, "frob"),
    ] {
        let (code, out, error) = cli(&daemon, args);
        assert_eq!((code, out.as_str()), (wanted, ""), "{error}");
        assert!(error.starts_with("neuron-cli: ") && error.contains(said), "{error}");
        assert!(wanted == 2 || error.lines().count() == 1, "{error}");
    }
    // the group that was made for a file that is none
    assert_eq!(good(&daemon, &["list-ncg"]), "Device count 4 NC count 16\nNo NCG Found\n");
    std::fs::write(
        daemon.dir.path().join("copy.neff"),
        Chain::new("copy", &[Node::Copy(1)]).build(),
    )
    .unwrap();
    assert_eq!(good(&daemon, &["load", "copy.neff"]), "10001\n");
    let (code, _, error) = cli(&daemon, &["infer", "10001", "-i", "x=/dev/zero"]);
    assert_eq!(code, 1);
    assert!(error.contains("Invalid data length for [x]"), "{error}");
}

#[test]
fn the_daemon_reads_files_where_that_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    std::fs::write(&config, r#"{"rtd": {"allow_neff_file": true}}"#).unwrap();
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    std::fs::write(dir.path().join("copy.neff"), neff).unwrap();
    let config = config.to_str().unwrap().to_owned();
    let daemon = Daemon::start_in(dir, &["-c", &config]);
    let loaded = good(&daemon, &["load", "--enable-direct-file-load", "copy.neff"]);
    assert_eq!(loaded, "10001\n");
}
