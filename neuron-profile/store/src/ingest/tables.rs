//! Tables of a core whose rows come in order of time: gathered in parts, each a
//! row group.

use neuron_core::engine::Engine;
use profile_engine::cores::Core;
use profile_engine::debug::Dependence;
use profile_engine::row::{
    ActiveRow, Edge, LossRow, NoticeRow, PendingRow, ThrottleRow, ThroughputRow, UpdateRow,
};

use crate::encode::{Cells, Dictionary, Stream, TableWriter, Values};
use crate::error::Error;

/// Rows of a part.
const ROWS: usize = 1 << 18;

/// Rows of one table and core.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) core: usize,
    pub(super) rows: Rows,
}

/// The number of a loss of records among faults (our choice).
const LOSS: i64 = 2;

/// A row about a fault.
#[derive(Debug, Clone)]
pub(super) struct Note {
    core: usize,
    time: u64,
    kind: i64,
    text: String,
}

impl Note {
    pub(super) fn new(row: &NoticeRow, kind: i64, text: &str) -> Self {
        Self { core: row.core, time: row.time, kind, text: text.to_owned() }
    }

    /// Records of the trace are lost about here.
    pub(super) fn loss(row: &LossRow) -> Self {
        let text = String::from("records of the trace are lost about here: their ring was full");
        Self { core: row.core, time: row.time, kind: LOSS, text }
    }
}

/// Rows, column by column; times in ns.
#[derive(Debug)]
pub(super) enum Rows {
    Edges { from: Vec<i64>, to: Vec<i64>, kind: Vec<u32> },
    Updates { time: Vec<i64>, value: Vec<i64>, key: Vec<u32> },
    Active { start: Vec<i64>, end: Vec<i64>, length: Vec<i64>, engine: Vec<u32> },
    Traffic { time: Vec<i64>, rate: Vec<f32>, total: Vec<i64> },
    Pending { time: Vec<i64>, value: Vec<i64> },
    Throttles(Vec<ThrottleRow>),
    Notes(Vec<Note>),
}

impl Rows {
    fn len(&self) -> usize {
        match self {
            Self::Edges { from, .. } => from.len(),
            Self::Updates { time, .. }
            | Self::Traffic { time, .. }
            | Self::Pending { time, .. } => time.len(),
            Self::Active { start, .. } => start.len(),
            Self::Throttles(list) => list.len(),
            Self::Notes(list) => list.len(),
        }
    }

    /// The table.
    pub(super) const fn table(&self) -> &'static str {
        match self {
            Self::Edges { .. } => "Flow",
            Self::Updates { .. } => "SemaphoreUpdate",
            Self::Active { .. } => "ActiveTime",
            Self::Traffic { .. } => "DmaUsage",
            Self::Pending { .. } => "PendingDma",
            Self::Throttles(_) => "Throttle",
            Self::Notes(_) => "Error",
        }
    }
}

/// The kinds of tables, empty.
fn empty() -> [Rows; 7] {
    [
        Rows::Edges { from: Vec::new(), to: Vec::new(), kind: Vec::new() },
        Rows::Updates { time: Vec::new(), value: Vec::new(), key: Vec::new() },
        Rows::Active { start: Vec::new(), end: Vec::new(), length: Vec::new(), engine: Vec::new() },
        Rows::Traffic { time: Vec::new(), rate: Vec::new(), total: Vec::new() },
        Rows::Pending { time: Vec::new(), value: Vec::new() },
        Rows::Throttles(Vec::new()),
        Rows::Notes(Vec::new()),
    ]
}

/// What is being gathered, by core.
#[derive(Debug)]
pub(super) struct Parts(Vec<[Rows; 7]>);

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Kinds of dependence by their place in the dictionary.
const KINDS: [Dependence; 5] = [
    Dependence::Other,
    Dependence::Ordered,
    Dependence::Anti,
    Dependence::Output,
    Dependence::Flow,
];

impl Parts {
    pub(super) fn new(cores: usize) -> Self {
        Self((0..cores).map(|_| empty()).collect())
    }

    fn add(&mut self, core: usize, kind: usize, add: impl FnOnce(&mut Rows)) -> Option<Part> {
        let rows = self.0.get_mut(core)?.get_mut(kind)?;
        add(rows);
        if rows.len() < ROWS {
            return None;
        }
        let fresh = empty().into_iter().nth(kind)?;
        Some(Part { core, rows: std::mem::replace(rows, fresh) })
    }

    pub(super) fn edge(&mut self, core: usize, edge: &Edge, id: u64) -> Option<Part> {
        self.add(core, 0, |rows| {
            if let Rows::Edges { from, to, kind } = rows {
                from.push(long(edge.id));
                to.push(long(id));
                let place = KINDS.iter().position(|kind| *kind == edge.kind).unwrap_or(0);
                kind.push(u32::try_from(place).unwrap_or(0));
            }
        })
    }

    pub(super) fn update(&mut self, row: &UpdateRow) -> Option<Part> {
        self.add(row.core, 1, |rows| {
            if let Rows::Updates { time, value, key } = rows {
                time.push(long(row.time / 1000));
                value.push(i64::from(row.update.value));
                let engine = row.update.engine.map_or(7, |engine| engine.index() as u32);
                let mode = u32::from(row.update.mode);
                key.push(u32::from(row.update.id) | engine << 8 | mode << 12);
            }
        })
    }

    pub(super) fn active(&mut self, row: &ActiveRow) -> Option<Part> {
        self.add(row.core, 2, |rows| {
            if let Rows::Active { start, end, length, engine } = rows {
                start.push(long(row.start / 1000));
                end.push(long(row.end / 1000));
                length.push(long((row.end - row.start) / 1000));
                engine.push(row.engine.index() as u32);
            }
        })
    }

    pub(super) fn traffic(&mut self, row: &ThroughputRow) -> Option<Part> {
        self.add(row.core, 3, |rows| {
            if let Rows::Traffic { time, rate, total } = rows {
                time.push(long(row.time / 1000));
                rate.push(row.rate as f32);
                total.push(long(row.total));
            }
        })
    }

    pub(super) fn pending(&mut self, row: &PendingRow) -> Option<Part> {
        self.add(row.core, 4, |rows| {
            if let Rows::Pending { time, value } = rows {
                time.push(long(row.time / 1000));
                value.push(long(row.value));
            }
        })
    }

    pub(super) fn throttle(&mut self, row: &ThrottleRow) -> Option<Part> {
        self.add(row.core, 5, |rows| {
            if let Rows::Throttles(list) = rows {
                list.push(*row);
            }
        })
    }

    pub(super) fn note(&mut self, note: Note) -> Option<Part> {
        self.add(note.core, 6, |rows| {
            if let Rows::Notes(list) = rows {
                list.push(note);
            }
        })
    }

    /// What is left.
    pub(super) fn finish(&mut self) -> Vec<Part> {
        let taken = std::mem::take(&mut self.0).into_iter().enumerate();
        let all = taken.flat_map(|(core, tables)| tables.map(|rows| Part { core, rows }));
        all.filter(|part| part.rows.len() > 0).collect()
    }
}

/// Keys as places in a list of those that occur.
fn compact(keys: Vec<u32>) -> (Vec<u32>, Stream) {
    let most = keys.iter().copied().max().unwrap_or(0) as usize;
    let mut place = vec![u32::MAX; most + 1];
    let mut known = Vec::new();
    let slots = keys
        .into_iter()
        .map(|key| {
            let Some(place) = place.get_mut(key as usize) else { return 0 };
            if *place == u32::MAX {
                *place = known.len() as u32;
                known.push(key);
            }
            *place
        })
        .collect();
    (known, Stream::new(slots))
}

fn texts(list: impl IntoIterator<Item = Option<String>>) -> Dictionary {
    Dictionary(Cells::Texts(list.into_iter().collect()))
}

impl Part {
    /// Writes the part as row group number `at` of its table.
    pub(super) fn write(self, out: &mut TableWriter, cores: &[Core], at: u64) -> Result<(), Error> {
        let core = self.core as u64;
        let pcore = Values::Long(long(core));
        let rows = self.rows.len();
        let key = (core, at);
        match self.rows {
            Rows::Edges { from, to, kind } => {
                let (kinds, stream) = compact(kind);
                let kinds = texts(
                    kinds
                        .into_iter()
                        .map(|kind| KINDS.get(kind as usize).map(|kind| kind.name().to_owned())),
                );
                let table = Values::Text("Instruction");
                let kinds = Values::Indexed(&kinds, &stream);
                let (from, to) = (Values::Repeated(&from), Values::Repeated(&to));
                let columns = [from, to, table, table, kinds];
                out.group(key, rows, &columns)?;
            }
            Rows::Updates { time, value, key: keys } => {
                let (known, stream) = compact(keys);
                let names = cores.get(self.core).map(|core| &core.names);
                let ids = texts(known.iter().map(|key| {
                    let id = (key & 0xff) as u8;
                    let text = names.map(|names| names.text(id)).unwrap_or_default();
                    Some(if text.starts_with('$') { id.to_string() } else { text })
                }));
                let sources = texts(known.iter().map(|key| {
                    let engine = Engine::ALL.get((key >> 8 & 15) as usize)?;
                    Some(engine.display_name().to_owned())
                }));
                let modes = known.iter().map(|key| Some(i64::from(key >> 12))).collect();
                let modes = Dictionary(Cells::Longs(modes));
                let columns = [
                    Values::Longs(&time),
                    Values::Indexed(&ids, &stream),
                    Values::Repeated(&value),
                    Values::Indexed(&sources, &stream),
                    Values::Indexed(&modes, &stream),
                    pcore,
                ];
                out.group(key, rows, &columns)?;
            }
            Rows::Active { start, end, length, engine } => {
                let (known, stream) = compact(engine);
                let names = texts(known.iter().map(|engine| {
                    Some(Engine::ALL.get(*engine as usize)?.display_name().to_lowercase())
                }));
                let columns = [
                    Values::Longs(&start),
                    Values::Longs(&end),
                    Values::Indexed(&names, &stream),
                    pcore,
                    Values::Repeated(&length),
                ];
                out.group(key, rows, &columns)?;
            }
            Rows::Traffic { time, rate, total } => {
                let columns =
                    [Values::Longs(&time), Values::Singles(&rate), Values::Longs(&total), pcore];
                out.group(key, rows, &columns)?;
            }
            Rows::Pending { time, value } => {
                let columns = [Values::Longs(&time), Values::Longs(&value), pcore];
                out.group(key, rows, &columns)?;
            }
            Rows::Throttles(list) => {
                let longs = |of: fn(&ThrottleRow) -> u64| -> Vec<i64> {
                    list.iter().map(|row| long(of(row))).collect()
                };
                let length = longs(|row| row.duration / 1000);
                let (k, n) = (longs(|row| row.k.into()), longs(|row| row.n.into()));
                let time = longs(|row| row.time / 1000);
                let kinds = list.iter().map(|row| Some(row.activity.to_string())).collect();
                let kinds = Cells::Texts(kinds);
                let columns = [
                    Values::Longs(&length),
                    Values::Longs(&k),
                    Values::Longs(&n),
                    Values::Longs(&time),
                    Values::Cells(&kinds),
                    pcore,
                ];
                out.group(key, rows, &columns)?;
            }
            Rows::Notes(list) => {
                let text = Cells::Texts(list.iter().map(|note| Some(note.text.clone())).collect());
                let kind: Vec<i64> = list.iter().map(|note| note.kind).collect();
                let time: Vec<i64> = list.iter().map(|note| long(note.time / 1000)).collect();
                let word = |note: &Note| if note.kind == LOSS { "Warnings" } else { "Errors" };
                let types = list.iter().map(|note| Some(word(note).to_owned()));
                let types = Cells::Texts(types.collect());
                let columns = [
                    Values::Cells(&text),
                    Values::Longs(&kind),
                    Values::Null,
                    Values::Null,
                    pcore,
                    Values::Longs(&time),
                    Values::Cells(&types),
                ];
                out.group(key, rows, &columns)?;
            }
        }
        Ok(())
    }
}
