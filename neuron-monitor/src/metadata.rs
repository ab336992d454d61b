//! The instance's metadata, asked in the background.
//!
//! The service can be slow or absent (a container behind a hop limit); no
//! record waits for it, and a late answer is in the records from then on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neuron_core::instance::imds::{Details, details};

use crate::wire::InstanceInfo;

/// How often a service that gave no answer is asked again.
const AGAIN: Duration = Duration::from_secs(60);

/// What is known so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metadata {
    known: Arc<Mutex<Option<Result<Details, String>>>>,
}

impl Metadata {
    /// Begins to ask. Without a thread nothing will be known.
    pub(crate) fn ask() -> Self {
        let metadata = Self::default();
        let known = Arc::clone(&metadata.known);
        let asking = std::thread::Builder::new().name(String::from("metadata")).spawn(move || {
            loop {
                let answer = details();
                let done = answer.is_ok();
                *known.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
                if done {
                    return;
                }
                std::thread::sleep(AGAIN);
            }
        });
        drop(asking);
        metadata
    }

    /// Adds what is known.
    pub(crate) fn complete(&self, info: &mut InstanceInfo) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(Ok(details)) => fill(info, details),
            Some(Err(reason)) if info.instance_id.is_empty() => info.error.clone_from(reason),
            Some(Err(_)) | None => {}
        }
    }
}

fn fill(info: &mut InstanceInfo, details: &Details) {
    let put = |field: &mut String, known: &Option<String>| {
        if let Some(text) = known {
            field.clone_from(text);
        }
    };
    put(&mut info.instance_name, &details.instance_name);
    put(&mut info.instance_id, &details.instance_id);
    put(&mut info.instance_type, &details.instance_type);
    put(&mut info.instance_availability_zone, &details.availability_zone);
    put(&mut info.instance_availability_zone_id, &details.availability_zone_id);
    put(&mut info.instance_region, &details.region);
    put(&mut info.ami_id, &details.ami_id);
    put(&mut info.subnet_id, &details.subnet_id);
}
