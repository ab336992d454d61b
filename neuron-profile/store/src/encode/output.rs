//! The file of a table.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::{Arc, Mutex};

/// The file behind a writer of the parquet crate, which buffers, and drops
/// what it could not write.
#[derive(Clone)]
pub(super) struct Out(Arc<Mutex<Open>>);

struct Open {
    file: BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl Out {
    /// Writes to a file.
    pub(super) fn new(file: File) -> Self {
        let file = BufWriter::with_capacity(1 << 18, file);
        Self(Arc::new(Mutex::new(Open { file, failed: None })))
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        let mut open = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let done = act(&mut open.file);
        if let Err(error) = &done {
            let code = error.raw_os_error();
            let copy = code.map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
            open.failed.get_or_insert(copy);
        }
        done
    }

    /// Flushes, and tells the first failure; gives the size.
    pub(super) fn close(&self) -> std::io::Result<u64> {
        self.with(|file| file.flush())?;
        let mut open = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match open.failed.take() {
            Some(error) => Err(error),
            None => Ok(open.file.get_ref().metadata()?.len()),
        }
    }
}

impl std::io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.with(|file| file.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.with(|file| file.flush())
    }
}
