//! Which tables and columns there are, with units and sentences.

use std::collections::BTreeMap;

use datafusion::arrow::datatypes::SchemaRef;
use profile_store::schema::{self, Kind};
use serde::Serialize;

use crate::columns;
use crate::dataset::Dataset;
use crate::environment::environment;
use crate::error::Error;
use crate::limits::Limits;
use crate::nearest::hint;

/// A table of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableInfo {
    /// Name.
    pub table: String,
    /// Rows; of all profiles together.
    pub rows: u64,
    /// What one row is, or why there is none.
    pub description: String,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnInfo {
    /// Name.
    pub column: String,
    /// Type: int64, int32, float, double, string or boolean.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Unit, empty for none; `%` is a fraction from 0 to 1.
    pub unit: String,
    /// It is never null.
    pub required: bool,
    /// What it says.
    pub description: String,
}

/// All tables of some profiles: those that can be asked, then those that are
/// never stored.
pub fn tables(profiles: &[Dataset]) -> Vec<TableInfo> {
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for table in schema::tables() {
        rows.insert(&table.name, 0);
    }
    for (name, table) in profiles.iter().flat_map(|profile| &profile.manifest.tables) {
        *rows.entry(name).or_default() += table.rows;
    }
    let about = |name: &str| match schema::table(name) {
        Some(table) => table.description.clone(),
        None if name == "Summary" => String::from("Metrics of the execution; one row"),
        None => String::new(),
    };
    let there = rows.into_iter().map(|(name, rows)| TableInfo {
        table: name.to_owned(),
        rows,
        description: about(name),
    });
    let absent = schema::ABSENT.iter().map(|(name, why)| TableInfo {
        table: (*name).to_owned(),
        rows: 0,
        description: format!("not stored: {why}"),
    });
    there.chain(absent).collect()
}

/// The columns of a table, of the first profile that has it.
///
/// # Errors
///
/// No such table, or a file that cannot be read.
pub fn columns(profiles: &[Dataset], name: &str) -> Result<Vec<ColumnInfo>, Error> {
    let known = tables(profiles);
    let Some(table) = known.iter().find(|table| table.table.eq_ignore_ascii_case(name)) else {
        let names = known.iter().map(|table| table.table.as_str());
        return Err(Error::Sql(format!(
            "no table {name}{}",
            hint(name, names, "--tables lists all")
        )));
    };
    if let Some((name, why)) = schema::ABSENT.iter().find(|(absent, _)| *absent == table.table) {
        return Err(Error::Sql(format!("no table {name}: {why}")));
    }
    if let Some(table) = schema::table(&table.table) {
        return Ok(table
            .columns
            .iter()
            .map(|column| ColumnInfo {
                column: column.name.clone(),
                kind: column.kind.name(),
                unit: column.unit.clone(),
                required: column.required,
                description: column.description.clone(),
            })
            .collect());
    }
    // Columns of Summary are the metrics of a profile: its file says them.
    let mut out: Vec<ColumnInfo> = Vec::new();
    let having = profiles.iter().filter(|p| p.manifest.tables.contains_key(&table.table));
    for schema in schemas(&having.collect::<Vec<_>>(), &table.table)? {
        for field in schema.fields() {
            if out.iter().any(|column| column.column == *field.name()) {
                continue;
            }
            let said = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            out.push(ColumnInfo {
                column: field.name().clone(),
                kind: kind(field.data_type()).name(),
                unit: said("unit"),
                required: !field.is_nullable(),
                description: said("description"),
            });
        }
    }
    Ok(out)
}

/// Columns of the files of a table.
fn schemas(profiles: &[&Dataset], table: &str) -> Result<Vec<SchemaRef>, Error> {
    let all: Vec<Dataset> = profiles.iter().map(|profile| (*profile).clone()).collect();
    let environment = environment(&all, Limits::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::Read(format!("cannot make threads: {error}")))?;
    runtime.block_on(columns::each(profiles, table, &environment))
}

fn kind(of: &datafusion::arrow::datatypes::DataType) -> Kind {
    use datafusion::arrow::datatypes::DataType;
    match of {
        DataType::Int64 => Kind::Long,
        DataType::Int32 => Kind::Int,
        DataType::Float32 => Kind::Single,
        DataType::Float64 => Kind::Double,
        DataType::Boolean => Kind::Flag,
        _ => Kind::Text,
    }
}
