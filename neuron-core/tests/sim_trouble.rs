//! A simulated instance among processes that misbehave: nothing is lost,
//! nothing is counted twice, nobody waits for ever.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use neuron_core::driver::Files as _;
use neuron_core::instance::InstanceType;
use neuron_core::sim::{Places, ProcessId, Sim, View};

const SUCCESS: &str =
    "sys/devices/virtual/neuron_device/neuron0/neuron_core0/stats/status/success/total";

fn instance(dir: &tempfile::TempDir) -> (Places, Sim) {
    let places = Places::only(dir.path());
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    let sim = Sim::open_or_create(&places, "lab", kind).unwrap();
    (places, sim)
}

fn success(sim: &Sim) -> String {
    String::from_utf8(View::now(sim).unwrap().read(SUCCESS).unwrap()).unwrap()
}

/// Makes the state name another process in place of this one.
fn disguise(sim: &Sim, id: ProcessId) {
    let own = ProcessId::own().unwrap();
    std::fs::rename(sim.datastore_path(0, own), sim.datastore_path(0, id)).unwrap();
    let path = sim.dir().join("state.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text
        .replace(&format!("\"pid\":{}", own.pid), &format!("\"pid\":{}", id.pid))
        .replace(&format!("\"start\":{}", own.start), &format!("\"start\":{}", id.start))
        .replace(
            &format!("\"namespace\":{}", own.namespace),
            &format!("\"namespace\":{}", id.namespace),
        );
    std::fs::write(path, text).unwrap();
}

/// A pid that no process has: the highest possible one is never given out in
/// a test's time, and the start time differs in any case.
fn dead() -> ProcessId {
    let own = ProcessId::own().unwrap();
    ProcessId { pid: own.pid, start: own.start + 1, namespace: own.namespace }
}

#[test]
fn a_process_of_another_namespace_is_not_taken_off() {
    let dir = tempfile::tempdir().unwrap();
    let (_, sim) = instance(&dir);
    let process = sim.attach(0).unwrap();
    process.datastore().unwrap().set_core(0, 1, 7).unwrap();
    let other = ProcessId { namespace: 1, ..dead() };
    disguise(&sim, other);
    let state = sim.snapshot().unwrap();
    assert_eq!(state.devices[0].processes.len(), 1, "it may well be alive over there");
    assert!(sim.datastore_path(0, other).exists());
    assert_eq!(success(&sim), "0\n");
    // Its command line is not looked up here, where the number is ours.
    let own = std::process::id();
    assert!(View::now(&sim).unwrap().read(&format!("proc/{own}/cmdline")).is_err());
}

#[test]
fn counters_that_cannot_be_read_are_kept_for_later() {
    let dir = tempfile::tempdir().unwrap();
    let (_, sim) = instance(&dir);
    let process = sim.attach(0).unwrap();
    process.datastore().unwrap().set_core(0, 1, 7).unwrap();
    disguise(&sim, dead());
    // A directory in the file's place: reading fails, and not with ENOENT.
    let path = sim.datastore_path(0, dead());
    let aside = dir.path().join("aside");
    std::fs::rename(&path, &aside).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(success(&sim), "0\n");
    assert_eq!(sim.snapshot().unwrap().devices[0].processes.len(), 1);
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(success(&sim), "7\n");
    assert_eq!(sim.snapshot().unwrap().devices[0].processes.len(), 0);
    assert!(!path.exists());
}

#[test]
fn a_datastore_of_any_size_is_read_to_its_own_size() {
    let dir = tempfile::tempdir().unwrap();
    let (_, sim) = instance(&dir);
    let process = sim.attach(0).unwrap();
    process.datastore().unwrap().set_core(0, 1, 7).unwrap();
    disguise(&sim, dead());
    let file = std::fs::File::options().write(true).open(sim.datastore_path(0, dead())).unwrap();
    file.set_len(1 << 40).unwrap();
    assert_eq!(success(&sim), "7\n");
}

#[test]
fn a_process_taken_off_gets_errors_and_charges_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (_, sim) = instance(&dir);
    let process = sim.attach(0).unwrap();
    let store = process.datastore().unwrap();
    disguise(&sim, dead());
    assert_eq!(success(&sim), "0\n");
    for error in [
        process.allocate(4096, false, 0, 9).unwrap_err(),
        process.datastore().map(|_| ()).unwrap_err(),
        process.release_datastore(store).unwrap_err(),
    ] {
        assert!(error.to_string().contains("no longer attached"), "{error}");
    }
    let path = "sys/devices/virtual/neuron_device/neuron0/neuron_core0/stats/memory_usage/device_mem/total";
    assert_eq!(View::now(&sim).unwrap().read(path).unwrap(), b"0\n");
}

#[test]
fn what_killed_writers_left_behind_is_swept() {
    let dir = tempfile::tempdir().unwrap();
    let (places, sim) = instance(&dir);
    std::fs::write(sim.dir().join("nds/neuron0.1.1"), "orphan").unwrap();
    let process = sim.attach(0).unwrap();
    process.datastore().unwrap().set_core(0, 1, 7).unwrap();
    disguise(&sim, dead());
    assert_eq!(success(&sim), "7\n");
    assert_eq!(std::fs::read_dir(sim.dir().join("nds")).unwrap().count(), 0);

    std::fs::create_dir(dir.path().join(".other.4194305.5")).unwrap();
    std::fs::create_dir(dir.path().join(".other.notes.5")).unwrap();
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    Sim::open_or_create(&places, "other", kind).unwrap();
    assert!(!dir.path().join(".other.4194305.5").exists());
    assert!(dir.path().join(".other.notes.5").exists(), "not one of ours");
    assert_eq!(Sim::list(&places).len(), 2);
}

#[test]
fn a_damaged_instance_is_listed_and_can_be_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (places, sim) = instance(&dir);
    std::fs::write(sim.dir().join("state.json"), "{").unwrap();
    assert_eq!(Sim::list(&places).len(), 1);
    Sim::remove(&places, "lab").unwrap();
    assert!(Sim::list(&places).is_empty());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);

    // A directory that holds no instance.
    std::fs::create_dir_all(dir.path().join("lab/nds")).unwrap();
    std::fs::write(dir.path().join("lab/note"), "x").unwrap();
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    let text = Sim::open_or_create(&places, "lab", kind).unwrap_err().to_string();
    assert!(text.contains("holds no instance"), "{text}");
    Sim::remove(&places, "lab").unwrap();
    Sim::open_or_create(&places, "lab", kind).unwrap();
}

#[test]
fn an_instance_in_use_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (places, sim) = instance(&dir);
    let process = sim.attach(0).unwrap();
    let text = Sim::remove(&places, "lab").unwrap_err().to_string();
    assert!(text.contains(&format!("in use by process {}", std::process::id())), "{text}");
    drop(process);
    Sim::remove(&places, "lab").unwrap();
    assert!(sim.snapshot().is_err());
}

/// The lock is a file of the owner: others can neither take it nor hold up a
/// reader.
#[test]
fn nobody_holds_a_reader_up() {
    let dir = tempfile::tempdir().unwrap();
    let (_, sim) = instance(&dir);
    let lock = sim.dir().join("lock");
    assert_eq!(std::fs::metadata(&lock).unwrap().permissions().mode() & 0o777, 0o600);
    let held = std::fs::File::open(&lock).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert_eq!(success(&sim), "0\n", "read while a writer holds the lock");
}

#[test]
fn creators_and_removers_in_a_race_fail_cleanly() {
    let dir = tempfile::tempdir().unwrap();
    let places = Places::only(dir.path());
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    match Sim::open_or_create(&places, "lab", kind) {
                        Ok(sim) => drop(sim.snapshot()),
                        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
                    }
                    let _ = Sim::remove(&places, "lab");
                }
            });
        }
    });
    let _ = Sim::remove(&places, "lab");
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A place that may not be looked into is an error: the instance may be there.
#[test]
fn a_closed_place_is_not_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    let (places, sim) = instance(&dir);
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o000)).unwrap();
    let found = places.find("lab");
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    match found {
        // Root may look everywhere.
        Ok(found) => assert_eq!(found.as_deref(), Some(sim.dir())),
        Err(error) => assert!(error.to_string().contains("permission denied"), "{error}"),
    }
}
