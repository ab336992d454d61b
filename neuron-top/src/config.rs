//! The configuration file: JSON, keys and colours, and what the screen begins
//! with. What is wrong in it is refused, by line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use neuron_core::cli::parse_duration;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::keys::Keymap;
use crate::theme::{Background, Colors};

/// Shortest period.
pub const SHORTEST: Duration = Duration::from_millis(100);

/// What the file may say.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Keys by action.
    pub keys: Keymap,
    /// Colours by part of the screen.
    pub colors: Colors,
    /// Whether the terminal is light or dark.
    pub theme: Background,
    /// Time between two readings; `--period` wins.
    #[serde(deserialize_with = "period")]
    pub period: Option<Duration>,
    /// Whether the mouse is used; yes, where nothing is said.
    pub mouse: Option<bool>,
    /// Whether only ASCII is drawn; by the locale, where nothing is said.
    pub ascii: Option<bool>,
    /// Begin with TFLOPS.
    pub flops: bool,
    /// Begin with curves.
    pub curves: bool,
}

/// Reads a period.
///
/// # Errors
///
/// A text that is no time, or less than [`SHORTEST`].
pub fn parse_period(text: &str) -> Result<Duration, String> {
    let period = parse_duration(text)?;
    if period < SHORTEST { Err(String::from("must be at least 100ms")) } else { Ok(period) }
}

fn period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_period(&text).map(Some).map_err(|reason| D::Error::custom(format!("{text:?}: {reason}")))
}

impl Config {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// What is wrong, and on which line.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| {
            let said = error.to_string();
            let reason = said.split(" at line ").next().unwrap_or(&said);
            format!("line {}: {reason}", error.line())
        })
    }

    /// Reads the file that was named, or the user's own where there is one.
    ///
    /// # Errors
    ///
    /// A named file that cannot be read; what is wrong in a file.
    pub fn read(
        named: Option<&Path>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let own = || own_file(env);
        let Some(path) = named.map(Path::to_owned).or_else(own) else { return Ok(Self::default()) };
        let told = |reason: String| format!("{}: {reason}", path.display());
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(told),
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(error) => Err(told(format!("cannot be read: {error}"))),
        }
    }
}

/// `$XDG_CONFIG_HOME/neuron-top.json`, `$HOME/.config/neuron-top.json`.
fn own_file(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = set("XDG_CONFIG_HOME")
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(dir.join("neuron-top.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Action, Key};

    #[test]
    fn a_whole_file_is_read() {
        let config = Config::parse(
            r##"{
                "keys": {"quit": ["Q", "ctrl-c"], "sort": "o"},
                "colors": {"title": "black on lightgreen", "used": "#00ff00"},
                "theme": "light", "period": "500ms", "mouse": false, "ascii": true,
                "flops": true, "curves": true
            }"##,
        )
        .unwrap();
        assert_eq!(config.keys.action(Key::parse("o").unwrap()), Some(Action::Sort));
        assert_eq!((config.theme, config.mouse), (Background::Light, Some(false)));
        assert_eq!(config.period, Some(Duration::from_millis(500)));
        assert!(config.colors.title.is_some() && config.flops && config.curves);
        assert_eq!(Config::parse("{}").unwrap(), Config::default());
    }

    #[test]
    fn what_is_wrong_is_refused_by_line() {
        for (text, said) in [
            ("{\n \"kyes\": {}\n}", "line 2: unknown field `kyes`"),
            ("{\n \"keys\": {\n  \"srot\": \"s\"\n }\n}", "line 3: unknown action \"srot\""),
            ("{\n \"keys\": {\"sort\":\n \"nokey\"}}", "line 3: \"nokey\" is no key"),
            ("{\"colors\": {\n\"title\": \"gren\"}}", "line 2: \"gren\" is no colour"),
            ("{\"colors\": {\"titel\": \"red\"}}", "line 1: unknown field `titel`"),
            ("{\n\n\"period\": \"50ms\"}", "line 3: \"50ms\": must be at least 100ms"),
            ("{\"theme\": \"blue\"}", "line 1: unknown variant `blue`"),
            ("[", "line 1: "),
            ("{\"mouse\": 1}", "line 1: invalid type"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.starts_with(said) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn the_users_file_may_be_missing_and_a_named_one_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().display().to_string();
        let env = |name: &str| (name == "HOME").then(|| home.clone());
        assert_eq!(Config::read(None, env).unwrap(), Config::default());
        let named = dir.path().join("a.json");
        assert!(Config::read(Some(&named), env).unwrap_err().contains("a.json: cannot be read"));
        std::fs::create_dir(dir.path().join(".config")).unwrap();
        std::fs::write(dir.path().join(".config/neuron-top.json"), "{\"flops\":true}").unwrap();
        assert!(Config::read(None, env).unwrap().flops);
    }
}
