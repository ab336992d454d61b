//! The stored profiles: list, delete, name and tag them.

mod change;
mod list;

use std::path::PathBuf;

use anyhow::Context as _;
use profile_store::Store;

pub use change::{DeleteArgs, TagArgs, run_delete, run_tag};
pub use list::{ListArgs, run_list};

/// Where profiles are kept.
#[derive(Debug, Clone, clap::Args)]
pub struct Place {
    /// Directory of the stored profiles; the user's data directory if left out
    /// ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)
    #[arg(long, value_name = "DIR", env = "NEURON_PROFILE_DATA")]
    pub data_path: Option<PathBuf>,
}

impl Place {
    /// The store there.
    ///
    /// # Errors
    ///
    /// No directory was given, and the environment has none; a URL.
    pub fn store(&self) -> anyhow::Result<Store> {
        let root = match &self.data_path {
            Some(path) if path.to_str().is_some_and(|path| path.contains("://")) => {
                let what = "only query and report read object storage; name a directory";
                anyhow::bail!("--data-path {}: {what}", path.display());
            }
            Some(path) => Some(path.clone()),
            None => Store::default_root(|name| std::env::var_os(name)),
        };
        root.map(Store::new)
            .context("$HOME is not defined; say where profiles are with --data-path")
    }
}
