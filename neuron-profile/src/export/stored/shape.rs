//! How a trace for viewers of timelines is laid out: flags of the vendor's `view`
//! (profiler.md §1.3, §4.6).

use clap::ValueEnum;

/// Flags for perfetto and chrome.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Traces for Perfetto and chrome://tracing")]
pub(crate) struct Shape {
    /// Show what depends on what as arrows
    #[arg(long)]
    show_perfetto_flows: bool,

    /// What events of a run are grouped by in processes
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "FIELDS",
        default_value = "instance_id,process_id"
    )]
    system_trace_primary_group: Vec<Group>,

    /// What they are grouped by in rows of a process
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "FIELDS",
        default_value = "worker_gid,lnc_idx,thread_id"
    )]
    system_trace_secondary_group: Vec<Group>,
}

/// A field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Group {
    /// The instance
    InstanceId,
    /// The worker, counted over all instances
    WorkerGid,
    /// The core, counted within the process
    LncIdx,
    /// The process
    ProcessId,
    /// The thread
    ThreadId,
}

impl Shape {
    /// Whether arrows are shown.
    pub(super) const fn flows(&self) -> bool {
        self.show_perfetto_flows
    }

    pub(super) fn primary(&self) -> &[Group] {
        &self.system_trace_primary_group
    }

    pub(super) fn secondary(&self) -> &[Group] {
        &self.system_trace_secondary_group
    }
}
