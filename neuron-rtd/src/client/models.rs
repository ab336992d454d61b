//! Groups and models: make, load, start, stop, unload.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rtd_api::load_request::Content;
use rtd_api::{
    CreateEgRequest, DestroyEgRequest, Empty, FileChunk, HEg, HNn, LoadRequest, ModelParams,
    StartRequest, StopRequest, U32, UnloadRequest,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::args::Load;
use super::remote::{Remote, answer, check};

/// Bytes of a piece, as other clients have it (neuron-rtd.md §1.5).
const CHUNK: u64 = 1 << 20;

/// From here on a load shows how far it is.
const LARGE: u64 = 64 << 20;

pub(super) async fn create_group(
    remote: &mut Remote,
    count: Option<u32>,
) -> Result<String, String> {
    let (id, count) = group(remote, count).await?;
    Ok(format!("NCG {id} with {count} NeuronCores\n"))
}

async fn group(remote: &mut Remote, count: Option<u32>) -> Result<(u32, u32), String> {
    let request = CreateEgRequest { nc_count: count.unwrap_or(0), session_id: 0 };
    let made = answer("create-ncg", remote.nmgr.create_eg(request).await)?;
    check("create-ncg", made.status)?;
    Ok((made.h_eg.unwrap_or_default().id, made.nc_count))
}

pub(super) async fn destroy_group(remote: &mut Remote, id: u32) -> Result<String, String> {
    let request = DestroyEgRequest { h_eg: Some(HEg { id }) };
    let answered = answer("destroy-ncg", remote.nmgr.destroy_eg(request).await)?;
    check("destroy-ncg", answered.status)?;
    Ok(String::new())
}

pub(super) async fn start(remote: &mut Remote, id: u32) -> Result<String, String> {
    let request = StartRequest { h_nn: Some(HNn { id }) };
    check("start", answer("start", remote.nmgr.start(request).await)?.status)?;
    Ok(String::new())
}

pub(super) async fn stop(remote: &mut Remote, id: u32) -> Result<String, String> {
    let request = StopRequest { h_nn: Some(HNn { id }) };
    check("stop", answer("stop", remote.nmgr.stop(request).await)?.status)?;
    Ok(String::new())
}

pub(super) async fn unload(remote: &mut Remote, id: u32) -> Result<String, String> {
    let request = UnloadRequest { h_nn: Some(HNn { id }) };
    check("unload", answer("unload", remote.nmgr.unload(request).await)?.status)?;
    Ok(String::new())
}

pub(super) async fn reset(remote: &mut Remote) -> Result<String, String> {
    let status = answer("reset", remote.nmgr.unload_all(Empty {}).await)?;
    check("reset", Some(status))?;
    Ok(String::new())
}

pub(super) async fn load(remote: &mut Remote, load: &Load) -> Result<String, String> {
    let path = &load.file;
    let told = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let file = File::open(path).map_err(told)?;
    let facts = file.metadata().map_err(told)?;
    if !facts.is_file() {
        return Err(format!("cannot read {}: is no file", path.display()));
    }
    let size = facts.len();
    let group = match load.ncg_id {
        -1 => None,
        0 => Some(group(remote, load.nc_count).await?.0),
        id => Some(u32::try_from(id).map_err(|_| format!("--ncg-id {id} is no group"))?),
    };
    let word = |number: Option<u32>| number.map(|data| U32 { data });
    let params = ModelParams {
        timeout: word(load.timeout),
        ninfer: word(load.ninfer),
        ..ModelParams::default()
    };
    let mut head = vec![Content::ModelParams(params)];
    head.extend(group.map(|id| Content::HEg(HEg { id })));
    let (send, stream) = mpsc::channel(4);
    let pieces = if load.enable_direct_file_load {
        let path = std::path::absolute(path).map_err(told)?;
        let text = path.to_str().ok_or("the path of the NEFF is not UTF-8")?;
        head.push(Content::NeffFile(text.to_owned()));
        None
    } else {
        head.push(Content::NeffSize(size));
        Some((file, bar(size)))
    };
    let path = path.clone();
    let reader = tokio::task::spawn_blocking(move || {
        for content in head {
            let message = LoadRequest { content: Some(content) };
            if send.blocking_send(message).is_err() {
                return Ok(());
            }
        }
        pieces.map_or(Ok(()), |(file, bar)| upload(&path, file, &bar, &send))
    });
    let loaded = remote.nmgr.load(ReceiverStream::new(stream)).await;
    let read = reader.await.map_err(|error| format!("load: {error}"));
    let result = read.and_then(|read| read).and_then(|()| {
        let loaded = answer("load", loaded)?;
        check("load", loaded.status)?;
        Ok(format!("{}\n", loaded.h_nn.unwrap_or_default().id))
    });
    if let (Err(_), 0, Some(id)) = (&result, load.ncg_id, group) {
        // made for a model that there is not; why there is none is told
        let _ = destroy_group(remote, id).await;
    }
    result
}

fn upload(
    path: &Path,
    mut file: File,
    bar: &ProgressBar,
    send: &mpsc::Sender<LoadRequest>,
) -> Result<(), String> {
    loop {
        let mut chunk = Vec::new();
        let read = file.by_ref().take(CHUNK).read_to_end(&mut chunk);
        let read = read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if read == 0 {
            bar.finish_and_clear();
            return Ok(());
        }
        bar.inc(u64::try_from(read).unwrap_or(0));
        let chunk = FileChunk { chunk: chunk.into() };
        let message = LoadRequest { content: Some(Content::NeffChunk(chunk)) };
        // the daemon has gone: its answer says why
        if send.blocking_send(message).is_err() {
            return Ok(());
        }
    }
}

/// On a terminal, for what takes long.
fn bar(size: u64) -> ProgressBar {
    let target =
        if size >= LARGE { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(size), target);
    match ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
