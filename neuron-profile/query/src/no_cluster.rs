//! A build without the feature `cluster`: there is no cluster to be had.

use std::sync::Arc;

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;

use crate::catalog::Profiles;
use crate::engine::Scheduler;
use crate::error::Error;
use crate::limits::Limits;
use crate::session::Chosen;

/// None.
#[derive(Debug)]
pub(crate) enum Cluster {}

impl Cluster {
    pub(crate) fn new(
        scheduler: &Scheduler,
        _: &Arc<Profiles>,
        _: &Arc<RuntimeEnv>,
        _: Limits,
    ) -> Result<Self, Error> {
        let text = "this build runs queries in its own process; build it with --features cluster";
        Err(Error::Cluster(format!("ballista://{scheduler}: {text}")))
    }

    pub(crate) const fn context(&self) -> &SessionContext {
        match *self {}
    }

    pub(crate) async fn begin(&self, _: LogicalPlan) -> Result<Chosen, Error> {
        match *self {}
    }

    pub(crate) async fn leave(&self) {
        match *self {}
    }
}
