//! The files of inputs, by worker, and their bytes.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use neuron_core::Error;
use neuron_core::neff::shown;
use neuron_core::sys::file_map::FileBytes;
use rtd_runtime::{Data, Input, TensorInfo};

use super::Args;
use crate::neff::run::npy::{self, Wanted};

/// First bytes of a `.npy` file.
const NPY: &[u8] = b"\x93NUMPY";

/// Pairs of a name and a file for each worker.
#[derive(Debug)]
pub(super) struct Files(Vec<Vec<(String, String)>>);

impl Files {
    /// # Errors
    ///
    /// A name without a file, a list that cannot be read or has another number
    /// of lines than there are workers.
    pub(super) fn of(args: &Args, workers: u32) -> anyhow::Result<Self> {
        let workers = usize::try_from(workers)?;
        let Some(list) = &args.multi_input else {
            let pairs = pairs(args.inputs.iter().cloned())?;
            return Ok(Self(vec![pairs; workers]));
        };
        let shown = list.display();
        let text = std::fs::read_to_string(list).map_err(Error::io("read", list))?;
        let lines = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
            pairs(line.split_whitespace().map(str::to_owned))
                .with_context(|| format!("{shown}: {line:?}"))
        });
        let lines: Vec<_> = lines.collect::<anyhow::Result<_>>()?;
        let count = lines.len();
        ensure!(count == workers, "{shown}: it has {count} lines for {workers} workers");
        Ok(Self(lines))
    }

    /// The inputs of a worker; those that are not given are zeros.
    ///
    /// # Errors
    ///
    /// An input that the NEFF does not have, a file that does not fit.
    pub(super) fn inputs(
        &self,
        worker: u32,
        tensors: &[TensorInfo],
    ) -> anyhow::Result<Vec<(String, Input)>> {
        let mut given = Vec::new();
        let pairs = usize::try_from(worker).ok().and_then(|at| self.0.get(at));
        let wanted = || tensors.iter().filter(|tensor| !tensor.output);
        for (name, path) in pairs.into_iter().flatten() {
            let Some(tensor) = wanted().find(|tensor| tensor.name == *name) else {
                let names: Vec<String> = wanted().map(|tensor| shown(&tensor.name)).collect();
                bail!("there is no input {}; there are {}", shown(name), names.join(", "));
            };
            if given.iter().any(|(known, _)| known == name) {
                bail!("input {} is given twice", shown(name));
            }
            let data = bytes(path, tensor)?;
            given.push((name.clone(), Input::Inline(Data::new(data))));
        }
        for tensor in wanted() {
            if !given.iter().any(|(known, _)| *known == tensor.name) {
                let zeros = zeros(tensor)?;
                given.push((tensor.name.clone(), Input::Inline(Data::new(zeros))));
            }
        }
        Ok(given)
    }
}

fn pairs(words: impl IntoIterator<Item = String>) -> anyhow::Result<Vec<(String, String)>> {
    let mut words = words.into_iter();
    let mut pairs = Vec::new();
    while let Some(name) = words.next() {
        let Some(file) = words.next() else {
            bail!("input {} has no file: give pairs NAME FILE", shown(&name));
        };
        pairs.push((name, file));
    }
    Ok(pairs)
}

/// The bytes of the file for an input.
fn bytes(path: &str, tensor: &TensorInfo) -> anyhow::Result<Vec<u8>> {
    let file = FileBytes::open(Path::new(path))?;
    if file.starts_with(NPY) {
        let (dtype, shape) = (tensor.dtype.as_deref(), tensor.shape.as_deref());
        let wanted = Wanted { name: &tensor.name, dtype, shape, bytes: tensor.bytes };
        return npy::data(path, &file, &wanted);
    }
    let (has, name) = (file.len(), shown(&tensor.name));
    ensure!(
        u64::try_from(has) == Ok(tensor.bytes),
        "{path}: it has {has} bytes, input {name} has {}",
        tensor.bytes
    );
    Ok(file.to_vec())
}

fn zeros(tensor: &TensorInfo) -> anyhow::Result<Vec<u8>> {
    let size = usize::try_from(tensor.bytes)?;
    let mut bytes = Vec::new();
    let room = bytes.try_reserve_exact(size);
    room.with_context(|| format!("input {} has {size} bytes", shown(&tensor.name)))?;
    bytes.resize(size, 0);
    Ok(bytes)
}
