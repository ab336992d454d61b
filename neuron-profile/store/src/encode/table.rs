//! A table as a Parquet file, row group by row group, listed by a key.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, encode_arrow_schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnChunkMetaDataBuilder, FileMetaData, KeyValue, OffsetIndexBuilder,
    ParquetMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::writer::TrackedWrite;
use parquet::schema::types::SchemaDescPtr;

use super::chunk::{self, Coder, Encoded};
use super::output::Out;
use super::page::Coding;
use super::values::Values;
use crate::error::Error;
use crate::schema::{Kind, Table};

/// Rows of a page of whole numbers, so that a viewport reads little.
pub const PAGE: usize = 8192;

/// Rows of a row group from which on two threads encode its columns (our choice:
/// one more thread takes as long as some thousand rows).
const MANY: usize = 1 << 14;

/// Level of zstd (our choice: measured on slot streams, higher ones gain 3 % at
/// twice the time).
const LEVEL: i32 = 1;

/// Where the pages of a column of whole numbers lie: byte and length of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages(pub Vec<(u64, u32)>);

/// What a row group became.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Pages by column; empty for columns that are no whole numbers.
    pub pages: Vec<Pages>,
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
    coders: [Coder; 2],
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
        let sink = Out::new(file);
        let mut out = TrackedWrite::new(sink.clone());
        out.write_all(b"PAR1").map_err(Error::io("write", &path))?;
        let coder = || Coder::new(LEVEL).map_err(Error::io("write", &path));
        let coders = [coder()?, coder()?];
        Ok(Self {
            schema: Arc::new(converted.map_err(Error::parquet(&path))?),
            path,
            table: table.clone(),
            out,
            sink,
            arrow,
            groups: Vec::new(),
            coders,
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
        let encoded = self.encoded(rows, columns).map_err(Error::io("write", &path))?;
        for (place, column) in encoded.into_iter().enumerate() {
            let start = wide(self.out.bytes_written());
            self.out.write_all(&column.bytes).map_err(Error::io("write", &path))?;
            let mut offsets = OffsetIndexBuilder::new();
            let mut pages = Pages::default();
            for (at, size, rows) in &column.pages {
                offsets.append_row_count(long(*rows));
                offsets.append_offset_and_size(
                    long(start + at),
                    i32::try_from(*size).unwrap_or(i32::MAX),
                );
                pages.0.push((start + at, *size));
            }
            let meta = self.about(place, start, column).set_num_values(rows_long);
            let meta = meta.build().map_err(Error::parquet(&path))?;
            group.bytes += meta.uncompressed_size();
            group.columns.push(meta);
            group.offsets.push(offsets.build());
            chunk.pages.push(pages);
        }
        self.groups.push(group);
        Ok(chunk)
    }

    /// The columns in their order, by two threads where they are long.
    fn encoded(&mut self, rows: usize, columns: &[Values<'_>]) -> io::Result<Vec<Encoded>> {
        let next = AtomicUsize::new(0);
        let table = &self.table;
        let work = |coder: &mut Coder| -> io::Result<Vec<(usize, Encoded)>> {
            let mut done = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(column) = table.columns.get(place) else { return Ok(done) };
                let values = columns.get(place).copied().unwrap_or(Values::Null);
                done.push((place, chunk::encode(column, rows, values, coder)?));
            }
        };
        let [first, second] = &mut self.coders;
        let mut all = if rows < MANY {
            work(first)?
        } else {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| work(second));
                let own = work(first);
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let mut all = own?;
                all.extend(other?);
                Ok::<_, io::Error>(all)
            })?
        };
        all.sort_unstable_by_key(|(place, _)| *place);
        Ok(all.into_iter().map(|(_, encoded)| encoded).collect())
    }

    /// What the footer tells of a column that begins at a byte.
    fn about(&self, place: usize, start: u64, column: Encoded) -> ColumnChunkMetaDataBuilder {
        let coding = match column.coding {
            Coding::Plain => Encoding::PLAIN,
            Coding::Delta => Encoding::DELTA_BINARY_PACKED,
            Coding::Dictionary => Encoding::RLE_DICTIONARY,
            Coding::Split => Encoding::BYTE_STREAM_SPLIT,
        };
        let mut encodings = vec![coding, Encoding::RLE];
        if column.dictionary.is_some() {
            encodings.push(Encoding::PLAIN);
        }
        let compression = if column.compressed {
            Compression::ZSTD(ZstdLevel::default())
        } else {
            Compression::UNCOMPRESSED
        };
        let first = column.pages.first().map_or(0, |(at, ..)| *at);
        let meta = ColumnChunkMetaData::builder(self.schema.column(place))
            .set_encodings(encodings)
            .set_compression(compression)
            .set_total_compressed_size(long(column.bytes.len()))
            .set_total_uncompressed_size(long(column.plain))
            .set_data_page_offset(long(start + first))
            .set_dictionary_page_offset(column.dictionary.map(|at| long(start + at)));
        match column.statistics {
            Some(statistics) => meta.set_statistics(statistics),
            None => meta,
        }
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
        // Row groups are in order of time each, which is not stated: there are
        // readers that take it as the order of the whole file.
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

pub(super) fn wide(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

pub(super) fn long<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}
