//! A table as a Parquet file, row group by row group, listed by a key.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, encode_arrow_schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::ByteArray;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, OffsetIndexBuilder, ParquetMetaDataBuilder,
    ParquetMetaDataWriter, RowGroupMetaData, SortingColumn,
};
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::TrackedWrite;
use parquet::schema::types::SchemaDescPtr;

use super::bits;
use super::page::{self, Coding};
use crate::error::Error;
use crate::schema::{Column, Kind, Table};

/// Rows of a page of whole numbers, so that a viewport reads little.
pub const PAGE: usize = 8192;

/// Level of zstd (our choice: measured on slot streams, higher ones gain 3 % at
/// twice the time).
const LEVEL: i32 = 1;

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
struct Shared {
    plain: usize,
    packed: Vec<u8>,
}

/// The slots of the rows of a row group. Columns that tell the same slots apart
/// share their bytes.
#[derive(Debug)]
pub struct Stream {
    slots: Vec<u32>,
    pages: std::cell::RefCell<HashMap<Telling, Arc<Shared>>>,
}

/// Whether a column may be null, and the place of the value of each slot.
type Telling = (bool, Vec<u32>);

/// Place of a slot without a value.
const NONE: u32 = u32::MAX;

impl Stream {
    /// Slots, from 0.
    pub fn new(slots: Vec<u32>) -> Self {
        Self { slots, pages: Default::default() }
    }

    /// The page of a column in which slot `s` has the value `places[s]`.
    fn page(
        &self,
        optional: bool,
        places: Vec<u32>,
        zstd: &mut zstd::bulk::Compressor<'static>,
    ) -> std::io::Result<Arc<Shared>> {
        let key = (optional, places);
        if let Some(known) = self.pages.borrow().get(&key) {
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
        self.pages.borrow_mut().insert(key, Arc::clone(&shared));
        Ok(shared)
    }
}

/// Levels with their length before them.
fn leveled(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let size = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&size.to_le_bytes());
    }
}

/// Where the pages of a column of whole numbers lie: byte and length of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages(pub Vec<(u64, u32)>);

/// What a row group became.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Pages by column; empty for columns that are no whole numbers.
    pub pages: Vec<Pages>,
}

/// The file behind a writer of the parquet crate, which buffers, and drops
/// what it could not write.
#[derive(Clone)]
struct Out(Arc<Mutex<Open>>);

struct Open {
    file: BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl Out {
    fn with<T>(
        &self,
        act: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        let mut open = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let done = act(&mut open.file);
        if let Err(error) = &done {
            let code = error.raw_os_error();
            let copy = code.map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
            open.failed.get_or_insert(copy);
        }
        done
    }

    /// Flushes, and tells the first failure; gives the size.
    fn close(&self) -> std::io::Result<u64> {
        self.with(|file| file.flush())?;
        let mut open = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match open.failed.take() {
            Some(error) => Err(error),
            None => Ok(open.file.get_ref().metadata()?.len()),
        }
    }
}

impl std::io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.with(|file| file.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.with(|file| file.flush())
    }
}

/// A row group that is written.
struct Group {
    key: (u64, u64),
    rows: u64,
    columns: Vec<ColumnChunkMetaData>,
    offsets: Vec<OffsetIndexMetaData>,
    bytes: i64,
}

/// See the module.
pub struct TableWriter {
    path: PathBuf,
    table: Table,
    out: TrackedWrite<Out>,
    sink: Out,
    schema: SchemaDescPtr,
    arrow: String,
    groups: Vec<Group>,
    zstd: zstd::bulk::Compressor<'static>,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What a table became.
#[derive(Debug, Default)]
pub struct Finished {
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// First row and place of each row group, in the order of writing.
    pub first_rows: Vec<(u64, u32)>,
}

/// The Arrow schema of a table: texts are dictionaries; units and descriptions
/// stand in the metadata of the columns.
pub fn arrow_schema(table: &Table) -> Schema {
    let fields = table.columns.iter().map(|column| {
        let of = match column.kind {
            Kind::Long => DataType::Int64,
            Kind::Int => DataType::Int32,
            Kind::Single => DataType::Float32,
            Kind::Double => DataType::Float64,
            Kind::Text => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Kind::Flag => DataType::Boolean,
        };
        let about = [("description", &column.description), ("unit", &column.unit)];
        let about = about.into_iter().filter(|(_, text)| !text.is_empty());
        Field::new(&column.name, of, !column.required)
            .with_metadata(about.map(|(key, text)| (key.to_owned(), text.clone())).collect())
    });
    Schema::new(fields.collect::<Vec<_>>())
}

impl TableWriter {
    /// Begins the file of a table in a directory.
    ///
    /// # Errors
    ///
    /// A file that cannot be made.
    pub fn create(dir: &Path, table: &Table) -> Result<Self, Error> {
        let path = dir.join(format!("{}.parquet", table.name));
        let schema = arrow_schema(table);
        let converted = ArrowSchemaConverter::new().convert(&schema);
        let arrow = encode_arrow_schema(&schema);
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let sink = Out(Arc::new(Mutex::new(Open {
            file: BufWriter::with_capacity(1 << 18, file),
            failed: None,
        })));
        let mut out = TrackedWrite::new(sink.clone());
        out.write_all(b"PAR1").map_err(Error::io("write", &path))?;
        let zstd = zstd::bulk::Compressor::new(LEVEL).map_err(Error::io("write", &path))?;
        Ok(Self {
            schema: Arc::new(converted.map_err(Error::parquet(&path))?),
            path,
            table: table.clone(),
            out,
            sink,
            arrow,
            groups: Vec::new(),
            zstd,
            buffer: Vec::new(),
        })
    }

    /// The table.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Writes a row group. `key` is lane and first time: the order of the groups
    /// in the file's list.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn group(
        &mut self,
        key: (u64, u64),
        rows: usize,
        columns: &[Values<'_>],
    ) -> Result<Chunk, Error> {
        let mut chunk = Chunk::default();
        let rows_long = i64::try_from(rows).unwrap_or(i64::MAX);
        let mut group =
            Group { key, rows: wide(rows), columns: Vec::new(), offsets: Vec::new(), bytes: 0 };
        let path = self.path.clone();
        for place in 0..self.table.columns.len() {
            let values = columns.get(place).copied().unwrap_or(Values::Null);
            let (meta, offsets, pages) = self.column(place, rows, values)?;
            let meta = meta.set_num_values(rows_long).build().map_err(Error::parquet(&path))?;
            group.bytes += meta.uncompressed_size();
            group.columns.push(meta);
            group.offsets.push(offsets);
            chunk.pages.push(pages);
        }
        self.groups.push(group);
        Ok(chunk)
    }

    fn column(
        &mut self,
        place: usize,
        rows: usize,
        values: Values<'_>,
    ) -> Result<
        (parquet::file::metadata::ColumnChunkMetaDataBuilder, OffsetIndexMetaData, Pages),
        Error,
    > {
        let Some(column) = self.table.columns.get(place).cloned() else {
            return Err(Error::damaged(&self.path, "a column too many"));
        };
        let start = self.out.bytes_written();
        let mut writing = Writing {
            column: &column,
            out: &mut self.out,
            zstd: &mut self.zstd,
            buffer: &mut self.buffer,
            plain: 0,
            dictionary: None,
            first: None,
            compressed: false,
            offsets: OffsetIndexBuilder::new(),
            pages: Pages::default(),
        };
        let done = writing.values(rows, values);
        let Writing { plain, dictionary, first, compressed, offsets, pages, .. } = writing;
        let (coding, statistics) = done.map_err(Error::io("write", &self.path))?;
        let end = self.out.bytes_written();
        let coding = match coding {
            Coding::Plain => Encoding::PLAIN,
            Coding::Delta => Encoding::DELTA_BINARY_PACKED,
            Coding::Dictionary => Encoding::RLE_DICTIONARY,
            Coding::Split => Encoding::BYTE_STREAM_SPLIT,
        };
        let mut encodings = vec![coding, Encoding::RLE];
        if dictionary.is_some() {
            encodings.push(Encoding::PLAIN);
        }
        let compression = if compressed {
            Compression::ZSTD(ZstdLevel::default())
        } else {
            Compression::UNCOMPRESSED
        };
        let mut meta = ColumnChunkMetaData::builder(self.schema.column(place))
            .set_encodings(encodings)
            .set_compression(compression)
            .set_total_compressed_size(long(end - start))
            .set_total_uncompressed_size(long(plain))
            .set_data_page_offset(long(first.unwrap_or(wide(start))))
            .set_dictionary_page_offset(dictionary.map(long));
        if let Some(statistics) = statistics {
            meta = meta.set_statistics(statistics);
        }
        Ok((meta, offsets.build(), pages))
    }

    /// Lists the row groups by key and closes the file.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn finish(mut self, about: &[(&str, String)]) -> Result<Finished, Error> {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|at| self.groups.get(*at).map(|group| group.key));
        let mut finished =
            Finished { first_rows: vec![(0, 0); order.len()], ..Finished::default() };
        let mut taken: Vec<Option<Group>> = self.groups.drain(..).map(Some).collect();
        let (mut groups, mut offsets) = (Vec::new(), Vec::new());
        // The order of most tables; those without a core have no lane.
        let sorting: Option<Vec<SortingColumn>> = ["start_ts", "timestamp"]
            .iter()
            .find_map(|name| self.table.column(name))
            .and_then(|at| i32::try_from(at).ok())
            .map(|column_idx| {
                vec![SortingColumn { column_idx, descending: false, nulls_first: false }]
            });
        for (place, at) in order.into_iter().enumerate() {
            let Some(group) = taken.get_mut(at).and_then(Option::take) else { continue };
            if let Some(first) = finished.first_rows.get_mut(at) {
                *first = (finished.rows, u32::try_from(place).unwrap_or(u32::MAX));
            }
            finished.rows += group.rows;
            let offset = group.columns.first().map_or(0, |column| column.byte_range().0);
            let mut meta = RowGroupMetaData::builder(Arc::clone(&self.schema))
                .set_num_rows(long(group.rows))
                .set_total_byte_size(group.bytes)
                .set_file_offset(long(offset))
                .set_sorting_columns(sorting.clone())
                .set_column_metadata(group.columns);
            if let Ok(ordinal) = i16::try_from(place) {
                meta = meta.set_ordinal(ordinal);
            }
            groups.push(meta.build().map_err(Error::parquet(&self.path))?);
            offsets.push(group.offsets);
        }
        let mut about: Vec<KeyValue> = about
            .iter()
            .map(|(key, text)| KeyValue::new((*key).to_owned(), text.clone()))
            .collect();
        about.push(KeyValue::new(String::from("description"), self.table.description.clone()));
        about.push(KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), self.arrow.clone()));
        let created = format!("neuron-profile version {}", env!("CARGO_PKG_VERSION"));
        let file = FileMetaData::new(
            1,
            long(finished.rows),
            Some(created),
            Some(about),
            Arc::clone(&self.schema),
            None,
        );
        let metadata = ParquetMetaDataBuilder::new(file)
            .set_row_groups(groups)
            .set_offset_index(Some(offsets))
            .build();
        let path = self.path;
        ParquetMetaDataWriter::new_with_tracked(self.out, &metadata)
            .finish()
            .map_err(Error::parquet(&path))?;
        finished.bytes = self.sink.close().map_err(Error::io("write", &path))?;
        Ok(finished)
    }
}

/// A column chunk being written.
struct Writing<'w> {
    column: &'w Column,
    out: &'w mut TrackedWrite<Out>,
    zstd: &'w mut zstd::bulk::Compressor<'static>,
    buffer: &'w mut Vec<u8>,
    /// Bytes before compression, with the headers.
    plain: u64,
    dictionary: Option<u64>,
    first: Option<u64>,
    compressed: bool,
    offsets: OffsetIndexBuilder,
    pages: Pages,
}

type Coded = (Coding, Option<Statistics>);

impl Writing<'_> {
    fn values(&mut self, rows: usize, values: Values<'_>) -> std::io::Result<Coded> {
        match values {
            Values::Null => self.null(rows),
            Values::Longs(list) => self.longs(list),
            Values::Singles(list) => self.singles(list),
            Values::Long(value) => self.same(rows, &Cells::Longs(vec![Some(value)])),
            Values::Text(text) => self.same(rows, &Cells::Texts(vec![Some(text.to_owned())])),
            Values::Indexed(dictionary, stream) => self.indexed(rows, dictionary, stream),
            Values::Cells(cells) => self.cells(rows, cells),
        }
    }

    /// A page whose bytes are as they will lie in the file.
    fn page(
        &mut self,
        plain: usize,
        packed: &[u8],
        rows: usize,
        coding: Coding,
    ) -> std::io::Result<()> {
        let at = self.out.bytes_written() as u64;
        let mut head = Vec::with_capacity(32);
        page::data(&mut head, plain, packed.len(), rows, coding);
        self.out.write_all(&head)?;
        self.out.write_all(packed)?;
        self.first.get_or_insert(at);
        self.plain += wide(plain) + wide(head.len());
        let size = head.len() + packed.len();
        self.offsets.append_row_count(i64::try_from(rows).unwrap_or(i64::MAX));
        self.offsets.append_offset_and_size(long(at), i32::try_from(size).unwrap_or(i32::MAX));
        self.pages.0.push((at, u32::try_from(size).unwrap_or(u32::MAX)));
        Ok(())
    }

    fn dictionary(&mut self, cells: &Cells) -> std::io::Result<()> {
        let at = self.out.bytes_written() as u64;
        let mut plain = Vec::new();
        let count = plain_values(self.column.kind, cells, true, &mut plain);
        let packed = self.zstd.compress(&plain)?;
        let mut head = Vec::with_capacity(32);
        page::dictionary(&mut head, plain.len(), packed.len(), count);
        self.out.write_all(&head)?;
        self.out.write_all(&packed)?;
        self.plain += wide(plain.len()) + wide(head.len());
        self.dictionary = Some(at);
        self.compressed = true;
        Ok(())
    }

    /// Levels of rows that are all there.
    fn present(&mut self, rows: usize) {
        self.buffer.clear();
        if !self.column.required {
            leveled(self.buffer, |out| bits::run(rows, 1, out));
        }
    }

    fn null(&mut self, rows: usize) -> std::io::Result<Coded> {
        if self.column.required {
            let text = format!("column {} is never null", self.column.name);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, text));
        }
        let mut bytes = Vec::new();
        leveled(&mut bytes, |out| bits::run(rows, 0, out));
        self.page(bytes.len(), &bytes, rows, Coding::Plain)?;
        Ok((Coding::Plain, statistics(self.column.kind, &Cells::Longs(Vec::new()), rows)))
    }

    fn longs(&mut self, list: &[i64]) -> std::io::Result<Coded> {
        for (at, part) in list.chunks(PAGE).enumerate() {
            self.present(part.len());
            bits::delta(part, self.buffer);
            let plain = std::mem::take(self.buffer);
            // The first page tells whether there is anything to gain.
            let packed =
                if at == 0 || self.compressed { Some(self.zstd.compress(&plain)?) } else { None };
            if at == 0 {
                let gain =
                    packed.as_ref().map_or(0, |packed| plain.len().saturating_sub(packed.len()));
                self.compressed = gain * 12 > plain.len();
            }
            match packed.filter(|_| self.compressed) {
                Some(packed) => self.page(plain.len(), &packed, part.len(), Coding::Delta)?,
                None => self.page(plain.len(), &plain, part.len(), Coding::Delta)?,
            }
            *self.buffer = plain;
        }
        let bounds = [list.iter().min(), list.iter().max()].map(Option::<&i64>::copied);
        Ok((Coding::Delta, statistics(self.column.kind, &Cells::Longs(bounds.to_vec()), 0)))
    }

    /// Byte 0 of all, then byte 1 of all: what lies beside each other is alike.
    fn singles(&mut self, list: &[f32]) -> std::io::Result<Coded> {
        self.compressed = true;
        for part in list.chunks(PAGE * 8) {
            self.present(part.len());
            for byte in 0..4 {
                self.buffer
                    .extend(part.iter().map(|v| v.to_le_bytes().get(byte).copied().unwrap_or(0)));
            }
            let packed = self.zstd.compress(self.buffer)?;
            self.page(self.buffer.len(), &packed, part.len(), Coding::Split)?;
        }
        Ok((Coding::Split, None))
    }

    fn same(&mut self, rows: usize, cell: &Cells) -> std::io::Result<Coded> {
        self.dictionary(cell)?;
        self.present(rows);
        self.buffer.push(1);
        bits::run(rows, 0, self.buffer);
        let packed = self.zstd.compress(self.buffer)?;
        self.page(self.buffer.len(), &packed, rows, Coding::Dictionary)?;
        Ok((Coding::Dictionary, statistics(self.column.kind, cell, 0)))
    }

    fn indexed(
        &mut self,
        rows: usize,
        dictionary: &Dictionary,
        stream: &Stream,
    ) -> std::io::Result<Coded> {
        let cells = &dictionary.0;
        if let Some(one) = one_value(cells) {
            return match one {
                Some(one) => self.same(rows, &one),
                None => self.null(rows),
            };
        }
        let (cells, places) = distinct(cells);
        let whole = !places.contains(&NONE);
        self.dictionary(&cells)?;
        let shared = stream.page(!self.column.required, places, self.zstd)?;
        self.page(shared.plain, &shared.packed, rows, Coding::Dictionary)?;
        // How many are null is not counted.
        let statistics = if whole { statistics(self.column.kind, &cells, 0) } else { None };
        Ok((Coding::Dictionary, statistics))
    }

    fn cells(&mut self, rows: usize, cells: &Cells) -> std::io::Result<Coded> {
        self.buffer.clear();
        let present = presence(cells);
        if !self.column.required {
            leveled(self.buffer, |out| bits::levels(present.iter().copied(), out));
        }
        plain_values(self.column.kind, cells, false, self.buffer);
        self.compressed = true;
        let packed = self.zstd.compress(self.buffer)?;
        self.page(self.buffer.len(), &packed, rows, Coding::Plain)?;
        let nulls = present.iter().filter(|present| !**present).count();
        Ok((Coding::Plain, statistics(self.column.kind, cells, nulls)))
    }
}

fn presence(cells: &Cells) -> Vec<bool> {
    match cells {
        Cells::Longs(list) => list.iter().map(Option::is_some).collect(),
        Cells::Reals(list) => list.iter().map(Option::is_some).collect(),
        Cells::Texts(list) => list.iter().map(Option::is_some).collect(),
        Cells::Flags(list) => list.iter().map(Option::is_some).collect(),
    }
}

/// The values, each once, and the place of the value of each slot. Readers may
/// rely on it that a dictionary has nothing twice.
fn distinct(cells: &Cells) -> (Cells, Vec<u32>) {
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

/// The value of all, if it is one; `Some(None)` when all are null.
fn one_value(cells: &Cells) -> Option<Option<Cells>> {
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
fn plain_values(kind: Kind, cells: &Cells, all: bool, out: &mut Vec<u8>) -> usize {
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
fn statistics(kind: Kind, cells: &Cells, nulls: usize) -> Option<Statistics> {
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

fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn long<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}
