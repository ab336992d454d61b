//! Queries on a Ballista cluster.
//!
//! The plan is made here, as for this process, and submitted whole; the
//! scheduler cuts it into stages, and stock executors read the files themselves
//! from shared or object storage. So the order that files state, types and
//! functions are those of the local engine. What a cluster cannot do, or would
//! do wrong, is answered in this process (see [`suits`]).
//!
//! Credentials are never sent: scheduler and executors have their own.

mod job;
mod suits;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ballista_core::extension::{SessionConfigExt as _, SessionConfigHelperExt as _};
use ballista_core::optimizer::ballista_default_optimizer_rules;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use ballista_core::serde::protobuf::KeyValuePair;
use datafusion::error::DataFusionError;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use datafusion_proto::physical_plan::AsExecutionPlan as _;
use datafusion_proto::protobuf::PhysicalPlanNode;
use tokio::task::JoinHandle;

use crate::catalog::Profiles;
use crate::engine::Scheduler;
use crate::error::Error;
use crate::limits::Limits;
use crate::session::{Answer, CATALOG, Chosen, config};
use job::Job;

/// Parts of a scan, a group or a join where `--threads` says nothing: that of
/// Ballista's own client.
const PARTS: usize = 16;

/// How long jobs that nobody waits for may take to be cancelled and cleaned (our
/// choice: it is an answer or two of the scheduler).
const LEAVING: Duration = Duration::from_secs(2);

/// Name of our jobs in the scheduler's lists.
const NAME: &str = "neuron-profile";

/// A cluster, and how plans for it are made.
#[derive(Clone)]
pub(crate) struct Cluster {
    scheduler: Scheduler,
    context: SessionContext,
    settings: Vec<KeyValuePair>,
    jobs: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Cluster {
    pub(crate) fn new(
        scheduler: &Scheduler,
        profiles: &Arc<Profiles>,
        environment: &Arc<RuntimeEnv>,
        limits: Limits,
    ) -> Result<Self, Error> {
        let parts = if limits.threads > 0 { limits.threads } else { PARTS };
        let config = config(limits)
            .with_target_partitions(parts)
            .upgrade_for_ballista()
            .with_ballista_job_name(NAME);
        let settings = config.to_key_value_pairs();
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(config)
            .with_runtime_env(Arc::clone(environment))
            .with_optimizer_rules(ballista_default_optimizer_rules())
            .build();
        let context = SessionContext::new_with_state(state);
        context.register_catalog(CATALOG, Arc::clone(profiles) as _);
        Ok(Self { scheduler: scheduler.clone(), context, settings, jobs: Arc::default() })
    }

    /// What plans for the cluster are made with.
    pub(crate) const fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Submits a plan, or tells why it stays here.
    pub(crate) async fn begin(&self, plan: LogicalPlan) -> Result<Chosen, Error> {
        let state = self.context.state();
        let plan = state.optimize(&plan)?;
        if let Some(why) = suits::logic(&plan)? {
            return Ok(Chosen::Here(why));
        }
        let steps = state.query_planner().create_physical_plan(&plan, &state).await?;
        if let Some(why) = suits::steps(&steps) {
            return Ok(Chosen::Here(why));
        }
        let Some(bytes) = encoded(&steps)? else { return Ok(Chosen::Here(suits::UNKNOWN)) };
        let (batches, job) = Job::new(&self.scheduler, self.settings.clone(), bytes).start();
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.retain(|job| !job.is_finished());
        jobs.push(job);
        Ok(Chosen::There(Answer { schema: steps.schema(), batches, here: None }))
    }

    /// Waits a moment until the scheduler was told of every job that ended.
    pub(crate) async fn leave(&self) {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            for job in jobs {
                let _ = job.await;
            }
        };
        let _ = tokio::time::timeout(LEAVING, all).await;
    }
}

/// A plan as executors read it; `None` for one that has a step without a form
/// for the wire.
fn encoded(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Vec<u8>>, Error> {
    let codec = BallistaPhysicalExtensionCodec::default();
    let node = match PhysicalPlanNode::try_from_physical_plan(Arc::clone(plan), &codec) {
        Err(DataFusionError::NotImplemented(_) | DataFusionError::Internal(_)) => return Ok(None),
        node => node?,
    };
    let mut bytes = Vec::new();
    node.try_encode(&mut bytes)?;
    Ok(Some(bytes))
}
