//! `cargo xtask models`: the sample models of the builder, as NEFFs.
//!
//! Beside `NAME.neff` a directory `NAME` has the weights and an example of the
//! inputs as `.npy`, so that NumPy can compute the model again. The same
//! builder writes the same bytes.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use neuron_builder::Array;
use neuron_builder::models::{SAMPLES, Sample};

use crate::run::{say, target_dir};

/// Where they go.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The directory; `models` in cargo's target directory if absent.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Writes every model and prints a line for each.
pub(crate) fn run(options: &Options) -> Result<()> {
    let dir = match &options.out {
        Some(dir) => dir.clone(),
        None => target_dir()?.join("models"),
    };
    write_all(&dir)
}

/// Writes one model, by its name, into a directory.
pub(crate) fn write_one(dir: &Path, name: &str) -> Result<()> {
    let make = SAMPLES.iter().find(|(known, _)| *known == name).map(|(_, make)| make);
    let make = make.with_context(|| format!("there is no sample model {name}"))?;
    write(dir, &make().with_context(|| format!("cannot build {name}"))?).map(drop)
}

/// Writes every model into a directory.
pub(crate) fn write_all(dir: &Path) -> Result<()> {
    for (name, make) in SAMPLES {
        let sample = make().with_context(|| format!("cannot build {name}"))?;
        let path = write(dir, &sample)?;
        let built = &sample.built;
        say(&format!(
            "{}: {} bytes, {} {}, {} instructions; {}",
            path.display(),
            built.bytes.len(),
            built.cores,
            if built.cores == 1 { "core" } else { "cores" },
            built.instructions,
            sample.about,
        ));
    }
    Ok(())
}

/// Writes one model with its arrays.
pub(crate) fn write_sample(dir: &Path, name: &str) -> Result<PathBuf> {
    write(dir, &sample(name)?)
}

/// Writes the NEFF of one model, without its arrays; returns its path.
pub(crate) fn write_neff(dir: &Path, name: &str) -> Result<PathBuf> {
    let path = dir.join(format!("{name}.neff"));
    whole(&path, &sample(name)?.built.bytes)?;
    Ok(path)
}

fn sample(name: &str) -> Result<Sample> {
    let (_, make) = SAMPLES
        .iter()
        .find(|(known, _)| *known == name)
        .with_context(|| format!("there is no sample model {name}"))?;
    make().with_context(|| format!("cannot build {name}"))
}

/// Writes one model; returns the path of its NEFF.
fn write(dir: &Path, sample: &Sample) -> Result<PathBuf> {
    let arrays = dir.join(sample.name);
    std::fs::create_dir_all(&arrays)
        .with_context(|| format!("cannot create {}", arrays.display()))?;
    let numbers = |list: &[(String, Array)], kind: &str| {
        for (name, array) in list {
            whole(&arrays.join(format!("{kind}.{name}.npy")), &array.to_npy())?;
        }
        anyhow::Ok(())
    };
    numbers(&sample.weights, "weight")?;
    numbers(&sample.inputs, "input")?;
    let path = dir.join(format!("{}.neff", sample.name));
    whole(&path, &sample.built.bytes)?;
    Ok(path)
}

/// Writes a file that appears whole or not at all.
fn whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    std::fs::write(&part, bytes)
        .and_then(|()| std::fs::rename(&part, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_its_arrays_beside_it() {
        let dir = std::env::temp_dir().join(format!("xtask-models-{}", std::process::id()));
        let (_, make) = SAMPLES.iter().find(|(name, _)| *name == "divide-by-zero").unwrap();
        let sample = make().unwrap();
        let path = write(&dir, &sample).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), sample.built.bytes);
        for file in ["weight.d.npy", "input.x.npy"] {
            let bytes = std::fs::read(dir.join("divide-by-zero").join(file)).unwrap();
            assert_eq!(Array::from_npy(file, &bytes).unwrap().shape(), [128, 64]);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
