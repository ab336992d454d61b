//! The configuration file: which groups, how often, of which applications
//! (sys-tools.md §4.2).
//!
//! A file that has anything wrong is refused whole, by file, line and key.

mod duration;
mod file;
mod group;

use std::path::Path;
use std::time::Duration;

use neuron_core::error::io_reason;
use regex::Regex;

pub(crate) use duration::parse as parse_period;
pub(crate) use group::{Group, OfApplication, OfSystem};

/// The period of groups for which nothing else is said.
pub(crate) const PERIOD: Duration = Duration::from_secs(5);

/// Period of the kubelet's answers unless said otherwise, that of the
/// original's companion (sys-tools.md §7).
pub(crate) const K8S_PERIOD: Duration = Duration::from_secs(15);

/// What is to be collected.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Groups of applications; the first entry that an application matches
    /// counts.
    pub(crate) applications: Vec<Selection>,
    /// Groups of the machine.
    pub(crate) system: Vec<(OfSystem, Duration)>,
    /// Whether the kubelet is asked, and how often.
    pub(crate) k8s: Option<Duration>,
}

/// One entry of `neuron_runtimes`.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// Which applications, by tag; all when there is none.
    pub(crate) filter: Option<Regex>,
    /// Groups and periods.
    pub(crate) groups: Vec<(OfApplication, Duration)>,
}

impl Config {
    /// What is collected without a configuration file. ECC counters are not:
    /// reading them costs, so they must be asked for.
    pub(crate) fn standard(period: Duration) -> Self {
        let groups = OfApplication::ALL.iter().map(|group| (*group, period)).collect();
        let system = [OfSystem::VcpuUsage, OfSystem::MemoryInfo];
        Self {
            applications: vec![Selection { filter: None, groups }],
            system: system.into_iter().map(|group| (group, period)).collect(),
            k8s: None,
        }
    }

    /// With the kubelet asked at the usual period, if it is not asked already.
    pub(crate) fn with_pods(mut self, wanted: bool) -> Self {
        if wanted {
            self.k8s.get_or_insert(K8S_PERIOD);
        }
        self
    }

    /// Everything there is, for the exporters of our own.
    pub(crate) fn everything(period: Duration) -> Self {
        let mut config = Self::standard(period);
        config.system = OfSystem::ALL.iter().map(|group| (*group, period)).collect();
        config
    }

    /// Reads a configuration file. `period` is the period of groups for which
    /// the file says nothing.
    ///
    /// # Errors
    ///
    /// One line: file, line, key, what is allowed.
    pub(crate) fn read(path: &Path, period: Duration) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read(path)
            .map_err(|error| format!("cannot read {shown}: {}", io_reason(&error)))?;
        file::parse(&text, period).map_err(|reason| format!("{shown}: {reason}"))
    }

    /// The entry of an application.
    pub(crate) fn selection(&self, tag: &str) -> Option<usize> {
        self.applications
            .iter()
            .position(|entry| entry.filter.as_ref().is_none_or(|filter| filter.is_match(tag)))
    }
}
