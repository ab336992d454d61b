//! Rows in the forms of results, as they come.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::bail;
use clap::ValueEnum;
use neuron_core::cli::width_of;
use profile_query::arrow::array::RecordBatch;
use profile_query::arrow::csv;
use profile_query::arrow::datatypes::SchemaRef;
use profile_query::arrow::error::ArrowError;
use profile_query::arrow::json::writer::{JsonFormat, WriterBuilder};
use profile_query::parquet::arrow::ArrowWriter;
use profile_query::parquet::basic::{Compression, ZstdLevel};
use profile_query::parquet::file::properties::WriterProperties;

use super::grid;
use crate::whole::Whole;

/// Forms of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Form {
    /// For people
    #[default]
    Table,
    /// RFC 4180, null is an empty field
    Csv,
    /// A list of objects
    Json,
    /// A file of columns
    Parquet,
}

/// Rows that come batch by batch.
pub(crate) type Batches<'a> = &'a mut dyn Iterator<Item = anyhow::Result<RecordBatch>>;

/// Where rows go, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The form.
    pub(crate) form: Form,
    /// A file; stdout if none, or if `-`.
    pub(crate) file: Option<&'a Path>,
    /// Rows of a table at most, 0 for all.
    pub(crate) most: usize,
}

/// Writes rows.
///
/// # Errors
///
/// Those of the rows, and a file that cannot be written; then it is not there.
pub(crate) fn rows(
    target: Target<'_>,
    schema: &SchemaRef,
    batches: Batches<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let Some(path) = target.file.filter(|path| path.as_os_str() != "-") else {
        if target.form == Form::Parquet {
            bail!("parquet is no text for stdout: add --output-file FILE");
        }
        let mut out = BufWriter::new(&mut *out);
        text(target, schema, batches, width_of(&io::stdout()), &mut out)?;
        out.flush()?;
        return Ok(());
    };
    let whole = Whole::create(path)?;
    let failed = neuron_core::Error::io("write", path);
    if target.form == Form::Parquet {
        parquet(schema, batches, whole.file())?;
    } else {
        let mut file = BufWriter::new(whole.file());
        text(target, schema, batches, None, &mut file)?;
        file.flush().map_err(failed)?;
    }
    whole.keep()?;
    writeln!(out, "{}", path.display())?;
    out.flush()?;
    Ok(())
}

fn text(
    target: Target<'_>,
    schema: &SchemaRef,
    batches: Batches<'_>,
    width: Option<usize>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match target.form {
        Form::Table => table(target.most, schema, batches, width, out),
        Form::Csv => {
            let mut writer = csv::Writer::new(&mut *out);
            // The names of the columns, also where no row comes.
            writer.write(&RecordBatch::new_empty(SchemaRef::clone(schema))).map_err(plain)?;
            for batch in batches {
                writer.write(&batch?).map_err(plain)?;
            }
            Ok(())
        }
        Form::Json | Form::Parquet => {
            let builder = WriterBuilder::new().with_explicit_nulls(true);
            let mut writer = builder.build::<_, Lines>(&mut *out);
            for batch in batches {
                writer.write(&batch?).map_err(plain)?;
            }
            writer.finish().map_err(plain)?;
            Ok(())
        }
    }
}

fn table(
    most: usize,
    schema: &SchemaRef,
    batches: Batches<'_>,
    width: Option<usize>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut kept = Vec::new();
    let (mut left, mut more) = (if most == 0 { usize::MAX } else { most }, false);
    for batch in batches {
        let batch = batch?;
        more = batch.num_rows() > left;
        kept.push(batch.slice(0, batch.num_rows().min(left)));
        left -= batch.num_rows().min(left);
        if more {
            break;
        }
    }
    grid::write(out, schema, &kept, width)?;
    if more {
        let text = format!("the first {most} rows; all with --max-rows 0 or --output-format csv");
        crate::output::tell("note", [text]);
    }
    Ok(())
}

fn parquet(schema: &SchemaRef, batches: Batches<'_>, file: &std::fs::File) -> anyhow::Result<()> {
    let level = ZstdLevel::try_new(1)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
    let mut writer = ArrowWriter::try_new(file, SchemaRef::clone(schema), Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}

/// An error of a writer, which is that of the system behind it.
fn plain(error: ArrowError) -> anyhow::Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        other => other.into(),
    }
}

/// A JSON list with a row on each line.
#[derive(Debug, Default)]
struct Lines;

impl JsonFormat for Lines {
    fn start_stream<W: Write>(&self, out: &mut W) -> Result<(), ArrowError> {
        Ok(out.write_all(b"[")?)
    }

    fn start_row<W: Write>(&self, out: &mut W, first: bool) -> Result<(), ArrowError> {
        Ok(out.write_all(if first { b"\n" } else { b",\n" })?)
    }

    fn end_stream<W: Write>(&self, out: &mut W) -> Result<(), ArrowError> {
        Ok(out.write_all(b"\n]\n")?)
    }
}
