//! `load`: a NEFF in pieces (neuron-rtd.md §1.5).
//!
//! Members come in any order and the last value of each counts. The pieces are
//! joined in one buffer of the announced size. A client that has done something
//! wrong is heard to its end before it is told, because it takes an early end
//! of the stream for a broken connection.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rtd_api::load_request::Content;
use rtd_api::{LoadRequest, ModelParams, U32};
use rtd_runtime::{Code, Failure, Level, LoadParams};
use tonic::Streaming;

use super::Service;

const PLACE: &str = "NRTD:load";

/// What a stream has brought so far.
#[derive(Debug, Default)]
struct Upload {
    group: Option<u32>,
    session: u64,
    params: ModelParams,
    size: Option<u64>,
    data: Vec<u8>,
    file: Option<String>,
    /// The first thing wrong; what follows is only passed over.
    wrong: Option<Failure>,
}

impl Upload {
    fn take(&mut self, content: Content, most: u64) {
        match content {
            Content::HEg(group) => self.group = (group.id != 0).then_some(group.id),
            Content::SessionId(id) => self.session = id,
            Content::ModelParams(params) => self.params = params,
            Content::NeffFile(path) => self.file = Some(path),
            Content::NeffSize(size) => {
                self.size = Some(size);
                let room = usize::try_from(size).ok().filter(|_| size <= most);
                let room = room.and_then(|size| {
                    self.data.try_reserve_exact(size.saturating_sub(self.data.len())).ok()
                });
                if room.is_none() {
                    let text = format!("a NEFF of {size} bytes; {most} are accepted and must fit");
                    self.fail(Failure::new(Code::Resource, PLACE, text));
                }
            }
            Content::NeffChunk(chunk) => self.chunk(&chunk.chunk, most),
        }
    }

    fn chunk(&mut self, chunk: &[u8], most: u64) {
        if self.wrong.is_some() {
            return;
        }
        let total = self.data.len().saturating_add(chunk.len());
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let bound = self.size.unwrap_or(most).min(most);
        if total > bound {
            let text = format!("Wrong NEFF file size: more than {bound} bytes were sent");
            self.fail(Failure::new(Code::Invalid, PLACE, text));
        } else if self.data.try_reserve(chunk.len()).is_err() {
            let text = format!("no memory for a NEFF of {total} bytes");
            self.fail(Failure::new(Code::Resource, PLACE, text));
        } else {
            self.data.extend_from_slice(chunk);
        }
    }

    /// Whether one of the switches that ask for a profile is on.
    fn wants_profile(&self) -> bool {
        let on = |word: Option<U32>| word.is_some_and(|word| word.data != 0);
        on(self.params.enable_tracing) || on(self.params.enable_node_profiling)
    }

    fn fail(&mut self, failure: Failure) {
        self.wrong.get_or_insert(failure);
        self.data = Vec::new();
    }

    /// The NEFF and how to load it.
    fn finish(mut self, most: u64, files: bool) -> Result<(Vec<u8>, LoadParams), Failure> {
        let invalid = |text: String| Failure::new(Code::Invalid, PLACE, text);
        if let Some(failure) = self.wrong.take() {
            return Err(failure);
        }
        let data = match self.file.take() {
            Some(path) if self.data.is_empty() => read_file(&path, most, files)?,
            Some(_) => return Err(invalid("both a file and chunks were sent".to_owned())),
            None => std::mem::take(&mut self.data),
        };
        let received = u64::try_from(data.len()).unwrap_or(u64::MAX);
        if data.is_empty() {
            return Err(invalid("NEFF upload failed: no byte was sent".to_owned()));
        }
        if let Some(expected) = self.size.filter(|size| *size != received) {
            let text = format!("Wrong NEFF file size, expected: {expected}, received: {received}");
            return Err(invalid(text));
        }
        let word = |word: Option<U32>| word.map(|word| word.data);
        let params = LoadParams {
            group: self.group,
            session: self.session,
            timeout: word(self.params.timeout),
            ninfer: word(self.params.ninfer),
            profile: self.wants_profile(),
        };
        Ok((data, params))
    }
}

impl Service {
    pub(super) async fn load_stream(
        &self,
        mut stream: Streaming<LoadRequest>,
    ) -> Result<Result<u32, Failure>, tonic::Status> {
        let most = self.0.config.max_neff_bytes;
        let mut upload = Upload::default();
        // a cut stream is an error of the transport: nobody reads an answer
        while let Some(message) = stream.message().await? {
            if let Some(content) = message.content {
                upload.take(content, most);
            }
        }
        if upload.wants_profile() && self.0.config.settings.profile_folder.is_none() {
            let text = "a profile was asked for; rtd.profile_dir names no folder, so there is none";
            self.0.log.line(Level::Warning, PLACE, text);
        }
        let files = self.0.config.allow_neff_file;
        Ok(self
            .blocking(move |runtime| {
                let (neff, params) = upload.finish(most, files)?;
                runtime.load(&neff, &params)
            })
            .await)
    }
}

/// A NEFF that the daemon reads itself, where the configuration allows it.
fn read_file(path: &str, most: u64, allowed: bool) -> Result<Vec<u8>, Failure> {
    let wrong =
        |text: &str| Failure::new(Code::Invalid, PLACE, format!("NEFF file {path:?}: {text}"));
    if !allowed {
        return Err(wrong("the daemon reads no files unless rtd.allow_neff_file is true"));
    }
    if !Path::new(path).is_absolute() {
        return Err(wrong("the path must be absolute"));
    }
    let told = |error: std::io::Error| wrong(&error.to_string());
    // a pipe must not keep the daemon waiting
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = File::options().read(true).custom_flags(flags).open(path).map_err(told)?;
    let facts = file.metadata().map_err(told)?;
    if !facts.is_file() {
        return Err(wrong("is no file"));
    }
    if facts.len() > most {
        return Err(wrong(&format!("has {} bytes; {most} are accepted", facts.len())));
    }
    let mut data = Vec::new();
    let room = usize::try_from(facts.len()).unwrap_or(usize::MAX);
    data.try_reserve_exact(room).map_err(|error| wrong(&error.to_string()))?;
    file.take(most).read_to_end(&mut data).map_err(told)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use rtd_api::{FileChunk, HEg};

    use super::*;

    fn upload(contents: Vec<Content>, most: u64) -> Result<(Vec<u8>, LoadParams), Failure> {
        let mut upload = Upload::default();
        contents.into_iter().for_each(|content| upload.take(content, most));
        upload.finish(most, false)
    }

    fn chunk(bytes: &'static [u8]) -> Content {
        Content::NeffChunk(FileChunk { chunk: bytes.into() })
    }

    #[test]
    fn members_come_in_any_order() {
        let group = |id| Content::HEg(HEg { id });
        let (data, params) =
            upload(vec![chunk(b"ab"), group(3), Content::NeffSize(3), chunk(b"c"), group(4)], 9)
                .unwrap();
        assert_eq!((data.as_slice(), params.group), (&b"abc"[..], Some(4)));
        let (_, params) = upload(vec![group(0), chunk(b"a")], 9).unwrap();
        assert_eq!(params.group, None);
    }

    #[test]
    fn sizes_must_be_those_announced() {
        for (contents, code, said) in [
            (vec![Content::NeffSize(3), chunk(b"ab")], Code::Invalid, "expected: 3, received: 2"),
            (vec![Content::NeffSize(1), chunk(b"ab")], Code::Invalid, "Wrong NEFF file size"),
            (vec![Content::NeffSize(10)], Code::Resource, "10 bytes; 9 are accepted"),
            (vec![Content::NeffSize(u64::MAX)], Code::Resource, "are accepted"),
            (vec![chunk(b"0123456789")], Code::Invalid, "more than 9"),
            (vec![], Code::Invalid, "NEFF upload failed"),
            (vec![Content::NeffFile("/etc/passwd".into())], Code::Invalid, "rtd.allow_neff_file"),
            (vec![Content::NeffFile("/x".into()), chunk(b"a")], Code::Invalid, "both a file"),
        ] {
            let failure = upload(contents, 9).unwrap_err();
            assert_eq!(failure.code, code);
            assert!(failure.details().contains(said), "{failure}");
        }
        let said = |path| read_file(path, 9, true).unwrap_err().details();
        assert!(said("x").contains("must be absolute") && said("/dev").contains("is no file"));
    }
}
