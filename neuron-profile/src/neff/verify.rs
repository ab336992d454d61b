//! `neff verify`: every check there is, all findings at once.

use super::open::{Input, exit, findings, severity};
use super::records;
use crate::output::{Exit, Format, json, progress};
use anyhow::Context;
use neuron_core::model::printable;
use neuron_core::neff::{shown, verify};
use serde_json::json as value;
use std::io::Write;

/// Check everything; exit code 3 if a strict reader refuses the file
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff = args.input.open_checked(&bytes)?;
    let count = neff.members().len();
    let bar = progress("members", u64::try_from(count)?, false);
    let seen = verify(&neff, |done, _| {
        bar.set_position(u64::try_from(done).unwrap_or(0));
    });
    bar.finish_and_clear();
    let mut seen = seen.with_context(|| args.input.name())?;
    let records = records::check(&neff, &seen.model, &mut seen.report);
    let records = records.with_context(|| args.input.name())?;
    let sound = exit(&seen.report) == Exit::Done;
    match args.input.output {
        Format::Json => json(
            out,
            &value!({
                "sound": sound,
                "members": count,
                "documents": seen.documents,
                "debug_layers": seen.layers,
                "constants": seen.constants,
                "digest_form": seen.digest.form.map(|form| form.name()),
                "records": records,
                "findings": findings(&seen.report),
            }),
        )?,
        Format::Text => {
            for problem in seen.report.warnings() {
                let line = format!("{}: {problem}", severity(problem));
                writeln!(out, "{}", printable(&line))?;
            }
            if seen.report.dropped() > 0 {
                writeln!(out, "and {} more", seen.report.dropped())?;
            }
            let verdict = if sound { "sound" } else { "not sound" };
            writeln!(
                out,
                "{}: {verdict}: {count} members, {} JSON documents, {} debug layers, {} constants, {records} records, digest {}",
                shown(&args.input.name()),
                seen.documents,
                seen.layers,
                seen.constants,
                seen.digest.form.map_or("of another payload", |form| form.name()),
            )?;
            out.flush()?;
        }
    }
    Ok(if sound { Exit::Done } else { Exit::Partial })
}
