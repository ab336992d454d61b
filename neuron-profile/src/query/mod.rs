//! `neuron-profile query`: SQL over stored profiles.

pub(crate) mod grid;
pub(crate) mod interrupt;
pub(crate) mod select;
pub(crate) mod write;

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use profile_query::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use profile_query::{Dataset, Error, Stop, describe};

use crate::output::{self, Exit};
use interrupt::Interrupt;
use select::Select;
use write::{Form, Target};

/// Bytes of a statement at most.
const STATEMENT: u64 = 1 << 20;

/// Ask stored profiles in SQL
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "neuron-profile query [OPTIONS] PROFILE... SQL\n       \
                      neuron-profile query [OPTIONS] PROFILE... --tables\n       \
                      neuron-profile query [OPTIONS] PROFILE... --describe TABLE",
    after_help = format!("{}\n{}", NOTES, output::codes())
)]
pub struct Args {
    /// Profiles (id, the begin of one, a display name; a folder or s3://BUCKET/PATH for all below it), then
    /// one statement that reads; - reads it from stdin
    #[arg(value_name = "PROFILE... SQL")]
    words: Vec<String>,

    /// The statement from a file; - is stdin
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["tables", "describe"])]
    file: Option<PathBuf>,

    /// List the tables with their rows
    #[arg(long, conflicts_with = "describe")]
    tables: bool,

    /// List the columns of a table with types, units and descriptions
    #[arg(long, value_name = "TABLE")]
    describe: Option<String>,

    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    output_format: Form,

    /// Where it goes; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,

    /// Rows of the form table at most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_rows: usize,

    #[command(flatten)]
    select: Select,
}

/// What a person has to know to ask.
const NOTES: &str = "\
Tables and columns have the names of the public schema, in any case. With several profiles every table has a column
\"profile\" in front; each profile also is a schema of its own: p1, p2 by its place, or its id or display name in double
quotes. Profiles lists them. file_row_index() is the place of a row in its table.
On a cluster (--engine) scheduler and executors read the profiles themselves: from storage that all share, or from an
object store with credentials of their own (AWS_ACCESS_KEY_ID and so on); none are sent.

  neuron-profile query mm 'SELECT engine, count(*), sum(duration_ns) FROM Instruction GROUP BY engine'
  neuron-profile query --tag job7 'SELECT profile, max(end_ts) FROM Instruction GROUP BY profile ORDER BY 2 DESC'
  neuron-profile query --engine ballista://head:50050 s3://profiles/job7 'SELECT count(*) FROM DmaPacket'
";

/// Runs the command.
///
/// # Errors
///
/// No such profile, SQL that is wrong, files that cannot be written.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let target =
        Target { form: args.output_format, file: args.output_file.as_deref(), most: args.max_rows };
    if args.tables || args.describe.is_some() {
        let profiles = args.select.profiles(&args.words)?;
        let batch = match &args.describe {
            Some(table) => columns(&profiles, table)?,
            None => tables(&profiles)?,
        };
        write::rows(target, &batch.schema(), &mut std::iter::once(Ok(batch.clone())), out)?;
        return Ok(Exit::Done);
    }
    let (names, sql) = match (&args.file, args.words.as_slice()) {
        (Some(file), names) => (names, statement(file)?),
        (None, [names @ .., sql]) if sql == "-" => (names, statement(Path::new("-"))?),
        (None, [names @ .., sql]) => (names, sql.clone()),
        (None, []) => bail!("no statement: neuron-profile query PROFILE... SQL"),
    };
    let profiles = match args.select.profiles(names) {
        Err(error) if names.is_empty() => {
            bail!(
                "{error}; a profile comes before the statement: neuron-profile query PROFILE... SQL"
            )
        }
        profiles => profiles?,
    };
    let stop = Stop::default();
    let interrupt = Interrupt::catch(&stop)?;
    let done = ask(profiles, args, &stop, &sql, target, out);
    interrupt.end();
    done.map(|()| Exit::Done)
}

fn ask(
    profiles: Vec<Dataset>,
    args: &Args,
    stop: &Stop,
    sql: &str,
    target: Target<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let session = args.select.session(profiles, stop)?;
    let rows = session.query(sql).map_err(memory)?;
    if let Some(why) = rows.here() {
        crate::output::tell("note", [format!("answered in this process: {why}")]);
    }
    let schema = rows.schema();
    write::rows(target, &schema, &mut rows.map(|batch| batch.map_err(memory)), out)
}

/// Which flag allows more.
pub(crate) fn memory(error: Error) -> anyhow::Error {
    match error {
        Error::Memory(_) => anyhow::anyhow!("{error} (--memory-limit)"),
        error => error.into(),
    }
}

/// A statement from a file or stdin.
fn statement(path: &Path) -> anyhow::Result<String> {
    let failed = neuron_core::Error::io("read", path);
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(STATEMENT + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path)
            .and_then(|file| file.take(STATEMENT + 1).read_to_string(&mut text))
    };
    let have = read.map_err(failed)?;
    if u64::try_from(have)? > STATEMENT {
        bail!("{}: a statement has at most {STATEMENT} bytes", path.display());
    }
    Ok(text)
}

fn texts<'t>(all: impl Iterator<Item = &'t str>) -> ArrayRef {
    Arc::new(all.map(Some).collect::<StringArray>())
}

fn tables(profiles: &[Dataset]) -> anyhow::Result<RecordBatch> {
    let tables = describe::tables(profiles);
    let rows = tables.iter().map(|table| i64::try_from(table.rows).ok());
    Ok(RecordBatch::try_from_iter([
        ("table", texts(tables.iter().map(|table| table.table.as_str()))),
        ("rows", Arc::new(rows.collect::<Int64Array>()) as ArrayRef),
        ("description", texts(tables.iter().map(|table| table.description.as_str()))),
    ])?)
}

fn columns(profiles: &[Dataset], table: &str) -> anyhow::Result<RecordBatch> {
    let columns = describe::columns(profiles, table)?;
    let required = columns.iter().map(|column| Some(column.required));
    Ok(RecordBatch::try_from_iter([
        ("column", texts(columns.iter().map(|column| column.column.as_str()))),
        ("type", texts(columns.iter().map(|column| column.kind))),
        ("unit", texts(columns.iter().map(|column| column.unit.as_str()))),
        ("required", Arc::new(required.collect::<BooleanArray>()) as ArrayRef),
        ("description", texts(columns.iter().map(|column| column.description.as_str()))),
    ])?)
}
