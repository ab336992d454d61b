//! Values of columns: as they come, or by slot, with the bytes that columns
//! share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::data_type::ByteArray;
use parquet::file::statistics::Statistics;

use super::bits;
use super::table::wide;
use crate::schema::Kind;

/// Longest text in the statistics of a column.
const STATISTIC: usize = 64;
/// Values of all rows of a small table, or those of a dictionary.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Whole numbers, of 32 bits too.
    Longs(Vec<Option<i64>>),
    /// Reals, of single precision too.
    Reals(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Yes or no.
    Flags(Vec<Option<bool>>),
}

/// Values by slot: what is the same for all rows of a slot.
#[derive(Debug, Clone, PartialEq)]
pub struct Dictionary(pub Cells);

/// Values of a column in a row group.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// None has one.
    Null,
    /// Whole numbers.
    Longs(&'a [i64]),
    /// Whole numbers that come again, one by one or in runs, and that no viewport
    /// reads.
    Repeated(&'a [i64]),
    /// Single precision.
    Singles(&'a [f32]),
    /// All rows have this number.
    Long(i64),
    /// All rows have this text.
    Text(&'a str),
    /// Each row that of its slot.
    Indexed(&'a Dictionary, &'a Stream),
    /// Few rows, as they come.
    Cells(&'a Cells),
}

/// Bytes of a page that several columns share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) plain: usize,
    pub(super) packed: Vec<u8>,
}

/// The bytes of a page, once they are made.
type Page = Mutex<Option<Arc<Shared>>>;

/// The slots of the rows of a row group. Columns that tell the same slots apart
/// share their bytes.
#[derive(Debug)]
pub struct Stream {
    slots: Vec<u32>,
    pages: Mutex<HashMap<Telling, Arc<Page>>>,
}

/// Whether a column may be null, and the place of the value of each slot.
type Telling = (bool, Vec<u32>);

/// Place of a slot without a value.
pub(super) const NONE: u32 = u32::MAX;

impl Stream {
    /// Slots, from 0.
    pub fn new(slots: Vec<u32>) -> Self {
        Self { slots, pages: Default::default() }
    }

    /// The page of a column in which slot `s` has the value `places[s]`.
    pub(super) fn page(
        &self,
        optional: bool,
        places: Vec<u32>,
        zstd: &mut zstd::bulk::Compressor<'static>,
    ) -> std::io::Result<Arc<Shared>> {
        let key = (optional, places);
        let own = Arc::clone(
            self.pages
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(key.clone())
                .or_default(),
        );
        // Who asks for the same bytes meanwhile waits for them here.
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*own {
            return Ok(Arc::clone(known));
        }
        let places = &key.1;
        let most = places.iter().copied().filter(|place| *place != NONE).max().unwrap_or(0);
        let mut plain = Vec::with_capacity(self.slots.len() * 2 + 16);
        let place = |slot: &u32| places.get(*slot as usize).copied().unwrap_or(NONE);
        if places.contains(&NONE) {
            let has = |slot: &u32| place(slot) != NONE;
            leveled(&mut plain, |out| bits::levels(self.slots.iter().map(has), out));
            let kept: Vec<u32> = self.slots.iter().map(place).filter(|p| *p != NONE).collect();
            bits::indices(&kept, most, &mut plain);
        } else {
            if optional {
                leveled(&mut plain, |out| bits::run(self.slots.len(), 1, out));
            }
            let all: Vec<u32> = self.slots.iter().map(place).collect();
            bits::indices(&all, most, &mut plain);
        }
        let packed = zstd.compress(&plain)?;
        let shared = Arc::new(Shared { plain: plain.len(), packed });
        *own = Some(Arc::clone(&shared));
        Ok(shared)
    }
}

/// Levels with their length before them.
pub(super) fn leveled(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let size = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&size.to_le_bytes());
    }
}

pub(super) fn presence(cells: &Cells) -> Vec<bool> {
    match cells {
        Cells::Longs(list) => list.iter().map(Option::is_some).collect(),
        Cells::Reals(list) => list.iter().map(Option::is_some).collect(),
        Cells::Texts(list) => list.iter().map(Option::is_some).collect(),
        Cells::Flags(list) => list.iter().map(Option::is_some).collect(),
    }
}

/// The values, each once, and the place of the value of each slot. Readers may
/// rely on it that a dictionary has nothing twice.
pub(super) fn distinct(cells: &Cells) -> (Cells, Vec<u32>) {
    fn of<T: Clone, K: std::hash::Hash + Eq>(
        list: &[Option<T>],
        key: impl Fn(&T) -> K,
    ) -> (Vec<Option<T>>, Vec<u32>) {
        let mut known = HashMap::new();
        let mut values = Vec::new();
        let places = list.iter().map(|value| {
            let Some(of) = value else { return NONE };
            *known.entry(key(of)).or_insert_with(|| {
                values.push(value.clone());
                values.len() as u32 - 1
            })
        });
        let places = places.collect();
        (values, places)
    }
    match cells {
        Cells::Longs(list) => {
            let (values, places) = of(list, |value| *value);
            (Cells::Longs(values), places)
        }
        Cells::Reals(list) => {
            let (values, places) = of(list, |value| value.to_bits());
            (Cells::Reals(values), places)
        }
        Cells::Texts(list) => {
            let (values, places) = of(list, String::clone);
            (Cells::Texts(values), places)
        }
        Cells::Flags(list) => {
            let (values, places) = of(list, |value| *value);
            (Cells::Flags(values), places)
        }
    }
}

/// Values of a dictionary that is made while rows are written, at most, and
/// places of the table that finds them (our choice: it stays in a cache).
const FREQUENT: usize = 1 << 13;
const PLACES: usize = FREQUENT << 1;

/// The values, each once, the most frequent first, and the place of each row's;
/// `None` for too many.
pub(super) fn frequent(list: &[u64]) -> Option<(Vec<u64>, Vec<u32>)> {
    let mut table: Vec<u32> = vec![0; PLACES];
    let mut known: Vec<(u64, u32)> = Vec::new();
    let mut slots: Vec<u32> = Vec::with_capacity(list.len());
    for value in list {
        let mut at = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % PLACES;
        loop {
            let place = table.get_mut(at)?;
            match (*place as usize).checked_sub(1).and_then(|slot| known.get_mut(slot)) {
                Some((other, count)) if other == value => {
                    *count += 1;
                    slots.push(*place - 1);
                    break;
                }
                Some(_) => at = (at + 1) % PLACES,
                None => {
                    if known.len() == FREQUENT {
                        return None;
                    }
                    slots.push(known.len() as u32);
                    known.push((*value, 1));
                    *place = known.len() as u32;
                    break;
                }
            }
        }
    }
    let mut order: Vec<u32> = (0..known.len() as u32).collect();
    let count = |slot: &u32| known.get(*slot as usize).map_or(0, |(_, count)| *count);
    order.sort_by_key(|slot| std::cmp::Reverse(count(slot)));
    let mut places = vec![0_u32; known.len()];
    let mut values = Vec::with_capacity(known.len());
    for (place, slot) in order.iter().enumerate() {
        if let Some(to) = places.get_mut(*slot as usize) {
            *to = place as u32;
        }
        values.extend(known.get(*slot as usize).map(|(value, _)| *value));
    }
    for slot in &mut slots {
        *slot = places.get(*slot as usize).copied().unwrap_or(0);
    }
    Some((values, slots))
}

/// The value of all, if it is one; `Some(None)` when all are null.
pub(super) fn one_value(cells: &Cells) -> Option<Option<Cells>> {
    fn of<T: PartialEq + Clone>(
        list: &[Option<T>],
        wrap: fn(Vec<Option<T>>) -> Cells,
    ) -> Option<Option<Cells>> {
        let first = list.first()?;
        list.iter().all(|value| value == first).then(|| first.clone().map(|v| wrap(vec![Some(v)])))
    }
    match cells {
        Cells::Longs(list) => of(list, Cells::Longs),
        Cells::Reals(list) => of(list, Cells::Reals),
        Cells::Texts(list) => of(list, Cells::Texts),
        Cells::Flags(list) => of(list, Cells::Flags),
    }
}

/// Values as they are. A null has a place of its own only where `all`. Gives
/// how many.
pub(super) fn plain_values(kind: Kind, cells: &Cells, all: bool, out: &mut Vec<u8>) -> usize {
    let mut count = 0;
    match cells {
        Cells::Longs(list) => {
            for value in list.iter().filter(|value| all || value.is_some()) {
                let value = value.unwrap_or(0);
                match kind {
                    Kind::Int => out
                        .extend_from_slice(&i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes()),
                    _ => out.extend_from_slice(&value.to_le_bytes()),
                }
                count += 1;
            }
        }
        Cells::Reals(list) => {
            for value in list.iter().filter(|value| all || value.is_some()) {
                let value = value.unwrap_or(0.0);
                match kind {
                    Kind::Single => out.extend_from_slice(&(value as f32).to_le_bytes()),
                    _ => out.extend_from_slice(&value.to_le_bytes()),
                }
                count += 1;
            }
        }
        Cells::Texts(list) => {
            for value in list.iter().filter(|value| all || value.is_some()) {
                let text = value.as_deref().unwrap_or_default();
                out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
                count += 1;
            }
        }
        Cells::Flags(list) => {
            let (mut byte, mut used) = (0_u8, 0);
            for value in list.iter().filter(|value| all || value.is_some()) {
                byte |= u8::from(value.unwrap_or(false)) << used;
                used += 1;
                count += 1;
                if used == 8 {
                    out.push(byte);
                    (byte, used) = (0, 0);
                }
            }
            if used > 0 {
                out.push(byte);
            }
        }
    }
    count
}

/// Least and greatest value.
pub(super) fn statistics(kind: Kind, cells: &Cells, nulls: usize) -> Option<Statistics> {
    let nulls = Some(wide(nulls));
    match (kind, cells) {
        (Kind::Long, Cells::Longs(list)) => {
            let list = list.iter().flatten().copied();
            Some(Statistics::int64(list.clone().min(), list.max(), None, nulls, false))
        }
        (Kind::Int, Cells::Longs(list)) => {
            let list = list.iter().flatten().filter_map(|value| i32::try_from(*value).ok());
            Some(Statistics::int32(list.clone().min(), list.max(), None, nulls, false))
        }
        (Kind::Text, Cells::Texts(list)) => {
            let list = list.iter().flatten();
            let (least, most) = (list.clone().min()?, list.max()?);
            let short = least.len() <= STATISTIC && most.len() <= STATISTIC;
            let bytes = |text: &str| Some(ByteArray::from(text.as_bytes().to_vec()));
            short.then(|| Statistics::byte_array(bytes(least), bytes(most), None, nulls, false))
        }
        _ => None,
    }
}
