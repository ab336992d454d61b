//! Runs below a log directory: which there are, and what each has.
//!
//! A run is a directory right below a `plugins/neuron`, as the original wrote
//! them; or any directory with traces of devices (`*.ntff`), a run of `inspect`
//! (`ntrace.pb`) or stored profiles (`profiles/n_*`), with all below it. Its name
//! is its path; that of one below `plugins/neuron` leaves these two out.
//!
//! Nobody knows who wrote there: no link is followed, and a walk ends somewhere.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use profile_store::disk::is_id;
use sha2::{Digest as _, Sha256};

/// Directories within each other that are looked through.
const DEPTH: usize = 12;

/// Entries that are looked at.
const ENTRIES: usize = 200_000;

/// How long a look may take.
const TIME: Duration = Duration::from_secs(5);

/// Runs that are told.
const RUNS: usize = 10_000;

/// The original's files, gzip or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum File {
    /// Operators of the framework.
    Framework,
    /// Operators of the compiler's graph.
    Hlo,
    /// The operator timeline.
    Operators,
    /// Host and devices.
    Trace,
}

/// Their names.
pub const FILES: [(File, &str); 4] = [
    (File::Framework, "neuron_framework_op.json"),
    (File::Hlo, "neuron_hlo_op.json"),
    (File::Operators, "neuron_op_timeline.json"),
    (File::Trace, "neuron_trace.json"),
];

/// Written by the original beside the operator timeline, and never shown.
pub const SPLIT: &str = "neuron_op_timeline_split.json";

impl File {
    fn named(name: &str) -> Option<Self> {
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        FILES.iter().find(|(_, known)| *known == plain).map(|(file, _)| *file)
    }
}

/// A stored profile of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// Root of the store that it is in.
    pub root: PathBuf,
}

/// A run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// By which it is asked for: digits that say nothing.
    pub key: String,
    /// For people.
    pub name: String,
    /// Where it is.
    pub dir: PathBuf,
    /// The original's files.
    pub files: BTreeMap<File, PathBuf>,
    /// Stored profiles.
    pub kept: Vec<Kept>,
    /// There are traces of devices that are not stored yet.
    pub traces: bool,
    /// There are runs of `inspect`.
    pub system: bool,
    /// Changes when one of its files does.
    pub stamp: u64,
}

/// What a person may look at of a run, in the order of the selector.
pub const TOOLS: [&str; 8] = [
    "trace",
    "operator-framework",
    "operator-hlo",
    "operator-timeline",
    "device",
    "overview",
    "memory",
    "roofline",
];

impl Run {
    /// Whether profiles of devices are there, or can be made.
    pub fn has_devices(&self) -> bool {
        self.traces || !self.kept.is_empty()
    }

    /// The tools that it has data for.
    pub fn tools(&self) -> Vec<&'static str> {
        let has = |file| self.files.contains_key(&file);
        let device = self.has_devices();
        TOOLS
            .into_iter()
            .filter(|tool| match *tool {
                "trace" => has(File::Trace) || self.system,
                "operator-framework" => has(File::Framework) || device,
                "operator-hlo" => has(File::Hlo) || device,
                "operator-timeline" => has(File::Operators) || device,
                _ => device,
            })
            .collect()
    }
}

/// What a look found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Runs, newest first where their names have a time.
    pub runs: Vec<Run>,
    /// Directories that were looked at.
    pub directories: Vec<PathBuf>,
    /// What cannot be shown, and why.
    pub notes: Vec<String>,
}

impl Found {
    /// A text that changes when anything does.
    pub fn tag(&self) -> String {
        let mut hash = Sha256::new();
        for run in &self.runs {
            hash.update(run.key.as_bytes());
            hash.update(run.stamp.to_le_bytes());
        }
        for note in &self.notes {
            hash.update(note.as_bytes());
        }
        hash.update(self.directories.len().to_le_bytes());
        hex(&hash.finalize(), 16)
    }

    /// A run by its key.
    pub fn run(&self, key: &str) -> Option<&Run> {
        self.runs.iter().find(|run| run.key == key)
    }
}

fn hex(bytes: &[u8], digits: usize) -> String {
    bytes.iter().take(digits / 2).map(|byte| format!("{byte:02x}")).collect()
}

struct Walk<'w> {
    root: &'w Path,
    found: Found,
    runs: BTreeMap<PathBuf, (Run, Sha256)>,
    left: usize,
    until: Instant,
    full: bool,
}

/// Looks through a log directory. One that is not there has no runs.
pub fn look(logdir: &Path) -> Found {
    let mut walk = Walk {
        root: logdir,
        found: Found::default(),
        runs: BTreeMap::new(),
        left: ENTRIES,
        until: Instant::now() + TIME,
        full: false,
    };
    walk.directory(logdir, DEPTH, None);
    if walk.full {
        let told = "the log directory has too many files to look at all; name a smaller one";
        walk.found.notes.push(told.to_owned());
    }
    let Walk { mut found, runs, .. } = walk;
    let mut all: Vec<Run> = runs
        .into_values()
        .filter(|(run, _)| !run.tools().is_empty())
        .map(|(run, hash)| {
            let digest = hash.finalize();
            let stamp = digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            Run { stamp, ..run }
        })
        .collect();
    all.sort_by(|a, b| order(&a.name, &b.name));
    if all.len() > RUNS {
        found.notes.push(format!("{} runs are not shown: the first {RUNS} are", all.len() - RUNS));
        all.truncate(RUNS);
    }
    found.runs = all;
    found
}

/// Names that begin with a date or a number of seconds come first, the latest of
/// them on top; others by name.
fn order(a: &str, b: &str) -> std::cmp::Ordering {
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let timed = |name: &str| last(name).bytes().take_while(u8::is_ascii_digit).count() >= 4;
    match (timed(a), timed(b)) {
        (true, true) => last(b).cmp(&last(a)).then_with(|| a.cmp(b)),
        (true, false) => std::cmp::Ordering::Less,
        (false, true) => std::cmp::Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}

impl Walk<'_> {
    fn directory(&mut self, dir: &Path, depth: usize, mut run: Option<PathBuf>) {
        self.found.directories.push(dir.to_owned());
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) => {
                let name = self.relative(dir);
                let error = error.kind();
                self.found.notes.push(format!("{name}: cannot be read: {error}"));
                return;
            }
        };
        let mut all: Vec<(PathBuf, Metadata)> = Vec::new();
        for entry in entries.flatten() {
            if self.left == 0 || Instant::now() > self.until {
                self.full = true;
                return;
            }
            self.left -= 1;
            // Of the entry itself: a link stays one.
            let Ok(meta) = entry.metadata() else { continue };
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !hidden && (meta.is_file() || meta.is_dir()) {
                all.push((entry.path(), meta));
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        if run.is_none() && self.is_run(dir, &all) {
            run = Some(dir.to_owned());
        }
        if let Some(run) = &run {
            for (path, meta) in all.iter().filter(|(_, meta)| meta.is_file()) {
                self.file(run, dir, path, meta);
            }
        }
        for (path, _) in all.iter().filter(|(_, meta)| meta.is_dir()) {
            match (&run, name(path)) {
                (Some(run), "profiles") => self.profiles(&run.clone(), dir, path),
                _ if depth > 0 => self.directory(path, depth - 1, run.clone()),
                _ => {}
            }
        }
    }

    fn is_run(&self, dir: &Path, all: &[(PathBuf, Metadata)]) -> bool {
        let plugin = dir.ancestors().skip(1).take(2).map(name).eq(["neuron", "plugins"]);
        // The log directory itself has no plug-in above it that belongs to it.
        let below = dir.strip_prefix(self.root).is_ok_and(|rest| rest.components().count() >= 3);
        let traces = || {
            all.iter().any(|(path, meta)| {
                let is_trace =
                    name(path) == "ntrace.pb" || path.extension().is_some_and(|e| e == "ntff");
                (meta.is_file() && is_trace)
                    || (meta.is_dir() && name(path) == "profiles" && has_ids(path))
            })
        };
        plugin && below || traces()
    }

    fn relative(&self, path: &Path) -> String {
        let rest = path.strip_prefix(self.root).unwrap_or(path);
        let text = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
        neuron_core::model::printable(&text.display().to_string())
    }

    /// The run in a directory.
    fn entry(&mut self, dir: &Path) -> &mut (Run, Sha256) {
        let path = self.relative(dir);
        self.runs.entry(dir.to_owned()).or_insert_with(|| {
            let digest = Sha256::digest(dir.as_os_str().as_encoded_bytes());
            let name = path.replace("plugins/neuron/", "");
            let run = Run { key: hex(&digest, 16), name, dir: dir.to_owned(), ..Run::default() };
            (run, Sha256::new())
        })
    }

    fn file(&mut self, run: &Path, dir: &Path, path: &Path, meta: &Metadata) {
        let own = name(path);
        let known = File::named(own).filter(|_| run == dir);
        let ends = |end: &str| path.extension().is_some_and(|e| e == end);
        let system = matches!(own, "ntrace.pb" | "trace_info.pb");
        if known.is_none() && !system && !ends("ntff") && !ends("neff") {
            return;
        }
        let (run, hash) = self.entry(run);
        stamp(hash, path, meta);
        if let Some(file) = known {
            // The one that is not packed, where there are both.
            run.files.entry(file).or_insert_with(|| path.to_owned());
        }
        run.traces |= ends("ntff");
        run.system |= own == "ntrace.pb";
    }

    /// Stored profiles in `dir/profiles`.
    fn profiles(&mut self, run: &Path, dir: &Path, profiles: &Path) {
        let Ok(entries) = std::fs::read_dir(profiles) else { return };
        self.found.directories.push(profiles.to_owned());
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if self.left == 0 {
                self.full = true;
                return;
            }
            self.left -= 1;
            let manifest = path.join("manifest.json");
            let dir_meta = path.symlink_metadata();
            let meta = manifest.symlink_metadata();
            let (Ok(dir_meta), Ok(meta)) = (dir_meta, meta) else { continue };
            if !is_id(name(&path)) || !dir_meta.is_dir() || !meta.is_file() {
                continue;
            }
            let id = name(&path).to_owned();
            let (run, hash) = self.entry(run);
            stamp(hash, &manifest, &meta);
            run.kept.push(Kept { id, root: dir.to_owned() });
        }
    }
}

/// Adds what changes when a file does.
fn stamp(hash: &mut Sha256, path: &Path, meta: &Metadata) {
    hash.update(path.as_os_str().as_encoded_bytes());
    for number in
        [i128::from(meta.len()), meta.mtime().into(), meta.mtime_nsec().into(), meta.ino().into()]
    {
        hash.update(number.to_le_bytes());
    }
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn has_ids(profiles: &Path) -> bool {
    let entries = std::fs::read_dir(profiles).into_iter().flatten().flatten();
    entries.take(1000).any(|entry| entry.file_name().to_str().is_some_and(is_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    fn told(logdir: &Path) -> Vec<(String, Vec<&'static str>)> {
        look(logdir).runs.iter().map(|run| (run.name.clone(), run.tools())).collect()
    }

    const DEVICE: [&str; 7] = [
        "operator-framework",
        "operator-hlo",
        "operator-timeline",
        "device",
        "overview",
        "memory",
        "roofline",
    ];

    #[test]
    fn runs_of_every_kind() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        assert_eq!(told(&at("none")), []);
        write(&at("plugins/neuron/2022_10_14_19_22_22_16/neuron_trace.json"));
        write(&at("plugins/neuron/2022_09_28_23_01_01_01_1664406072/neuron_framework_op.json"));
        write(&at("plugins/neuron/2022_09_28_23_01_01_01_1664406072/neuron_hlo_op.json.gz"));
        write(&at("plugins/neuron/2022_09_28_23_01_01_01_1664406072/neuron_op_timeline.json"));
        write(&at(
            "plugins/neuron/2022_09_28_23_01_01_01_1664406072/neuron_op_timeline_split.json",
        ));
        write(&at("plugins/neuron/empty/other.json"));
        write(&at("model10006/plugins/neuron/renamed/neuron_trace.json"));
        write(&at("traces/a/x.ntff"));
        write(&at("traces/a/x.neff"));
        write(&at("run/i-1_pid_2/9/ntrace.pb"));
        write(&at("train/events.out.tfevents.1"));
        write(&at(".hidden/x.ntff"));
        let id = format!("n_{:040}", 3);
        write(&at(&format!("data/profiles/{id}/manifest.json")));
        let all = |list: &[&'static str]| list.to_vec();
        let operators = ["operator-framework", "operator-hlo", "operator-timeline"];
        assert_eq!(
            told(dir.path()),
            [
                (String::from("2022_10_14_19_22_22_16"), vec!["trace"]),
                (String::from("2022_09_28_23_01_01_01_1664406072"), all(&operators)),
                (String::from("data"), all(&DEVICE)),
                (String::from("model10006/renamed"), vec!["trace"]),
                (String::from("run/i-1_pid_2/9"), vec!["trace"]),
                (String::from("traces/a"), all(&DEVICE)),
            ]
        );
    }

    #[test]
    fn a_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plugins/neuron/a/neuron_trace.json");
        write(&path);
        let first = look(dir.path());
        assert_eq!(first, look(dir.path()));
        std::fs::write(&path, "longer").unwrap();
        let second = look(dir.path());
        assert_ne!(first.tag(), second.tag());
        assert_eq!(first.runs[0].key, second.runs[0].key);
        assert_ne!(first.runs[0].stamp, second.runs[0].stamp);
    }

    #[test]
    fn no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        write(&outside.path().join("plugins/neuron/secret/neuron_trace.json"));
        write(&outside.path().join("x.ntff"));
        let link = |from: &Path, to: &Path| std::os::unix::fs::symlink(from, to);
        link(outside.path(), &dir.path().join("away")).unwrap();
        std::fs::create_dir_all(dir.path().join("plugins/neuron/here")).unwrap();
        let inside = dir.path().join("plugins/neuron/here/neuron_trace.json");
        link(&outside.path().join("plugins/neuron/secret/neuron_trace.json"), &inside).unwrap();
        link(dir.path(), &dir.path().join("loop")).unwrap();
        assert_eq!(told(dir.path()), []);
    }
}
