//! Outputs: saved to files that appear whole, and compared between executions.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use neuron_core::neff::{Npy, shown};
use rtd_runtime::TensorInfo;

use super::names::Names;
use crate::neff::run::npy;

/// Saves the outputs of an execution. Returns the lines that say so, in the
/// words that scripts look for.
///
/// # Errors
///
/// A type that `.npy` has not, a file that cannot be written.
pub(super) fn save(
    outputs: &[(String, Vec<u8>)],
    tensors: &[TensorInfo],
    names: &Names,
    (rank, execution): (u32, u32),
    [raw, as_npy]: [bool; 2],
) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for (number, (name, data)) in outputs.iter().enumerate() {
        let file = names.output(rank, execution, name, number);
        let mut save = |file: &Path, head: &[u8]| -> anyhow::Result<()> {
            write(file, head, data)?;
            lines.push(format!("saved output \"{}\" as \"{}\"", shown(name), file.display()));
            Ok(())
        };
        if raw {
            save(&file, &[])?;
        }
        if as_npy {
            let tensor = tensors.iter().find(|tensor| tensor.output && tensor.name == *name);
            let head = head(name, tensor, data.len())?;
            let mut with_ending = file.into_os_string();
            with_ending.push(".npy");
            save(Path::new(&with_ending), &head)?;
        }
    }
    Ok(lines)
}

/// The header of a `.npy` file; bytes where the NEFF does not say more.
fn head(name: &str, tensor: Option<&TensorInfo>, bytes: usize) -> anyhow::Result<Vec<u8>> {
    let dtype = tensor.and_then(|tensor| tensor.dtype.as_deref());
    let descr = npy::descr(dtype);
    if let Some(word) = dtype.filter(|_| descr.contains('V')) {
        let name = shown(name);
        bail!("failed to save output {name} to file: unsupported type for npy output: {word}");
    }
    let shape = tensor.and_then(|tensor| tensor.shape.as_deref());
    let shape: Option<Vec<u64>> =
        shape.and_then(|shape| shape.iter().map(|size| u64::try_from(*size).ok()).collect());
    Ok(match shape {
        Some(shape) => Npy::header(descr, &shape),
        None => Npy::header("|u1", &[u64::try_from(bytes)?]),
    })
}

fn write(path: &Path, head: &[u8], data: &[u8]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).with_context(cannot)?;
    }
    let mut file =
        crate::neff::run::temporary(folder.unwrap_or(Path::new("."))).with_context(cannot)?;
    file.write_all(head).with_context(cannot)?;
    file.write_all(data).with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(path).map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}

/// The CRC-32 of all outputs.
pub(super) fn checksum(outputs: &[(String, Vec<u8>)]) -> u32 {
    let mut crc = flate2::Crc::new();
    for (_, data) in outputs {
        crc.update(data);
    }
    crc.sum()
}
