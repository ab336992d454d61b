//! A session: profiles, limits, and SQL that reads.

use std::pin::Pin;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::TableReference;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::Instant;
use tokio_stream::{Stream, StreamExt as _};

use crate::catalog::{MAIN, Profiles};
use crate::cluster::Cluster;
use crate::dataset::Dataset;
use crate::engine::Engine;
use crate::environment::environment;
use crate::error::Error;
use crate::limits::{Limits, Stop};
use crate::nearest::hint;

/// The catalog that holds the profiles.
pub(crate) const CATALOG: &str = "profiles";

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
    cluster: Option<Arc<Cluster>>,
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
    here: Option<&'static str>,
    batches: Receiver<Result<RecordBatch, Error>>,
    until: Option<Instant>,
}

/// Rows as they come.
pub(crate) type Batches = Pin<Box<dyn Stream<Item = Result<RecordBatch, Error>> + Send>>;

/// A query that runs.
pub(crate) struct Answer {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Batches,
    /// Why a cluster was asked for and did not get it.
    pub(crate) here: Option<&'static str>,
}

/// Where a statement runs.
#[allow(dead_code, reason = "a build without a cluster makes none")]
pub(crate) enum Chosen {
    /// On the cluster.
    There(Answer),
    /// In this process, and why.
    Here(&'static str),
}

impl Session {
    /// A session over some profiles in this process.
    ///
    /// # Errors
    ///
    /// When its threads cannot be made, or an object store has no credentials.
    pub fn new(profiles: Vec<Dataset>, limits: Limits, stop: &Stop) -> Result<Self, Error> {
        Self::on(&Engine::Local, profiles, limits, stop)
    }

    /// A session whose statements an engine answers. On a cluster the limit of
    /// threads is the number of parts, and those of memory are its own.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], and a cluster in a build without the feature `cluster`.
    pub fn on(
        engine: &Engine,
        profiles: Vec<Dataset>,
        limits: Limits,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let environment = environment(&profiles, limits)?;
        let context = SessionContext::new_with_config_rt(config(limits), Arc::clone(&environment));
        let profiles = Arc::new(Profiles::new(profiles, &environment));
        context.register_catalog(CATALOG, Arc::clone(&profiles) as _);
        let cluster = match engine {
            Engine::Local => None,
            Engine::Ballista(scheduler) => {
                Some(Arc::new(Cluster::new(scheduler, &profiles, &environment, limits)?))
            }
        };
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        if limits.threads > 0 {
            runtime.worker_threads(limits.threads);
        }
        let runtime = runtime.thread_stack_size(STACK).enable_all().build();
        let runtime =
            runtime.map_err(|error| Error::Read(format!("cannot make threads: {error}")))?;
        Ok(Self { context, cluster, profiles, limits, stop: stop.clone(), runtime })
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
        let (cluster, sql) = (self.cluster.clone(), sql.to_owned());
        let begun = async move { begin(&context, cluster.as_deref(), &profiles, &sql).await };
        let begun = self.runtime.spawn(begun);
        let Answer { schema, batches: mut stream, here } = self.wait(until, async {
            begun.await.unwrap_or_else(|panic| Err(Error::Read(panic.to_string())))
        })?;
        let (send, batches) = channel(READY);
        self.runtime.spawn(async move {
            loop {
                let batch = tokio::select! {
                    () = send.closed() => break,
                    batch = stream.next() => batch,
                };
                let Some(batch) = batch else { break };
                if send.send(batch).await.is_err() {
                    break;
                }
            }
        });
        Ok(Rows { session: self, schema, here, batches, until })
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

impl Drop for Session {
    fn drop(&mut self) {
        // The end of the runtime would be that of jobs before the scheduler knows.
        if let Some(cluster) = &self.cluster {
            self.runtime.block_on(cluster.leave());
        }
    }
}

/// What every engine is told.
pub(crate) fn config(limits: Limits) -> SessionConfig {
    let mut config = SessionConfig::new().with_information_schema(true);
    if limits.threads > 0 {
        config = config.with_target_partitions(limits.threads);
    }
    let options = config.options_mut();
    options.catalog.create_default_catalog_and_schema = false;
    options.catalog.default_catalog = String::from(CATALOG);
    options.catalog.default_schema = String::from(MAIN);
    options.execution.parquet.pushdown_filters = true;
    config
}

/// Plans a statement and starts it.
async fn begin(
    context: &SessionContext,
    cluster: Option<&Cluster>,
    profiles: &Profiles,
    sql: &str,
) -> Result<Answer, Error> {
    let mut here = None;
    if let Some(cluster) = cluster {
        match cluster.begin(plan(cluster.context(), profiles, sql).await?).await? {
            Chosen::There(answer) => return Ok(answer),
            Chosen::Here(why) => here = Some(why),
        }
    }
    let frame = context.execute_logical_plan(plan(context, profiles, sql).await?).await?;
    let stream = frame.execute_stream().await?;
    let schema = stream.schema();
    let batches = stream.map(|batch| batch.map_err(Error::from));
    Ok(Answer { schema, batches: Box::pin(batches), here })
}

/// The plan of a statement that reads.
async fn plan(
    context: &SessionContext,
    profiles: &Profiles,
    sql: &str,
) -> Result<LogicalPlan, Error> {
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
    Ok(plan)
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

    /// Why this process answers, where a cluster was asked for.
    pub const fn here(&self) -> Option<&'static str> {
        self.here
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = &mut self.batches;
        let next = self.session.wait(self.until, async { batches.recv().await.transpose() });
        next.transpose()
    }
}
