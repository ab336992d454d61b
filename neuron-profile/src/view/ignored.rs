//! Flags that leave out or choose parts of a profile, under the names of the
//! vendor's tools (profiler.md §1.3).

use std::collections::BTreeSet;

use anyhow::bail;
use profile_engine::system::SystemRow;

use crate::export::Profile;

/// Parts that are left out of json.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Ignored {
    /// Leave DMA packets out of json
    #[arg(long)]
    ignore_dma_trace: bool,

    /// Leave instructions out of json
    #[arg(long)]
    ignore_instruction_trace: bool,

    /// Leave changes of semaphores and faults out of json
    #[arg(long)]
    ignore_event_trace: bool,

    /// Leave the sums of layers out of json
    #[arg(long)]
    ignore_instruction_hierarchy: bool,
}

impl Ignored {
    /// Metrics stay those of the whole trace.
    pub(super) fn leave_out<S: ?Sized>(&self, profile: &mut Profile<'_, S>) {
        let rows = &mut profile.rows;
        if self.ignore_dma_trace {
            rows.packets.clear();
        }
        if self.ignore_instruction_trace {
            rows.instructions.clear();
        }
        if self.ignore_event_trace {
            rows.updates.clear();
            rows.notices.clear();
        }
        if self.ignore_instruction_hierarchy {
            profile.outcome.totals.layers.clear();
        }
    }
}

/// Events of a run that are kept; all where a list is empty.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct SystemFilter {
    /// Keep the events of a run on these cores only, counted within their process
    #[arg(long, value_name = "CORES", value_delimiter = ',')]
    system_trace_filter_neuron_core: Vec<u64>,

    /// Keep these events of a run only, by name
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    system_trace_filter_event_type: Vec<String>,

    /// Keep the runs of these instances only
    #[arg(long, value_name = "INSTANCES", value_delimiter = ',')]
    system_trace_filter_instance_id: Vec<String>,
}

impl SystemFilter {
    /// Whether anything is left out: then it is another profile.
    pub(super) fn is_any(&self) -> bool {
        !self.system_trace_filter_neuron_core.is_empty()
            || !self.system_trace_filter_event_type.is_empty()
    }

    /// In words, for ids and notes.
    pub(super) fn text(&self) -> String {
        let cores: BTreeSet<u64> = self.system_trace_filter_neuron_core.iter().copied().collect();
        let events: BTreeSet<&String> = self.system_trace_filter_event_type.iter().collect();
        format!("cores {cores:?}, events {events:?}")
    }

    /// Whether a run is kept.
    pub(super) fn instance(&self, instance: &str) -> bool {
        let wanted = &self.system_trace_filter_instance_id;
        wanted.is_empty() || wanted.iter().any(|wanted| wanted == instance)
    }

    /// Whether an event is kept.
    pub(super) fn keeps(&self, row: &SystemRow) -> bool {
        let (cores, events) =
            (&self.system_trace_filter_neuron_core, &self.system_trace_filter_event_type);
        (cores.is_empty() || row.core.is_some_and(|core| cores.contains(&core)))
            && (events.is_empty() || events.contains(&row.name))
    }
}

/// Whether one of `-F NAME=VALUE` switches the samples of SBUF and PSUM off.
///
/// # Errors
///
/// A name that there is not.
pub(super) fn without_usage(features: &[String]) -> anyhow::Result<bool> {
    let mut off = false;
    for feature in features {
        off = match feature.as_str() {
            "ignore-nc-buf-usage=true" | "ignore-nc-buf-usage" => true,
            "ignore-nc-buf-usage=false" => false,
            _ => bail!("-F {feature}: there is only ignore-nc-buf-usage=true"),
        };
    }
    Ok(off)
}
