//! `neuron-profile recommend`: what to change, as Markdown.
//!
//! The vendor's tool asks a model in its cloud; this one says what the rules
//! find, and sends nothing anywhere.

use std::collections::BTreeSet;
use std::io::{Read as _, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use clap::Parser as _;
use profile_query::{Dataset, Judged, Limits, Stop, findings};
use profile_store::Store;

use crate::output::{self, Exit};
use crate::profiles::Place;
use crate::query::interrupt::Interrupt;
use crate::report::bottlenecks::{figure, plain, side};
use crate::temporary::Temporary;
use crate::view;

/// Findings that become a recommendation, at most (profiler.md §1.5: 2 to 3).
const ITEMS: usize = 3;

/// Bytes of a source file at most.
const SOURCE: u64 = 8 << 20;

/// Say what to change so that a program runs faster, as Markdown; nothing leaves this machine
#[derive(Debug, clap::Args)]
#[command(after_help = output::codes())]
pub struct Args {
    /// A stored profile: id, the begin of one, or a display name
    #[arg(value_name = "PROFILE", conflicts_with_all = ["neff_path", "session_file"])]
    profile: Option<String>,

    /// The NEFF that was running, instead of a stored profile
    #[arg(short, long, value_name = "FILE", alias = "neff", requires = "session_file")]
    neff_path: Option<PathBuf>,

    /// The trace of it
    #[arg(short, long, value_name = "FILE", requires = "neff_path")]
    session_file: Option<PathBuf>,

    /// Folder of the sources of kernels, whose lines are then quoted
    #[arg(long, value_name = "DIR")]
    nki_source_root: Option<PathBuf>,

    #[command(flatten)]
    place: Place,
}

/// The flags of `view`, to store a pair of files.
#[derive(Debug, clap::Parser)]
struct Stored {
    #[command(flatten)]
    args: view::Args,
}

/// Runs the command.
///
/// # Errors
///
/// Files that cannot be read, and no such profile.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let temporary = Temporary::create()?;
    let (profile, exit) = match (&args.profile, &args.neff_path, &args.session_file) {
        (Some(name), ..) => (Dataset::find(&args.place.store()?, name)?, Exit::Done),
        (None, Some(neff), Some(trace)) => ingested(neff, trace, temporary.path())?,
        _ => bail!("no profile: neuron-profile recommend PROFILE, or -n NEFF -s NTFF"),
    };
    let stop = Stop::default();
    // From here on a signal stops the questions first, which have files of their own.
    let interrupt = Interrupt::catch_with(&stop, temporary.shared())?;
    temporary.leave_signals();
    let found = findings(&profile, Limits::default(), &stop);
    if found.is_err() && stop.is_stopped() {
        drop(temporary);
        interrupt.end();
    }
    markdown(out, &profile, &found?, args.nki_source_root.as_deref())?;
    out.flush()?;
    Ok(exit)
}

/// A pair of files in a store that lasts as long as the command.
fn ingested(neff: &Path, trace: &Path, folder: &Path) -> anyhow::Result<(Dataset, Exit)> {
    let mut words: Vec<std::ffi::OsString> = vec!["view".into(), "--ingest-only".into()];
    for (flag, value) in [("-n", neff), ("-s", trace), ("--data-path", folder)] {
        words.extend([flag.into(), value.as_os_str().to_owned()]);
    }
    let stored = Stored::try_parse_from(words)?;
    let exit = view::run_view(&stored.args, &mut std::io::sink())?;
    let store = Store::new(folder);
    match store.list()?.0.into_iter().next() {
        Some(entry) => Ok((Dataset::of(&store, entry), exit)),
        None => bail!("{}: nothing was stored of it", trace.display()),
    }
}

fn markdown(
    out: &mut dyn Write,
    profile: &Dataset,
    findings: &[Judged],
    sources: Option<&Path>,
) -> std::io::Result<()> {
    let simulated = if profile.manifest.simulated { ", simulated" } else { "" };
    let name = neuron_core::model::printable(&profile.labels.display_name);
    let time = profile.manifest.total_ns as f64 / 1e3;
    writeln!(out, "# Recommendations for {name}\n")?;
    writeln!(out, "Profile `{}`{simulated}: {time:.3} µs.", profile.id())?;
    let of_data = |judged: &&Judged| judged.finding.rule == "incomplete";
    for judged in findings.iter().filter(of_data) {
        writeln!(out, "\n> {}: {}", judged.finding.sentence, judged.finding.advice)?;
    }
    let items: Vec<&Judged> =
        findings.iter().filter(|judged| !of_data(judged)).take(ITEMS).collect();
    if items.is_empty() {
        writeln!(out, "\nNo rule holds: nothing stands out.")?;
    }
    for (at, judged) in items.into_iter().enumerate() {
        let finding = &judged.finding;
        writeln!(out, "\n## {}. {}\n", at + 1, sentence(&finding.sentence))?;
        writeln!(
            out,
            "- **Symptom**: {} {}, {} the limit of {} (rule `{}`, {} severity).",
            finding.figure,
            figure(finding.value, finding.unit),
            side(finding.side),
            figure(finding.threshold, finding.unit),
            finding.rule,
            finding.severity.name()
        )?;
        writeln!(out, "- **Change**: {}.", finding.advice)?;
        match finding.speedup {
            Some(most) => writeln!(
                out,
                "- **Expected speed-up**: at most {most:.2} times, if this alone is repaired and nothing else limits."
            )?,
            None => writeln!(
                out,
                "- **Expected speed-up**: not known from the metrics; {:.1} % of the time is at stake.",
                finding.weight * 100.0
            )?,
        }
        writeln!(out, "- **Trade-offs**: {}.", finding.trade_off)?;
        if !judged.evidence.is_empty() {
            writeln!(out, "- **Where** (`{}`):", finding.table)?;
        }
        let mut quoted = BTreeSet::new();
        for row in &judged.evidence {
            let fields = row.fields.iter().map(|(name, value)| format!("{name} {}", plain(value)));
            let fields = fields.collect::<Vec<_>>().join(", ").replace('`', "'");
            writeln!(out, "  - row {}: `{fields}`", row.row)?;
            let place = row.fields.get("nki_source_location").and_then(|place| place.as_str());
            if let (Some(place), Some(root)) = (place, sources)
                && quoted.insert(place.to_owned())
                && let Some(line) = line(root, place)
            {
                writeln!(out, "    `{}`", line.trim().replace('`', "'"))?;
            }
        }
    }
    Ok(())
}

/// With a capital.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

/// The line `file:line` of a file below a folder. The path is that of the
/// machine where the kernel was compiled, so its last parts count.
fn line(root: &Path, place: &str) -> Option<String> {
    let place = place.split([',', '\n']).next()?.trim();
    let (file, number) = place.rsplit_once(':')?;
    let number: usize = number.parse().ok()?;
    let parts: Vec<Component<'_>> =
        Path::new(file).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let found = (0..parts.len())
        .map(|from| root.join(parts.get(from..).unwrap_or_default().iter().collect::<PathBuf>()))
        .find(|path| path.is_file())?;
    let mut text = String::new();
    std::fs::File::open(found).ok()?.take(SOURCE).read_to_string(&mut text).ok()?;
    let line = text.lines().nth(number.checked_sub(1)?)?;
    Some(neuron_core::model::printable(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_below_the_folder_only() {
        let dir = tempfile::tempdir().unwrap();
        let kernels = dir.path().join("src/kernels");
        std::fs::create_dir_all(&kernels).unwrap();
        std::fs::write(kernels.join("a.py"), "one\n  two\nthree\n").unwrap();
        std::fs::write(dir.path().join("secret"), "x\n").unwrap();
        let root = dir.path().join("src");
        let quote = |place: &str| line(&root, place);
        assert_eq!(quote("/home/u/p/kernels/a.py:2").as_deref(), Some("  two"));
        assert_eq!(quote("kernels/a.py:1,kernels/a.py:3").as_deref(), Some("one"));
        for none in
            ["kernels/a.py:4", "kernels/a.py:0", "kernels/a.py", "b.py:1", "../secret:1", ":"]
        {
            assert_eq!(quote(none), None, "{none}");
        }
    }
}
