//! The groups of metrics by name, and what each is of.

use std::fmt;

/// A group of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OfApplication {
    NeuroncoreCounters,
    MemoryUsed,
    RuntimeVcpuUsage,
    ExecutionStats,
}

/// A group of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OfSystem {
    VcpuUsage,
    MemoryInfo,
    HwCounters,
    SelfStats,
}

/// What kinds of groups have in common.
pub(crate) trait Group: Sized + Copy + Ord + fmt::Debug + 'static {
    /// All, in the order in which messages list them.
    const ALL: &'static [Self];
    /// The key of the configuration under which they stand.
    const UNDER: &'static str;

    /// Its name in configuration and stream.
    fn name(self) -> &'static str;

    /// The group of a name.
    ///
    /// # Errors
    ///
    /// One sentence that lists what is available.
    fn of_name(name: &str) -> Result<Self, String> {
        if let Some(group) = Self::ALL.iter().find(|group| group.name() == name) {
            return Ok(*group);
        }
        let names: Vec<&str> = Self::ALL.iter().map(|group| group.name()).collect();
        let why = hint(name, Self::UNDER).unwrap_or_default();
        Err(format!(
            "{name:?} is no group of {}{why}; available: {}",
            Self::UNDER,
            names.join(", ")
        ))
    }
}

/// What is wrong with a name that exists elsewhere or existed once.
fn hint(name: &str, under: &str) -> Option<String> {
    let now = match name {
        "inference_stats" => "execution_stats",
        "nc_counters" => "neuroncore_counters",
        "hw_counters" => "neuron_hw_counters",
        "runtime_cpu_usage" => "neuron_runtime_vcpu_usage",
        "neuron_hardware_info" | "instance_info" => {
            return Some(String::from(" (it is in every record)"));
        }
        _ => "",
    };
    if !now.is_empty() {
        return Some(format!(" (since version 2 it is called {now})"));
    }
    let of_other = match under {
        OfSystem::UNDER => OfApplication::ALL.iter().any(|group| group.name() == name),
        _ => OfSystem::ALL.iter().any(|group| group.name() == name),
    };
    let other = if under == OfSystem::UNDER { OfApplication::UNDER } else { OfSystem::UNDER };
    of_other.then(|| format!(" (it stands under {other})"))
}

impl Group for OfApplication {
    const ALL: &'static [Self] =
        &[Self::NeuroncoreCounters, Self::MemoryUsed, Self::RuntimeVcpuUsage, Self::ExecutionStats];
    const UNDER: &'static str = "neuron_runtimes";

    fn name(self) -> &'static str {
        match self {
            Self::NeuroncoreCounters => "neuroncore_counters",
            Self::MemoryUsed => "memory_used",
            Self::RuntimeVcpuUsage => "neuron_runtime_vcpu_usage",
            Self::ExecutionStats => "execution_stats",
        }
    }
}

impl Group for OfSystem {
    const ALL: &'static [Self] =
        &[Self::VcpuUsage, Self::MemoryInfo, Self::SelfStats, Self::HwCounters];
    const UNDER: &'static str = "system_metrics";

    fn name(self) -> &'static str {
        match self {
            Self::VcpuUsage => "vcpu_usage",
            Self::MemoryInfo => "memory_info",
            Self::HwCounters => "neuron_hw_counters",
            Self::SelfStats => "self_stats",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_both_ways() {
        for group in OfApplication::ALL {
            assert_eq!(OfApplication::of_name(group.name()), Ok(*group));
        }
        for group in OfSystem::ALL {
            assert_eq!(OfSystem::of_name(group.name()), Ok(*group));
        }
    }

    /// The list is the original's text (sys-tools.md §4.2).
    #[test]
    fn what_is_refused_says_what_there_is() {
        let said = OfSystem::of_name("neuron_hardware_info").unwrap_err();
        assert!(
            said.ends_with("available: vcpu_usage, memory_info, self_stats, neuron_hw_counters"),
            "{said}"
        );
        assert!(said.contains("in every record"), "{said}");
        let said = OfApplication::of_name("vcpu_usage").unwrap_err();
        assert!(said.contains("stands under system_metrics"), "{said}");
        assert!(OfApplication::of_name("inference_stats").unwrap_err().contains("execution_stats"));
        assert!(OfSystem::of_name("memory_used").unwrap_err().contains("under neuron_runtimes"));
        assert!(!OfSystem::of_name("x").unwrap_err().contains('('));
    }
}
