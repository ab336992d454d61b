//! Makes a profile again of the rows of its tables and of what it was
//! [`Carried`] with: the tables are written as an ingest writes them, and lanes,
//! zoom levels and series follow from their rows.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::lane::{Event, LaneBuilder};
use super::write::close;
use crate::carried::{Carried, VERSION};
use crate::disk::{Draft, write_json};
use crate::encode::{Cells, Dictionary, Stream, TableWriter, Values};
use crate::error::Error;
use crate::lanes::{Index, Lane, LaneKind};
use crate::manifest::{LAYOUT, Manifest};
use crate::read::Profile;
use crate::schema::{Kind, Table};
use crate::tiles::write::TileFile;

/// A table while its parts come.
#[derive(Debug)]
struct Under {
    writer: TableWriter,
    parts: Vec<u64>,
    /// Parts that came.
    next: usize,
    /// Rows that came.
    rows: u64,
}

/// See the module. The parts of a table come in order; tables may take turns.
#[derive(Debug)]
pub struct Restore {
    draft: Draft,
    carried: Carried,
    tables: HashMap<String, Under>,
    tiles: TileFile<BufWriter<File>>,
    lanes: Vec<LaneBuilder>,
}

impl Restore {
    /// Begins to fill a draft.
    ///
    /// # Errors
    ///
    /// A profile of a newer version or of another id; a disk that cannot be
    /// written.
    pub fn new(draft: Draft, carried: Carried) -> Result<Self, Error> {
        let path = draft.dir().join("manifest.json");
        let (found, known) = (carried.manifest.layout, LAYOUT);
        if found > known {
            return Err(Error::Newer { path, found, known });
        }
        if carried.version > VERSION {
            let (found, known) = (carried.version, VERSION);
            return Err(Error::Newer { path, found, known });
        }
        if carried.manifest.id != draft.id() {
            let id = &carried.manifest.id;
            return Err(Error::damaged(&path, format!("it is of profile {id:?}")));
        }
        let path = draft.dir().join("tiles");
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let lane = |lane: &Lane| {
            let core = usize::try_from(lane.core).unwrap_or(0);
            LaneBuilder::new(lane.kind, core, lane.name.clone())
        };
        let lanes = carried.index.lanes.iter().map(lane).collect();
        let mut tables = HashMap::new();
        for table in &carried.tables {
            // the name becomes that of a file
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = &table.table.name;
            if name.is_empty() || !name.chars().all(plain) {
                return Err(Error::NoTable(name.clone()));
            }
            let writer = TableWriter::create(draft.dir(), &table.table)?;
            let parts = table.parts.clone();
            tables.insert(name.clone(), Under { writer, parts, next: 0, rows: 0 });
        }
        let tiles = TileFile::new(BufWriter::with_capacity(1 << 18, file));
        Ok(Self { draft, carried, tables, tiles, lanes })
    }

    /// Takes the next part of a table: its columns in their order.
    ///
    /// # Errors
    ///
    /// A table or part too many, columns that are not those of the table; a disk
    /// that cannot be written.
    pub fn part(&mut self, table: &str, columns: &[Cells]) -> Result<(), Error> {
        let missing = || Error::NoTable(table.to_owned());
        let under = self.tables.get_mut(table).ok_or_else(missing)?;
        let path = self.draft.dir().join(table);
        let (number, first) = (under.next, under.rows);
        let rows = under.parts.get(number).copied();
        let rows = rows.ok_or_else(|| Error::damaged(&path, format!("no part {number}")))?;
        let count = usize::try_from(rows).map_err(|_| Error::damaged(&path, "its size"))?;
        let of = under.writer.table().clone();
        check(&path, &of, count, columns)?;
        let texts: Vec<Dictionary> = columns.iter().cloned().map(Dictionary).collect();
        let plain: Vec<Plain> =
            of.columns.iter().zip(columns).map(|(c, v)| plain(c.kind, v)).collect();
        let own = Stream::new((0..u32::try_from(count).unwrap_or(u32::MAX)).collect());
        let values: Vec<Values<'_>> = plain
            .iter()
            .zip(columns.iter().zip(&texts))
            .map(|(plain, (cells, dictionary))| match (plain, cells) {
                (Plain::Longs(list), _) => Values::Longs(list),
                (Plain::Singles(list), _) => Values::Singles(list),
                (Plain::No, Cells::Longs(_) | Cells::Texts(_)) => Values::Indexed(dictionary, &own),
                (Plain::No, _) => Values::Cells(cells),
            })
            .collect();
        let chunk = under.writer.group((wide(number), 0), count, &values)?;
        under.next += 1;
        under.rows += rows;
        let holds = |lane: &Lane| {
            lane.kind.table() == table
                && (lane.first_row..lane.first_row + lane.rows).contains(&first)
        };
        let Some(at) = self.carried.index.lanes.iter().position(holds) else { return Ok(()) };
        let (Some(lane), Some(builder)) =
            (self.carried.index.lanes.get(at), self.lanes.get_mut(at))
        else {
            return Ok(());
        };
        let (seen, events) = events(&of, lane, columns);
        let done = builder.block(number, &events, &chunk, seen, &lane.keys, &mut self.tiles);
        done.map_err(Error::io("write", &self.draft.dir().join("tiles")))
    }

    /// All rows came: makes the profile visible.
    ///
    /// # Errors
    ///
    /// A table that lacks parts; a disk that cannot be written. Then nothing is
    /// visible.
    pub fn finish(self) -> Result<Manifest, Error> {
        let Self { draft, carried, tables, mut tiles, lanes } = self;
        let Carried { manifest, labels, index, kinds, peak, .. } = carried;
        let mut manifest = Manifest {
            tables: Default::default(),
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            written_at_ns: super::now(),
            ..manifest
        };
        for (name, under) in tables {
            let (came, all) = (under.next, under.parts.len());
            if came < all {
                let path = draft.dir().join(name);
                return Err(Error::damaged(&path, format!("{came} of its {all} parts came")));
            }
            close(under.writer, &mut manifest)?;
        }
        let path = draft.dir().join("tiles");
        let mut list = Vec::new();
        for (lane, old) in lanes.into_iter().zip(index.lanes) {
            let lane = lane.finish(old.first_row, &mut tiles).map_err(Error::io("write", &path))?;
            if lane.rows != old.rows {
                let (name, has, had) = (old.name, lane.rows, old.rows);
                return Err(Error::damaged(&path, format!("lane {name} has {has} of {had} rows")));
            }
            list.push(lane);
        }
        tiles.into_inner().flush().map_err(Error::io("write", &path))?;
        write_json(&draft.dir().join("lanes.json"), &Index { lanes: list, ..index })?;
        write_json(&draft.dir().join("kinds.json"), &kinds)?;
        if !manifest.system {
            let dir = draft.dir().to_owned();
            let written = Profile::open(dir, manifest.clone(), labels.clone())?;
            crate::series::build(&written, peak)?;
        }
        draft.commit(&mut manifest, &labels)?;
        Ok(manifest)
    }
}

/// Numbers without a null, which have an encoding of their own; a viewport
/// reads those of starts and ends itself.
enum Plain {
    Longs(Vec<i64>),
    Singles(Vec<f32>),
    No,
}

fn plain(kind: Kind, cells: &Cells) -> Plain {
    match cells {
        Cells::Longs(list) => {
            list.iter().copied().collect::<Option<_>>().map_or(Plain::No, Plain::Longs)
        }
        #[allow(clippy::cast_possible_truncation, reason = "the column is of single precision")]
        Cells::Reals(list) if kind == Kind::Single => {
            let all = list.iter().map(|real| real.map(|real| real as f32));
            all.collect::<Option<_>>().map_or(Plain::No, Plain::Singles)
        }
        _ => Plain::No,
    }
}

fn check(path: &Path, table: &Table, rows: usize, columns: &[Cells]) -> Result<(), Error> {
    if columns.len() != table.columns.len() {
        return Err(Error::damaged(path, "it has not the columns of its table"));
    }
    for (column, cells) in table.columns.iter().zip(columns) {
        let fits = matches!(
            (column.kind, cells),
            (Kind::Long | Kind::Int, Cells::Longs(_))
                | (Kind::Single | Kind::Double, Cells::Reals(_))
                | (Kind::Text, Cells::Texts(_))
                | (Kind::Flag, Cells::Flags(_))
        );
        let (length, nulls) = match cells {
            Cells::Longs(list) => (list.len(), list.contains(&None)),
            Cells::Reals(list) => (list.len(), list.contains(&None)),
            Cells::Texts(list) => (list.len(), list.contains(&None)),
            Cells::Flags(list) => (list.len(), list.contains(&None)),
        };
        let name = &column.name;
        if !fits || length != rows {
            let text =
                format!("column {name} has {length} values for {rows} rows, or of another type");
            return Err(Error::damaged(path, text));
        }
        if nulls && column.required {
            return Err(Error::damaged(path, format!("column {name} lacks a value")));
        }
    }
    Ok(())
}

/// The places of start, end and key, and the rows as the lane sees them.
fn events(table: &Table, lane: &Lane, columns: &[Cells]) -> ([usize; 3], Vec<Event>) {
    let key = match lane.kind {
        LaneKind::Engine => "pc",
        LaneKind::Dma => "queue_idx",
        LaneKind::System => "event_type",
    };
    let place = |name: &str| table.column(name).unwrap_or(usize::MAX);
    let seen = ["start_ts", "end_ts", key].map(place);
    let longs = |at: usize| match columns.get(at) {
        Some(Cells::Longs(list)) => list.as_slice(),
        _ => &[],
    };
    let [starts, ends, keys] = seen.map(longs);
    let bytes = match lane.kind {
        LaneKind::Dma => longs(place("transfer_bytes")),
        _ => &[],
    };
    let known: HashMap<u64, u32> = lane.keys.iter().copied().collect();
    let number = |list: &[Option<i64>], at: usize| {
        list.get(at).copied().flatten().and_then(|value| u64::try_from(value).ok())
    };
    let rows = 0..starts.len();
    let events = rows.map(|at| Event {
        start: number(starts, at).unwrap_or(0),
        end: number(ends, at).unwrap_or(0),
        name: number(keys, at).and_then(|key| known.get(&key).copied()).unwrap_or(u32::MAX),
        bytes: number(bytes, at).and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0),
    });
    (seen, events.collect())
}

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
