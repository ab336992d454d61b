//! What a cluster of stock executors can answer, and answers right.

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, PartitionMode};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties as _};

use crate::joined::Joined;

/// A step that has no form for the wire.
pub(super) const UNKNOWN: &str = "no cluster has one of its steps";

/// Steps whose parts look at what the others have seen, in one process.
const SHARED: [&str; 3] = ["RecursiveQueryExec", "PiecewiseMergeJoinExec", "SymmetricHashJoinExec"];

/// Why a statement is answered here; `None` for one that may go.
pub(super) fn logic(plan: &LogicalPlan) -> Result<Option<&'static str>> {
    if matches!(
        plan,
        LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::DescribeTable(_)
            | LogicalPlan::Statement(_)
    ) {
        return Ok(Some("it asks about the statement itself"));
    }
    let (mut files, mut numbered) = (false, false);
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
        {
            files |= provider.is::<ListingTable>() || provider.is::<Joined>();
        }
        node.apply_expressions(|expr| {
            numbered |= expr.exists(|expr| {
                Ok(matches!(expr, Expr::ScalarFunction(f) if f.name() == "file_row_index"))
            })?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(match (files, numbered) {
        (false, _) => Some("it reads no table of events"),
        (true, true) => Some("a cluster does not number the rows of a file"),
        (true, false) => None,
    })
}

/// The same for the steps of a plan.
pub(super) fn steps(plan: &Arc<dyn ExecutionPlan>) -> Option<&'static str> {
    let one_process = "a join of it needs all rows in one process";
    if SHARED.contains(&plan.name()) {
        return Some("a step of it needs all rows in one process");
    }
    // The rows of the left side that fit none are known when all parts of the
    // right side have been looked at, which parts on several machines are not.
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>()
        && by_left(*join.join_type())
        && join.right().output_partitioning().partition_count() > 1
    {
        return Some(one_process);
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let collected = *join.partition_mode() == PartitionMode::CollectLeft
            && by_left(*join.join_type())
            && join.right().output_partitioning().partition_count() > 1;
        if collected || join.null_aware {
            return Some(one_process);
        }
    }
    plan.children().into_iter().find_map(steps)
}

/// Rows of the left side appear by whether any row of the right side fits.
fn by_left(join: JoinType) -> bool {
    !matches!(
        join,
        JoinType::Inner
            | JoinType::Right
            | JoinType::RightSemi
            | JoinType::RightAnti
            | JoinType::RightMark
    )
}
