//! A session: profiles, limits, and SQL that reads.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{CatalogProvider as _, MemoryCatalogProvider};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;
use tokio_stream::StreamExt as _;

use crate::catalog::{Dataset, Tables};
use crate::error::Error;

/// What a query may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory; what is larger goes to temporary files.
    pub memory: usize,
    /// Threads that work; 0 for one of each processor.
    pub threads: usize,
}

impl Default for Limits {
    /// 1 GiB, all processors (our choice).
    fn default() -> Self {
        Self { memory: 1 << 30, threads: 0 }
    }
}

/// Profiles that can be asked.
pub struct Session {
    context: SessionContext,
    runtime: Runtime,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session {}", self.context.session_id())
    }
}

/// What a query gives, batch by batch as it comes.
pub struct Rows<'a> {
    session: &'a Session,
    stream: SendableRecordBatchStream,
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows of {:?}", self.stream.schema())
    }
}

impl Session {
    /// A session over some profiles.
    ///
    /// # Errors
    ///
    /// When its threads cannot be made.
    pub fn new(profiles: Vec<Dataset>, limits: Limits) -> Result<Self, Error> {
        let mut config = SessionConfig::new().with_information_schema(true);
        if limits.threads > 0 {
            config = config.with_target_partitions(limits.threads);
        }
        let options = config.options_mut();
        options.catalog.create_default_catalog_and_schema = false;
        options.catalog.default_catalog = String::from("profiles");
        options.catalog.default_schema = String::from("main");
        options.execution.parquet.pushdown_filters = true;
        let memory = Arc::new(FairSpillPool::new(limits.memory));
        let environment = RuntimeEnvBuilder::new().with_memory_pool(memory).build_arc()?;
        let context = SessionContext::new_with_config_rt(config, environment);
        let catalog = Arc::new(MemoryCatalogProvider::new());
        catalog.register_schema("main", Arc::new(Tables::new(profiles)))?;
        context.register_catalog("profiles", catalog);
        let runtime = tokio::runtime::Builder::new_multi_thread().build();
        let runtime = runtime.map_err(|error| Error::Read(format!("cannot make threads: {error}")))?;
        Ok(Self { context, runtime })
    }

    /// Starts a query: one statement that reads.
    ///
    /// # Errors
    ///
    /// SQL that is wrong, that names what is not there, or that changes something.
    pub fn query(&self, sql: &str) -> Result<Rows<'_>, Error> {
        let reads = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        let stream = self.runtime.block_on(async {
            let frame = self.context.sql_with_options(sql, reads).await?;
            frame.execute_stream().await
        })?;
        Ok(Rows { session: self, stream })
    }

    /// All rows of a query; for what is known to be small.
    ///
    /// # Errors
    ///
    /// As [`Self::query`], and files that cannot be read.
    pub fn all(&self, sql: &str) -> Result<Vec<RecordBatch>, Error> {
        self.query(sql)?.collect()
    }
}

impl Rows<'_> {
    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.session.runtime.block_on(self.stream.next())?;
        Some(next.map_err(Error::from))
    }
}
