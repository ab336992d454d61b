//! Which profiles are asked, and what that may take.

use anyhow::{Context as _, bail};
use profile_query::{Dataset, Limits};
use profile_store::Store;

use crate::profiles::Place;

/// Where profiles are, which of them by tag, and limits.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Select {
    /// All profiles with this tag, the ranks of a job for instance; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Memory of sorts, groups and joins: bytes, or with K, M or G; what is larger goes to temporary files
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = bytes)]
    memory_limit: usize,

    /// Threads; one of each processor if left out
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    #[command(flatten)]
    place: Place,
}

impl Select {
    /// The profiles of these names, then those of the tags, each once.
    ///
    /// # Errors
    ///
    /// None at all, or one that is not there.
    pub(crate) fn profiles(&self, names: &[String]) -> anyhow::Result<Vec<Dataset>> {
        let store: Store = self.place.store()?;
        let mut profiles: Vec<Dataset> = Vec::new();
        let named = names.iter().map(|name| Ok(vec![Dataset::find(&store, name)?]));
        for found in named.chain(self.tags.iter().map(|tag| Dataset::tagged(&store, tag))) {
            let found = found.map_err(anyhow::Error::from)?;
            for profile in found {
                if profiles.iter().all(|known| known.id() != profile.id()) {
                    profiles.push(profile);
                }
            }
        }
        if profiles.is_empty() {
            bail!("no profile is named; `neuron-profile list` shows all");
        }
        Ok(profiles)
    }

    /// The limits.
    pub(crate) fn limits(&self) -> Limits {
        Limits { memory: self.memory_limit, threads: self.threads, ..Limits::default() }
    }
}

/// Least memory that is of use: DataFusion keeps 10 MB for each sort that merges.
const LEAST: usize = 32 << 20;

/// A size: `1G` is 2^30 bytes.
fn bytes(text: &str) -> anyhow::Result<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..).map(str::to_ascii_lowercase).as_deref() {
        Some("" | "b") => 0,
        Some("k" | "kb" | "kib") => 10,
        Some("m" | "mb" | "mib") => 20,
        Some("g" | "gb" | "gib") => 30,
        Some("t" | "tb" | "tib") => 40,
        _ => bail!("a number of bytes, or with K, M or G"),
    };
    let number: usize = digits.parse().context("a number of bytes, or with K, M or G")?;
    let size = number.checked_mul(1 << shift).context("too large")?;
    if size < LEAST {
        bail!("at least 32M");
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("1G").unwrap(), 1 << 30);
        assert_eq!(bytes("64MiB").unwrap(), 64 << 20);
        assert_eq!(bytes("33554432").unwrap(), 32 << 20);
        for bad in ["", "G", "1X", "-1G", "1", "99999999999T", "1.5G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
