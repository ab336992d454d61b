//! `--watch`: prints again whenever the text has changed.

use std::io::{IsTerminal as _, Write};

use neuron_core::cli::{Exit, Output};

use crate::args::{Arguments, Document};
use crate::reading::Reading;
use crate::{failed, partial, problems, read, text, unprintable, watch};

/// Clears a terminal and puts the cursor in its corner.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Prints, and again whenever the text has changed, until the reader goes away or
/// a signal ends the program; `gone` tells that it went away while there is
/// nothing to print. An error ends it only when nothing was ever
/// shown: a driver that is being loaded again comes back.
pub(crate) fn follow<W: Write>(
    mut reading: Reading,
    args: &Arguments,
    out: &mut Output<W>,
    gone: &dyn Fn() -> bool,
) -> Exit {
    let terminal = std::io::stdout().is_terminal();
    let is_table = args.document() == Document::Table;
    let mut changes = watch::Changes::every(args.interval);
    let mut shown: Option<String> = None;
    let mut said: Vec<String> = Vec::new();
    loop {
        changes.watch(reading.watch_paths());
        let problems = match read(&mut reading) {
            Err(error) if shown.is_none() => return failed(&error, args),
            Err(error) => vec![error.to_string()],
            Ok(inventory) => {
                let text = match text(&inventory, args) {
                    Ok(text) => text,
                    Err(error) => return unprintable(&error),
                };
                if shown.as_ref() != Some(&text) {
                    let again = shown.is_some();
                    let whole = again_text(&text, terminal, again && is_table);
                    if let Err(error) = out.write_all(whole.as_bytes()).and_then(|()| out.flush()) {
                        return unprintable(&error);
                    }
                    shown = Some(text);
                }
                problems(&inventory)
            }
        };
        if out.is_closed() {
            return Exit::Done;
        }
        if problems != said {
            partial(&problems);
            said = problems;
        }
        if !changes.wait(reading.needs_polling(), gone) {
            return Exit::Done;
        }
    }
}

/// What is printed of a document while watching: a terminal is cleared, tables
/// that follow each other are parted by an empty line, and JSON gets its
/// newline, so that a reader of lines is not kept waiting.
fn again_text(text: &str, terminal: bool, apart: bool) -> String {
    let before = match terminal {
        true => CLEAR,
        false if apart => "\n",
        false => "",
    };
    let after = if text.ends_with('\n') { "" } else { "\n" };
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;

    use clap::Parser as _;
    use neuron_core::instance::Chip;
    use neuron_core::sample::{Device, Problem, Sample, Wanted};
    use neuron_core::source::Source;

    use super::*;

    /// Gives its samples one after the other, the last one for ever.
    #[derive(Debug)]
    struct Script {
        steps: VecDeque<Option<Sample>>,
        asked: Wanted,
    }

    impl Source for Script {
        fn sample(&mut self, wanted: Wanted) -> neuron_core::Result<Sample> {
            self.asked = wanted;
            let step = if self.steps.len() > 1 {
                self.steps.pop_front()
            } else {
                self.steps.front().cloned()
            };
            step.flatten().ok_or_else(|| neuron_core::Error::sim("lab", "is gone; create it again"))
        }
    }

    fn script(steps: Vec<Option<Sample>>) -> Reading {
        Reading::of(Box::new(Script { steps: steps.into(), asked: Wanted::default() }))
    }

    fn sample(devices: u32) -> Option<Sample> {
        let devices = (0..devices).map(|index| Device {
            index,
            host_index: index,
            chip: Some(Chip::Trainium1),
            ..Device::default()
        });
        Some(Sample { devices: devices.collect(), ..Sample::default() })
    }

    /// Takes whole documents and goes away when it has had enough.
    struct Reader {
        documents: Vec<String>,
        enough: usize,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.documents.len() == self.enough {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.documents.push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn arguments(flags: &[&str]) -> Arguments {
        let line = ["neuron-ls", "--watch", "--interval", "1ms"].iter().chain(flags);
        Arguments::try_parse_from(line).unwrap()
    }

    #[test]
    fn prints_changes_only_and_ends_with_its_reader() {
        // The third state, the first again, and an error in between.
        let steps = vec![sample(1), sample(1), sample(2), None, sample(2), sample(1), sample(3)];
        let mut reader = Reader { documents: Vec::new(), enough: 3 };
        let exit = follow(
            script(steps),
            &arguments(&["-o", "csv"]),
            &mut Output::to(&mut reader),
            &|| false,
        );
        assert_eq!(exit, Exit::Done);
        let rows: Vec<usize> = reader.documents.iter().map(|d| d.lines().count() - 1).collect();
        assert_eq!(rows, [1, 2, 1]);
    }

    #[test]
    fn nothing_ever_shown_is_an_error() {
        for steps in [vec![None], vec![sample(0)]] {
            let mut reader = Reader { documents: Vec::new(), enough: 1 };
            let exit =
                follow(script(steps), &arguments(&["-j"]), &mut Output::to(&mut reader), &|| false);
            assert_eq!(exit, Exit::Error);
            assert!(reader.documents.is_empty());
        }
    }

    #[test]
    fn once_says_what_could_not_be_read() {
        let mut some = sample(2).unwrap();
        some.problems =
            vec![Problem { device: Some(1), text: String::from("datastore: permission denied") }];
        let mut out = Vec::new();
        let exit = crate::once(script(vec![Some(some)]), &arguments(&["-j"]), &mut out);
        assert_eq!(exit, Exit::Partial);
        assert!(out.starts_with(b"[\n    {"));
        let exit = crate::once(script(vec![sample(1)]), &arguments(&["-j"]), &mut out);
        assert_eq!(exit, Exit::Done);
    }

    #[test]
    fn documents_are_parted() {
        assert_eq!(again_text("[]", false, false), "[]\n");
        assert_eq!(again_text("table\n", false, true), "\ntable\n");
        assert_eq!(again_text("table\n", true, true), "\x1b[H\x1b[2Jtable\n");
    }
}
