//! Recorded answers of device nodes, beside a captured tree.
//!
//! `ROOT/ioctl.json` holds for each node the bytes that the driver wrote, in
//! hexadecimal, by the request's name; a failed request is its errno:
//!
//! ```json
//! { "format": 1,
//!   "nodes": { "0": {
//!     "DEVICE_BASIC_INFO": "0300000001000000",
//!     "DEVICE_BDF": "100000001c000000",
//!     "DEVICE_INFO": { "errno": 22 },
//!     "DEVICE_GET_ALL_APPS_INFO": "0f00..." } } }
//! ```
//!
//! The datastore of a process lies in `ROOT/nds/neuronN.PID`. What was not
//! recorded is `EOPNOTSUPP`.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use super::nodes::{AttachedNode, FreeNode, Nodes, invalid};
use crate::uapi::arg::{AppInfo, AppsInfo, DeviceBasicInfo, DeviceBdf, DeviceBdfExt, DeviceInfo};
use crate::uapi::nds_ext::Extent;
use crate::units::Bdf;
use crate::{Error, Result};

/// Longest recording that is read: 16 devices with every answer are below
/// 1 MiB.
const LIMIT: usize = 16 << 20;

/// Name of the file below the root.
pub(super) const FILE: &str = "ioctl.json";

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Form of the file, 1.
    pub format: u32,
    /// Answers by node number and request name.
    pub nodes: BTreeMap<u32, BTreeMap<String, Answer>>,
}

/// One recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// Bytes that the driver wrote, hexadecimal, blanks allowed.
    Bytes(String),
    /// The request failed.
    Failed {
        /// The errno.
        errno: i32,
    },
}

impl Answer {
    /// An answer of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self::Bytes(text)
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Failed { errno } => Err(io::Error::from_raw_os_error(*errno)),
            Self::Bytes(text) => {
                let digits: Option<Vec<u8>> = text
                    .bytes()
                    .filter(|b| !b.is_ascii_whitespace())
                    .map(|b| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok()))
                    .collect();
                let digits = digits.filter(|d| d.len() % 2 == 0);
                let digits =
                    digits.ok_or_else(|| invalid("a recorded answer is not hexadecimal"))?;
                Ok(digits.chunks(2).map(|d| d.iter().fold(0, |byte, d| byte << 4 | d)).collect())
            }
        }
    }
}

/// Nodes that answer from a recording.
#[derive(Debug, Clone)]
pub struct RecordedNodes {
    root: PathBuf,
    recording: Arc<Recording>,
}

impl RecordedNodes {
    /// The recording below a root; `None` when there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not such a recording.
    pub fn open(root: &Path) -> Result<Option<Self>> {
        let path = root.join(FILE);
        let text = match read_head(&path, LIMIT + 1) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        if text.len() > LIMIT {
            return Err(Error::content(path, "longer than 16 MiB, the most that is read"));
        }
        let recording: Recording = serde_json::from_slice(&text)
            .map_err(|error| Error::content(&path, format!("not recorded answers: {error}")))?;
        if recording.format != 1 {
            return Err(Error::content(path, format!("unknown form {}", recording.format)));
        }
        Ok(Some(Self { root: root.to_owned(), recording: Arc::new(recording) }))
    }
}

impl Nodes for RecordedNodes {
    fn can_hang(&self) -> bool {
        false
    }

    fn open_free(&self, node: u32) -> io::Result<Box<dyn FreeNode>> {
        Ok(Box::new(RecordedNode { nodes: self.clone(), node }))
    }

    fn attach(&self, node: u32) -> io::Result<Box<dyn AttachedNode>> {
        Ok(Box::new(RecordedNode { nodes: self.clone(), node }))
    }
}

#[derive(Debug)]
struct RecordedNode {
    nodes: RecordedNodes,
    node: u32,
}

impl RecordedNode {
    fn answer(&self, node: u32, request: &str) -> io::Result<Vec<u8>> {
        let answers = self.nodes.recording.nodes.get(&node);
        let answer = answers.and_then(|answers| answers.get(request));
        let none = || io::Error::new(io::ErrorKind::Unsupported, "no answer was recorded");
        answer.ok_or_else(none)?.bytes()
    }
}

fn short() -> io::Error {
    invalid("a recorded answer is too short")
}

impl FreeNode for RecordedNode {
    fn arch(&self) -> io::Result<u32> {
        let bytes = self.answer(self.node, "DEVICE_BASIC_INFO")?;
        Ok(DeviceBasicInfo::from_bytes(&bytes).ok_or_else(short)?.architecture)
    }

    fn bdf(&self, ahead: u32) -> io::Result<Bdf> {
        let node = self.node.saturating_add(ahead);
        let bdf = match self.answer(node, "DEVICE_BDF_EXT") {
            Ok(bytes) => DeviceBdfExt::from_bytes(&bytes).and_then(|arg| arg.bdf()),
            Err(_) => {
                let bytes = self.answer(node, "DEVICE_BDF")?;
                DeviceBdf::from_bytes(&bytes).and_then(|arg| arg.bdf())
            }
        };
        bdf.ok_or_else(short)
    }
}

impl AttachedNode for RecordedNode {
    fn bdf(&self) -> io::Result<Bdf> {
        let bytes = self.answer(self.node, "DEVICE_BDF")?;
        DeviceBdf::from_bytes(&bytes).and_then(|arg| arg.bdf()).ok_or_else(short)
    }

    fn connected(&self) -> io::Result<Vec<u32>> {
        let bytes = self.answer(self.node, "DEVICE_INFO")?;
        Ok(DeviceInfo::from_bytes(&bytes).ok_or_else(short)?.connected().to_vec())
    }

    fn users(&self) -> io::Result<Vec<AppInfo>> {
        let bytes = self.answer(self.node, "DEVICE_GET_ALL_APPS_INFO")?;
        AppsInfo::parse(&bytes).map_err(invalid)
    }

    fn datastore(&self, pid: u32, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let path = self.nodes.root.join(format!("nds/neuron{}.{pid}", self.node));
        let Some(file) = open_file(&path)? else { return Ok(false) };
        read_entry(&file, extent, bytes).map(|()| true)
    }
}

/// The first bytes of a file; `None` when there is no such file.
fn read_head(path: &Path, length: usize) -> io::Result<Option<Vec<u8>>> {
    use std::io::Read as _;
    let Some(file) = open_file(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(length as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A file to read from; `None` when there is none. Does not wait for the other
/// end of a FIFO.
pub(crate) fn open_file(path: &Path) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::open(path, super::files::NEVER_WAITING, Mode::empty()) {
        Ok(file) => Ok(Some(file)),
        Err(rustix::io::Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A datastore in a file. Its owner may be writing: each counter is whole, and
/// of its own moment.
pub(crate) fn read_entry(file: &OwnedFd, extent: Extent, bytes: &mut Vec<u8>) -> io::Result<()> {
    extent.gather(bytes, |offset, bytes| {
        let mut got = 0;
        while let Some(rest) = bytes.get_mut(got..).filter(|rest| !rest.is_empty()) {
            let at = u64::try_from(offset + got).unwrap_or(u64::MAX);
            match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *rest, at))? {
                0 => break,
                more => got += more,
            }
        }
        Ok(got)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(text: &str) -> (tempfile::TempDir, Result<Option<RecordedNodes>>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        let nodes = RecordedNodes::open(dir.path());
        (dir, nodes)
    }

    /// Bytes of 2.24.7.0-trn2-16/ioctl.txt.
    #[test]
    fn recorded_bytes_become_answers() {
        let text = r#"{"format":1,"nodes":{"0":{"DEVICE_BASIC_INFO":"0300000001000000",
            "DEVICE_BDF_EXT":"0000000000000000 100000001c000000","DEVICE_INFO":{"errno":22}},
            "1":{"DEVICE_BDF":"200000001d000000"}}}"#;
        let (_dir, nodes) = nodes(text);
        let nodes = nodes.unwrap().unwrap();
        let free = nodes.open_free(0).unwrap();
        assert_eq!(free.arch().unwrap(), 3);
        assert_eq!(free.bdf(0).unwrap().to_string(), "0000:10:1c.0");
        assert_eq!(free.bdf(1).unwrap().to_string(), "0000:20:1d.0");
        assert_eq!(free.bdf(2).unwrap_err().kind(), io::ErrorKind::Unsupported);
        let attached = nodes.attach(0).unwrap();
        assert_eq!(attached.connected().unwrap_err().raw_os_error(), Some(22));
        assert!(!attached.datastore(1, Extent::Head, &mut Vec::new()).unwrap());
    }

    #[test]
    fn a_recording_is_read_to_a_limit_and_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let text = RecordedNodes::open(dir.path()).unwrap_err().to_string();
        assert!(text.contains("16 MiB"), "{text}");
        std::fs::remove_file(&path).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let text = RecordedNodes::open(dir.path()).unwrap_err().to_string();
        assert!(text.contains(FILE), "{text}");
    }

    #[test]
    fn a_bad_recording_is_an_error_with_its_path() {
        for bad in ["", "{}", "[]", r#"{"format":2,"nodes":{}}"#] {
            let (_dir, nodes) = nodes(bad);
            let text = nodes.unwrap_err().to_string();
            assert!(text.contains("ioctl.json"), "{text}");
        }
        for bytes in ["0", "zz", "00"] {
            let text =
                format!(r#"{{"format":1,"nodes":{{"0":{{"DEVICE_BASIC_INFO":"{bytes}"}}}}}}"#);
            let (_dir, nodes) = nodes(&text);
            let free = nodes.unwrap().unwrap().open_free(0).unwrap();
            assert_eq!(free.arch().unwrap_err().kind(), io::ErrorKind::InvalidData, "{bytes}");
        }
    }
}
