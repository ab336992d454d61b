//! One inference, its inputs and outputs in files.

use std::io::Read as _;
use std::path::Path;

use rtd_api::infer_io::Data;
use rtd_api::{Empty, HNn, InferIo, InferRequest, TensorInfo};

use super::args::Infer;
use super::npy;
use super::remote::{Remote, answer, check};

fn pairs(list: &[String]) -> Result<Vec<(&str, &Path)>, String> {
    list.iter()
        .map(|text| {
            let pair =
                text.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty());
            let (name, file) = pair.ok_or_else(|| format!("{text:?}: use NAME=FILE"))?;
            Ok((name, Path::new(file)))
        })
        .collect()
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

pub(super) async fn infer(remote: &mut Remote, args: &Infer) -> Result<String, String> {
    let (inputs, outputs) = (pairs(&args.inputs)?, pairs(&args.outputs)?);
    let list = answer("infer", remote.ext.list_models(Empty {}).await)?;
    check("infer", list.status)?;
    let h_nn = Some(HNn { id: args.id });
    let model = list.models.into_iter().find(|model| model.h_nn == h_nn);
    let tensors = model.map(|model| model.tensors);
    let tensors = tensors.ok_or_else(|| format!("infer: there is no model {}", args.id))?;
    let find = |name: &str, output: bool| {
        let found = tensors.iter().find(|tensor| tensor.name == name && tensor.output == output);
        found.ok_or_else(|| {
            let known: Vec<&str> = tensors
                .iter()
                .filter(|tensor| tensor.output == output)
                .map(|tensor| tensor.name.as_str())
                .collect();
            let what = if output { "output" } else { "input" };
            format!("infer: the model has no {what} {name}; it has {}", known.join(", "))
        })
    };
    let mut ifmap = Vec::new();
    for (name, path) in inputs {
        let tensor = find(name, false)?;
        let told = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut data = read(path, tensor.bytes).map_err(told)?;
        if is_npy(path) {
            data = npy::read(&path.display().to_string(), &data, tensor)?.to_vec();
        }
        ifmap.push(InferIo { name: name.to_owned(), data: Some(Data::Buf(data.into())) });
    }
    let mut wanted: Vec<(&TensorInfo, &Path)> = Vec::new();
    for (name, path) in outputs {
        wanted.push((find(name, true)?, path));
    }
    let request = InferRequest { h_nn, ifmap, ..InferRequest::default() };
    let done = answer("infer", remote.nmgr.infer(request).await)?;
    // with a NaN the outputs are there all the same
    let told = check("infer", done.status);
    let mut text = String::new();
    for InferIo { name, data } in done.ofmap {
        let Some(Data::Buf(data)) = data else { continue };
        match wanted.iter().find(|(tensor, _)| tensor.name == name) {
            Some((tensor, path)) => {
                let body = if is_npy(path) { npy::write(tensor, &data) } else { data.to_vec() };
                whole(path, &body)?;
            }
            None => text += &format!("{name}: {} bytes\n", data.len()),
        }
    }
    told.map(|()| text)
}

/// The bytes of a file, but not many more than a tensor and the head of an
/// array have: a device has no end.
fn read(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    const HEAD: u64 = 1 << 20;
    let mut data = Vec::new();
    std::fs::File::open(path)?.take(bytes.saturating_add(HEAD)).read_to_end(&mut data)?;
    Ok(data)
}

/// Writes a file that appears whole or not at all.
fn whole(path: &Path, body: &[u8]) -> Result<(), String> {
    use std::io::Write as _;
    let draft = path.with_extension(format!("part{}", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&draft)?;
        file.write_all(body)?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&draft);
        format!("cannot write {}: {error}", path.display())
    })
}
