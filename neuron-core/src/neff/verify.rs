//! Looks at everything: each check that reading alone does not need. One pass
//! over the bodies, so that a large archive is unpacked once more at most.

use super::archive::{Member, looks_like_payload};
use super::debug::{DebugLayer, SubgraphDebug};
use super::digest::{self, Digest};
use super::doc::{KernelDebugInfo, KernelLines, VarKind, parse};
use super::documents::Documents;
use super::file::Neff;
use super::limits::Limits;
use super::model::{Model, Subgraph};
use super::npy::Npy;
use super::problem::{Place, Problem, Report, Rule, widen};
use super::role::{Role, roles};
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::io::{self, Read};

/// Bytes of a constant that are read for its header.
const HEAD: u64 = 1 << 20;

/// What was looked at.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The JSON members.
    pub model: Model,
    /// The digest.
    pub digest: Digest,
    /// Warnings of opening and of verifying.
    pub report: Report,
    /// Debug layers read.
    pub layers: u64,
    /// Constants whose size was compared.
    pub constants: u64,
    /// JSON members read.
    pub documents: u64,
}

/// Reads every member whose form is known. `progress` is called with a count
/// of members done, and with the name of the next.
///
/// # Errors
///
/// The first broken rule that refuses the file in the mode it was opened with.
pub fn verify(
    neff: &Neff<'_>,
    mut progress: impl FnMut(usize, &str),
) -> Result<Verification, Problem> {
    let mut report = neff.report.clone();
    progress(0, "digest");
    let digest = match &neff.digest {
        Some(digest) => digest.clone(),
        None => digest::check(&neff.header, neff.payload(), &mut report)?,
    };
    let model = Model::read(neff, &mut report)?;
    let mut seen = Verification { model, digest, report, layers: 0, constants: 0, documents: 0 };
    let roles = roles(neff, &seen.model);
    let mut arrays = HashMap::new();
    let mut refused = None;
    let mut done = 0;
    let walked = neff.archive.for_each(|member, body| {
        progress(done, member.name());
        done += 1;
        let role = roles.get(member.name()).copied();
        match seen.member(member, role, body, &neff.options.limits, &mut arrays)? {
            Ok(()) => Ok(()),
            Err(problem) => {
                refused = Some(problem);
                Err(io::Error::other("refused"))
            }
        }
    });
    if let Some(problem) = refused {
        return Err(problem);
    }
    if let Err(error) = walked {
        let place = Place::File(widen(neff.payload_range.start));
        return Err(Problem::new(Rule::LimitRead, place, error.to_string()));
    }
    for index in 0..seen.model.subgraphs.len() {
        seen.subgraph(neff, index, &arrays)?;
    }
    let kernels = Documents::new(neff)
        .optional::<KernelDebugInfo>("kernel_debug_info.json", &mut seen.report)?;
    for kernel in kernels.iter().flat_map(|kernels| &kernels.debug_info_files) {
        if neff.member(&kernel.file_name).is_none() {
            let place = Place::key("kernel_debug_info.json", "debug_info_files");
            let value = format!("there is no {}", kernel.file_name);
            seen.report.note(Rule::MemberAbsentOptional, place, value)?;
        }
    }
    Ok(seen)
}

/// Headers of `.npy` members by name; `None` where one does not parse.
type Arrays = HashMap<String, Option<Npy>>;

impl Verification {
    /// One member; the outer error is of the body, the inner one a broken rule.
    fn member(
        &mut self,
        member: &Member<'_>,
        role: Option<Role>,
        body: &mut dyn Read,
        limits: &Limits,
        arrays: &mut Arrays,
    ) -> io::Result<Result<(), Problem>> {
        let name = member.name();
        if role.is_none() {
            let place = Place::Archive(member.entry.header_at);
            let noted = self.report.note(Rule::MemberRole, place, format!("the member is {name}"));
            if noted.is_err() {
                return Ok(noted);
            }
        }
        if role == Some(Role::Debug) && name.contains(".dbg") {
            let body = whole(member, body, limits.debug)?;
            return Ok(self.layer(name, &body, limits));
        }
        if name.ends_with(".json") {
            let body = whole(member, body, limits.json)?;
            self.documents += 1;
            let report = &mut self.report;
            let read = if name.ends_with(".klir.debuginfo.json") {
                KernelLines::parse(name, &body, limits.json, report).map(drop)
            } else {
                parse::<IgnoredAny>(name, &body, limits.json, report).map(drop)
            };
            return Ok(read);
        }
        if name.ends_with(".npy") {
            let mut head = Vec::new();
            body.take(HEAD).read_to_end(&mut head)?;
            let (array, noted) = match Npy::parse(name, &head) {
                Ok(array) => (Some(array), Ok(())),
                Err(problem) => (None, self.report.take(problem)),
            };
            arrays.insert(name.to_owned(), array);
            return Ok(noted);
        }
        Ok(Ok(()))
    }

    fn layer(&mut self, name: &str, body: &[u8], limits: &Limits) -> Result<(), Problem> {
        // The pttf layer may be an archive of a simulation (sheet section 8).
        if name.contains("pttf") && looks_like_payload(body) {
            return Ok(());
        }
        self.layers += 1;
        match DebugLayer::checked(name, body, limits.debug) {
            Ok(_) => Ok(()),
            Err(problem) => self.report.take(problem),
        }
    }

    fn subgraph(&mut self, neff: &Neff<'_>, index: usize, arrays: &Arrays) -> Result<(), Problem> {
        let Some(subgraph) = self.model.subgraphs.get(index) else {
            return Ok(());
        };
        self.constants += constants(neff, subgraph, arrays, &mut self.report)?;
        // What does not parse was told with the member.
        let mut told = Report::new(super::problem::Mode::Lenient);
        let debug = SubgraphDebug::read(neff, subgraph, &mut told)?;
        for (engine, name, layer) in &debug.asm {
            let slots = subgraph.program(*engine).map_or(0, |program| program.slots);
            let records = widen(layer.records.len());
            if records != slots {
                let value = format!("{records} records, {slots} slots");
                self.report.note(Rule::DebugCount, Place::member(name, 0), value)?;
            }
        }
        Ok(())
    }
}

/// A body up to one byte more than its limit, which its reader then refuses.
fn whole(member: &Member<'_>, body: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    body.take(member.size().min(limit.saturating_add(1))).read_to_end(&mut out)?;
    Ok(out)
}

/// Compares the constants' members with their variables; returns how many.
fn constants(
    neff: &Neff<'_>,
    subgraph: &Subgraph,
    arrays: &Arrays,
    report: &mut Report,
) -> Result<u64, Problem> {
    let mut count = 0;
    for (variable, value) in &subgraph.definition.var {
        let file = value.member().filter(|_| value.kind() == Some(VarKind::File));
        let (Some(file), Some(size)) = (file, value.size) else {
            continue;
        };
        let name = subgraph.member(&file);
        let Some(member) = neff.member(&name) else {
            continue;
        };
        count += 1;
        let held = match arrays.get(&name) {
            None => member.size(),
            Some(None) => continue,
            Some(Some(array)) => {
                let held = member.size().saturating_sub(widen(array.data_at));
                if let Some(bytes) = array.bytes().filter(|bytes| *bytes != held) {
                    let text = format!("the shape asks for {bytes} bytes, there are {held}");
                    report.note(Rule::Npy, Place::member(&name, array.data_at), text)?;
                }
                held
            }
        };
        if held != size {
            let place = Place::key(&subgraph.definition_member, format!("var/{variable}/size"));
            let text = format!("the variable has {size} bytes, {name} has {held}");
            report.note(Rule::WeightSize, place, text)?;
        }
    }
    Ok(count)
}
