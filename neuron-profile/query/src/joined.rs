//! A table of many profiles as one partitioned dataset: one scan over all files,
//! whose last column tells the profile.
//!
//! A plan has one node for it, however many ranks there are, and a filter on the
//! profile leaves files out before any is opened.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, AsArray as _, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::FileFormat as _;
use datafusion::datasource::listing::{ListingTableUrl, PartitionedFile};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::scalar::ScalarValue;

use crate::catalog::PROFILE;
use crate::format::Unordered;

/// See the module.
#[derive(Debug)]
pub(crate) struct Joined {
    schema: TableSchema,
    store: ObjectStoreUrl,
    files: Vec<Piece>,
}

/// The file of a profile.
#[derive(Debug)]
pub(crate) struct Piece {
    /// What the profile is called.
    pub(crate) called: String,
    /// Where the file is.
    pub(crate) url: ListingTableUrl,
    /// Its rows.
    pub(crate) rows: u64,
    /// Its bytes.
    pub(crate) bytes: u64,
}

impl Joined {
    /// The files of one store; those columns that a file does not have are null
    /// in its rows.
    pub(crate) fn new(columns: SchemaRef, store: ObjectStoreUrl, files: Vec<Piece>) -> Self {
        let name: FieldRef = Arc::new(Field::new(PROFILE, DataType::Utf8, false));
        let schema = TableSchema::builder(columns).with_table_partition_cols(vec![name]).build();
        Self { schema, store, files }
    }

    /// The files that filters on the profile's name leave.
    fn kept(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<&Piece>> {
        let named = filters.iter().filter(|filter| by_name(filter)).cloned();
        let Some(filter) = conjunction(named) else { return Ok(self.files.iter().collect()) };
        let schema = Arc::new(Schema::new(vec![Field::new(PROFILE, DataType::Utf8, false)]));
        let names: ArrayRef =
            Arc::new(self.files.iter().map(|file| Some(&file.called)).collect::<StringArray>());
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![names])?;
        let filter = unqualified(filter)?;
        let filter = state.create_physical_expr(filter, &DFSchema::try_from(schema)?)?;
        let held = filter.evaluate(&batch)?.into_array(batch.num_rows())?;
        let held = held.as_boolean();
        let kept = self.files.iter().zip(held.iter());
        Ok(kept.filter(|(_, held)| *held == Some(true)).map(|(file, _)| file).collect())
    }
}

/// It looks at the profile's name and nothing else, and says the same each time.
fn by_name(filter: &Expr) -> bool {
    let columns = filter.column_refs();
    !columns.is_empty()
        && columns.iter().all(|column| column.name == PROFILE)
        && !filter.is_volatile()
}

fn unqualified(filter: Expr) -> Result<Expr> {
    use datafusion::common::Column;
    use datafusion::common::tree_node::{Transformed, TreeNode as _};
    let bare = filter.transform(|expr| {
        Ok(match expr {
            Expr::Column(column) => {
                Transformed::yes(Expr::Column(Column::new_unqualified(column.name)))
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(bare.data)
}

#[async_trait]
impl TableProvider for Joined {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let of = |filter: &&Expr| match by_name(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Inexact,
        };
        Ok(filters.iter().map(of).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = self.kept(state, filters)?;
        if kept.is_empty() {
            let schema = self.schema();
            let schema = match projection {
                Some(places) => Arc::new(schema.project(places)?),
                None => schema,
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let sum = |of: fn(&Piece) -> u64| {
            let sum = kept.iter().map(|file| of(file)).sum::<u64>();
            Precision::Inexact(usize::try_from(sum).unwrap_or(usize::MAX))
        };
        let mut statistics = Statistics::new_unknown(self.schema.table_schema());
        statistics.num_rows = sum(|file| file.rows);
        statistics.total_byte_size = sum(|file| file.bytes);
        let files = kept.iter().map(|piece| {
            let mut file = PartitionedFile::new(String::new(), piece.bytes);
            file.object_meta.location = piece.url.prefix().clone();
            file.with_partition_values(vec![ScalarValue::from(piece.called.as_str())])
        });
        let groups = FileGroup::new(files.collect());
        let groups = groups.split_files(state.config().target_partitions().max(1));
        let format = Unordered::default();
        let source = format.file_source(self.schema.clone());
        let config = FileScanConfigBuilder::new(self.store.clone(), source)
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            // A filter that the scan does not apply itself may leave none of the first rows.
            .with_limit(limit.filter(|_| filters.iter().all(by_name)))
            .build();
        format.create_physical_plan(state, config).await
    }
}
