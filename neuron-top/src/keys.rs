//! Keys and what they do, as one table: for the screen's help, the
//! configuration file and the reference.

use std::collections::BTreeMap;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Something that a user may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "described by ACTIONS")]
pub enum Action {
    Quit,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    First,
    Last,
    Toggle,
    ToggleAll,
    NextTab,
    PreviousTab,
    Flops,
    Curves,
    Sort,
    Filter,
    Pause,
    Back,
    Forward,
    Notes,
    Redraw,
    Suspend,
    Help,
    /// Selects a tab, counted from 1; bound to the digits.
    Tab(usize),
}

/// An action: its name in the configuration file, its keys, what it does.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The action.
    pub action: Action,
    /// Name in the configuration file.
    pub name: &'static str,
    /// Keys, with blanks between.
    pub keys: &'static str,
    /// What the help says.
    pub help: &'static str,
}

const fn row(action: Action, name: &'static str, keys: &'static str, help: &'static str) -> Row {
    Row { action, name, keys, help }
}

/// Every action that keys can be given to. The keys of the original are kept
/// (sys-tools.md §3.6).
#[rustfmt::skip]
pub const ACTIONS: &[Row] = &[
    row(Action::Quit, "quit", "q ctrl-c", "quit"),
    row(Action::Up, "up", "up k", "tree: line above"),
    row(Action::Down, "down", "down j", "tree: line below"),
    row(Action::Left, "left", "left", "tree: collapse, or go to the parent"),
    row(Action::Right, "right", "right", "tree: expand, or go into it"),
    row(Action::PageUp, "page-up", "pageup", "tree: page up"),
    row(Action::PageDown, "page-down", "pagedown", "tree: page down"),
    row(Action::First, "first", "home g", "tree: first line"),
    row(Action::Last, "last", "end G", "tree: last line"),
    row(Action::Toggle, "toggle", "enter", "tree: expand or collapse the line"),
    row(Action::ToggleAll, "toggle-all", "x", "tree: expand or collapse all of it"),
    row(Action::PreviousTab, "previous-tab", "a backtab", "previous tab"),
    row(Action::NextTab, "next-tab", "d tab", "next tab"),
    row(Action::Flops, "flops", "f F", "percent or TFLOPS"),
    row(Action::Curves, "curves", "h", "bars or history of each core"),
    row(Action::Sort, "sort", "s", "sort the tree: index, use, device memory, host memory"),
    row(Action::Filter, "filter", "/", "filter models and processes; escape clears it"),
    row(Action::Pause, "pause", "space p", "pause, or go on"),
    row(Action::Back, "back", "[ ,", "one reading back in time"),
    row(Action::Forward, "forward", "] .", "one reading forward in time"),
    row(Action::Notes, "notes", "n", "what is wrong with devices, all of it"),
    row(Action::Redraw, "redraw", "ctrl-l", "draw the screen anew"),
    row(Action::Suspend, "suspend", "ctrl-z", "stop until the shell's fg"),
    row(Action::Help, "help", "? f1", "this help"),
];

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which.
    pub code: Code,
    /// Whether Ctrl was held.
    pub ctrl: bool,
}

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names on the keys")]
pub enum Code {
    Char(char),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    F(u8),
}

/// Keys with names.
const NAMED: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("escape", Code::Escape),
    ("tab", Code::Tab),
    ("backtab", Code::BackTab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("pageup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("home", Code::Home),
    ("end", Code::End),
    ("space", Code::Char(' ')),
];

impl Key {
    /// A key without Ctrl.
    pub const fn plain(code: Code) -> Self {
        Self { code, ctrl: false }
    }

    /// Reads a name: `q`, `G`, `ctrl-c`, `pageup`, `f5`.
    ///
    /// # Errors
    ///
    /// What names there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (ctrl, name) = match text.strip_prefix("ctrl-") {
            Some(name) => (true, name),
            None => (false, text),
        };
        let mut chars = name.chars();
        let function = || {
            let number = name.strip_prefix('f')?.parse().ok()?;
            (1..=12).contains(&number).then_some(Code::F(number))
        };
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() && c != ' ' => Some(Code::Char(c)),
            _ => NAMED.iter().find(|(known, _)| *known == name).map(|(_, code)| *code),
        };
        match code.or_else(function) {
            Some(code) => Ok(Self { code, ctrl }),
            None => {
                let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
                Err(format!(
                    "{text:?} is no key: use one character, f1 to f12 or {}, and ctrl- before it",
                    names.join(", ")
                ))
            }
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.ctrl {
            f.write_str("ctrl-")?;
        }
        match self.code {
            Code::F(number) => write!(f, "f{number}"),
            code => match (NAMED.iter().find(|(_, named)| *named == code), code) {
                (Some((name, _)), _) => f.write_str(name),
                (None, Code::Char(c)) => write!(f, "{c}"),
                (None, _) => Ok(()),
            },
        }
    }
}

/// Which key does what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap(BTreeMap<Key, Action>);

impl Default for Keymap {
    fn default() -> Self {
        Self::with(&BTreeMap::new())
    }
}

impl Keymap {
    /// The keys of the table, but for actions that have others.
    fn with(own: &BTreeMap<&'static str, Vec<Key>>) -> Self {
        let mut keys: BTreeMap<Key, Action> = BTreeMap::new();
        for row in ACTIONS.iter().filter(|row| !own.contains_key(row.name)) {
            let parsed = row.keys.split(' ').filter_map(|text| Key::parse(text).ok());
            keys.extend(parsed.map(|key| (key, row.action)));
        }
        for (number, digit) in (1..).zip('1'..='9') {
            keys.insert(Key::plain(Code::Char(digit)), Action::Tab(number));
        }
        // A key that was given another task has it.
        for row in ACTIONS {
            let given = own.get(row.name).into_iter().flatten();
            keys.extend(given.map(|key| (*key, row.action)));
        }
        Self(keys)
    }

    /// What a key does.
    pub fn action(&self, key: Key) -> Option<Action> {
        self.0.get(&key).copied()
    }

    /// The keys of an action, for the help.
    pub fn keys(&self, action: Action) -> Vec<Key> {
        let mut keys: Vec<Key> =
            self.0.iter().filter(|(_, its)| **its == action).map(|(key, _)| *key).collect();
        // In the order of the table where they are from it.
        let row = ACTIONS.iter().find(|row| row.action == action);
        let place = |key: &Key| {
            let name = key.to_string();
            row.and_then(|row| row.keys.split(' ').position(|known| known == name))
        };
        keys.sort_by_key(|key| place(key).unwrap_or(usize::MAX));
        keys
    }
}

/// `{"quit": ["q", "ctrl-c"], "sort": "o"}`.
impl<'de> Deserialize<'de> for Keymap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Keymap;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of actions and their keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keymap, A::Error> {
        let mut own: BTreeMap<&'static str, Vec<Key>> = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let Some(row) = ACTIONS.iter().find(|row| row.name == name) else {
                let names: Vec<&str> = ACTIONS.iter().map(|row| row.name).collect();
                let text = format!("unknown action {name:?}, expected one of {}", names.join(", "));
                return Err(A::Error::custom(text));
            };
            let texts = match map.next_value::<OneOrMore>()? {
                OneOrMore::One(text) => vec![text],
                OneOrMore::More(texts) => texts,
            };
            let parsed: Result<Vec<Key>, String> =
                texts.iter().map(|text| Key::parse(text)).collect();
            let keys = parsed.map_err(A::Error::custom)?;
            for key in &keys {
                if let Some((other, _)) = own.iter().find(|(_, keys)| keys.contains(key)) {
                    let text = format!("key {key} is given to {other} and to {name}");
                    return Err(A::Error::custom(text));
                }
            }
            own.insert(row.name, keys);
        }
        let keymap = Keymap::with(&own);
        if keymap.keys(Action::Quit).is_empty() {
            return Err(A::Error::custom("no key is left for quit"));
        }
        Ok(keymap)
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a key or a list of keys")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_table_is_one_and_of_one_action() {
        let mut seen = BTreeMap::new();
        for row in ACTIONS {
            for text in row.keys.split(' ') {
                let key = Key::parse(text).unwrap();
                assert_eq!(key.to_string(), text);
                assert_eq!(seen.insert(key, row.name), None, "{text} twice");
            }
        }
        let keymap = Keymap::default();
        assert_eq!(keymap.action(Key::parse("x").unwrap()), Some(Action::ToggleAll));
        assert_eq!(keymap.action(Key::parse("9").unwrap()), Some(Action::Tab(9)));
        assert_eq!(keymap.action(Key::parse("0").unwrap()), None);
    }

    #[test]
    fn own_keys_take_the_place_of_the_table() {
        let keymap: Keymap =
            serde_json::from_str(r#"{"sort":["o","f5"],"flops":"q","quit":"Q"}"#).unwrap();
        let action = |text: &str| keymap.action(Key::parse(text).unwrap());
        assert_eq!(action("o"), Some(Action::Sort));
        assert_eq!((action("s"), action("q"), action("f")), (None, Some(Action::Flops), None));
        assert_eq!(keymap.keys(Action::Quit), [Key::parse("Q").unwrap()]);
    }

    #[test]
    fn wrong_keys_are_refused() {
        for (text, said) in [
            (r#"{"srot":"s"}"#, "unknown action \"srot\""),
            (r#"{"sort":"ctrl"}"#, "is no key"),
            (r#"{"sort":5}"#, "a key or a list"),
            (r#"{"sort":"o","help":["o"]}"#, "key o is given to"),
            (r#"{"quit":[]}"#, "no key is left for quit"),
            (r#"{"sort":"f13"}"#, "is no key"),
        ] {
            let error = serde_json::from_str::<Keymap>(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
