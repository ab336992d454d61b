//! Where the files of a profile lie: in a directory, or in an object store.

use std::fmt;
use std::path::PathBuf;

use url::Url;

use crate::error::Error;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A directory.
    Directory(PathBuf),
    /// A folder of an object store, its URL with a slash at the end.
    Objects(Url),
}

impl Place {
    /// The URL of the file of a table.
    ///
    /// # Errors
    ///
    /// A directory that has no absolute path.
    pub(crate) fn url(&self, table: &str) -> Result<Url, Error> {
        let name = format!("{table}.parquet");
        match self {
            Self::Directory(dir) => {
                let path = dir.join(name);
                let path = std::path::absolute(&path).map_err(|error| {
                    Error::Read(format!("{} has no absolute path: {error}", path.display()))
                })?;
                // A path may have the letters of patterns in it.
                Url::from_file_path(&path)
                    .map_err(|()| Error::Read(format!("{} is no path of a file", path.display())))
            }
            Self::Objects(url) => {
                url.join(&name).map_err(|error| Error::Read(format!("{url}{name}: {error}")))
            }
        }
    }

    /// Scheme and host: what the object store is known by.
    pub(crate) fn store(&self) -> Option<Url> {
        let Self::Objects(url) = self else { return None };
        let mut url = url.clone();
        url.set_path("");
        Some(url)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(dir) => write!(f, "{}", dir.display()),
            Self::Objects(url) => write!(f, "{url}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_urls() {
        let place = Place::Directory(PathBuf::from("/a b/*"));
        assert_eq!(place.url("Flow").unwrap().as_str(), "file:///a%20b/*/Flow.parquet");
        assert_eq!(place.store(), None);
        let place = Place::Objects(Url::parse("s3://ranks/job 7/n_1/").unwrap());
        assert_eq!(place.url("Flow").unwrap().as_str(), "s3://ranks/job%207/n_1/Flow.parquet");
        assert_eq!(place.store().unwrap().as_str(), "s3://ranks");
    }
}
