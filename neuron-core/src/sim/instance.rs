//! A simulated instance on disk: one locked state file and one datastore file
//! per process and device.
//!
//! The directory itself carries the lock. Readers take it shared, writers
//! exclusive. The state file is replaced by rename, so that a reader without
//! the lock (and a crash) never sees half of one. It is not synced to disk:
//! like the driver's, this state ends with the machine.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, fstat, openat, stat};

use super::place::{Places, check_name};
use super::reap;
use super::state::{FORMAT, ProcessId, State};
use crate::instance::InstanceType;
use crate::{Error, Result};

/// Longest state file that is read.
const LIMIT: u64 = 16 << 20;

/// A simulated instance.
#[derive(Debug, Clone)]
pub struct Sim {
    name: String,
    dir: PathBuf,
}

impl Sim {
    /// The instance of a name, made first when there is none. When several
    /// processes race to make it, one wins and all use it.
    ///
    /// # Errors
    ///
    /// An instance of that name with another type; no place to put it; a bad
    /// name.
    pub fn open_or_create(places: &Places, name: &str, kind: &InstanceType) -> Result<Self> {
        Self::open_or_create_read(places, name, kind).map(|(sim, _)| sim)
    }

    /// As [`Self::open_or_create`], with the state that had to be read for it.
    pub(super) fn open_or_create_read(
        places: &Places,
        name: &str,
        kind: &InstanceType,
    ) -> Result<(Self, State)> {
        check_name(name).map_err(|reason| Error::sim(name, reason))?;
        if let Some(dir) = places.find(name)? {
            return Self::at(name, dir).expect_kind(kind);
        }
        let place = places.for_new(name)?;
        let dir = place.join(name);
        // Prepared under a name of its own, then renamed: a directory cannot
        // be renamed onto one that is not empty, so exactly one racer wins.
        let draft = place.join(format!(".{name}.{}.{}", std::process::id(), nanos()));
        let state = State::new(name, kind, nanos() / 1_000_000_000);
        let made = make_dir(&draft)
            .and_then(|()| make_dir(&draft.join("nds")))
            .and_then(|()| write_file(&draft.join("state.json"), &encode(&state)))
            .and_then(|()| std::fs::rename(&draft, &dir));
        match made {
            Ok(()) => Ok((Self::at(name, dir), state)),
            Err(error) => {
                // What was half made is ours alone; if it stays, it is a
                // hidden directory that nothing looks at.
                let _ = std::fs::remove_dir_all(&draft);
                match places.find(name)? {
                    Some(dir) => Self::at(name, dir).expect_kind(kind),
                    None => Err(Error::io("create", dir)(error)),
                }
            }
        }
    }

    /// The instance of a name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn open(places: &Places, name: &str) -> Result<Self> {
        check_name(name).map_err(|reason| Error::sim(name, reason))?;
        let dir = places.find(name)?.ok_or_else(|| {
            Error::sim(name, "does not exist; `neuron-ls sim list` shows those that do")
        })?;
        Ok(Self::at(name, dir))
    }

    /// All instances.
    pub fn list(places: &Places) -> Vec<Self> {
        let named = |dir: PathBuf| Some(Self { name: dir.file_name()?.to_str()?.to_owned(), dir });
        places.list().into_iter().filter_map(named).collect()
    }

    fn at(name: &str, dir: PathBuf) -> Self {
        Self { name: name.to_owned(), dir }
    }

    fn expect_kind(self, kind: &InstanceType) -> Result<(Self, State)> {
        let state = self.snapshot()?;
        if state.instance_type == kind.name {
            return Ok((self, state));
        }
        let reason = format!(
            "in {} is a {}, not a {}; choose another name with ,name=...",
            self.dir.display(),
            state.instance_type,
            kind.name
        );
        Err(Error::sim(&self.name, reason))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The datastore file of a process on a device.
    pub fn datastore_path(&self, device: u32, id: ProcessId) -> PathBuf {
        self.dir.join(format!("nds/neuron{device}.{}.{}", id.pid, id.start))
    }

    /// The state now, with dead processes taken off. Where this process may
    /// write, that is also stored; where not, only shown.
    ///
    /// # Errors
    ///
    /// When the state cannot be read.
    pub fn snapshot(&self) -> Result<State> {
        let mut state = {
            let _lock = self.lock(FlockOperation::LockShared)?;
            self.read_state()?
        };
        // One process is often on every device.
        let attached = state.devices.iter().flat_map(|d| &d.processes).map(|p| p.id);
        let known: BTreeSet<ProcessId> = attached.chain(state.marks.values().copied()).collect();
        if known.into_iter().all(ProcessId::is_alive) {
            return Ok(state);
        }
        if rustix::fs::access(&self.dir, rustix::fs::Access::WRITE_OK).is_ok() {
            return self.update(|state| Ok(state.clone()));
        }
        self.reap(&mut state);
        Ok(state)
    }

    /// Changes the state under the exclusive lock, after dead processes were
    /// taken off. An error from `change` leaves the file as it was.
    ///
    /// # Errors
    ///
    /// Those of `change`; a state that cannot be read or written.
    pub fn update<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let _lock = self.lock(FlockOperation::LockExclusive)?;
        let before = self.read_state()?;
        let mut state = before.clone();
        let ended = self.reap(&mut state);
        let answer = change(&mut state)?;
        if state != before {
            let path = self.dir.join("state.json");
            let draft = self.dir.join("state.json.new");
            write_file(&draft, &encode(&state))
                .and_then(|()| std::fs::rename(&draft, &path))
                .map_err(Error::io("write", path))?;
        }
        // Only now: had the write failed, the counters would be needed again.
        for (device, id) in ended {
            let _ = std::fs::remove_file(self.datastore_path(device, id));
        }
        Ok(answer)
    }

    /// Deletes the instance.
    ///
    /// # Errors
    ///
    /// When processes are attached to it, or files cannot be deleted.
    pub fn remove(self) -> Result<()> {
        let _lock = self.lock(FlockOperation::LockExclusive)?;
        let mut state = self.read_state()?;
        self.reap(&mut state);
        let mut pids: Vec<u32> =
            state.devices.iter().flat_map(|d| &d.processes).map(|p| p.id.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        if !pids.is_empty() {
            return Err(Error::sim(&self.name, format!("is in use by process {pids:?}")));
        }
        std::fs::remove_dir_all(&self.dir).map_err(Error::io("remove", &self.dir))
    }

    fn reap(&self, state: &mut State) -> Vec<(u32, ProcessId)> {
        let cores = state.kind().map_or(0, |kind| kind.chip.core_count());
        reap::reap(state, ProcessId::is_alive, |device, id| {
            let bytes = std::fs::read(self.datastore_path(device, id)).unwrap_or_default();
            reap::core_counters(&bytes, cores)
        })
    }

    /// Takes the lock; it is held until the descriptor is dropped.
    fn lock(&self, operation: FlockOperation) -> Result<OwnedFd> {
        let fail = |errno: rustix::io::Errno| Error::io("lock", &self.dir)(errno.into());
        loop {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let dir = openat(CWD, &self.dir, flags, Mode::empty()).map_err(fail)?;
            rustix::io::retry_on_intr(|| flock(&dir, operation)).map_err(fail)?;
            // It may have been removed and made anew while we waited.
            let (held, named) = (fstat(&dir).map_err(fail)?, stat(&self.dir).map_err(fail)?);
            if (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino) {
                return Ok(dir);
            }
        }
    }

    fn read_state(&self) -> Result<State> {
        use std::io::Read as _;
        let path = self.dir.join("state.json");
        let mut text = Vec::new();
        let fail = |error| Error::io("read", &path)(error);
        let file = File::open(&path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len().min(LIMIT);
        text.reserve(usize::try_from(size).unwrap_or(0).saturating_add(1));
        file.take(LIMIT).read_to_end(&mut text).map_err(fail)?;
        let state: State = serde_json::from_slice(&text).map_err(|error| {
            Error::content(&path, format!("not the state of a simulated instance: {error}"))
        })?;
        if state.format > FORMAT {
            let reason = format!("form {} is newer than this program's {FORMAT}", state.format);
            return Err(Error::content(&path, reason));
        }
        match state.kind() {
            Some(kind) if u32::try_from(state.devices.len()) == Ok(kind.device_count) => Ok(state),
            Some(kind) => Err(Error::content(
                &path,
                format!(
                    "holds {} devices, a {} has {}",
                    state.devices.len(),
                    kind.name,
                    kind.device_count
                ),
            )),
            None => Err(Error::content(
                &path,
                format!("unknown instance type {:?}", state.instance_type),
            )),
        }
    }
}

fn encode(state: &State) -> Vec<u8> {
    // Serialising plain data to memory cannot fail.
    serde_json::to_vec(state).unwrap_or_default()
}

fn make_dir(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().mode(0o755).create(dir)?;
    // Readable by all whatever the umask: a user's tools see root's daemon.
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))
}

fn write_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut file = File::create(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    file.write_all(content)
}

/// Nanoseconds since the epoch.
fn nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trn1() -> &'static InstanceType {
        InstanceType::find("trn1.32xlarge").unwrap()
    }

    #[test]
    fn racing_creators_end_with_one_instance() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::only(dir.path());
        let start = std::sync::Barrier::new(8);
        let dirs: Vec<PathBuf> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        Sim::open_or_create(&places, "lab", trn1()).unwrap().dir().to_owned()
                    })
                })
                .collect();
            racers.into_iter().map(|r| r.join().unwrap()).collect()
        });
        assert!(dirs.iter().all(|d| d == &dir.path().join("lab")));
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(Sim::list(&places).len(), 1);
    }

    #[test]
    fn another_type_under_the_same_name_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::only(dir.path());
        Sim::open_or_create(&places, "lab", trn1()).unwrap();
        let other = InstanceType::find("inf1.6xlarge").unwrap();
        let text = Sim::open_or_create(&places, "lab", other).unwrap_err().to_string();
        assert!(text.contains("trn1.32xlarge") && text.contains("inf1.6xlarge"), "{text}");
    }

    #[test]
    fn a_garbled_state_file_is_one_line_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::only(dir.path());
        let sim = Sim::open_or_create(&places, "lab", trn1()).unwrap();
        for bad in ["", "{", "[]", "{\"format\":99}", &"[".repeat(10_000)] {
            std::fs::write(sim.dir().join("state.json"), bad).unwrap();
            let text = sim.snapshot().unwrap_err().to_string();
            assert!(text.contains("state.json") && !text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn a_failed_change_leaves_the_state_alone() {
        let dir = tempfile::tempdir().unwrap();
        let sim = Sim::open_or_create(&Places::only(dir.path()), "lab", trn1()).unwrap();
        let before = sim.snapshot().unwrap();
        let refused: Result<()> = sim.update(|state| {
            state.devices.clear();
            Err(Error::sim("lab", "no"))
        });
        assert!(refused.is_err());
        assert_eq!(sim.snapshot().unwrap(), before);
    }
}
