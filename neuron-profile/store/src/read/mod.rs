//! A stored profile, open for reading.
//!
//! Files are read at places, never mapped; what was read last is kept in a
//! small cache. All methods take `&self` and may be called from many threads.

mod events;
mod ids;
pub(crate) mod parts;
mod rows;
mod selection;
mod spans;
mod viewport;

use std::collections::HashMap;
use std::fs::File;
use std::hash::Hash;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use self::events::Events;
use crate::disk::read_json;
use crate::error::Error;
use crate::kinds::{Kind, Kinds};
use crate::lanes::{Index, Lane};
use crate::manifest::{Labels, Manifest};
use crate::series::{Kept, Series, SeriesIndex};
use crate::tiles::page::{RowPage, read_pages};

pub use arrow_array::RecordBatchReader;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
/// Batches of a table.
pub use parquet::arrow::arrow_reader::ParquetRecordBatchReader as Batches;
pub use rows::{Condition, Found, Line, Match, Search, objects};
pub use selection::{LaneSums, NameSum};
pub use spans::{LaneSpans, MOST_SPANS, Span};
pub use viewport::{Column, Columns, LaneView, Viewport};

/// Pages of events that are kept (our choice: 8,192 events of 28 bytes each).
const PAGES: usize = 512;

/// Lists of pages that are kept.
const LISTS: usize = 4096;

/// Lane, block and page.
type At = (u32, u32, u32);

/// Most bytes of a page of events or of a level: larger ones are damage.
const MOST: u32 = 64 << 20;

/// A map that forgets the older half when it is full.
#[derive(Debug)]
pub(crate) struct Cache<K, T> {
    young: HashMap<K, Arc<T>>,
    old: HashMap<K, Arc<T>>,
    most: usize,
}

impl<K: Eq + Hash + Clone, T> Cache<K, T> {
    pub(crate) fn new(most: usize) -> Mutex<Self> {
        Mutex::new(Self { young: HashMap::new(), old: HashMap::new(), most })
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<Arc<T>> {
        if let Some(found) = self.young.get(key) {
            return Some(Arc::clone(found));
        }
        let found = self.old.remove(key)?;
        self.put(key.clone(), Arc::clone(&found));
        Some(found)
    }

    pub(crate) fn put(&mut self, key: K, value: Arc<T>) {
        if self.young.len() >= self.most / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

/// See the module.
#[derive(Debug)]
pub struct Profile {
    dir: PathBuf,
    manifest: Manifest,
    labels: Labels,
    index: Index,
    kinds: Kinds,
    series: SeriesIndex,
    series_file: Option<File>,
    tiles: File,
    /// Tables of lanes.
    files: HashMap<&'static str, File>,
    lists: Mutex<Cache<At, Vec<RowPage>>>,
    events: Mutex<Cache<At, Events>>,
    /// What series of tables are made of.
    rows: Kept,
    /// Footers of tables.
    footers: Mutex<HashMap<String, ArrowReaderMetadata>>,
}

impl Profile {
    /// Opens the files of a profile; [`Store::open`](crate::Store::open) finds
    /// them.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or are damaged.
    pub fn open(dir: PathBuf, manifest: Manifest, labels: Labels) -> Result<Self, Error> {
        let index: Index = read_json(&dir.join("lanes.json"))?;
        let kinds = optional(&dir.join("kinds.json"))?;
        let series_path = dir.join("series.json");
        let series: SeriesIndex = optional(&series_path)?;
        let (found, known) = (series.version, SeriesIndex::KNOWN);
        if found > known {
            return Err(Error::Newer { path: series_path, found, known });
        }
        let open = |name: &str| {
            let path = dir.join(name);
            File::open(&path).map_err(Error::io("open", &path))
        };
        let mut files = HashMap::new();
        for lane in &index.lanes {
            let table = lane.kind.table();
            if !files.contains_key(table) {
                files.insert(table, open(&format!("{table}.parquet"))?);
            }
        }
        let tiles = open("tiles")?;
        let series_file = if series.series.is_empty() { None } else { Some(open("series")?) };
        Ok(Self {
            dir,
            manifest,
            labels,
            index,
            kinds,
            series,
            series_file,
            tiles,
            files,
            lists: Cache::new(LISTS),
            events: Cache::new(PAGES),
            rows: Kept::new(),
            footers: Mutex::default(),
        })
    }

    /// What it is.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Name and tags when it was opened.
    pub const fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its lanes, by core, engines before DMA engines.
    pub fn lanes(&self) -> &[Lane] {
        &self.index.lanes
    }

    /// Names of events, one for each kind; lanes, viewports and selections give
    /// places in it.
    pub fn names(&self) -> &[String] {
        &self.index.names
    }

    pub(crate) const fn index_version(&self) -> u32 {
        self.index.version
    }

    /// A name by its place; empty for none.
    pub fn name(&self, place: u32) -> &str {
        self.index.names.get(place as usize).map_or("", String::as_str)
    }

    /// What the events of a kind have in common; a profile of an older version
    /// has none.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// One kind by its place; nothing is known of it in a profile of an older
    /// version.
    pub fn kind(&self, place: u32) -> Kind {
        self.kinds.kind(place).cloned().unwrap_or_default()
    }

    /// Lines of the timeline that are not events, from top to bottom; a profile
    /// of an older version has none.
    pub fn series(&self) -> &[Series] {
        &self.series.series
    }

    pub(crate) const fn series_version(&self) -> u32 {
        self.series.version
    }

    pub(crate) const fn kept_rows(&self) -> &Kept {
        &self.rows
    }

    pub(crate) const fn series_file(&self) -> Option<&File> {
        self.series_file.as_ref()
    }

    /// When the pages of a lane begin, ns.
    pub(crate) fn page_starts(&self, lane: usize) -> Result<Vec<u64>, Error> {
        let blocks = self.lane(lane)?.blocks.len();
        let mut out = Vec::new();
        for block in 0..blocks {
            out.extend(self.pages(lane, block)?.iter().map(|page| page.start));
        }
        Ok(out)
    }

    fn lane(&self, lane: usize) -> Result<&Lane, Error> {
        let lanes = self.index.lanes.len();
        let missing = || Error::Query(format!("the profile has {lanes} lanes, no lane {lane}"));
        self.index.lanes.get(lane).ok_or_else(missing)
    }

    fn tiles_at(&self, at: u64, size: u32) -> Result<Vec<u8>, Error> {
        crate::stop::wanted()?;
        let path = || self.dir.join("tiles");
        if size > MOST {
            return Err(Error::damaged(&path(), format!("a page of {size} bytes at {at}")));
        }
        let mut bytes = vec![0; size as usize];
        self.tiles.read_exact_at(&mut bytes, at).map_err(|e| Error::io("read", &path())(e))?;
        Ok(bytes)
    }

    /// The pages of a block.
    fn pages(&self, lane: usize, block: usize) -> Result<Arc<Vec<RowPage>>, Error> {
        let key = (lane as u32, block as u32, u32::MAX);
        let cache = || self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cache().get(&key) {
            return Ok(known);
        }
        let path = || self.dir.join("tiles");
        let Some(of) = self.lane(lane)?.blocks.get(block) else {
            return Err(Error::damaged(&path(), format!("no block {block}")));
        };
        let (at, size) = of.at;
        let pages = read_pages(&self.tiles_at(at, size)?, self.index.version > 0);
        let pages = pages.ok_or_else(|| Error::damaged(&path(), format!("pages at {at}")))?;
        let pages = Arc::new(pages);
        cache().put(key, Arc::clone(&pages));
        Ok(pages)
    }
}

/// A file that older versions did not write.
fn optional<T: Default + serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    if path.exists() { read_json(path) } else { Ok(T::default()) }
}
