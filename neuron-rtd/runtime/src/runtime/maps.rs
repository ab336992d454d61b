//! Shared memory of clients by name.

use std::sync::Arc;

use super::Runtime;
use crate::failure::{Code, Failure};
use crate::sessions;
use crate::shared::SharedBuffer;

/// A client's shared memory.
#[derive(Debug)]
pub(crate) struct Map {
    pub(crate) buffer: Arc<SharedBuffer>,
    pub(crate) session: u64,
    count: u32,
}

/// Most shared memory objects that are held (our choice).
const MOST_MAPS: usize = 16_384;

impl Runtime {
    /// Opens a client's shared memory and keeps it under its name.
    ///
    /// # Errors
    ///
    /// As [`SharedBuffer::open`]; a name that another session has mapped.
    pub fn map(&self, path: &str, prot: u32, session: u64) -> Result<(), Failure> {
        const PLACE: &str = "NRTD:shm_map";
        let buffer = Arc::new(SharedBuffer::open(path, prot)?);
        let mut tables = self.tables();
        sessions::check(&tables, session, PLACE)?;
        if let Some(map) = tables.maps.get_mut(path) {
            if map.session != session && map.session != 0 {
                let text = format!("{path} is mapped by session {}", map.session);
                return Err(Failure::new(Code::Invalid, PLACE, text));
            }
            let count = if map.buffer.same(&buffer) { map.count + 1 } else { 1 };
            *map = Map { buffer, session, count };
            return Ok(());
        }
        if tables.maps.len() >= MOST_MAPS {
            let text = format!("{MOST_MAPS} objects are mapped, no more can be");
            return Err(Failure::new(Code::Resource, PLACE, text));
        }
        tables.maps.insert(path.to_owned(), Map { buffer, session, count: 1 });
        Ok(())
    }

    /// Lets go of shared memory. Inferences in flight keep what they use.
    ///
    /// # Errors
    ///
    /// A name that is not mapped.
    pub fn unmap(&self, path: &str) -> Result<(), Failure> {
        let mut tables = self.tables();
        let Some(map) = tables.maps.get_mut(path) else {
            let text = format!("{path:?} is not mapped");
            return Err(Failure::new(Code::InvalidHandle, "NRTD:shm_unmap", text));
        };
        map.count = map.count.saturating_sub(1);
        if map.count == 0 {
            tables.maps.remove(path);
        }
        Ok(())
    }

    /// Shared memory by its name.
    ///
    /// # Errors
    ///
    /// A name that is not mapped.
    pub fn shared_buffer(&self, path: &str) -> Result<Arc<SharedBuffer>, Failure> {
        let tables = self.tables();
        let map = tables.maps.get(path).map(|map| Arc::clone(&map.buffer));
        map.ok_or_else(|| {
            let text = format!("shared memory {path:?} is not mapped; call shm_map first");
            Failure::new(Code::BadInput, "NRTD:infer", text)
        })
    }

    /// Count of shared memory objects that are held.
    pub fn maps(&self) -> usize {
        self.tables().maps.len()
    }
}
