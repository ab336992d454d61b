//! Stand-ins for files and nodes: they count, refuse, garble and hang.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use neuron_core::driver::{AttachedNode, Files, FreeNode, Nodes};
use neuron_core::uapi::arg::AppInfo;
use neuron_core::uapi::nds_ext::Extent;
use neuron_core::units::Bdf;

/// What becomes of a path.
#[derive(Debug, Clone)]
pub enum Fate {
    /// The system refuses with this errno.
    Errno(i32),
    /// The file holds this instead.
    Holds(Vec<u8>),
    /// The read does not return for this long.
    Hangs(Duration),
}

/// Files of another tree with some of them spoilt, and a count of opens.
#[derive(Debug)]
pub struct Spoilt<F> {
    pub inner: F,
    pub fates: BTreeMap<String, Fate>,
    pub opened: Mutex<Vec<String>>,
}

impl<F> Spoilt<F> {
    pub fn new(inner: F, fates: &[(&str, Fate)]) -> Self {
        let fates = fates.iter().map(|(path, fate)| ((*path).to_owned(), fate.clone())).collect();
        Self { inner, fates, opened: Mutex::default() }
    }

    fn fate(&self, path: &str) -> Option<&Fate> {
        self.opened.lock().unwrap().push(path.to_owned());
        self.fates.get(path)
    }
}

impl<F: Files> Files for Spoilt<F> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.fate(path) {
            None => self.inner.read(path),
            Some(Fate::Errno(errno)) => Err(io::Error::from_raw_os_error(*errno)),
            Some(Fate::Holds(bytes)) => Ok(bytes.clone()),
            Some(Fate::Hangs(time)) => {
                std::thread::sleep(*time);
                self.inner.read(path)
            }
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        match self.fate(path) {
            Some(Fate::Errno(errno)) => Err(io::Error::from_raw_os_error(*errno)),
            Some(Fate::Holds(names)) => {
                Ok(String::from_utf8_lossy(names).split_whitespace().map(str::to_owned).collect())
            }
            _ => self.inner.list(path),
        }
    }

    fn minor(&self, path: &str) -> io::Result<Option<u32>> {
        match self.fates.get(path) {
            Some(Fate::Holds(minor)) => Ok(String::from_utf8_lossy(minor).parse().ok()),
            _ => self.inner.minor(path),
        }
    }

    fn display(&self, path: &str) -> PathBuf {
        self.inner.display(path)
    }
}

/// Nodes of another machine with some that hang or refuse, and counts.
#[derive(Debug)]
pub struct Moody<N> {
    pub inner: N,
    /// Attaching to these does not return for the time given.
    pub hangs: BTreeMap<u32, Duration>,
    /// Attaching to these fails with this errno.
    pub refuses: BTreeMap<u32, i32>,
    /// Requests for PCI addresses without attaching fail with this errno.
    pub refuses_bdf: Option<i32>,
    /// The PCI address that an attached device gives.
    pub attached_bdf: Option<Bdf>,
    /// Pids that are attached as well.
    pub also: Vec<u32>,
    pub free_opens: AtomicUsize,
    pub attaches: AtomicUsize,
    pub requests: std::sync::Arc<AtomicUsize>,
}

impl<N> Moody<N> {
    pub fn new(inner: N) -> Self {
        Self {
            inner,
            hangs: BTreeMap::new(),
            refuses: BTreeMap::new(),
            refuses_bdf: None,
            attached_bdf: None,
            also: Vec::new(),
            free_opens: AtomicUsize::new(0),
            attaches: AtomicUsize::new(0),
            requests: std::sync::Arc::default(),
        }
    }
}

impl<N> Moody<N> {
    fn counted<T>(&self, inner: T) -> Counted<T> {
        Counted {
            inner,
            requests: self.requests.clone(),
            refuses_bdf: self.refuses_bdf,
            attached_bdf: self.attached_bdf,
            also: self.also.clone(),
        }
    }
}

impl<N: Nodes> Nodes for Moody<N> {
    fn open_free(&self, node: u32) -> io::Result<Box<dyn FreeNode>> {
        self.free_opens.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.open_free(node)?;
        Ok(Box::new(self.counted(inner)))
    }

    fn attach(&self, node: u32) -> io::Result<Box<dyn AttachedNode>> {
        self.attaches.fetch_add(1, Ordering::Relaxed);
        if let Some(time) = self.hangs.get(&node) {
            std::thread::sleep(*time);
        }
        if let Some(errno) = self.refuses.get(&node) {
            return Err(io::Error::from_raw_os_error(*errno));
        }
        let inner = self.inner.attach(node)?;
        Ok(Box::new(self.counted(inner)))
    }
}

#[derive(Debug)]
struct Counted<T> {
    inner: T,
    requests: std::sync::Arc<AtomicUsize>,
    refuses_bdf: Option<i32>,
    attached_bdf: Option<Bdf>,
    also: Vec<u32>,
}

impl FreeNode for Counted<Box<dyn FreeNode>> {
    fn arch(&self) -> io::Result<u32> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.inner.arch()
    }

    fn bdf(&self, ahead: u32) -> io::Result<Bdf> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        match self.refuses_bdf {
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None => self.inner.bdf(ahead),
        }
    }
}

impl AttachedNode for Counted<Box<dyn AttachedNode>> {
    fn bdf(&self) -> io::Result<Bdf> {
        self.attached_bdf.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn connected(&self) -> io::Result<Vec<u32>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.inner.connected()
    }

    fn users(&self) -> io::Result<Vec<AppInfo>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut users = self.inner.users()?;
        users.extend(self.also.iter().map(|pid| AppInfo {
            pid: *pid,
            locks: Vec::new(),
            host_memory: 0,
            device_memory: 0,
        }));
        Ok(users)
    }

    fn datastore(&self, pid: u32, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<bool> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.inner.datastore(pid, extent, bytes)
    }
}
