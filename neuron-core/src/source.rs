//! Sources of samples: the kernel driver, a simulated instance, a recording.
//!
//! Which one is chosen by text, `--source` or `NEURON_SOURCE`:
//!
//! | text | source |
//! | --- | --- |
//! | `kernel` | the driver of this machine |
//! | `kernel:ROOT` | files and nodes below another root: a captured tree, a container's host mounts |
//! | `sim:INSTANCE[,name=NAME]` | a simulated instance |
//! | `replay:FILE[,speed=N]` | a recording; with a speed in time, N recorded seconds in one |

use std::path::PathBuf;
use std::str::FromStr;

use crate::driver::KernelSource;
use crate::replay::ReplaySource;
use crate::sample::{Sample, Wanted};
use crate::sim::{SimSource, SimSpec};
use crate::{Error, Result};

/// Something that can be read, also by a thread of its own.
pub trait Source: std::fmt::Debug + Send {
    /// Reads once.
    ///
    /// # Errors
    ///
    /// Only when there is nothing to show at all. What a part of the machine
    /// refused is in [`Sample::problems`].
    fn sample(&mut self, wanted: Wanted) -> Result<Sample>;

    /// What can be read without devices: identity, CPUs and memory of the
    /// host. For tools that go on where [`Self::sample`] finds no device.
    fn bare(&mut self, wanted: Wanted) -> Sample {
        let _ = wanted;
        Sample::default()
    }

    /// Files and directories whose change means that a new reading is worth
    /// while. Empty when the source can only be polled.
    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether changes can happen that no file of [`Self::watch_paths`] shows.
    fn needs_polling(&self) -> bool {
        true
    }
}

/// A chosen source, checked but not opened.
#[derive(Debug, Clone, PartialEq)]
pub enum Spec {
    /// The driver of this machine.
    Kernel,
    /// Files and nodes below another root.
    Root(PathBuf),
    /// A simulated instance.
    Sim(SimSpec),
    /// A recording.
    Replay {
        /// The file.
        file: PathBuf,
        /// Recorded seconds that pass in one second; `None` for a sample at
        /// each reading.
        speed: Option<f64>,
    },
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason: String| Error::Source { text: text.to_owned(), reason };
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        match (kind, rest) {
            ("kernel", "") => Ok(Self::Kernel),
            ("kernel", root) => Ok(Self::Root(PathBuf::from(root))),
            ("sim", instance) => SimSpec::parse(instance).map(Self::Sim).map_err(wrong),
            ("replay", file) if !file.is_empty() => replay(file).map_err(wrong),
            ("replay", _) => Err(wrong(String::from("name the recording: replay:FILE"))),
            _ => Err(wrong(String::from(
                "use kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE",
            ))),
        }
    }
}

/// `FILE` or `FILE,speed=N`; any other comma belongs to the file's name.
fn replay(text: &str) -> std::result::Result<Spec, String> {
    let (file, speed) = match text.rsplit_once(",speed=") {
        None => (text, None),
        Some((file, number)) => match number.parse::<f64>() {
            Ok(speed) if speed > 0.0 && speed.is_finite() => (file, Some(speed)),
            _ => return Err(format!("{number:?} is no speed; 1 is as fast as recorded")),
        },
    };
    Ok(Spec::Replay { file: PathBuf::from(file), speed })
}

/// Opens a source.
///
/// # Errors
///
/// When it cannot be opened; a missing driver shows only when it is read.
pub fn open(spec: &Spec) -> Result<Box<dyn Source>> {
    let logical_nc_config = logical_nc_config_from_env()?;
    Ok(match spec {
        Spec::Kernel => Box::new(KernelSource::open(logical_nc_config)?),
        Spec::Root(root) => Box::new(KernelSource::below(root, logical_nc_config)?),
        Spec::Sim(spec) => Box::new(SimSource::open(spec, logical_nc_config)?),
        Spec::Replay { file, speed } => Box::new(ReplaySource::open(file, *speed)?),
    })
}

/// `NEURON_LOGICAL_NC_CONFIG`: physical cores per logical NeuronCore, 1 or 2
/// (driver.md §7.7).
fn logical_nc_config_from_env() -> Result<Option<u32>> {
    const VARIABLE: &str = "NEURON_LOGICAL_NC_CONFIG";
    match std::env::var(VARIABLE).as_deref().map(str::trim) {
        Err(_) | Ok("") => Ok(None),
        Ok("1") => Ok(Some(1)),
        Ok("2") => Ok(Some(2)),
        Ok(other) => Err(Error::Source {
            text: format!("{VARIABLE}={other}"),
            reason: String::from("must be 1 or 2"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        assert_eq!("kernel".parse::<Spec>().unwrap(), Spec::Kernel);
        assert_eq!("kernel:/host".parse::<Spec>().unwrap(), Spec::Root("/host".into()));
        assert_eq!(
            "replay:a,b".parse::<Spec>().unwrap(),
            Spec::Replay { file: "a,b".into(), speed: None }
        );
        let fast = Spec::Replay { file: "a,b".into(), speed: Some(2.5) };
        assert_eq!("replay:a,b,speed=2.5".parse::<Spec>().unwrap(), fast);
        let Spec::Sim(sim) = "sim:trn1.32xlarge,name=lab".parse().unwrap() else { panic!() };
        assert_eq!((sim.kind.name, sim.name.as_str()), ("trn1.32xlarge", "lab"));
        let Spec::Sim(sim) = "sim:inf1.xlarge".parse().unwrap() else { panic!() };
        assert_eq!(sim.name, "inf1.xlarge");
    }

    #[test]
    fn wrong_text_says_what_is_accepted() {
        for (text, said) in [
            ("", "kernel:ROOT"),
            ("simulated", "sim:INSTANCE"),
            ("sim:", "trn1.32xlarge"),
            ("sim:trn9.xlarge", "trn1.32xlarge"),
            ("sim:trn1.2xlarge,nam=x", "name=NAME"),
            ("sim:trn1.2xlarge,name=../x", "letters"),
            ("replay:", "replay:FILE"),
            ("replay:a,speed=0", "1 is as fast"),
        ] {
            let error = text.parse::<Spec>().unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
