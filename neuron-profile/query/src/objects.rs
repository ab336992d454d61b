//! Profiles in an object store that speaks S3: which there are, and the client
//! that reads them.
//!
//! Credentials, region and endpoint are those of the environment, by the usual
//! names: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`,
//! `AWS_REGION`, `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, those of roles of
//! containers and web identities, and else the instance's own role.
//! `AWS_SKIP_SIGNATURE=true` reads what is public.

use std::sync::Arc;
use std::time::Duration;

use datafusion::object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectStore, ObjectStoreExt as _, RetryConfig};
use profile_store::disk::is_id;
use profile_store::manifest::LAYOUT;
use profile_store::{Labels, Manifest};
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;
use url::Url;

use crate::dataset::Dataset;
use crate::error::{Error, line};
use crate::folder::{DEPTH, MOST, none, sort};
use crate::place::Place;

/// Requests under way at once (our choice; a store answers in some 20 ms).
const AT_ONCE: usize = 32;

/// How often and how long a request is tried again (our choice: a wrong endpoint
/// is told within seconds, a store that is busy for a moment is waited for).
const TRIES: usize = 3;
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of a manifest at most; some of ours have 20 kB.
const MANIFEST: u64 = 16 << 20;

/// Environment variables that give credentials. Without any, the instance
/// is asked for its role.
const CREDENTIALS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// The client of the store that a URL is in.
pub(crate) fn store(url: &Url) -> Result<Arc<dyn ObjectStore>, Error> {
    let told = |what: &dyn std::fmt::Display| Error::Read(format!("{url}: {what}"));
    let bucket = url.host_str().filter(|bucket| url.scheme() == "s3" && !bucket.is_empty());
    let bucket = bucket.ok_or_else(|| told(&"not s3://BUCKET/PATH"))?;
    let mut builder =
        AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(RetryConfig {
            max_retries: TRIES,
            retry_timeout: PATIENCE,
            ..RetryConfig::default()
        });
    let value = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
    let endpoint =
        value(AmazonS3ConfigKey::S3Endpoint).or_else(|| value(AmazonS3ConfigKey::Endpoint));
    let unsigned = value(AmazonS3ConfigKey::SkipSignature).is_some_and(|value| value == "true");
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let off = std::env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|value| value == "true");
    if off && !unsigned && !CREDENTIALS.iter().any(set) {
        return Err(told(&KEYS));
    }
    // Who names an endpoint without TLS wants it.
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        builder = builder.with_allow_http(true);
    }
    let built = builder.build().map_err(|error| told(&line(&error.to_string())))?;
    Ok(Arc::new(built))
}

/// What to do without credentials.
const KEYS: &str = "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                    AWS_SKIP_SIGNATURE=true for what is public";

/// A failure of the store.
fn told(url: &Url, error: datafusion::object_store::Error) -> Error {
    let text = line(&error.to_string());
    // Servers answer in XML.
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.to_owned())
    };
    let text = match (part("Code"), part("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => text,
    };
    // The address of the service that tells an instance its role.
    let text = if text.contains("169.254.") { KEYS.to_owned() } else { text };
    Error::Read(format!("{url}: {text}"))
}

/// All profiles below a URL.
pub(crate) fn profiles(text: &str) -> Result<Vec<Dataset>, Error> {
    let wrong = |what: &dyn std::fmt::Display| Error::Read(format!("{text}: {what}"));
    let folder = if text.ends_with('/') { text.to_owned() } else { format!("{text}/") };
    let url = Url::parse(&folder).map_err(|error| wrong(&error))?;
    let store = store(&url)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| wrong(&error))?;
    let mut all = runtime.block_on(read(&store, &url))?;
    if all.is_empty() {
        return Err(none(&text));
    }
    sort(&mut all);
    Ok(all)
}

async fn read(store: &Arc<dyn ObjectStore>, url: &Url) -> Result<Vec<Dataset>, Error> {
    let path = Path::from_url_path(url.path()).map_err(|error| told(url, error.into()))?;
    let (mut found, mut level, mut seen) = (Vec::new(), vec![path], 0);
    for _ in 0..=DEPTH {
        let (mut below, mut asked) = (Vec::new(), level.into_iter());
        let mut busy = JoinSet::new();
        loop {
            while busy.len() < AT_ONCE
                && let Some(path) = asked.next()
            {
                if path.filename().is_some_and(is_id) {
                    found.push(path);
                    continue;
                }
                let store = Arc::clone(store);
                busy.spawn(async move { store.list_with_delimiter(Some(&path)).await });
            }
            let Some(done) = busy.join_next().await else { break };
            let list = done.map_err(|error| Error::Read(error.to_string()))?;
            let list = list.map_err(|error| told(url, error))?.common_prefixes;
            seen += list.len();
            below.extend(list);
            if seen > MOST {
                return Err(Error::Read(format!("{url}: more than {MOST} folders below it")));
            }
        }
        level = below;
    }
    let (mut all, mut busy, mut paths) = (Vec::new(), JoinSet::new(), found.into_iter());
    loop {
        while busy.len() < AT_ONCE
            && let Some(path) = paths.next()
        {
            let (store, url) = (Arc::clone(store), url.clone());
            busy.spawn(async move { dataset(&*store, &url, &path).await });
        }
        let Some(done) = busy.join_next().await else { return Ok(all) };
        all.extend(done.map_err(|error| Error::Read(error.to_string()))??);
    }
}

/// A profile; none where its manifest is not there: a copy that is under way.
async fn dataset(
    store: &dyn ObjectStore,
    root: &Url,
    path: &Path,
) -> Result<Option<Dataset>, Error> {
    let mut url = root.clone();
    url.set_path(&format!("{path}/"));
    let Some(manifest) = json::<Manifest>(store, &url, &path.clone().join("manifest.json")).await?
    else {
        return Ok(None);
    };
    if manifest.layout > LAYOUT {
        let (path, found) = (url.as_str().into(), manifest.layout);
        return Err(profile_store::Error::Newer { path, found, known: LAYOUT }.into());
    }
    let labels = json::<Labels>(store, &url, &path.clone().join("labels.json")).await?;
    Ok(Some(Dataset { place: Place::Objects(url), manifest, labels: labels.unwrap_or_default() }))
}

async fn json<T: DeserializeOwned>(
    store: &dyn ObjectStore,
    url: &Url,
    path: &Path,
) -> Result<Option<T>, Error> {
    let got = match store.get(path).await {
        Err(datafusion::object_store::Error::NotFound { .. }) => return Ok(None),
        got => got.map_err(|error| told(url, error))?,
    };
    let name = path.filename().unwrap_or_default();
    if got.meta.size > MANIFEST {
        return Err(Error::Read(format!("{url}{name} has more than {MANIFEST} bytes")));
    }
    let bytes = got.bytes().await.map_err(|error| told(url, error))?;
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| Error::Read(format!("{url}{name} is damaged: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_s3_is_refused() {
        for text in ["s3:///x/", "http://a/b/", "gs://a/b/"] {
            let error = store(&Url::parse(text).unwrap()).unwrap_err().to_string();
            assert!(error.ends_with(": not s3://BUCKET/PATH"), "{error}");
        }
        assert!(profiles("s3").is_err());
    }
}
