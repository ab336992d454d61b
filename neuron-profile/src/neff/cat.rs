//! `neff cat`: the bytes of members.

use super::open::{Input, findings};
use crate::output::{Exit, Format, json};
use anyhow::{Context, bail};
use neuron_core::neff::shown;
use neuron_core::text::hex;
use serde_json::json as value;
use std::io::Write;

/// Most bytes of the members in one JSON document, which is made in memory;
/// text output has no such limit.
const MOST_JSON: u64 = 64 << 20;

/// Write members to stdout
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,

    /// Names of members, as `neff ls` shows them
    #[arg(required = true)]
    members: Vec<String>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff = args.input.open(&bytes)?;
    let mut members = Vec::new();
    for name in &args.members {
        match neff.member(name) {
            Some(member) => members.push(member),
            None => bail!(
                "{}: there is no member {}, 'neff ls' lists them",
                args.input.name(),
                shown(name)
            ),
        }
    }
    if args.input.output == Format::Text {
        for member in members {
            neff.archive.copy(member, out).with_context(|| args.input.name())?;
        }
        out.flush()?;
        return Ok(args.input.warn(&neff.report));
    }
    let bytes = members.iter().map(|member| member.size()).sum::<u64>();
    if bytes > MOST_JSON {
        bail!(
            "{}: {bytes} bytes are more than a JSON document may have, {MOST_JSON}; leave -o json out",
            args.input.name()
        );
    }
    let mut list = Vec::new();
    for member in members {
        let body = neff.archive.body(member).with_context(|| args.input.name())?;
        let mut entry = value!({ "name": member.name(), "size": member.size() });
        match std::str::from_utf8(&body) {
            Ok(text) => entry["text"] = text.into(),
            Err(_) => {
                entry["hex"] = hex(&body).into();
            }
        }
        list.push(entry);
    }
    json(out, &value!({ "members": list, "findings": findings(&neff.report) }))?;
    Ok(args.input.warn(&neff.report))
}
