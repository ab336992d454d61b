//! The columns of the tables of profiles, as their files say.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::error::DataFusionError;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::ObjectStoreExt as _;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use profile_store::encode::table::arrow_schema;
use profile_store::schema;
use tokio::task::JoinSet;

use crate::dataset::Dataset;
use crate::error::{Error, line};
use crate::place::Place;

/// Footers that are read at once from an object store (our choice).
const AT_ONCE: usize = 32;

/// Bytes at the end of a file that are read first: most footers are smaller, so
/// one request is enough (our choice).
const FOOTER: usize = 64 << 10;

/// The columns of a table, as its file says. Files of a profile never change.
pub(crate) async fn of_file(
    profile: &Dataset,
    name: &str,
    environment: &Arc<RuntimeEnv>,
) -> Result<SchemaRef, Error> {
    let url = profile.place.url(name)?;
    if let Place::Directory(dir) = &profile.place {
        let path = dir.join(format!("{name}.parquet"));
        let file = std::fs::File::open(&path).map_err(profile_store::Error::io("open", &path))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| profile_store::Error::damaged(&path, error))?;
        return Ok(Arc::clone(reader.schema()));
    }
    let told =
        |error: &dyn std::fmt::Display| Error::Read(format!("{url}: {}", line(&error.to_string())));
    let file = ListingTableUrl::try_new(url.clone(), None)?;
    let store = environment.object_store(&file)?;
    let meta = store.head(file.prefix()).await.map_err(|error| told(&error))?;
    let footer = DFParquetMetadata::new(&*store, &meta).with_metadata_size_hint(Some(FOOTER));
    Ok(Arc::new(footer.fetch_schema().await.map_err(|error| told(&error))?))
}

/// The columns of a table in many profiles: each that one has, null where
/// another has not. Those of the public schema are known without a look at the
/// files.
pub(crate) async fn of_files(
    profiles: &[&Dataset],
    name: &str,
    environment: &Arc<RuntimeEnv>,
) -> Result<SchemaRef, Error> {
    let ours = |profile: &&Dataset| profile.manifest.schema_version == schema::VERSION;
    if let Some(table) = schema::table(name).filter(|_| profiles.iter().all(ours)) {
        return Ok(Arc::new(joined(name, &[Arc::new(arrow_schema(table))], true)?));
    }
    let schemas = each(profiles, name, environment).await?;
    Ok(Arc::new(joined(name, &schemas, false)?))
}

/// The columns of a table in each of these profiles, in their order.
pub(crate) async fn each(
    profiles: &[&Dataset],
    name: &str,
    environment: &Arc<RuntimeEnv>,
) -> Result<Vec<SchemaRef>, Error> {
    let mut schemas: Vec<Option<SchemaRef>> = vec![None; profiles.len()];
    let (mut busy, mut next) = (JoinSet::new(), profiles.iter().enumerate());
    loop {
        while busy.len() < AT_ONCE
            && let Some((at, profile)) = next.next()
        {
            let (profile, name) = ((*profile).clone(), name.to_owned());
            let environment = Arc::clone(environment);
            busy.spawn(async move { (at, of_file(&profile, &name, &environment).await) });
        }
        let Some(done) = busy.join_next().await else { break };
        let (at, schema) = done.map_err(|error| Error::Read(error.to_string()))?;
        if let Some(place) = schemas.get_mut(at) {
            *place = Some(schema?);
        }
    }
    Ok(schemas.into_iter().flatten().collect())
}

/// All columns by name, in the order in which they are first seen. What the
/// files tell about their columns differs, and is left out.
fn joined(table: &str, schemas: &[SchemaRef], null: bool) -> Result<Schema, Error> {
    let mut fields: Vec<Field> = Vec::new();
    for schema in schemas {
        for field in schema.fields() {
            match fields.iter_mut().find(|known| known.name() == field.name()) {
                None => fields.push(Field::new(
                    field.name(),
                    field.data_type().clone(),
                    null || field.is_nullable(),
                )),
                Some(known) => {
                    let both = both(known.data_type(), field.data_type());
                    let both = both.ok_or_else(|| {
                        let name = field.name();
                        Error::Sql(format!(
                            "column {name} of {table} is {} in one profile and {} in another",
                            known.data_type(),
                            field.data_type()
                        ))
                    })?;
                    known.set_data_type(both);
                    known.set_nullable(known.is_nullable() || field.is_nullable());
                }
            }
        }
    }
    for field in &mut fields {
        if schemas.iter().any(|schema| schema.field_with_name(field.name()).is_err()) {
            field.set_nullable(true);
        }
    }
    Ok(Schema::new(fields))
}

/// A type that holds the values of both.
fn both(one: &DataType, other: &DataType) -> Option<DataType> {
    if one == other {
        return Some(one.clone());
    }
    (one.is_numeric() && other.is_numeric()).then_some(DataType::Float64)
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_joined_by_name() {
        let schema = |list: &[(&str, DataType, bool)]| {
            let of =
                |(name, of, null): &(&str, DataType, bool)| Field::new(*name, of.clone(), *null);
            Arc::new(Schema::new(list.iter().map(of).collect::<Vec<_>>()))
        };
        let one = schema(&[("a", DataType::Int64, false), ("b", DataType::Int64, false)]);
        let other = schema(&[("c", DataType::Utf8, false), ("a", DataType::Float32, false)]);
        let both = joined("T", &[Arc::clone(&one), other], false).unwrap();
        let expected = schema(&[
            ("a", DataType::Float64, false),
            ("b", DataType::Int64, true),
            ("c", DataType::Utf8, true),
        ]);
        assert_eq!(both, *expected);
        let text = schema(&[("a", DataType::Utf8, false)]);
        let error = joined("T", &[one, text], false).unwrap_err().to_string();
        assert_eq!(error, "column a of T is Int64 in one profile and Utf8 in another");
    }
}
