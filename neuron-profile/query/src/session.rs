//! A session: profiles, limits, and SQL that reads.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::TableReference;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::Instant;
use tokio_stream::StreamExt as _;

use crate::catalog::{MAIN, Profiles};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::limits::{Limits, Stop};
use crate::nearest::hint;

/// The catalog that holds the profiles.
const CATALOG: &str = "profiles";

/// Batches that are ready before they are asked for.
const READY: usize = 2;

/// Operators and keywords of a statement at most, and a stack that is enough
/// for them in a build without optimisation (both our choice; of the stack only
/// what is used becomes memory).
const DEEP: usize = 1000;
const STACK: usize = 64 << 20;

/// Profiles that can be asked.
pub struct Session {
    context: SessionContext,
    profiles: Arc<Profiles>,
    limits: Limits,
    stop: Stop,
    runtime: Runtime,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("profiles", &self.profiles).finish_non_exhaustive()
    }
}

/// What a query gives, batch by batch as it comes.
#[derive(Debug)]
pub struct Rows<'a> {
    session: &'a Session,
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch, DataFusionError>>,
    until: Option<Instant>,
}

impl Session {
    /// A session over some profiles.
    ///
    /// # Errors
    ///
    /// When its threads cannot be made.
    pub fn new(profiles: Vec<Dataset>, limits: Limits, stop: &Stop) -> Result<Self, Error> {
        // With statistics DataFusion takes the order that a Parquet file states for
        // its row groups for that of the whole file, and sorts no more. Our row
        // groups hold a lane each: sorted by time in themselves, not among them.
        let mut config =
            SessionConfig::new().with_information_schema(true).with_collect_statistics(false);
        if limits.threads > 0 {
            config = config.with_target_partitions(limits.threads);
        }
        let options = config.options_mut();
        options.catalog.create_default_catalog_and_schema = false;
        options.catalog.default_catalog = String::from(CATALOG);
        options.catalog.default_schema = String::from(MAIN);
        options.execution.parquet.pushdown_filters = true;
        let environment = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(FairSpillPool::new(limits.memory)))
            .with_disk_manager_builder(
                DiskManagerBuilder::default().with_max_temp_directory_size(limits.spill),
            )
            .build_arc()?;
        let context = SessionContext::new_with_config_rt(config, environment);
        let profiles = Arc::new(Profiles::new(profiles));
        context.register_catalog(CATALOG, Arc::clone(&profiles) as _);
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        if limits.threads > 0 {
            runtime.worker_threads(limits.threads);
        }
        let runtime = runtime.thread_stack_size(STACK).enable_time().build();
        let runtime =
            runtime.map_err(|error| Error::Read(format!("cannot make threads: {error}")))?;
        Ok(Self { context, profiles, limits, stop: stop.clone(), runtime })
    }

    /// Starts a query: one statement that reads.
    ///
    /// # Errors
    ///
    /// SQL that is wrong, that names what is not there, or that changes
    /// something; see [`Error`].
    pub fn query(&self, sql: &str) -> Result<Rows<'_>, Error> {
        bounded(sql)?;
        let until = self.limits.time.and_then(|time| Instant::now().checked_add(time));
        // On a thread of ours, whose stack is as deep as statements may be.
        let (context, profiles) = (self.context.clone(), Arc::clone(&self.profiles));
        let sql = sql.to_owned();
        let begun = self.runtime.spawn(async move { begin(&context, &profiles, &sql).await });
        let mut stream = self.wait(until, async {
            begun.await.unwrap_or_else(|panic| Err(Error::Read(panic.to_string())))
        })?;
        let schema = stream.schema();
        let (send, batches) = channel(READY);
        self.runtime.spawn(async move {
            while let Some(batch) = stream.next().await {
                if send.send(batch).await.is_err() {
                    break;
                }
            }
        });
        Ok(Rows { session: self, schema, batches, until })
    }

    /// All rows of a query; for what is known to be small.
    ///
    /// # Errors
    ///
    /// As [`Self::query`], and files that cannot be read.
    pub fn all(&self, sql: &str) -> Result<Vec<RecordBatch>, Error> {
        self.query(sql)?.collect()
    }

    /// Waits for something, for a stop and for the end of the time.
    fn wait<T>(
        &self,
        until: Option<Instant>,
        what: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let late = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.stop.stopped() => Err(Error::Stopped),
                () = late => Err(Error::Late(self.limits.time.unwrap_or_default())),
                done = what => done,
            }
        })
    }
}

/// Plans a statement and starts it.
async fn begin(
    context: &SessionContext,
    profiles: &Profiles,
    sql: &str,
) -> Result<SendableRecordBatchStream, Error> {
    let state = context.state();
    let dialect = state.config_options().sql_parser.dialect;
    let statement = state.sql_to_statement(sql, &dialect)?;
    for table in state.resolve_table_references(&statement)? {
        known(profiles, &table)?;
    }
    let plan = state.statement_to_plan(statement).await?;
    let reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    reads.verify_plan(&plan).map_err(|_| {
        let text = "only what reads is allowed: SELECT, EXPLAIN, DESCRIBE and SHOW";
        Error::Sql(text.to_owned())
    })?;
    let frame = context.execute_logical_plan(plan).await?;
    Ok(frame.execute_stream().await?)
}

/// A statement that is no deeper than a stack: each operator and each word of
/// the language may add a level.
fn bounded(sql: &str) -> Result<(), Error> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize();
    // What is no token the parser tells better.
    let Ok(tokens) = tokens else { return Ok(()) };
    let deep = |token: &&Token| match token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        Token::Whitespace(_)
        | Token::Comma
        | Token::Period
        | Token::Number(..)
        | Token::SingleQuotedString(_) => false,
        _ => true,
    };
    if tokens.iter().filter(deep).count() > DEEP {
        return Err(Error::Sql(format!("a statement has at most {DEEP} operators and keywords")));
    }
    Ok(())
}

/// A table that is named is there.
fn known(profiles: &Profiles, table: &TableReference) -> Result<(), Error> {
    if table.catalog().is_some_and(|catalog| catalog != CATALOG)
        || table.schema() == Some("information_schema")
    {
        // DataFusion knows what to say about these.
        return Ok(());
    }
    let schema = table.schema().unwrap_or(MAIN);
    let Some(tables) = profiles.tables(schema) else {
        let text = "profiles are the schemas p1, p2 and so on, in their order";
        return Err(Error::Sql(format!("no profile {schema:?} in this session; {text}")));
    };
    let name = table.table();
    if tables.find(name).is_some() {
        return Ok(());
    }
    let absent = profile_store::schema::ABSENT;
    if let Some((name, why)) = absent.iter().find(|(t, _)| t.eq_ignore_ascii_case(name)) {
        return Err(Error::Sql(format!("no table {name}: {why}")));
    }
    let hint = hint(name, tables.names(), "--tables lists all");
    Err(Error::Sql(format!("no table {name}{hint}")))
}

impl Rows<'_> {
    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = &mut self.batches;
        let next = self
            .session
            .wait(self.until, async { batches.recv().await.transpose().map_err(Error::from) });
        next.transpose()
    }
}
