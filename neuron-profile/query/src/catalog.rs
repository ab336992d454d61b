//! Profiles as schemas of tables, under their names in any case.
//!
//! Schemas: `main` has all profiles; with several, its tables have a column
//! `profile` in front. Each profile also is a schema of its own: `p1`, `p2` by
//! its place, and under its id and its display name.
//!
//! A table that a profile could have but that has no row is there, empty; one
//! that is never stored is not, and the reason is told.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::Column;
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::{MemTable, ViewTable, provider_as_source};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use profile_store::encode::table::arrow_schema;
use profile_store::schema;

use crate::dataset::{Dataset, names};
use crate::error::Error;

/// The schema of all profiles.
pub(crate) const MAIN: &str = "main";

/// The table that lists the profiles of the session.
pub(crate) const PROFILES: &str = "Profiles";

/// The column that tells the profile.
pub(crate) const PROFILE: &str = "profile";

/// All schemas of a session.
#[derive(Debug)]
pub(crate) struct Profiles {
    main: Arc<Tables>,
    each: Vec<Arc<Tables>>,
}

impl Profiles {
    pub(crate) fn new(profiles: Vec<Dataset>) -> Self {
        let one = |profile: &Dataset| {
            Arc::new(Tables {
                names: names(std::slice::from_ref(profile)),
                profiles: vec![profile.clone()],
            })
        };
        let each = profiles.iter().map(one).collect();
        Self { main: Arc::new(Tables { names: names(&profiles), profiles }), each }
    }

    /// The tables of a schema.
    pub(crate) fn tables(&self, name: &str) -> Option<&Arc<Tables>> {
        if name.eq_ignore_ascii_case(MAIN) {
            return Some(&self.main);
        }
        let place = name.strip_prefix(['p', 'P']).and_then(|n| n.parse::<usize>().ok());
        if let Some(tables) = place.and_then(|place| self.each.get(place.checked_sub(1)?)) {
            return Some(tables);
        }
        let is = |tables: &&Arc<Tables>| {
            tables.profiles.iter().any(|profile| {
                profile.id() == name || profile.labels.display_name.eq_ignore_ascii_case(name)
            })
        };
        let mut found = self.each.iter().filter(is);
        // Two of the same name have none.
        found.next().filter(|_| found.next().is_none())
    }
}

impl CatalogProvider for Profiles {
    fn schema_names(&self) -> Vec<String> {
        let each = (1..=self.each.len()).map(|place| format!("p{place}"));
        std::iter::once(MAIN.to_owned()).chain(each).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let tables = self.tables(name)?;
        Some(Arc::clone(tables) as Arc<dyn SchemaProvider>)
    }
}

/// All tables of some profiles.
#[derive(Debug)]
pub(crate) struct Tables {
    /// What the profiles are called, in their order.
    names: Vec<String>,
    profiles: Vec<Dataset>,
}

impl Tables {
    /// Names of the tables, also of those that are empty.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let stored = self.profiles.iter().flat_map(|profile| profile.manifest.tables.keys());
        let known = schema::tables().iter().map(|table| table.name.as_str());
        stored.map(String::as_str).chain(known).chain([PROFILES]).collect()
    }

    /// A table's own name.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        self.names().into_iter().find(|table| table.eq_ignore_ascii_case(name))
    }

    fn provider(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(name) = self.find(name) else { return Ok(None) };
        if name == PROFILES {
            return self.list().map(Some);
        }
        let having = || {
            let all = self.profiles.iter().zip(&self.names);
            all.filter(|(profile, _)| profile.manifest.tables.contains_key(name))
        };
        if let [profile] = self.profiles.as_slice()
            && profile.manifest.tables.contains_key(name)
        {
            let schema = read_schema(profile, name)?;
            return of_one(profile, name, schema).map(Some);
        }
        let mut union: Option<LogicalPlanBuilder> = None;
        for (profile, called) in having() {
            let plan = with_name(profile, called, name)?;
            union = Some(match union {
                None => LogicalPlanBuilder::from(plan),
                Some(sum) => sum.union_by_name(plan)?,
            });
        }
        if let Some(union) = union {
            return Ok(Some(Arc::new(ViewTable::new(union.build()?, None))));
        }
        let Some(table) = schema::table(name) else { return Ok(None) };
        let mut fields: Vec<_> = arrow_schema(table).fields().iter().cloned().collect();
        if self.profiles.len() > 1 {
            fields.insert(0, Arc::new(Field::new(PROFILE, DataType::Utf8, false)));
        }
        Ok(Some(Arc::new(EmptyTable::new(Arc::new(Schema::new(fields))))))
    }

    /// The profiles themselves.
    fn list(&self) -> Result<Arc<dyn TableProvider>> {
        let texts = |of: &dyn Fn(&Dataset) -> String| -> ArrayRef {
            Arc::new(self.profiles.iter().map(|profile| Some(of(profile))).collect::<StringArray>())
        };
        let longs = |of: &dyn Fn(&Dataset) -> u64| -> ArrayRef {
            let all = self.profiles.iter().map(|profile| i64::try_from(of(profile)).ok());
            Arc::new(all.collect::<Int64Array>())
        };
        let called: ArrayRef = Arc::new(self.names.iter().map(Some).collect::<StringArray>());
        let batch = RecordBatch::try_from_iter([
            (PROFILE, called),
            ("id", texts(&|p| p.manifest.id.clone())),
            ("display_name", texts(&|p| p.labels.display_name.clone())),
            ("tags", texts(&|p| p.labels.tags.join(", "))),
            ("neff", texts(&|p| p.manifest.neff.clone())),
            ("trace", texts(&|p| p.manifest.trace.clone())),
            ("execution", longs(&|p| p.manifest.execution.into())),
            ("total_ns", longs(&|p| p.manifest.total_ns)),
            ("events", longs(&|p| p.manifest.events)),
            ("bytes", longs(&|p| p.manifest.bytes)),
            ("written_at_ns", longs(&|p| p.manifest.written_at_ns)),
        ])?;
        Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        self.names().into_iter().map(str::to_owned).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.provider(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

fn damaged(text: String) -> DataFusionError {
    DataFusionError::External(Box::new(Error::Read(text)))
}

fn path(profile: &Dataset, name: &str) -> PathBuf {
    profile.dir.join(format!("{name}.parquet"))
}

/// The columns of a table, as its file says. Files of a profile never change.
fn read_schema(profile: &Dataset, name: &str) -> Result<SchemaRef> {
    let path = path(profile, name);
    let file = std::fs::File::open(&path).map_err(|error| {
        let error = profile_store::Error::io("open", &path)(error);
        damaged(error.to_string())
    })?;
    ParquetRecordBatchReaderBuilder::try_new(file)
        .map(|reader| Arc::clone(reader.schema()))
        .map_err(|error| damaged(profile_store::Error::damaged(&path, error).to_string()))
}

/// A table of one profile with these columns.
fn of_one(profile: &Dataset, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableProvider>> {
    let path = std::path::absolute(path(profile, name))?;
    // A path may have the letters of patterns in it.
    let url = url::Url::from_file_path(&path);
    let url = url.map_err(|()| damaged(format!("{} is no path of a file", path.display())))?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
    let config = ListingTableConfig::new(ListingTableUrl::try_new(url, None)?)
        .with_listing_options(options)
        .with_schema(schema);
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// A table of a profile with the name of the profile.
fn with_name(profile: &Dataset, called: &str, name: &str) -> Result<LogicalPlan> {
    // Two profiles tell different things about their tables, and a union wants
    // them to tell the same.
    let fields = read_schema(profile, name)?;
    let plain =
        |field: &FieldRef| Field::new(field.name(), field.data_type().clone(), field.is_nullable());
    let schema = Arc::new(Schema::new(fields.fields().iter().map(plain).collect::<Vec<_>>()));
    let table = of_one(profile, name, Arc::clone(&schema))?;
    let columns = schema.fields().iter().map(|field| Expr::Column(Column::from_name(field.name())));
    let first = lit(called).alias(PROFILE);
    LogicalPlanBuilder::scan(name, provider_as_source(table), None)?
        .project(std::iter::once(first).chain(columns).collect::<Vec<_>>())?
        .build()
}
