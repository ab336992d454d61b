//! Whether to colour, and the few colours that there are.

use std::ffi::OsString;

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Decides for one stream; `terminal` says whether it is one.
    ///
    /// The flag wins over the environment; `NO_COLOR` (no-color.org, any
    /// non-empty value) wins over `CLICOLOR_FORCE` (bixense.com/clicolors,
    /// anything but empty and `0`); `TERM=dumb` has no colour.
    pub fn decide(self, terminal: bool) -> bool {
        self.decide_with(terminal, |name| std::env::var_os(name))
    }

    fn decide_with(self, terminal: bool, env: impl Fn(&str) -> Option<OsString>) -> bool {
        let set = |name| env(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if set("NO_COLOR").is_some() => false,
            Self::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto => terminal && set("TERM").is_none_or(|value| value != "dumb"),
        }
    }
}

/// A colour of text (SGR foreground).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Something is broken.
    Red,
    /// Something is passing or needs a look.
    Yellow,
}

impl Paint {
    /// The text in this colour; unchanged without colour.
    pub fn apply(self, text: &str, on: bool) -> String {
        let code = match self {
            Self::Red => 31,
            Self::Yellow => 33,
        };
        if on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_then_no_color_then_force_then_terminal() {
        let decide = |choice: ColorChoice, terminal, vars: &[(&str, &str)]| {
            choice.decide_with(terminal, |name| {
                vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
            })
        };
        use ColorChoice::{Always, Auto, Never};
        assert!(decide(Auto, true, &[]));
        assert!(!decide(Auto, false, &[]));
        assert!(!decide(Auto, true, &[("NO_COLOR", "1")]));
        assert!(decide(Auto, true, &[("NO_COLOR", "")]));
        assert!(decide(Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!decide(Auto, false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!decide(Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!decide(Auto, true, &[("TERM", "dumb")]));
        assert!(decide(Always, false, &[("NO_COLOR", "1")]));
        assert!(!decide(Never, true, &[("CLICOLOR_FORCE", "1")]));
    }

    #[test]
    fn paint_leaves_plain_text_alone() {
        assert_eq!(Paint::Red.apply("x", false), "x");
        assert_eq!(Paint::Red.apply("x", true), "\x1b[31mx\x1b[0m");
    }
}
