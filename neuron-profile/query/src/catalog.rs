//! The tables of profiles, under their names in any case.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, col, lit};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use profile_store::disk::Entry;
use profile_store::{Error, Store};

/// A profile of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// Its id.
    pub id: String,
    /// Its directory.
    pub dir: PathBuf,
    /// Its tables.
    pub tables: BTreeSet<String>,
}

impl Dataset {
    /// A profile of a store, by id, begin of an id or display name.
    ///
    /// # Errors
    ///
    /// None, or several.
    pub fn of(store: &Store, name: &str) -> std::result::Result<Self, Error> {
        let id = store.find(name)?;
        let Entry { manifest, .. } = store.entry(&id)?;
        let tables = manifest.tables.into_keys().collect();
        Ok(Self { dir: store.profiles().join(&id), id, tables })
    }
}

/// All tables of some profiles.
#[derive(Debug)]
pub(crate) struct Tables {
    profiles: Vec<Dataset>,
}

impl Tables {
    pub(crate) fn new(profiles: Vec<Dataset>) -> Self {
        Self { profiles }
    }

    /// The table's own name, and the profiles that have it.
    fn find(&self, name: &str) -> Option<(String, Vec<&Dataset>)> {
        let own = |profile: &Dataset| {
            profile.tables.iter().find(|table| table.eq_ignore_ascii_case(name)).cloned()
        };
        let known = self.profiles.iter().find_map(own)?;
        let having = self.profiles.iter().filter(|profile| profile.tables.contains(&known));
        Some((known.clone(), having.collect()))
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        let all: BTreeSet<&String> =
            self.profiles.iter().flat_map(|profile| &profile.tables).collect();
        all.into_iter().cloned().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some((name, having)) = self.find(name) else { return Ok(None) };
        if self.profiles.len() == 1 {
            return match having.first() {
                Some(profile) => Ok(Some(of_one(profile, &name)?)),
                None => Ok(None),
            };
        }
        let mut union: Option<LogicalPlanBuilder> = None;
        for profile in having {
            let plan = with_id(profile, &name)?;
            union = Some(match union {
                None => LogicalPlanBuilder::from(plan),
                Some(sum) => sum.union_by_name(plan)?,
            });
        }
        let Some(union) = union else { return Ok(None) };
        Ok(Some(Arc::new(ViewTable::new(union.build()?, None))))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// A table of one profile. Files of a profile never change, so its columns are
/// read here once.
fn of_one(profile: &Dataset, name: &str) -> Result<Arc<dyn TableProvider>> {
    let path = profile.dir.join(format!("{name}.parquet"));
    let file = std::fs::File::open(&path).map_err(|error| {
        let text = format!("cannot open {}: {error}", path.display());
        DataFusionError::External(text.into())
    })?;
    let schema: SchemaRef =
        Arc::clone(ParquetRecordBatchReaderBuilder::try_new(file)?.schema());
    let text = path.to_str().ok_or_else(|| {
        DataFusionError::External(format!("{}: not UTF-8", path.display()).into())
    })?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
    let config = ListingTableConfig::new(ListingTableUrl::parse(text)?)
        .with_listing_options(options)
        .with_schema(schema);
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// A table of a profile with the id of the profile.
fn with_id(profile: &Dataset, name: &str) -> Result<LogicalPlan> {
    let table = of_one(profile, name)?;
    let names: Vec<String> =
        table.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns = names.iter().map(|name| col(format!("\"{name}\"")));
    let id = lit(profile.id.clone()).alias("profile");
    LogicalPlanBuilder::scan(name, provider_as_source(table), None)?
        .project(std::iter::once(id).chain(columns).collect::<Vec<_>>())?
        .build()
}
