//! The process: flags, exit codes, log, signals, ownership.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};

use neuron_core::sim::{Places, Sim};
use rtd_api::*;
use support::neff::{Chain, Node};
use support::*;

fn sim(daemon: &Daemon) -> Sim {
    Sim::open(&Places::only(daemon.dir.path().join("sim")), "inf1.6xlarge").unwrap()
}

#[test]
fn the_start_is_told_in_order_and_the_end_leaves_nothing() {
    let mut daemon = Daemon::start(&[]);
    let pid = daemon.pid();
    let text = daemon.lines();
    let bodies: Vec<&str> = text
        .iter()
        .map(|line| line.split_once(&format!(" nrtd[{pid}]: ")).unwrap().1)
        .filter(|line| !line.contains("simulated instance"))
        .collect();
    let mut wanted = vec!["[NRTD:nrtd_main] nrtd build using:0.1.0".to_owned()];
    for function in ["reset_mla] Resetting", "tdrv_init_one_mla_phase2] Initialized Inferentia:"] {
        wanted.extend(["1c", "1d", "1e", "1f"].map(|n| format!("[TDRV:{function} 0000:00:{n}.0")));
    }
    wanted.push(format!("[NRTD:RunServer] Server listening on {}", daemon.address()));
    assert_eq!(bodies, wanted);
    let mode = std::fs::metadata(daemon.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o666);
    // tools see it with its version
    let state = sim(&daemon).snapshot().unwrap();
    assert!(state.devices.iter().all(|device| device.processes[0].id.pid == pid));
    assert_eq!(state.marks.len(), 16);
    assert!(daemon.end().success());
    assert!(!daemon.socket().exists());
    let state = sim(&daemon).snapshot().unwrap();
    assert!(state.marks.is_empty() && state.devices.iter().all(|d| d.processes.is_empty()));
}

#[test]
fn flags_are_those_of_the_original() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
        let output = command.args(args).env("NEURON_RTD_ROOT", dir.path()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    for flag in ["-v", "--version"] {
        let (code, out, _) = run(&[flag]);
        assert_eq!((code, out.as_str()), (0, "neuron-rtd 0.1.0\n"), "{flag}");
    }
    let (code, out, _) = run(&["-h"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("[-g <server:port>] [-c configuration_file] [-l log-level] [-x]"),
        "{out}"
    );
    for wrong in [&["-q"][..], &["-l", "8"], &["-t"], &["-i", "a", "-t", "0000:00:1f.0"]] {
        let (code, out, error) = run(wrong);
        assert_eq!((code, out.as_str()), (2, ""), "{wrong:?}: {error}");
    }
    for (wrong, said) in [
        (&["-g", "neuron.sock"][..], "use unix:PATH or HOST:PORT"),
        (&["-c", "/nothing/here"], "configuration /nothing/here"),
        (&["-c", "/dev/zero"], "configuration /dev/zero: is larger than 1048576 bytes"),
        (&["--source", "sim:inf1.6xlarge", "-t", "0000:00:01.0"], "no device 0000:00:01.0"),
        (&["--source", "sim:x"], "unknown instance type"),
        (
            &["--source", "sim:inf1.6xlarge", "-t", "0000:00:1c.0", "-t", "0000:00:1e.0"],
            "devices 0 2 are not connected to each other; the links of inf1.6xlarge are 0: 1",
        ),
        (&["-i", "nrtd0"], "nrtd0.json"),
    ] {
        let (code, _, error) = run(wrong);
        assert_eq!(code, 1, "{error}");
        assert!(error.starts_with("neuron-rtd: ") && error.contains(said), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_second_daemon_is_refused_by_address_and_by_device() {
    let daemon = Daemon::start(&[]);
    let (status, text) = ended(command(daemon.dir.path(), &[]));
    assert_eq!(status.code(), Some(1));
    let said = format!("belongs to a daemon that runs, pid {}", daemon.pid());
    assert!(text.contains(&said), "{text}");
    // another address, but the same devices: it stays up and says so
    let other = tempfile::tempdir().unwrap();
    let mut second = command(other.path(), &["-c", "c.json"]);
    std::fs::write(other.path().join("c.json"), r#"{"rtd": {"init_attempts": 1}}"#).unwrap();
    second.current_dir(other.path()).env("NEURON_SIM_DIR", daemon.dir.path().join("sim"));
    let second = Daemon::spawn(second, other);
    second.line(&format!("device inuse by pid:{}", daemon.pid()));
    second.line("[TDRV:tdrv_init_mla_phase1] Could not open the device index:0");
    second.line("[NRTD:nrtd_main] Failed to initialize devices: , attempt: 1");
    second.line("[NRTD:RunServer] Server listening on unix:");
}

/// Two daemons, each with its devices, by the names of files.
#[test]
fn named_instances_share_a_machine() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("opt/aws/neuron/bin");
    std::fs::create_dir_all(&bin).unwrap();
    let mut daemons = Vec::new();
    for (index, devices) in [(0, "[0, 1]"), (1, "[2, 3]")] {
        let socket = dir.path().join(format!("neuron.sock{index}"));
        let text = format!(
            r#"{{"name": "nrtd{index}", "server_port": "unix:{}", "devices": {devices}}}"#,
            socket.display()
        );
        std::fs::write(bin.join(format!("nrtd{index}.json")), text).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
        command
            .args(["--source", "sim:inf1.6xlarge", "--log-console", "-i"])
            .arg(format!("nrtd{index}"))
            .env("NEURON_SIM_DIR", dir.path().join("sim"))
            .env("NEURON_RTD_ROOT", dir.path())
            .env_remove("JOURNAL_STREAM")
            .stderr(std::process::Stdio::piped());
        let daemon = Daemon::spawn(command, tempfile::tempdir().unwrap());
        daemon.line(&format!("Server listening on unix:{}", socket.display()));
        daemons.push(daemon);
    }
    let text = daemons[1].lines().join("\n");
    assert!(text.contains("Resetting 0000:00:1e.0") && !text.contains("0000:00:1c.0"), "{text}");
}

#[test]
fn what_lies_at_the_address_is_dealt_with() {
    // a stale socket: nobody listens
    let dir = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(dir.path().join("neuron.sock")).unwrap());
    assert!(dir.path().join("neuron.sock").exists());
    let mut daemon = Daemon::start_in(dir, &[]);
    assert!(daemon.end().success());
    // killed: it leaves its socket and its lock, and the next one takes over
    let mut daemon = Daemon::start(&[]);
    daemon.signal("KILL");
    daemon.wait();
    assert!(daemon.socket().exists());
    let dir = std::mem::replace(&mut daemon.dir, tempfile::tempdir().unwrap());
    drop(Daemon::start_in(dir, &[]));
    // a link in place of the lock is not followed
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine"), "x").unwrap();
    std::os::unix::fs::symlink("mine", dir.path().join("neuron.sock.lock")).unwrap();
    let (status, text) = ended(command(dir.path(), &[]));
    assert_eq!(status.code(), Some(1));
    assert!(text.contains("cannot lock"), "{text}");
    assert_eq!(std::fs::read(dir.path().join("mine")).unwrap(), b"x");
    // somebody else's socket, and what is none
    let dir = tempfile::tempdir().unwrap();
    let _listener = UnixListener::bind(dir.path().join("neuron.sock")).unwrap();
    let (status, text) = ended(command(dir.path(), &[]));
    assert_eq!(status.code(), Some(1));
    assert!(text.contains("another program listens on"), "{text}");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("neuron.sock"), "x").unwrap();
    let (status, text) = ended(command(dir.path(), &[]));
    assert_eq!(status.code(), Some(1));
    assert!(text.contains("is no socket"), "{text}");
    assert_eq!(std::fs::read(dir.path().join("neuron.sock")).unwrap(), b"x");
}

/// Without devices the daemon stays up and answers every call with code 6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_devices_every_call_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    std::fs::write(&config, r#"{"rtd": {"init_attempts": 2}}"#).unwrap();
    let args = ["--source", "kernel", "-c", config.to_str().unwrap()];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
    command
        .args(args)
        .args(["--libnrt", "/nonexistent/libnrt.so.1", "-x", "-g"])
        .arg(dir.path().join("neuron.sock"))
        .env_remove("JOURNAL_STREAM")
        .stderr(std::process::Stdio::piped());
    let mut daemon = Daemon::spawn(command, dir);
    daemon.line("[NRT:nrt_init] there is no /nonexistent/libnrt.so.1; install ");
    daemon.line("[NRTD:InitTongas] Failed to initialize devices, error:1");
    daemon.line("Failed to initialize devices: , attempt: 2");
    daemon.line("Server listening");
    let mut client = daemon.client().await;
    let mut answers = Vec::new();
    let create = CreateEgRequest { nc_count: 1, session_id: 0 };
    answers.push(client.create_eg(create).await.unwrap().into_inner().status);
    answers.push(load(&mut client, b"x", 0, 0).await.status);
    answers.push(client.infer(request(1, 1)).await.unwrap().into_inner().status);
    answers.push(client.list_egs(Empty {}).await.unwrap().into_inner().status);
    answers.push(Some(client.unload_all(Empty {}).await.unwrap().into_inner()));
    answers.push(client.start(StartRequest { h_nn: nn(5) }).await.unwrap().into_inner().status);
    for answer in answers {
        let (code, details) = status(answer);
        assert_eq!(code, 6, "{details}");
        assert!(details.contains("--source sim:trn1.2xlarge"), "{details}");
    }
    // a session opens, so that the client comes to ask for more
    let open = tokio_stream::iter(Vec::<SessionMonitorRequest>::new());
    let mut sessions = daemon.sessions().await;
    let mut session = sessions.session_monitor(open).await.unwrap().into_inner();
    assert_eq!(session.message().await.unwrap().unwrap().session_id, 1);
    assert_eq!(session.message().await.unwrap(), None);
    let version = GetVersionRequest::default();
    let version = client.get_version(version).await.unwrap().into_inner();
    assert_eq!(version.runtime_version.unwrap().full_version, "0.1.0");
    client.read_inference_counters(Empty {}).await.unwrap();
    assert!(daemon.end().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signals_drain_and_reload() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("c.json");
    std::fs::write(&config, r#"{"rtd": {"log_level": 5}}"#).unwrap();
    let args = ["-c", config.to_str().unwrap().to_owned().leak()];
    let mut daemon = Daemon::start_in(dir, &args);
    std::fs::write(&config, r#"{"rtd": {"log_level": 6}}"#).unwrap();
    daemon.signal("HUP");
    daemon.line("[NRTD:reload] log level 6");
    daemon.signal("USR1");
    daemon.line("[NRTD:dump] 0 sessions");
    let mut client = daemon.client().await;
    daemon.line("connection from pid ");
    let neff = Chain::new("copy", &[Node::Copy(1)]).build();
    let id = load(&mut client, &neff, 0, 0).await.h_nn.unwrap().id;
    // a session that is open does not keep the daemon
    let (_keep, open) = tokio::sync::mpsc::channel::<SessionMonitorRequest>(1);
    let open = tokio_stream::wrappers::ReceiverStream::new(open);
    let mut sessions = daemon.sessions().await;
    let mut stream = sessions.session_monitor(open).await.unwrap().into_inner();
    stream.message().await.unwrap().unwrap();
    let posted = client.infer_post(request(id, 3)).await.unwrap().into_inner();
    good(posted.status);
    let status = tokio::task::spawn_blocking(move || {
        let status = daemon.end();
        (status, daemon)
    });
    let (status, daemon) = status.await.unwrap();
    assert!(status.success());
    let text = daemon.lines().join("\n");
    assert!(text.contains("Draining") && text.contains("Unloaded model (10001)"), "{text}");
    assert!(text.contains("[NRTD:RunServer] Server ended"), "{text}");
}

#[test]
fn the_service_manager_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut command = command(dir.path(), &[]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let mut daemon = Daemon::spawn(command, dir);
    let receive = || {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    assert!(receive().starts_with("READY=1\nSTATUS=listening on unix:"));
    for _ in 0..2 {
        assert_eq!(receive(), "WATCHDOG=1");
    }
    assert!(daemon.end().success());
    let mut rest = receive();
    while rest == "WATCHDOG=1" {
        rest = receive();
    }
    assert_eq!(rest, "STOPPING=1");
}

/// Cores of one or two physical ones where the chip has the choice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logical_cores_are_as_large_as_the_user_says() {
    for (instance, variable, value, cores) in [
        ("trn2.3xlarge", "NEURON_RT_VIRTUAL_CORE_SIZE", "", 4),
        ("trn2.3xlarge", "NEURON_RT_VIRTUAL_CORE_SIZE", "1", 8),
        ("trn2.3xlarge", "NEURON_LOGICAL_NC_CONFIG", "1", 8),
        ("trn2.3xlarge", "NEURON_LOGICAL_NC_CONFIG", "2", 4),
        ("trn1.2xlarge", "NEURON_LOGICAL_NC_CONFIG", "2", 2),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
        command
            .arg(format!("--source=sim:{instance}"))
            .args(["-x", "-g"])
            .arg(dir.path().join("neuron.sock"))
            .env("NEURON_SIM_DIR", dir.path())
            .env("NEURON_RTD_ROOT", dir.path())
            .env_remove("JOURNAL_STREAM")
            .env_remove("NEURON_RT_VIRTUAL_CORE_SIZE")
            .env_remove("NEURON_LOGICAL_NC_CONFIG")
            .env(variable, value)
            .stderr(std::process::Stdio::piped());
        let daemon = Daemon::spawn(command, dir);
        daemon.line("Server listening on ");
        let list = daemon.client().await.list_egs(Empty {}).await.unwrap().into_inner();
        assert_eq!(list.nc_count, cores, "{instance} {variable}={value}");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
    command.args(["--source", "sim:trn2.3xlarge"]).env("NEURON_RT_VIRTUAL_CORE_SIZE", "3");
    let (status, text) = ended(command);
    assert_eq!(status.code(), Some(1));
    assert_eq!(text, "neuron-rtd: NEURON_RT_VIRTUAL_CORE_SIZE=3: must be 1 or 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tcp_is_served_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuron-rtd"));
    command
        .args(["--source", "sim:inf1.xlarge", "-x", "-g", "127.0.0.1:0"])
        .env("NEURON_SIM_DIR", dir.path())
        .env("NEURON_RTD_ROOT", dir.path())
        .env_remove("JOURNAL_STREAM")
        .stderr(std::process::Stdio::piped());
    let daemon = Daemon::spawn(command, dir);
    let line = daemon.line("Server listening on ");
    let address = line.rsplit(' ').next().unwrap();
    let endpoint = tonic::transport::Endpoint::try_from(format!("http://{address}")).unwrap();
    let mut client = nmgr_v1_client::NmgrV1Client::new(endpoint.connect().await.unwrap());
    let list = client.list_egs(Empty {}).await.unwrap().into_inner();
    assert_eq!((list.mla_count, list.nc_count), (1, 4));
}
