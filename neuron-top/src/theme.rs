//! Colours: what each part of the screen looks like.
//!
//! The sixteen colours of the terminal, so that its own palette decides; the
//! background of the screen is the terminal's. Without colour, reverse and bold
//! carry what colours do.

use std::str::FromStr;

use ratatui::style::{Color, Modifier, Style};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Styles by part of the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Title line.
    pub title: Style,
    /// Heading of a section.
    pub section: Style,
    /// Used part of a bar.
    pub used: Style,
    /// Unused part of a bar; without colour it is blank.
    pub rest: Style,
    /// CPU time in user mode.
    pub user: Style,
    /// CPU time in the kernel.
    pub system: Style,
    /// Figures of the memory summary.
    pub value: Style,
    /// The line of the tree that the cursor is on.
    pub cursor: Style,
    /// The bars that belong to that line.
    pub selected: Style,
    /// Models that are not started, figures that are not known.
    pub dim: Style,
    /// The two lines at the bottom.
    pub tabs: Style,
    /// `Neuron Apps`.
    pub apps: Style,
    /// The current tab.
    pub current: Style,
    /// Something is broken.
    pub bad: Style,
    /// Something is to be looked at.
    pub look: Style,
    /// Whether the unused part of a bar is drawn.
    pub draws_rest: bool,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
}

/// Which colours the terminal has behind the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// As `COLORFGBG` says; dark where it says nothing.
    #[default]
    Auto,
    /// Light on dark.
    Dark,
    /// Dark on light.
    Light,
}

impl Background {
    /// Whether the terminal is light. `colorfgbg` is the variable of that name
    /// that some terminals set: `foreground;background`, of which 7 and 9 to
    /// 15 are light.
    pub fn is_light(self, colorfgbg: Option<&str>) -> bool {
        match self {
            Self::Light => true,
            Self::Dark => false,
            Self::Auto => {
                let last = colorfgbg.and_then(|text| text.rsplit(';').next()?.parse::<u8>().ok());
                last.is_some_and(|number| number == 7 || (9..=15).contains(&number))
            }
        }
    }
}

impl Theme {
    /// The theme for a terminal.
    pub fn of(color: bool, light: bool) -> Self {
        match (color, light) {
            (false, _) => Self::plain(),
            (true, false) => Self::dark(),
            (true, true) => Self::light(),
        }
    }

    /// The colours of the original (sys-tools.md §3.2).
    pub fn dark() -> Self {
        let on = |fg, bg| Style::new().fg(fg).bg(bg);
        Self {
            title: on(Color::White, Color::Blue),
            section: on(Color::Black, Color::Cyan),
            used: Style::new().fg(Color::Green),
            rest: Style::new().fg(Color::DarkGray),
            user: Style::new().fg(Color::Green),
            system: Style::new().fg(Color::Red),
            value: Style::new().fg(Color::Green),
            cursor: on(Color::LightYellow, Color::Red),
            selected: on(Color::White, Color::Blue),
            dim: Style::new().fg(Color::DarkGray),
            tabs: on(Color::White, Color::Blue),
            apps: on(Color::LightYellow, Color::Blue),
            current: on(Color::LightGreen, Color::Blue).add_modifier(Modifier::BOLD),
            bad: on(Color::White, Color::Red).add_modifier(Modifier::BOLD),
            look: on(Color::Black, Color::Yellow),
            draws_rest: true,
            ascii: false,
        }
    }

    /// The same with figures that can be read on white.
    pub fn light() -> Self {
        Self {
            used: Style::new().fg(Color::Green),
            rest: Style::new().fg(Color::Gray),
            value: Style::new().fg(Color::Blue),
            dim: Style::new().fg(Color::DarkGray),
            ..Self::dark()
        }
    }

    /// Without colour.
    pub fn plain() -> Self {
        let reverse = Style::new().add_modifier(Modifier::REVERSED);
        let bold = Style::new().add_modifier(Modifier::BOLD);
        Self {
            title: reverse,
            section: reverse,
            used: Style::new(),
            rest: Style::new(),
            user: Style::new(),
            system: bold,
            value: bold,
            cursor: reverse,
            selected: reverse,
            dim: Style::new().add_modifier(Modifier::DIM),
            tabs: Style::new(),
            apps: bold,
            current: reverse,
            bad: reverse.add_modifier(Modifier::BOLD),
            look: bold,
            draws_rest: false,
            ascii: false,
        }
    }

    /// Puts the colours of the configuration in their places.
    pub fn paint(&mut self, colors: &Colors) {
        let Colors {
            title,
            section,
            used,
            rest,
            user,
            system,
            value,
            cursor,
            selected,
            dim,
            tabs,
            apps,
            current,
            bad,
            look,
        } = colors;
        for (place, own) in [
            (&mut self.title, title),
            (&mut self.section, section),
            (&mut self.used, used),
            (&mut self.rest, rest),
            (&mut self.user, user),
            (&mut self.system, system),
            (&mut self.value, value),
            (&mut self.cursor, cursor),
            (&mut self.selected, selected),
            (&mut self.dim, dim),
            (&mut self.tabs, tabs),
            (&mut self.apps, apps),
            (&mut self.current, current),
            (&mut self.bad, bad),
            (&mut self.look, look),
        ] {
            if let Some(Paint(style)) = own {
                *place = *style;
            }
        }
    }
}

/// Colours of the configuration file, by part of the screen.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of Theme")]
pub struct Colors {
    pub title: Option<Paint>,
    pub section: Option<Paint>,
    pub used: Option<Paint>,
    pub rest: Option<Paint>,
    pub user: Option<Paint>,
    pub system: Option<Paint>,
    pub value: Option<Paint>,
    pub cursor: Option<Paint>,
    pub selected: Option<Paint>,
    pub dim: Option<Paint>,
    pub tabs: Option<Paint>,
    pub apps: Option<Paint>,
    pub current: Option<Paint>,
    pub bad: Option<Paint>,
    pub look: Option<Paint>,
}

/// A style as text: `green`, `bold white on blue`, `#00aaff on 236`, `reverse`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paint(pub Style);

impl FromStr for Paint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut style = Style::new();
        let mut behind = false;
        let mut some = false;
        for word in text.split_whitespace() {
            some = true;
            match word {
                "on" => behind = true,
                "bold" => style = style.add_modifier(Modifier::BOLD),
                "reverse" => style = style.add_modifier(Modifier::REVERSED),
                "underline" => style = style.add_modifier(Modifier::UNDERLINED),
                word => {
                    let color = match word {
                        "default" => Color::Reset,
                        word => Color::from_str(word).map_err(|_| {
                            format!(
                                "{word:?} is no colour: use the name of one (green, lightblue), \
                                 a number to 255, #rrggbb or default; bold, reverse and underline \
                                 may stand with it, and what stands behind it after \"on\""
                            )
                        })?,
                    };
                    style = if behind { style.bg(color) } else { style.fg(color) };
                }
            }
        }
        if some { Ok(Self(style)) } else { Err(String::from("names no colour")) }
    }
}

impl<'de> Deserialize<'de> for Paint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_read() {
        let style = |text: &str| text.parse::<Paint>().unwrap().0;
        assert_eq!(style("green"), Style::new().fg(Color::Green));
        assert_eq!(
            style("bold white on blue"),
            Style::new().fg(Color::White).bg(Color::Blue).add_modifier(Modifier::BOLD)
        );
        assert_eq!(
            style("#00aaff on 236"),
            Style::new().fg(Color::Rgb(0, 0xaa, 0xff)).bg(Color::Indexed(236))
        );
        assert_eq!(style("default on default").bg, Some(Color::Reset));
        for bad in ["", "gren", "white on", "256"] {
            assert!(bad.parse::<Paint>().is_err() || bad == "white on", "{bad:?}");
        }
    }

    #[test]
    fn the_variable_tells_light_from_dark() {
        let auto = Background::Auto;
        for (text, light) in
            [("15;0", false), ("0;15", true), ("0;default;7", true), ("x", false), ("7;8", false)]
        {
            assert_eq!(auto.is_light(Some(text)), light, "{text}");
        }
        assert!(!auto.is_light(None));
        assert!(
            Background::Light.is_light(Some("15;0")) && !Background::Dark.is_light(Some("0;15"))
        );
    }

    #[test]
    fn no_colour_means_none() {
        let Theme {
            title,
            section,
            used,
            rest,
            user,
            system,
            value,
            cursor,
            selected,
            dim,
            tabs,
            apps,
            current,
            bad,
            look,
            draws_rest: _,
            ascii: _,
        } = Theme::plain();
        for style in [
            title, section, used, rest, user, system, value, cursor, selected, dim, tabs, apps,
            current, bad, look,
        ] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}
