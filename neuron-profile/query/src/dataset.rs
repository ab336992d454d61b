//! A profile that can be asked: where it is and what it has.

use std::path::PathBuf;

use profile_store::disk::Entry;
use profile_store::{Error, Labels, Manifest, Profile, Store};

/// A profile of a session.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Its directory.
    pub dir: PathBuf,
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
        let (mut list, _) = store.list()?;
        list.retain(|entry| entry.labels.tags.iter().any(|have| have == tag));
        if list.is_empty() {
            return Err(Error::Query(format!("no profile has the tag {tag:?}")));
        }
        list.sort_by(|a, b| {
            (&a.labels.display_name, &a.manifest.id).cmp(&(&b.labels.display_name, &b.manifest.id))
        });
        Ok(list.into_iter().map(|entry| Self::of(store, entry)).collect())
    }

    /// An entry of a store.
    pub fn of(store: &Store, entry: Entry) -> Self {
        let Entry { manifest, labels } = entry;
        Self { dir: store.profiles().join(&manifest.id), manifest, labels }
    }

    /// One that is open.
    pub fn opened(profile: &Profile) -> Self {
        Self {
            dir: profile.dir().to_owned(),
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
    let name = |profile: &Dataset| {
        let name = &profile.labels.display_name;
        let same = profiles.iter().filter(|other| other.labels.display_name == *name).count();
        if same == 1 && !name.is_empty() { name.clone() } else { profile.manifest.id.clone() }
    };
    profiles.iter().map(name).collect()
}
