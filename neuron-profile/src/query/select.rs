//! Which profiles are asked, by which engine, and what that may take.

use std::path::Path;

use anyhow::{Context as _, bail};
use profile_query::{Dataset, Engine, Limits, Session, Stop};
use profile_store::Store;

use crate::profiles::Place;

/// Where profiles are, which of them by tag, who answers, and limits.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Select {
    /// All profiles with this tag, the ranks of a job for instance; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Who answers: local is this process, ballista://HOST:PORT a cluster whose executors read the same storage
    #[arg(long, value_name = "ENGINE", env = "NEURON_PROFILE_ENGINE", default_value_t)]
    engine: Engine,

    /// Memory of sorts, groups and joins here: bytes, or with K, M or G; what is larger goes to temporary files
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = bytes)]
    memory_limit: usize,

    /// Threads, on a cluster parts of a scan; one of each processor, or 16 parts, if left out
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    #[command(flatten)]
    place: Place,
}

/// Where names and tags are looked up.
enum Known {
    /// A store on this machine.
    Store(Store),
    /// What is below a URL.
    List { url: String, all: Vec<Dataset> },
}

impl Known {
    fn find(&self, name: &str) -> anyhow::Result<Dataset> {
        Ok(match self {
            Self::Store(store) => Dataset::find(store, name)?,
            Self::List { url, all } => Dataset::pick(all, name, url)?,
        })
    }

    fn tagged(&self, tag: &str) -> anyhow::Result<Vec<Dataset>> {
        Ok(match self {
            Self::Store(store) => Dataset::tagged(store, tag)?,
            Self::List { all, .. } => Dataset::with_tag(all.iter().cloned(), tag)?,
        })
    }
}

/// The URL of an object store.
fn is_url(text: &str) -> bool {
    text.contains("://")
}

impl Select {
    /// The profiles of these names, folders and URLs, then those of the tags,
    /// each once.
    ///
    /// # Errors
    ///
    /// None at all, or one that is not there.
    pub(crate) fn profiles(&self, names: &[String]) -> anyhow::Result<Vec<Dataset>> {
        let data = self.place.data_path.as_deref().and_then(Path::to_str);
        let known = match data.filter(|path| is_url(path)) {
            None => Known::Store(self.place.store()?),
            Some(url) => Known::List { url: url.to_owned(), all: Dataset::of_url(url)? },
        };
        let mut profiles: Vec<Dataset> = Vec::new();
        let mut ids = std::collections::HashSet::new();
        let named = names.iter().map(|name| -> anyhow::Result<Vec<Dataset>> {
            Ok(match name {
                url if is_url(url) => Dataset::of_url(url)?,
                path if path.contains('/') && Path::new(path).is_dir() => {
                    Dataset::below(Path::new(path))?
                }
                name => vec![known.find(name)?],
            })
        });
        for found in named.chain(self.tags.iter().map(|tag| known.tagged(tag))) {
            profiles.extend(found?.into_iter().filter(|one| ids.insert(one.id().to_owned())));
        }
        if profiles.is_empty() {
            bail!("no profile is named; `neuron-profile list` shows all");
        }
        Ok(profiles)
    }

    /// Who answers.
    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A session over some profiles.
    ///
    /// # Errors
    ///
    /// An engine that this build does not have.
    pub(crate) fn session(&self, profiles: Vec<Dataset>, stop: &Stop) -> anyhow::Result<Session> {
        Ok(Session::on(&self.engine, profiles, self.limits(), stop)?)
    }

    /// The limits.
    pub(crate) fn limits(&self) -> Limits {
        Limits { memory: self.memory_limit, threads: self.threads, ..Limits::default() }
    }
}

/// Least memory that is of use: DataFusion keeps 10 MB for each sort that merges.
const LEAST: usize = 32 << 20;

/// A size: `1G` is 2^30 bytes.
pub(crate) fn bytes(text: &str) -> anyhow::Result<usize> {
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
