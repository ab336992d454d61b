//! What is shown of runs: profiles that are stored in them, and those that are
//! made of their files in the background, in a store beside the user's own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use profile_store::disk::is_id;
use profile_store::{Error, Labels, Profile, Settings, Store, Timeline, ingest_timeline};
use sha2::{Digest as _, Sha256};

use super::child::{Reading, SAID};
use super::files::OPERATORS;
use super::ops::Tables;
use super::runs::{File, Found, Kept, Run, look};
use super::watch::Watch;
use super::{host, operators, trace};
use crate::output::one_line;

/// A look is kept so many times as long as it took: looks at a large log
/// directory stay a small part of the time.
const PATIENCE: u32 = 20;

/// Tag of what was made for the plug-in.
const TAG: &str = "tensorboard";

/// Changes when timelines are derived in another way.
const DERIVED: u32 = 1;

/// What is made of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// Operator tables of traces that are not stored: one pass over each.
    Tables,
    /// Profiles of devices, and of whole runs.
    Profiles,
    /// The operator timeline.
    Operators,
    /// The timeline of host and devices.
    Trace,
}

/// A profile that is shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// Its id.
    pub id: String,
    /// For people.
    pub name: String,
    /// It is of host and devices, not of engines.
    pub system: bool,
}

/// How far it is.
#[derive(Debug, Clone)]
pub enum State {
    /// It is being made, since then.
    Working(Instant),
    /// It is there.
    Ready(Vec<Shown>),
    /// It cannot be made: one line.
    Failed(String),
}

type Key = (String, u64, Part);

/// Operator tables by the profile's id.
type ById = BTreeMap<String, Tables>;

/// The last look at the log directory.
#[derive(Debug, Default)]
struct Seen {
    watch: Watch,
    /// When it was, how long it took, what was there.
    last: Option<(Instant, Duration, Arc<Found>)>,
}

/// See the module.
#[derive(Debug)]
pub struct Board {
    logdir: PathBuf,
    cache: Store,
    seen: Mutex<Seen>,
    /// Roots of the stores of profiles that were shown.
    known: Mutex<HashMap<String, PathBuf>>,
    states: Mutex<HashMap<Key, State>>,
    /// Operator tables of runs, by key and stamp.
    tables: Mutex<HashMap<(String, u64), Arc<ById>>>,
    queue: Mutex<Sender<(Run, Wanted)>>,
    reading: Reading,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// A log directory, and the store for what is made; [`Board::work`] makes it.
    pub fn new(logdir: PathBuf, cache: Store) -> (Arc<Self>, Receiver<(Run, Wanted)>) {
        let (queue, work) = channel();
        let board = Self {
            logdir,
            cache,
            seen: Mutex::default(),
            known: Mutex::default(),
            states: Mutex::default(),
            tables: Mutex::default(),
            queue: Mutex::new(queue),
            reading: Reading::default(),
        };
        (Arc::new(board), work)
    }

    /// The log directory.
    pub fn logdir(&self) -> &Path {
        &self.logdir
    }

    /// The store for what is made.
    pub const fn cache(&self) -> &Store {
        &self.cache
    }

    /// The runs as they were at most a moment ago.
    pub fn found(&self) -> Arc<Found> {
        let Seen { watch, last } = &mut *held(&self.seen);
        if let Some((when, took, found)) = last.as_ref()
            && when.elapsed() < watch.patience().max(*took * PATIENCE)
        {
            return Arc::clone(found);
        }
        let start = Instant::now();
        watch.begin();
        let found = Arc::new(look(&self.logdir));
        watch.follow(&found.directories);
        *last = Some((Instant::now(), start.elapsed(), Arc::clone(&found)));
        found
    }

    /// The store of a profile that was shown; the other one for all else.
    pub fn store_of(&self, id: &str) -> Store {
        let root = held(&self.known).get(id).cloned();
        root.map_or_else(|| self.cache.clone(), Store::new)
    }

    /// Ids of profiles that were shown.
    pub fn shown(&self) -> Vec<String> {
        let mut ids: Vec<String> = held(&self.known).keys().cloned().collect();
        ids.sort();
        ids
    }

    /// What a tool needs of a run; asks for it to be made.
    pub fn prepare(&self, run: &Run, tool: &str) -> State {
        let (part, file) = match tool {
            "trace" => (Part::Trace, Some(File::Trace)),
            "operator-timeline" => (Part::Operators, Some(File::Operators)),
            "operator-framework" => (Part::Profiles, Some(File::Framework)),
            "operator-hlo" => (Part::Profiles, Some(File::Hlo)),
            _ => (Part::Profiles, None),
        };
        // Of a run that we wrote the profile says more than the files made of it.
        let own = file.filter(|_| run.kept.is_empty()).and_then(|file| run.files.get(&file));
        if part == Part::Profiles && own.is_some() {
            return State::Ready(Vec::new());
        }
        let table = matches!(file, Some(File::Framework | File::Hlo));
        let part = if table && run.kept.is_empty() && run.traces { Part::Tables } else { part };
        let key = (run.key.clone(), run.stamp, part);
        let mut states = held(&self.states);
        if let Some(state) = states.get(&key) {
            return state.clone();
        }
        // What an older state of the run needed is not asked for any more.
        states.retain(|(known, stamp, _), _| *known != run.key || *stamp == run.stamp);
        let at_once = part == Part::Profiles && !run.traces && !run.system;
        let state = if at_once {
            match self.kept(run) {
                Ok(shown) => State::Ready(shown),
                Err(error) => State::Failed(one_line(&error)),
            }
        } else {
            // The thread ends with the server alone.
            let _ = held(&self.queue).send((run.clone(), Wanted(part)));
            State::Working(Instant::now())
        };
        states.insert(key, state.clone());
        state
    }

    /// Makes what is asked for, until [`Board::finish`].
    pub fn work(&self, asked: &Receiver<(Run, Wanted)>) {
        while let Ok((run, Wanted(part))) = asked.recv() {
            if self.reading.is_over() {
                return;
            }
            let key = (run.key.clone(), run.stamp, part);
            // The run has changed since, or it was made already: nobody waits for it.
            let waited_for = matches!(held(&self.states).get(&key), Some(State::Working(_)));
            if !waited_for {
                continue;
            }
            let state = match self.make(&run, part) {
                Ok(shown) => State::Ready(shown),
                Err(error) => State::Failed(one_line(&error)),
            };
            // What was read while files changed is of neither state of the run.
            let now = look(&self.logdir);
            let same = now.run(&run.key).is_some_and(|now| now.stamp == run.stamp);
            let mut states = held(&self.states);
            match states.get_mut(&key) {
                Some(place) if same => *place = state,
                _ => drop(states.remove(&key)),
            }
        }
    }

    /// Ends what is under way.
    pub fn finish(&self) {
        self.reading.finish();
        // Wakes the thread.
        let _ = held(&self.queue).send((Run::default(), Wanted(Part::Profiles)));
    }

    fn make(&self, run: &Run, part: Part) -> anyhow::Result<Vec<Shown>> {
        match part {
            Part::Tables => self.make_tables(run),
            Part::Profiles => self.profiles(run),
            Part::Trace => match run.files.get(&File::Trace) {
                Some(path) => Ok(vec![self.of_file(run, path)?]),
                None => {
                    let mut all = self.profiles(run)?;
                    all.retain(|one| one.system);
                    ensure!(!all.is_empty(), "the run has no events of the host");
                    let made = all.iter().map(|one| self.of_profile(one, host::timeline));
                    made.collect()
                }
            },
            Part::Operators => match run.files.get(&File::Operators) {
                Some(path) if run.kept.is_empty() => Ok(vec![self.of_file(run, path)?]),
                _ => {
                    let mut all = self.profiles(run)?;
                    all.retain(|one| !one.system);
                    ensure!(!all.is_empty(), "the run has no profile of a device");
                    let made = all.iter().map(|one| self.of_profile(one, operators::timeline));
                    made.collect()
                }
            },
        }
    }

    fn show(&self, root: &Path, id: &str) -> anyhow::Result<Shown> {
        let entry = Store::new(root).entry(id)?;
        held(&self.known).insert(id.to_owned(), root.to_owned());
        let (name, system) = (entry.labels.display_name, entry.manifest.system);
        Ok(Shown { id: id.to_owned(), name, system })
    }

    /// The profiles that are stored in a run. One that is damaged hides no other.
    fn kept(&self, run: &Run) -> anyhow::Result<Vec<Shown>> {
        let mut out = Vec::new();
        let mut failed = None;
        for kept in &run.kept {
            match check(kept).and_then(|()| self.show(&kept.root, &kept.id)) {
                Ok(shown) => out.push(shown),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if out.is_empty() => Err(error),
            _ => Ok(out),
        }
    }

    /// All profiles of a run.
    fn profiles(&self, run: &Run) -> anyhow::Result<Vec<Shown>> {
        let mut all = if run.kept.is_empty() { Vec::new() } else { self.kept(run)? };
        if run.traces || run.system {
            for id in self.ingest(&run.dir)? {
                if all.iter().all(|known| known.id != id) {
                    all.push(self.show(self.cache.root(), &id)?);
                }
            }
        }
        ensure!(!all.is_empty(), "the run has no profile");
        Ok(all)
    }

    /// The operator tables of a run that is not stored, once they are made.
    pub fn tables(&self, run: &Run) -> Option<Arc<ById>> {
        held(&self.tables).get(&(run.key.clone(), run.stamp)).cloned()
    }

    /// Makes them; gives the profiles that they are of, which are not stored.
    fn make_tables(&self, run: &Run) -> anyhow::Result<Vec<Shown>> {
        let said = self.reading.run(&run.dir, OPERATORS, |command| {
            command.args(["view", "--output-format", "operators"]);
        })?;
        let made: ById = match said {
            Ok(said) => serde_json::from_str(&said).context("the operators are cut")?,
            Err(reason) => bail!(reason),
        };
        let shown = made.iter().map(|(id, tables)| {
            let (id, name) = (id.clone(), tables.name.clone());
            Shown { id, name, system: false }
        });
        let shown = shown.collect();
        let mut all = held(&self.tables);
        all.retain(|(key, _), _| *key != run.key);
        all.insert((run.key.clone(), run.stamp), Arc::new(made));
        Ok(shown)
    }

    /// Stores what is in a directory; gives the ids.
    fn ingest(&self, dir: &Path) -> anyhow::Result<Vec<String>> {
        let said = self.reading.run(dir, SAID, |command| {
            command.args(["view", "--ingest-only", "--data-path"]).arg(self.cache.root());
        })?;
        let between = |line: &str| line.split('"').nth(1).filter(|id| is_id(id)).map(str::to_owned);
        let ids: Vec<String> =
            said.iter().flat_map(|said| said.lines()).filter_map(between).collect();
        match said {
            Err(reason) => bail!(reason),
            Ok(_) if ids.is_empty() => bail!("the ingest said nothing"),
            Ok(_) => Ok(ids),
        }
    }

    /// A timeline of a file.
    fn of_file(&self, run: &Run, path: &Path) -> anyhow::Result<Shown> {
        let id = id(&["file", &path.display().to_string(), &run.stamp.to_string()]);
        self.stored(&id, &run.name, false, || trace::read(path))
    }

    /// A timeline of a profile.
    fn of_profile(
        &self,
        of: &Shown,
        derive: fn(&Profile) -> Result<Timeline, Error>,
    ) -> anyhow::Result<Shown> {
        let profile = self.store_of(&of.id).open(&of.id)?;
        let manifest = profile.manifest();
        let id = id(&["profile", &manifest.id, &manifest.written_at_ns.to_string()]);
        self.stored(&id, &of.name, manifest.simulated, || Ok(derive(&profile)?))
    }

    fn stored(
        &self,
        id: &str,
        name: &str,
        simulated: bool,
        make: impl FnOnce() -> anyhow::Result<Timeline>,
    ) -> anyhow::Result<Shown> {
        match self.cache.begin(id, false) {
            Ok(draft) => {
                let labels = Labels { display_name: name.to_owned(), tags: vec![TAG.to_owned()] };
                let settings = Settings { labels, simulated, ..Settings::default() };
                ingest_timeline(make()?, draft, &settings)?;
            }
            Err(Error::Exists(_)) => {}
            Err(error) => return Err(error.into()),
        }
        self.show(self.cache.root(), id)
    }

    /// Opens the profiles of a state.
    ///
    /// # Errors
    ///
    /// One that was removed since, or is damaged.
    pub fn open(&self, shown: &[Shown]) -> Result<Vec<Profile>, Error> {
        shown.iter().map(|one| self.store_of(&one.id).open(&one.id)).collect()
    }
}

/// A part in the queue; what it is is the board's matter.
#[derive(Debug, Clone, Copy)]
pub struct Wanted(Part);

/// An id of the store, of words.
fn id(words: &[&str]) -> String {
    let mut hash = Sha256::new();
    hash.update(DERIVED.to_le_bytes());
    for word in words {
        hash.update(word.len().to_le_bytes());
        hash.update(word.as_bytes());
    }
    let digits: String =
        hash.finalize().iter().take(20).map(|byte| format!("{byte:02x}")).collect();
    format!("n_{digits}")
}

/// Whether a profile that somebody put into a log directory may be opened: its
/// files are files, and its tables have names.
fn check(kept: &Kept) -> anyhow::Result<()> {
    let store = Store::new(&kept.root);
    let dir = store.profiles().join(&kept.id);
    for entry in std::fs::read_dir(&dir).map_err(neuron_core::Error::io("read", &dir))? {
        let entry = entry.map_err(neuron_core::Error::io("read", &dir))?;
        let regular = entry.file_type().is_ok_and(|kind| kind.is_file());
        ensure!(regular, "{}: not a regular file", entry.path().display());
    }
    let manifest = store.entry(&kept.id)?.manifest;
    ensure!(manifest.id == kept.id, "{}: it says that it is {}", dir.display(), manifest.id);
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    ensure!(manifest.tables.keys().all(plain), "{}: a table has no name", dir.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(logdir: &Path, cache: &Path) -> Arc<Board> {
        let (board, work) = Board::new(logdir.to_owned(), Store::new(cache));
        let own = Arc::clone(&board);
        std::thread::spawn(move || own.work(&work));
        board
    }

    /// Waits until it is there, or cannot be.
    fn made(board: &Board, tool: &str) -> State {
        let run = board.found().runs.first().cloned().unwrap();
        for _ in 0..2000 {
            match board.prepare(&run, tool) {
                State::Working(_) => std::thread::sleep(Duration::from_millis(5)),
                state => return state,
            }
        }
        panic!("it takes too long");
    }

    #[test]
    fn a_trace_becomes_a_profile_once() {
        let (logs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = logs.path().join("plugins/neuron/a");
        std::fs::create_dir_all(&dir).unwrap();
        let text = r#"[{"ph":"X","pid":1,"tid":"t","ts":5,"dur":1,"name":"<b>x</b>"}]"#;
        std::fs::write(dir.join("neuron_trace.json"), text).unwrap();
        let board = board(logs.path(), cache.path());
        let State::Ready(first) = made(&board, "trace") else { panic!() };
        let profile = board.store_of(&first[0].id).open(&first[0].id).unwrap();
        assert_eq!(profile.manifest().events, 1);
        assert_eq!(profile.names(), ["<b>x</b>"]);
        let State::Failed(told) = made(&board, "operator-timeline") else { panic!() };
        assert_eq!(told, "the run has no profile");
        board.finish();
    }

    #[test]
    fn a_broken_file_is_told_with_its_place() {
        let (logs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = logs.path().join("plugins/neuron/a");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("neuron_trace.json"), "{\"traceEvents\":[}").unwrap();
        let board = board(logs.path(), cache.path());
        let State::Failed(told) = made(&board, "trace") else { panic!() };
        assert!(told.contains("neuron_trace.json") && told.contains("line 1 column"), "{told}");
        board.finish();
    }

    #[test]
    fn a_stored_profile_with_a_link_is_refused() {
        let (logs, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let id = id(&["x"]);
        let dir = logs.path().join("a/profiles").join(&id);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("manifest.json"), "{}").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", dir.join("labels.json")).unwrap();
        let board = board(logs.path(), cache.path());
        let State::Failed(told) = made(&board, "device") else { panic!() };
        assert!(told.ends_with("labels.json: not a regular file"), "{told}");
        board.finish();
    }
}
