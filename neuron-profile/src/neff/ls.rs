//! `neff ls`: the members, their sizes and what they are for.

use super::open::{Input, findings};
use crate::output::{Exit, Format, json, table};
use anyhow::Context;
use neuron_core::neff::{Model, roles, shown};
use serde_json::json as value;
use std::io::Write;

/// List the members
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,

    /// Offsets, owner and time too
    #[arg(short, long)]
    long: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let bytes = args.input.bytes()?;
    let neff = args.input.open(&bytes)?;
    let mut report = neff.report.clone();
    let model = Model::read(&neff, &mut report).with_context(|| args.input.name())?;
    let roles = roles(&neff, &model);
    let mut rows = Vec::new();
    let mut list = Vec::new();
    for member in neff.members() {
        let entry = &member.entry;
        let role = roles.get(member.name()).copied();
        let role_name = role.map_or("unknown", neuron_core::neff::Role::name);
        list.push(value!({
            "name": entry.name,
            "size": entry.size,
            "role": role_name,
            "loaded": role.is_some_and(neuron_core::neff::Role::is_loaded),
            "header_at": entry.header_at,
            "body_at": entry.body_at,
            "dialect": entry.dialect.name(),
            "mode": entry.mode,
            "uid": entry.uid,
            "gid": entry.gid,
            "user": entry.user,
            "group": entry.group,
            "mtime": entry.mtime,
        }));
        let mut row = vec![entry.size.to_string(), role_name.to_owned()];
        if args.long {
            row.extend([
                format!("{:#x}", entry.body_at),
                format!("{:o}", entry.mode),
                format!("{}/{}", entry.uid, entry.gid),
                shown(&format!("{}/{}", entry.user, entry.group)),
                entry.mtime.to_string(),
                entry.dialect.name().to_owned(),
            ]);
        }
        row.push(shown(&entry.name));
        rows.push(row);
    }
    match args.input.output {
        Format::Json => {
            json(out, &value!({ "members": list, "findings": findings(&report) }))?;
        }
        Format::Text => {
            let last = if args.long { 8 } else { 2 };
            table(out, "", &[1, 5, 7, last], &rows)?;
            out.flush()?;
        }
    }
    Ok(args.input.warn(&report))
}
