//! Who runs how often, and what of it is traced and saved.

use std::str::FromStr;

use anyhow::ensure;

use super::{Args, CaptureType, ExecMode, world};
use crate::output;

/// Executions of one worker at most: a number that nobody means is refused.
const MOST_EXECUTIONS: u32 = 1_000_000;

/// Which ranks write a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ranks {
    All,
    One(u32),
}

impl FromStr for Ranks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        text.parse().map(Self::One).map_err(|_| String::from("give a rank or all"))
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Workers of this machine.
    pub(super) workers: u32,
    /// Whether ranks were spoken of: then names of files tell them.
    pub(super) collectives: bool,
    /// Rank of the first worker.
    first_rank: u32,
    traced_rank: Ranks,
    /// Executions of each.
    pub(super) executions: u32,
    /// Each so-many-th one is traced; 0 for none.
    nth: u32,
    /// Each so-many-th one's outputs are saved.
    nth_saved: u32,
    /// Whether outputs are saved, raw and as `.npy`.
    pub(super) save: [bool; 2],
    pub(super) check: bool,
    pub(super) ignore_errors: bool,
    pub(super) mode: ExecMode,
}

impl Plan {
    /// # Errors
    ///
    /// Numbers that do not fit each other.
    pub(super) fn of(args: &Args) -> anyhow::Result<Self> {
        let (here, all) = (args.collectives_workers_per_node, args.collectives_worker_count);
        let workers = here.or(all).unwrap_or(1);
        let first_rank = args.collectives_worker_start_id;
        let last = first_rank.checked_add(workers);
        if let Some(all) = all {
            ensure!(
                last.is_some_and(|last| last <= all),
                "ranks {first_rank} and {workers} on are more than --collectives-worker-count {all}"
            );
        }
        ensure!(last.is_some(), "--collectives-worker-start-id {first_rank} is too large");
        let systrace = args.capture_type == CaptureType::Systrace;
        let nth = if args.disable_profile || systrace { 0 } else { args.profile_nth_exec };
        let executions = args.num_exec.max(if systrace { 0 } else { nth });
        ensure!(
            executions <= MOST_EXECUTIONS,
            "{executions} executions are too many; at most {MOST_EXECUTIONS}"
        );
        Ok(Self {
            workers,
            collectives: here.is_some() || all.is_some(),
            first_rank,
            traced_rank: args.collectives_profile_id,
            executions,
            nth,
            nth_saved: args.save_nth_output,
            save: [args.save_output, args.save_output_npy],
            check: args.check_output_determinism,
            ignore_errors: args.ignore_exec_errors,
            mode: args.exec_mode,
        })
    }

    /// Workers with `each` cores, where nobody said how many: those that the
    /// `ranks` of the NEFF's collectives need.
    ///
    /// # Errors
    ///
    /// More of them than a machine has.
    pub(super) fn settle(&mut self, ranks: u64, each: u32) -> anyhow::Result<u32> {
        if !self.collectives
            && let Some(workers) =
                world::workers(ranks.saturating_sub(self.first_rank.into()), each)?
        {
            ensure!(
                self.first_rank.checked_add(workers).is_some(),
                "--collectives-worker-start-id {} is too large",
                self.first_rank
            );
            let told = format!(
                "note: its collectives are over {ranks} ranks, so there are {workers} workers; \
                 --collectives-workers-per-node says otherwise"
            );
            output::tell("capture", [told]);
            (self.workers, self.collectives) = (workers, true);
        }
        Ok(self.workers)
    }

    /// # Errors
    ///
    /// The rank that is to be traced is of no worker here.
    pub(super) fn check_rank(&self) -> anyhow::Result<()> {
        let last = self.rank(self.workers.saturating_sub(1));
        if let Ranks::One(rank) = self.traced_rank {
            ensure!(
                (self.first_rank..=last).contains(&rank),
                "--collectives-profile-id {rank}: the ranks here are {} to {last}",
                self.first_rank
            );
        }
        Ok(())
    }

    /// The rank of a worker.
    pub(super) fn rank(&self, worker: u32) -> u32 {
        self.first_rank.saturating_add(worker)
    }

    /// Whether an execution, counted from 1, of a worker is traced.
    pub(super) fn traced(&self, worker: u32, execution: u32) -> bool {
        let of_rank = match self.traced_rank {
            Ranks::All => true,
            Ranks::One(rank) => rank == self.rank(worker),
        };
        of_rank && self.nth > 0 && execution.is_multiple_of(self.nth)
    }

    /// Whether the outputs of an execution are saved.
    pub(super) fn saved(&self, execution: u32) -> bool {
        execution.is_multiple_of(self.nth_saved) && self.save.contains(&true)
    }
}
