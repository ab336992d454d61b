//! A simulated instance on disk: one state file, one lock file, and one
//! datastore file per process and device.
//!
//! The state file is replaced by rename, so a reader needs no lock and nobody
//! can keep it waiting. Writers lock a file that only the owner may open. The
//! state is not synced to disk: like the driver's, it ends with the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, FlockOperation, flock, fstat, stat};
use rustix::io::Errno;

use super::life::Witness;
use super::place::{Places, check_name};
use super::reap::{self, CoreCounters};
use super::stamp::Stamp;
use super::state::{FORMAT, ProcessId, State};
use crate::driver::{open_file, read_entry};
use crate::instance::InstanceType;
use crate::uapi::nds_ext::Extent;
use crate::{Error, Result};

/// Longest state file that is read.
const LIMIT: u64 = 16 << 20;

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often creation and reading start over when somebody else creates or
/// removes the same instance.
const TRIES: u32 = 8;

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
        let mut last = None;
        for _ in 0..TRIES {
            if let Some(dir) = places.find(name)? {
                match Self::at(name, dir).expect_kind(kind) {
                    // Removed between the two looks.
                    Err(error) if is_gone(&error) => last = Some(error),
                    other => return other,
                }
                continue;
            }
            match Self::create(places, name, kind) {
                Ok(made) => return Ok(made),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::sim(name, "cannot be opened")))
    }

    /// Prepares the directory under a name of its own and renames it: a
    /// directory cannot be renamed onto one that is not empty, so exactly one
    /// racer wins.
    fn create(places: &Places, name: &str, kind: &InstanceType) -> Result<(Self, State)> {
        let place = places.for_new(name)?;
        sweep_drafts(&place, name);
        let dir = place.join(name);
        let draft = place.join(format!(".{name}.{}.{}", std::process::id(), nanos()));
        let state = State::new(name, kind, nanos() / 1_000_000_000);
        let made = make_dir(&draft)
            .and_then(|()| make_dir(&draft.join("nds")))
            .and_then(|()| write_file(&draft.join("lock"), &[], 0o600))
            .and_then(|()| write_file(&draft.join("state.json"), &encode(&state), 0o644))
            .and_then(|()| std::fs::rename(&draft, &dir));
        match made {
            Ok(()) => Ok((Self::at(name, dir), state)),
            Err(error) => {
                // Ours alone; what stays is swept by the next creation.
                let _ = std::fs::remove_dir_all(&draft);
                if dir.is_dir() && !dir.join("state.json").exists() {
                    let text = format!("{} holds no instance; remove it", dir.display());
                    return Err(Error::sim(name, text));
                }
                Err(Error::io("create", dir)(error))
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

    /// All instances, by name.
    pub fn list(places: &Places) -> Vec<Self> {
        let named = |dir: PathBuf| Some(Self { name: dir.file_name()?.to_str()?.to_owned(), dir });
        let all = places.list().into_iter().filter_map(named);
        all.filter(|sim| check_name(&sim.name).is_ok()).collect()
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
        self.dir.join(datastore_name(device, id))
    }

    /// The state now, with dead processes taken off. Where this process may
    /// write, that is also stored; where not, only shown.
    ///
    /// # Errors
    ///
    /// When the state cannot be read.
    pub fn snapshot(&self) -> Result<State> {
        Ok(self.snapshot_of()?.0)
    }

    /// As [`Self::snapshot`], and which file it was, where it is the content
    /// of a file that nobody changes without its looking different.
    pub(super) fn snapshot_of(&self) -> Result<(State, Option<Stamp>)> {
        let (mut state, stamp) = self.read_stamped()?;
        for _ in 0..TRIES {
            let witness = Witness::new();
            // One process is often on every device.
            let attached = state.devices.iter().flat_map(|d| &d.processes).map(|p| p.id);
            let known: BTreeSet<ProcessId> =
                attached.chain(state.marks.values().copied()).collect();
            if !known.into_iter().any(|id| witness.is_dead(id)) {
                return Ok((state, stamp));
            }
            // A full disk must not hide the machine either.
            let writable = rustix::fs::access(&self.dir, rustix::fs::Access::WRITE_OK).is_ok();
            if writable && let Ok(state) = self.update(|state| Ok(state.clone())) {
                return Ok((state, None));
            }
            self.reap(&mut state);
            // Somebody who may write could have moved counters meanwhile, of
            // which this view would then hold neither the old nor the new.
            let again = self.read_state()?;
            let mut shown = again.clone();
            self.reap(&mut shown);
            if shown == state {
                return Ok((state, None));
            }
            state = again;
        }
        Ok((state, None))
    }

    /// Whether the state file is still the one of a stamp.
    pub(super) fn is_still(&self, stamp: Stamp) -> bool {
        stat(self.dir.join("state.json")).is_ok_and(|stat| Stamp::of(&stat) == stamp)
    }

    /// Changes the state under the lock, after dead processes were taken off.
    /// An error from `change` leaves the file as it was.
    ///
    /// # Errors
    ///
    /// Those of `change`; a state that cannot be read or written.
    pub fn update<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let _lock = self.lock()?;
        let before = self.read_state()?;
        let mut state = before.clone();
        let ended = self.reap(&mut state);
        let answer = change(&mut state)?;
        if state != before {
            let path = self.dir.join("state.json");
            let draft = self.dir.join("state.json.new");
            write_file(&draft, &encode(&state), 0o644)
                .and_then(|()| std::fs::rename(&draft, &path))
                .map_err(Error::io("write", path))?;
        }
        // Only now: had the write failed, the counters would be needed again.
        if !ended.is_empty() {
            self.sweep_datastores(&state);
        }
        Ok(answer)
    }

    /// Deletes the instance of a name, also one whose files are damaged.
    ///
    /// # Errors
    ///
    /// When there is none, processes are attached to it, or files cannot be
    /// deleted.
    pub fn remove(places: &Places, name: &str) -> Result<()> {
        check_name(name).map_err(|reason| Error::sim(name, reason))?;
        let dir = places.find_dir(name).ok_or_else(|| Error::sim(name, "does not exist"))?;
        let sim = Self::at(name, dir);
        let _lock = sim.lock().ok();
        if let Ok(mut state) = sim.read_state() {
            sim.reap(&mut state);
            let attached = state.devices.iter().flat_map(|d| &d.processes);
            let pids: BTreeSet<u32> = attached.map(|p| p.id.pid).collect();
            if !pids.is_empty() {
                let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
                return Err(Error::sim(name, format!("is in use by process {}", pids.join(", "))));
            }
        }
        // Out of sight at once; nobody finds half of it.
        let hidden = sim.dir.with_file_name(format!(".{name}.{}.{}", std::process::id(), nanos()));
        std::fs::rename(&sim.dir, &hidden).map_err(Error::io("remove", &sim.dir))?;
        std::fs::remove_dir_all(&hidden).map_err(Error::io("remove", &hidden))
    }

    /// Counters in the datastore file of a process; none when there is no such
    /// file.
    pub(super) fn counters(
        &self,
        device: u32,
        id: ProcessId,
        cores: u32,
    ) -> io::Result<CoreCounters> {
        let Some(file) = open_file(&self.datastore_path(device, id))? else {
            return Ok(BTreeMap::new());
        };
        let mut bytes = Vec::new();
        read_entry(&file, Extent::Used { cores }, &mut bytes)?;
        Ok(reap::core_counters(&bytes, cores))
    }

    fn reap(&self, state: &mut State) -> Vec<(u32, ProcessId)> {
        let cores = state.kind().map_or(0, |kind| kind.chip.core_count());
        let witness = Witness::new();
        reap::reap(state, |id| witness.is_dead(id), |device, id| self.counters(device, id, cores))
    }

    /// Removes datastore files of processes that are not attached: those just
    /// ended, and what a killed writer left behind.
    fn sweep_datastores(&self, state: &State) {
        let kept: BTreeSet<String> = (0..)
            .zip(&state.devices)
            .flat_map(|(device, entry)| entry.processes.iter().map(move |p| (device, p.id)))
            .map(|(device, id)| datastore_name(device, id))
            .collect();
        for entry in std::fs::read_dir(self.dir.join("nds")).into_iter().flatten().flatten() {
            let name = format!("nds/{}", entry.file_name().to_string_lossy());
            if !kept.contains(&name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Takes the lock; it is held until the file is dropped.
    fn lock(&self) -> Result<File> {
        let path = self.dir.join("lock");
        let fail = |error: io::Error| Error::io("lock", &path)(error);
        let end = Instant::now() + PATIENCE;
        loop {
            let file = File::options().write(true).open(&path).map_err(fail)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    let held = fstat(&file).map_err(|errno| fail(errno.into()))?;
                    // It may have been removed and made anew while we waited.
                    if stat(&path).is_ok_and(|named| {
                        (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)
                    }) {
                        return Ok(file);
                    }
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    let reason = format!(
                        "{} is held by another process for more than {} s",
                        path.display(),
                        PATIENCE.as_secs()
                    );
                    return Err(Error::sim(&self.name, reason));
                }
                Err(errno) => return Err(fail(errno.into())),
            }
        }
    }

    fn read_state(&self) -> Result<State> {
        Ok(self.read_stamped()?.0)
    }

    fn read_stamped(&self) -> Result<(State, Option<Stamp>)> {
        let path = self.dir.join("state.json");
        let mut text = Vec::new();
        let fail = |error| Error::io("read", &path)(error);
        let file = File::open(&path).map_err(fail)?;
        let facts = fstat(&file).map_err(|errno| fail(errno.into()))?;
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            return Err(Error::content(&path, "not a file"));
        }
        let stamp = Stamp::settled(&facts);
        let size = u64::try_from(facts.st_size).unwrap_or(0).min(LIMIT);
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
            Some(kind) if u32::try_from(state.devices.len()) == Ok(kind.device_count) => {
                Ok((state, stamp))
            }
            Some(kind) => {
                let (found, wanted) = (state.devices.len(), kind.device_count);
                let reason = format!("holds {found} devices, a {} has {wanted}", kind.name);
                Err(Error::content(&path, reason))
            }
            None => {
                let reason = format!("unknown instance type {:?}", state.instance_type);
                Err(Error::content(&path, reason))
            }
        }
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn datastore_name(device: u32, id: ProcessId) -> String {
    format!("nds/neuron{device}.{}.{}", id.pid, id.start)
}

fn encode(state: &State) -> Vec<u8> {
    // Serialising plain data to memory cannot fail.
    serde_json::to_vec(state).unwrap_or_default()
}

fn make_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir(dir)?;
    // Readable by all whatever the umask: a user's tools see root's daemon.
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))
}

fn write_file(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut file = File::create(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.write_all(content)
}

/// Removes drafts that killed creators and removers of this name left behind.
fn sweep_drafts(place: &Path, name: &str) {
    let prefix = format!(".{name}.");
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let Some(rest) = file_name.to_str().and_then(|n| n.strip_prefix(&prefix)) else { continue };
        let mut numbers = rest.split('.');
        let pid = numbers.next().and_then(|pid| pid.parse::<u32>().ok());
        let own = numbers.next().is_some_and(|n| n.parse::<u64>().is_ok());
        if let Some(pid) = pid.filter(|_| own && numbers.next().is_none())
            && !Path::new(&format!("/proc/{pid}")).exists()
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
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
