//! What queries share: memory, room for temporary files, object stores.

use std::sync::Arc;

use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};

use crate::dataset::Dataset;
use crate::error::Error;
use crate::limits::Limits;

/// An environment that reads these profiles within limits.
///
/// # Errors
///
/// An object store without credentials.
pub(crate) fn environment(profiles: &[Dataset], limits: Limits) -> Result<Arc<RuntimeEnv>, Error> {
    let environment = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(limits.memory)))
        .with_disk_manager_builder(
            DiskManagerBuilder::default().with_max_temp_directory_size(limits.spill),
        )
        .build_arc()?;
    let mut stores: Vec<url::Url> =
        profiles.iter().filter_map(|profile| profile.place.store()).collect();
    stores.sort();
    stores.dedup();
    for url in stores {
        register(&environment, &url)?;
    }
    Ok(environment)
}

#[cfg(feature = "s3")]
fn register(environment: &RuntimeEnv, url: &url::Url) -> Result<(), Error> {
    environment.register_object_store(url, crate::objects::store(url)?);
    Ok(())
}

#[cfg(not(feature = "s3"))]
fn register(_: &RuntimeEnv, url: &url::Url) -> Result<(), Error> {
    Err(Error::Read(format!("{url}: this build reads no object storage")))
}
