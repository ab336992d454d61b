//! The configuration file (neuron-rtd.md §2.2): JSON, read at start.
//!
//! Keys of the original are taken where they were; ours stand below `rtd`. A
//! key that nobody knows is a warning, a value that cannot be is an error.

use std::path::{Path, PathBuf};

use rtd_runtime::Settings;
use serde_json::Value;

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`, with its default.
    Flag(bool),
    /// A whole number: default, least, most.
    Number(u64, u64, u64),
    /// Text, empty by default.
    Text,
}

/// A parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its path; alternatives have blanks between.
    pub key: &'static str,
    /// Its type, default and range.
    pub kind: Kind,
    /// What it does.
    pub help: &'static str,
}

const fn flag(key: &'static str, default: bool, help: &'static str) -> Parameter {
    Parameter { key, kind: Kind::Flag(default), help }
}

const fn number(
    key: &'static str,
    (default, least, most): (u64, u64, u64),
    help: &'static str,
) -> Parameter {
    Parameter { key, kind: Kind::Number(default, least, most), help }
}

const fn text(key: &'static str, help: &'static str) -> Parameter {
    Parameter { key, kind: Kind::Text, help }
}

/// Every parameter.
#[rustfmt::skip]
pub const PARAMETERS: &[Parameter] = &[
    flag("shmem_enabled init_config.shmem_enabled", true, "whether clients may map shared memory"),
    flag("init_config.drop_all_capabilities", true, "accepted; this daemon needs no capability"),
    number("num_hugepages_per_device", (128, 0, 65_536), "accepted; no huge page is used"),
    number("model_cache_count", (0, 0, 65_536), "accepted; no NEFF is unpacked to disk"),
    flag("io_dma_data_host", false, "accepted; inputs are staged in host memory"),
    number("rtd.timeout_sec", (2, 1, 86_400), "seconds of an inference where load says nothing"),
    number("rtd.ninfer", (4, 1, 1024), "inferences in flight where load says nothing"),
    number("rtd.max_neff_bytes", (8 << 30, 1 << 10, 1 << 40), "largest NEFF"),
    number("rtd.max_message_bytes", (i32::MAX as u64, 1 << 20, i32::MAX as u64), "largest gRPC message"),
    number("rtd.socket_mode", (0o666, 0, 0o777), "mode of the Unix socket, as a number (438 is 0666)"),
    flag("rtd.session_cleanup", true, "whether models and groups of a client go with its session"),
    flag("rtd.numerical_errors", true, "whether NaN in an output is told (code 1003)"),
    flag("rtd.allow_neff_file", false, "whether load may name a file that the daemon reads"),
    flag("rtd.auto_switch", false, "whether the start of a model stops the one of its group that runs"),
    text("rtd.profile_dir", "absolute path of a folder for profiles; without it there are none"),
    text("rtd.native_cpu_nodes", "names of native functions of CPU nodes, with commas; none of them is run"),
    text("rtd.libnrt", "absolute path of the libnrt for --source kernel; --libnrt wins"),
    number("rtd.log_level", (5, 0, 7), "3 error, 4 warning, 5 info, 6 debug, 7 trace; -l wins"),
    number("rtd.init_attempts", (3, 1, 100), "attempts to get the devices, a second apart"),
    number("rtd.drain_sec", (30, 0, 3600), "seconds that SIGTERM leaves to inferences in flight"),
    number("rtd.keepalive_sec", (60, 60, 86_400), "seconds between pings of idle TCP connections"),
];

/// What the daemon was told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "described by PARAMETERS")]
pub struct Config {
    pub shmem_enabled: bool,
    pub settings: Settings,
    pub max_neff_bytes: u64,
    pub max_message_bytes: usize,
    pub socket_mode: u32,
    pub session_cleanup: bool,
    pub allow_neff_file: bool,
    pub log_level: u8,
    pub init_attempts: u64,
    pub drain_sec: u64,
    pub keepalive_sec: u64,
    pub libnrt: Option<PathBuf>,
}

impl Config {
    /// Reads the text of a file; also gives warnings.
    ///
    /// # Errors
    ///
    /// Text that is no JSON object; a value of another type or out of range.
    pub fn parse(text: &str) -> Result<(Self, Vec<String>), String> {
        let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if !root.is_object() {
            return Err("is no JSON object".to_owned());
        }
        for section in ["init_config", "rtd"] {
            if let Some(value) = root.get(section).filter(|value| !value.is_object()) {
                return Err(format!("{section} is {value}; it must be an object"));
            }
        }
        let mut found = Vec::new();
        for parameter in PARAMETERS {
            found.push(value(&root, parameter)?);
        }
        let absolute = |key: &str| match words(&root, key) {
            "" => Ok(None),
            path if Path::new(path).is_absolute() => Ok(Some(PathBuf::from(path))),
            path => Err(format!("{key} is {path:?}; it must be an absolute path")),
        };
        let folder = absolute("rtd.profile_dir")?;
        let native = words(&root, "rtd.native_cpu_nodes").split(',').map(str::trim);
        let read = |key: &str| {
            let mut all = PARAMETERS.iter().zip(&found);
            all.find(|(parameter, _)| parameter.key.starts_with(key)).map_or(0, |(_, value)| *value)
        };
        let narrow = |key| u32::try_from(read(key)).unwrap_or(u32::MAX);
        let config = Self {
            shmem_enabled: read("shmem_enabled") != 0,
            settings: Settings {
                timeout_sec: narrow("rtd.timeout_sec"),
                ninfer: narrow("rtd.ninfer"),
                numerical_errors: read("rtd.numerical_errors") != 0,
                auto_switch: read("rtd.auto_switch") != 0,
                profile_folder: folder,
                native_cpu_nodes: native.filter(|n| !n.is_empty()).map(str::to_owned).collect(),
            },
            max_neff_bytes: read("rtd.max_neff_bytes"),
            max_message_bytes: usize::try_from(read("rtd.max_message_bytes")).unwrap_or(usize::MAX),
            socket_mode: narrow("rtd.socket_mode"),
            session_cleanup: read("rtd.session_cleanup") != 0,
            allow_neff_file: read("rtd.allow_neff_file") != 0,
            log_level: u8::try_from(read("rtd.log_level")).unwrap_or(5),
            init_attempts: read("rtd.init_attempts"),
            drain_sec: read("rtd.drain_sec"),
            keepalive_sec: read("rtd.keepalive_sec"),
            libnrt: absolute("rtd.libnrt")?,
        };
        Ok((config, unknown(&root)))
    }

    /// Reads a file; without one, gives the defaults.
    ///
    /// # Errors
    ///
    /// A file that was named and is not there, or that cannot be read.
    pub fn read(path: &Path, named: bool) -> Result<(Self, Vec<String>), String> {
        let told = |reason: String| format!("configuration {}: {reason}", path.display());
        match crate::devices::read(path) {
            Ok(text) => Self::parse(&text).map_err(told),
            Err(error) if !named && error.kind() == std::io::ErrorKind::NotFound => {
                Self::parse("{}")
            }
            Err(error) => Err(told(error.to_string())),
        }
    }
}

fn at<'v>(root: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(root, |value, key| value.get(key))
}

/// A text that was checked, or nothing.
fn words<'v>(root: &'v Value, path: &str) -> &'v str {
    at(root, path).and_then(Value::as_str).unwrap_or_default()
}

fn value(root: &Value, parameter: &Parameter) -> Result<u64, String> {
    let mut paths = parameter.key.split(' ');
    let found = paths.find_map(|path| at(root, path).map(|value| (path, value)));
    match (parameter.kind, found) {
        (Kind::Text, None) => Ok(0),
        (Kind::Text, Some((path, value))) => match value.as_str() {
            Some(_) => Ok(0),
            None => Err(format!("{path} is {value}; it must be a text")),
        },
        (Kind::Flag(default), None) => Ok(u64::from(default)),
        (Kind::Number(default, ..), None) => Ok(default),
        (Kind::Flag(_), Some((path, value))) => match value.as_bool() {
            Some(flag) => Ok(u64::from(flag)),
            None => Err(format!("{path} is {value}; it must be true or false")),
        },
        (Kind::Number(_, least, most), Some((path, value))) => {
            value.as_u64().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
                format!("{path} is {value}; it must be a number from {least} to {most}")
            })
        }
    }
}

/// A warning for each key that no parameter has.
fn unknown(root: &Value) -> Vec<String> {
    let known = |path: &str| {
        let keys = PARAMETERS.iter().flat_map(|parameter| parameter.key.split(' '));
        keys.clone().any(|key| key == path || key.starts_with(&format!("{path}.")))
    };
    let mut out = Vec::new();
    let mut open: Vec<(String, &Value)> = vec![(String::new(), root)];
    while let Some((prefix, value)) = open.pop() {
        for (key, value) in value.as_object().into_iter().flatten() {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            if !known(&path) {
                out.push(format!("configuration: nobody knows {path}; it is ignored"));
            } else if value.is_object() {
                open.push((path, value));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_hold_where_nothing_is_said() {
        let (config, warnings) = Config::parse("{}").unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(config.settings, Settings::default());
        assert!(config.shmem_enabled && config.session_cleanup && !config.allow_neff_file);
        assert_eq!((config.socket_mode, config.log_level), (0o666, 5));
        assert_eq!(config.max_message_bytes, 2_147_483_647);
    }

    #[test]
    fn values_are_taken_from_their_places() {
        let text = r#"{"init_config": {"drop_all_capabilities": false, "shmem_enabled": false},
            "rtd": {"timeout_sec": 7, "colour": 1}, "spare": {"x": 1}}"#;
        let (config, warnings) = Config::parse(text).unwrap();
        assert!(!config.shmem_enabled);
        assert_eq!(config.settings.timeout_sec, 7);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(!Config::parse(r#"{"shmem_enabled": false}"#).unwrap().0.shmem_enabled);
    }

    #[test]
    fn wrong_values_say_what_is_right() {
        for (text, said) in [
            ("[]", "no JSON object"),
            ("{", "EOF"),
            (r#"{"rtd": 5}"#, "rtd is 5; it must be an object"),
            (r#"{"rtd": {"ninfer": 0}}"#, "rtd.ninfer is 0; it must be a number from 1 to 1024"),
            (r#"{"rtd": {"ninfer": "4"}}"#, "must be a number"),
            (r#"{"shmem_enabled": 1}"#, "must be true or false"),
            (r#"{"rtd": {"profile_dir": 7}}"#, "rtd.profile_dir is 7; it must be a text"),
            (r#"{"rtd": {"profile_dir": "here"}}"#, "must be an absolute path"),
            (r#"{"rtd": {"libnrt": "libnrt.so.1"}}"#, "rtd.libnrt is \"libnrt.so.1\"; it must be"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
