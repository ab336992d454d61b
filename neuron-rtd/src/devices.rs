//! Which devices a daemon serves (neuron-rtd.md §2.1, §2.3, §2.4).

use std::io::Read as _;
use std::path::Path;

use neuron_core::instance::InstanceType;
use neuron_core::sample::Wanted;
use neuron_core::source::{self, Spec};
use neuron_core::units::Bdf;
use serde::Deserialize;

/// Largest file of settings.
const LARGEST: u64 = 1 << 20;

/// Reads a file of settings; one without end is none.
pub(crate) fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    if file.take(LARGEST + 1).read_to_string(&mut text)? as u64 > LARGEST {
        return Err(std::io::Error::other(format!("is larger than {LARGEST} bytes")));
    }
    Ok(text)
}

/// A named instance, `NAME.json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Named {
    /// Its name, which is that of the file.
    #[serde(default)]
    pub(crate) name: String,
    /// Where it listens.
    pub(crate) server_port: String,
    /// Its devices, as neuron-ls counts them.
    pub(crate) devices: Vec<u32>,
}

impl Named {
    /// Reads the file of an instance below `dir`.
    pub(crate) fn read(dir: &Path, name: &str) -> Result<Self, String> {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return Err(format!(
                "instance {name:?}: the name is that of a file in {}",
                dir.display()
            ));
        }
        let path = dir.join(format!("{name}.json"));
        let told = |reason: String| format!("instance {}: {reason}", path.display());
        let text = read(&path).map_err(|error| told(error.to_string()))?;
        let named: Self = serde_json::from_str(&text).map_err(|error| told(error.to_string()))?;
        if named.devices.is_empty() {
            return Err(told("devices is empty".to_owned()));
        }
        Ok(named)
    }
}

/// Indices of devices by their PCI addresses.
pub(crate) fn by_bdf(kind: &InstanceType, bdfs: &[String]) -> Result<Vec<u32>, String> {
    bdfs.iter()
        .map(|text| {
            let bdf: Bdf = text.parse().map_err(|_| format!("{text:?} is no PCI address"))?;
            let mut all = 0..kind.device_count;
            all.find(|device| kind.pci(*device).is_some_and(|pci| pci.bdf == bdf)).ok_or_else(
                || {
                    let known: Vec<String> = (0..kind.device_count)
                        .filter_map(|device| Some(kind.pci(device)?.bdf.to_string()))
                        .collect();
                    format!("no device {text}; {} has {}", kind.name, known.join(" "))
                },
            )
        })
        .collect()
}

/// Indices of this machine's devices by their PCI addresses.
pub(crate) fn of_machine(bdfs: &[String]) -> Result<Vec<u32>, String> {
    let mut source = source::open(&Spec::Kernel).map_err(|error| error.to_string())?;
    let sample = source.sample(Wanted::default()).map_err(|error| error.to_string())?;
    let found = |text: &String| {
        let bdf: Bdf = text.parse().map_err(|_| format!("{text:?} is no PCI address"))?;
        let device = sample.devices.iter().find(|device| device.bdf == Some(bdf));
        device.map(|device| device.host_index).ok_or_else(|| {
            let known = sample.devices.iter().filter_map(|device| device.bdf);
            let known: Vec<String> = known.map(|bdf| bdf.to_string()).collect();
            format!("no device {text}; this machine has {}", known.join(" "))
        })
    };
    bdfs.iter().map(found).collect()
}

/// Physical cores of a logical one, as the runtime's variable
/// (neuron-rtd.md §4.5) says, else that of the tools.
pub(crate) fn lnc_from_env() -> Result<Option<u32>, String> {
    for variable in ["NEURON_RT_VIRTUAL_CORE_SIZE", "NEURON_LOGICAL_NC_CONFIG"] {
        match std::env::var(variable).as_deref().map(str::trim) {
            Err(_) | Ok("") => {}
            Ok("1") => return Ok(Some(1)),
            Ok("2") => return Ok(Some(2)),
            Ok(other) => return Err(format!("{variable}={other}: must be 1 or 2")),
        }
    }
    Ok(None)
}

/// Addresses in `infa-map.json`, which the original's discovery writes. Its
/// form is not published; taken are a list, or a list below `devices`, of
/// addresses or of objects with `bdf` (our choice). No file: `None`.
pub(crate) fn map(path: &Path) -> Result<Option<Vec<String>>, String> {
    let told = |reason: String| format!("{}: {reason}", path.display());
    let text = match read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(told(error.to_string())),
    };
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| told(error.to_string()))?;
    let list = value.get("devices").unwrap_or(&value).as_array();
    let list = list.ok_or_else(|| told("no list of devices".to_owned()))?;
    let bdf = |entry: &serde_json::Value| {
        let text = entry.as_str().or_else(|| entry.get("bdf")?.as_str());
        text.map(str::to_owned).ok_or_else(|| told(format!("{entry} has no bdf")))
    };
    list.iter().map(bdf).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_indices() {
        let kind = InstanceType::find("inf1.6xlarge").unwrap();
        let find = |bdf: &str| by_bdf(kind, &[bdf.to_owned()]);
        assert_eq!(find("0000:00:1f.0"), Ok(vec![3]));
        assert!(find("0000:00:1a.0").unwrap_err().contains("0000:00:1c.0"));
        assert!(find("x").unwrap_err().contains("no PCI address"));
    }

    #[test]
    fn both_forms_of_the_map_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("infa-map.json");
        assert_eq!(map(&path), Ok(None));
        for text in [r#"["0000:00:1f.0"]"#, r#"{"devices": [{"bdf": "0000:00:1f.0", "index": 3}]}"#]
        {
            std::fs::write(&path, text).unwrap();
            assert_eq!(map(&path), Ok(Some(vec!["0000:00:1f.0".to_owned()])));
        }
        std::fs::write(&path, "{}").unwrap();
        assert!(map(&path).unwrap_err().contains("no list"));
    }

    #[test]
    fn a_named_instance_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"{"name": "nrtd0", "server_port": "unix:/run/neuron.sock0", "devices": [0]}"#;
        std::fs::write(dir.path().join("nrtd0.json"), text).unwrap();
        let named = Named::read(dir.path(), "nrtd0").unwrap();
        assert_eq!(
            (named.server_port.as_str(), named.devices),
            ("unix:/run/neuron.sock0", vec![0])
        );
        assert!(Named::read(dir.path(), "../x").is_err());
        assert!(Named::read(dir.path(), "nrtd1").unwrap_err().contains("nrtd1.json"));
    }
}
