//! Profiles that are stored by one command: what became of each, and one exit for
//! all of them.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;

use super::{Args, many, stored};
use crate::output::{self, Exit};

/// What became of the profiles.
#[derive(Debug, Default)]
pub(super) struct Processed {
    /// Those that are stored, and copied where that was asked for.
    pub(super) ids: Vec<String>,
    /// Why others are not, each told already.
    pub(super) failures: Vec<String>,
}

impl Processed {
    /// Takes note of a failure that takes no other profile with it.
    pub(super) fn fail(&mut self, name: &str, error: &anyhow::Error) {
        let text = output::one_line(error);
        // Most errors begin with the file that they are about.
        if text.contains(name) {
            neuron_core::cli::complain("view", &text);
        } else {
            output::wrong(name, [text.clone()]);
        }
        self.failures.push(text);
    }
}

/// Stores pairs of the command line.
pub(super) fn store_pairs(
    args: &Args,
    pairs: &[(PathBuf, PathBuf)],
    processed: &mut Processed,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.display_name.is_some() && pairs.len() > 1 {
        bail!("--display-name is of one profile; name several with neuron-profile tag");
    }
    one_bucket(args, pairs.len())?;
    let mut exit = Exit::Done;
    let mut ids = Vec::new();
    for done in many::run(args, pairs, processed)?.into_iter().flatten() {
        exit = worse(exit, done.exit);
        ids.push(done.id);
    }
    Ok(worse(exit, finish(args, ids, processed, out)?))
}

/// A bucket has one profile: the second would take the place of the first.
pub(super) fn one_bucket(args: &Args, profiles: usize) -> anyhow::Result<()> {
    if profiles > 1 && args.database.bucket().is_some() {
        bail!(
            "--db-bucket is of one profile, and there are {profiles}; left out, each gets a bucket of its id"
        );
    }
    Ok(())
}

/// The first of two exits that is no plain success.
fn worse(one: Exit, other: Exit) -> Exit {
    if one == Exit::Done { other } else { one }
}

/// Copies profiles that are stored, tells or serves them.
pub(super) fn finish(
    args: &Args,
    ids: Vec<String>,
    processed: &mut Processed,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let all = ids.len() + processed.failures.len();
    for id in ids {
        match args.copy(&id) {
            Err(error) if all == 1 => return Err(error),
            Err(error) => processed.fail(&id, &error),
            Ok(()) => processed.ids.push(id),
        }
    }
    let failed = processed.failures.len();
    let told = format!("{failed} of {all} profiles could not be stored");
    if processed.ids.is_empty() {
        bail!(told);
    }
    if failed > 0 {
        output::wrong("view", [told]);
    }
    stored::ready(args, &processed.ids, out)?;
    Ok(if failed > 0 { Exit::Partial } else { Exit::Done })
}
