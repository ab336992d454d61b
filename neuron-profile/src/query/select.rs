//! Which profiles are asked, by which engine, and what that may take.

use std::cell::OnceCell;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use profile_query::{Dataset, Engine, Error, Limits, Session, Stop};
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
    fn of(place: &Place) -> anyhow::Result<Self> {
        let data = place.data_path.as_deref().and_then(Path::to_str);
        Ok(match data.filter(|path| is_url(path)) {
            None => Self::Store(place.store()?),
            Some(url) => Self::List { url: url.to_owned(), all: Dataset::of_url(url)? },
        })
    }

    fn find(&self, name: &str) -> Result<Dataset, Error> {
        match self {
            Self::Store(store) => Dataset::find(store, name),
            Self::List { url, all } => Dataset::pick(all, name, url),
        }
    }

    fn tagged(&self, tag: &str) -> Result<Vec<Dataset>, Error> {
        match self {
            Self::Store(store) => Dataset::tagged(store, tag),
            Self::List { all, .. } => Dataset::with_tag(all.iter().cloned(), tag),
        }
    }
}

/// The URL of an object store.
fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// Looks names up, in a store that is opened when it is first asked.
struct Lookup<'p> {
    place: &'p Place,
    known: OnceCell<anyhow::Result<Known>>,
}

impl Lookup<'_> {
    fn known(&self) -> anyhow::Result<&Known> {
        let known = self.known.get_or_init(|| Known::of(self.place)).as_ref();
        known.map_err(|error| anyhow!("{error:#}"))
    }

    /// What a word names: a profile of that name if there is one, else all below
    /// a folder or a URL. Without a store there may be those still.
    fn named(&self, word: &str) -> anyhow::Result<Vec<Dataset>> {
        let far = self.place.data_path.as_deref().and_then(Path::to_str).is_some_and(is_url);
        if far && is_url(word) {
            return Ok(Dataset::of_url(word)?);
        }
        let missing = match self.known().map(|known| known.find(word)) {
            Ok(Ok(one)) => return Ok(vec![one]),
            Ok(Err(error)) if !error.is_missing() => return Err(error.into()),
            Ok(Err(error)) => error.into(),
            Err(error) => error,
        };
        if is_url(word) {
            return Ok(Dataset::of_url(word)?);
        }
        if Path::new(word).is_dir() {
            return Ok(Dataset::below(Path::new(word))?);
        }
        Err(missing)
    }
}

impl Select {
    /// The profiles of these names, folders and URLs, then those of the tags,
    /// each once.
    ///
    /// # Errors
    ///
    /// None at all, or one that is not there.
    pub(crate) fn profiles(&self, names: &[String]) -> anyhow::Result<Vec<Dataset>> {
        let lookup = Lookup { place: &self.place, known: OnceCell::new() };
        let mut profiles: Vec<Dataset> = Vec::new();
        let mut ids = std::collections::HashSet::new();
        let named = names.iter().map(|name| lookup.named(name));
        let tagged = |tag: &String| Ok(lookup.known()?.tagged(tag)?);
        for found in named.chain(self.tags.iter().map(tagged)) {
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
