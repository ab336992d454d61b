//! Buckets: one for each profile.

use serde::Deserialize;
use serde_json::json;

use super::client::{Client, Trouble, encoded};

/// What marks a bucket as ours, so that no other is ever taken away.
const DESCRIPTION: &str = "A profile of neuron-profile";

/// Buckets that are asked for at once: the most that the API gives.
const PAGE: usize = 100;

/// A bucket.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Bucket {
    id: String,
    /// Its name.
    pub(crate) name: String,
    #[serde(default)]
    description: String,
}

#[derive(Debug, Deserialize)]
struct Buckets {
    #[serde(default)]
    buckets: Vec<Bucket>,
}

impl Bucket {
    /// Whether we made it.
    pub(crate) fn is_ours(&self) -> bool {
        self.description == DESCRIPTION
    }
}

impl Client {
    /// The bucket of a name.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub(crate) fn bucket(&self, name: &str) -> Result<Option<Bucket>, Trouble> {
        let path = format!("/api/v2/buckets?orgID={}&name={}", encoded(self.org()), encoded(name));
        match self.get::<Buckets>("buckets", &path) {
            Ok(found) => Ok(found.buckets.into_iter().find(|bucket| bucket.name == name)),
            Err(Trouble::Answer { status: 404, .. }) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// All buckets of the organisation.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub(crate) fn buckets(&self) -> Result<Vec<Bucket>, Trouble> {
        let mut all: Vec<Bucket> = Vec::new();
        loop {
            let (org, at) = (encoded(self.org()), all.len());
            let path = format!("/api/v2/buckets?orgID={org}&limit={PAGE}&offset={at}");
            let page: Buckets = self.get("buckets", &path)?;
            // one that ignores the offset gives the same again
            let fresh = page.buckets.iter().filter(|bucket| !all.contains(bucket));
            let fresh: Vec<Bucket> = fresh.cloned().collect();
            let last = page.buckets.len() < PAGE || fresh.is_empty();
            all.extend(fresh);
            if last {
                return Ok(all);
            }
        }
    }

    /// Makes a bucket that keeps its points for ever.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub(super) fn make(&self, name: &str) -> Result<Bucket, Trouble> {
        let document = json!({
            "orgID": self.org(), "name": name, "description": DESCRIPTION, "retentionRules": [],
        });
        self.post("make a bucket", "/api/v2/buckets", &document)
    }

    /// Deletes a bucket with all that is in it.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub(crate) fn delete(&self, bucket: &Bucket) -> Result<(), Trouble> {
        self.remove("delete the bucket", &format!("/api/v2/buckets/{}", encoded(&bucket.id)))
    }
}
