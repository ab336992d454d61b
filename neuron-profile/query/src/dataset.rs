//! A profile that can be asked: where it is and what it has.

use std::path::{Path, PathBuf};

use profile_store::disk::{Entry, is_id};
use profile_store::{Labels, Manifest, Profile, Store};

use crate::error::Error;
use crate::folder;
use crate::place::Place;

/// A profile of a session.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Where its files are.
    pub place: Place,
    /// What it is.
    pub manifest: Manifest,
    /// Name and tags.
    pub labels: Labels,
}

impl Dataset {
    /// A profile of a store, by id, begin of an id or display name.
    ///
    /// # Errors
    ///
    /// None, or several.
    pub fn find(store: &Store, name: &str) -> Result<Self, Error> {
        let id = store.find(name)?;
        Ok(Self::of(store, store.entry(&id)?))
    }

    /// The profiles of a store that have a tag, by display name.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read, and no profile with that tag.
    pub fn tagged(store: &Store, tag: &str) -> Result<Vec<Self>, Error> {
        let (list, _) = store.list()?;
        let all = list.into_iter().map(|entry| Self::of(store, entry));
        Self::with_tag(all, tag)
    }

    /// Those that have a tag, by display name.
    ///
    /// # Errors
    ///
    /// None has it.
    pub fn with_tag(all: impl IntoIterator<Item = Self>, tag: &str) -> Result<Vec<Self>, Error> {
        let has = |profile: &Self| profile.labels.tags.iter().any(|have| have == tag);
        let mut list: Vec<Self> = all.into_iter().filter(has).collect();
        if list.is_empty() {
            return Err(Error::Read(format!("no profile has the tag {tag:?}")));
        }
        folder::sort(&mut list);
        Ok(list)
    }

    /// One of a list, by id, begin of an id (`n_` and at least four digits) or
    /// display name.
    ///
    /// # Errors
    ///
    /// None, or several.
    pub fn pick(all: &[Self], name: &str, place: &str) -> Result<Self, Error> {
        let begin = name.len() >= 6 && name.starts_with("n_");
        let fits = |profile: &&Self| {
            let id = profile.id();
            id == name
                || profile.labels.display_name == name
                || (begin && !is_id(name) && id.starts_with(name))
        };
        let mut fitting = all.iter().filter(fits);
        match (fitting.next(), fitting.count()) {
            (Some(one), 0) => Ok(one.clone()),
            (Some(_), more) => {
                let name = name.to_owned();
                Err(profile_store::Error::Ambiguous { name, count: more + 1 }.into())
            }
            (None, _) => {
                let (name, dir) = (name.to_owned(), PathBuf::from(place));
                Err(profile_store::Error::Missing { name, dir }.into())
            }
        }
    }

    /// All profiles below a directory, by display name.
    ///
    /// # Errors
    ///
    /// A directory that cannot be read, a damaged profile, and none at all.
    pub fn below(directory: &Path) -> Result<Vec<Self>, Error> {
        folder::profiles(directory)
    }

    /// All profiles below the URL of an object store, by display name.
    ///
    /// # Errors
    ///
    /// A store that cannot be reached or refuses, a damaged profile, and none
    /// at all; and a build without the feature `s3`.
    pub fn of_url(url: &str) -> Result<Vec<Self>, Error> {
        #[cfg(feature = "s3")]
        {
            crate::objects::profiles(url)
        }
        #[cfg(not(feature = "s3"))]
        {
            let text = "this build reads no object storage; build it with --features s3";
            Err(Error::Read(format!("{url}: {text}")))
        }
    }

    /// An entry of a store.
    pub fn of(store: &Store, entry: Entry) -> Self {
        let Entry { manifest, labels } = entry;
        let place = Place::Directory(store.profiles().join(&manifest.id));
        Self { place, manifest, labels }
    }

    /// One that is open.
    pub fn opened(profile: &Profile) -> Self {
        Self {
            place: Place::Directory(profile.dir().to_owned()),
            manifest: profile.manifest().clone(),
            labels: profile.labels().clone(),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.manifest.id
    }
}

/// What profiles are called in a column: the display name, and the id where
/// two have the same name or one has none.
pub(crate) fn names(profiles: &[Dataset]) -> Vec<String> {
    let mut count = std::collections::HashMap::new();
    for profile in profiles {
        *count.entry(profile.labels.display_name.as_str()).or_insert(0_usize) += 1;
    }
    let name = |profile: &Dataset| {
        let name = &profile.labels.display_name;
        let alone = count.get(name.as_str()).is_some_and(|count| *count == 1);
        if alone && !name.is_empty() { name.clone() } else { profile.manifest.id.clone() }
    };
    profiles.iter().map(name).collect()
}
