//! Profiles as schemas of tables, under their names in any case.
//!
//! Schemas: `main` has all profiles; with several, its tables have a column
//! `profile` in front. Each profile also is a schema of its own: `p1`, `p2` by
//! its place, and under its id and its display name.
//!
//! A table that a profile could have but that has no row is there, empty; one
//! that is never stored is not, and the reason is told.
//!
//! A table of several profiles in one store is one scan over all of their files.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::Column;
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::{MemTable, ViewTable, provider_as_source};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use profile_store::encode::table::arrow_schema;
use profile_store::schema;

use crate::columns;
use crate::dataset::{Dataset, names};
use crate::format::Unordered;
use crate::joined::{Joined, Piece};

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
    pub(crate) fn new(profiles: Vec<Dataset>, environment: &Arc<RuntimeEnv>) -> Self {
        let of = |profiles: Vec<Dataset>| {
            let environment = Arc::clone(environment);
            Arc::new(Tables { names: names(&profiles), profiles, environment })
        };
        let each = profiles.iter().map(|profile| of(vec![profile.clone()])).collect();
        Self { main: of(profiles), each }
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
    /// It knows the object stores.
    environment: Arc<RuntimeEnv>,
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

    async fn provider(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(name) = self.find(name) else { return Ok(None) };
        if name == PROFILES {
            return self.list().map(Some);
        }
        let all = self.profiles.iter().zip(&self.names);
        let having: Vec<(&Dataset, &str)> = all
            .filter(|(profile, _)| profile.manifest.tables.contains_key(name))
            .map(|(profile, called)| (profile, called.as_str()))
            .collect();
        if let ([profile], [_]) = (having.as_slice(), self.profiles.as_slice()) {
            let columns = columns::of_file(profile.0, name, &self.environment).await?;
            return of_one(profile.0, name, columns).map(Some);
        }
        if !having.is_empty() {
            return self.of_many(name, &having).await.map(Some);
        }
        let Some(table) = schema::table(name) else { return Ok(None) };
        let mut fields: Vec<_> = arrow_schema(table).fields().iter().cloned().collect();
        if self.profiles.len() > 1 {
            fields.insert(0, Arc::new(Field::new(PROFILE, DataType::Utf8, false)));
        }
        Ok(Some(Arc::new(EmptyTable::new(Arc::new(Schema::new(fields))))))
    }

    /// A scan for each store, and the name of the profile in front.
    async fn of_many(
        &self,
        name: &str,
        having: &[(&Dataset, &str)],
    ) -> Result<Arc<dyn TableProvider>> {
        let profiles: Vec<&Dataset> = having.iter().map(|(profile, _)| *profile).collect();
        let columns = columns::of_files(&profiles, name, &self.environment).await?;
        let mut stores: Vec<(ObjectStoreUrl, Vec<Piece>)> = Vec::new();
        for (profile, called) in having {
            let url = ListingTableUrl::try_new(profile.place.url(name)?, None)?;
            let store = url.object_store();
            let told = profile.manifest.tables.get(name).cloned().unwrap_or_default();
            let called = (*called).to_owned();
            let piece = Piece { called, url, rows: told.rows, bytes: told.bytes };
            match stores.iter_mut().find(|(known, _)| *known == store) {
                Some((_, pieces)) => pieces.push(piece),
                None => stores.push((store, vec![piece])),
            }
        }
        let names = columns.fields().iter().map(|field| field.name());
        let list: Vec<Expr> = std::iter::once(PROFILE)
            .chain(names.map(String::as_str))
            .map(|name| Expr::Column(Column::from_name(name)))
            .collect();
        let mut union: Option<LogicalPlanBuilder> = None;
        for (store, pieces) in stores {
            let table = Arc::new(Joined::new(Arc::clone(&columns), store, pieces));
            let plan = LogicalPlanBuilder::scan(name, provider_as_source(table), None)?;
            let plan = plan.project(list.clone())?;
            union = Some(match union {
                None => plan,
                Some(sum) => sum.union(plan.build()?)?,
            });
        }
        match union {
            Some(union) => Ok(Arc::new(ViewTable::new(union.build()?, None))),
            None => Err(DataFusionError::Internal(format!("no file has the table {name}"))),
        }
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
        self.provider(name).await
    }

    fn table_exist(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// A table of one profile with these columns.
fn of_one(profile: &Dataset, name: &str, columns: SchemaRef) -> Result<Arc<dyn TableProvider>> {
    let options = ListingOptions::new(Arc::new(Unordered::default()));
    let config = ListingTableConfig::new(ListingTableUrl::try_new(profile.place.url(name)?, None)?)
        .with_listing_options(options)
        .with_schema(columns);
    Ok(Arc::new(ListingTable::try_new(config)?))
}
