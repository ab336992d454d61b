//! Looks at everything: each check that reading alone does not need.

use super::debug::{DebugLayer, SubgraphDebug};
use super::digest::{self, Digest};
use super::doc::{KernelDebugInfo, KernelLines, VarKind, parse};
use super::file::Neff;
use super::model::{Model, Subgraph, optional};
use super::npy::Npy;
use super::problem::{Place, Problem, Report, Rule, widen};
use super::role::{Role, roles};
use serde::de::IgnoredAny;

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
    for (index, member) in neff.members().iter().enumerate() {
        let name = member.name();
        progress(index, name);
        let role = roles.get(name).copied();
        if role.is_none() {
            let place = Place::Archive(member.entry.header_at);
            seen.report.note(Rule::MemberRole, place, format!("the member is {name}"))?;
        }
        if role == Some(Role::Debug) && name.contains(".dbg") {
            seen.layer(neff, name)?;
        } else if name.ends_with(".klir.debuginfo.json") {
            let body = neff.archive.body(member)?;
            let limit = neff.options.limits.json;
            KernelLines::parse(name, &body, limit, &mut seen.report)?;
            seen.documents += 1;
        } else if name.ends_with(".json") {
            let body = neff.archive.body(member)?;
            let limit = neff.options.limits.json;
            parse::<IgnoredAny>(name, &body, limit, &mut seen.report)?;
            seen.documents += 1;
        }
    }
    for index in 0..seen.model.subgraphs.len() {
        seen.subgraph(neff, index)?;
    }
    let kernels = optional::<KernelDebugInfo>(neff, "kernel_debug_info.json", &mut seen.report)?;
    for kernel in kernels.iter().flat_map(|kernels| &kernels.debug_info_files) {
        if neff.member(&kernel.file_name).is_none() {
            let place = Place::key("kernel_debug_info.json", "debug_info_files");
            let value = format!("there is no {}", kernel.file_name);
            seen.report.note(Rule::MemberAbsentOptional, place, value)?;
        }
    }
    Ok(seen)
}

impl Verification {
    fn layer(&mut self, neff: &Neff<'_>, name: &str) -> Result<(), Problem> {
        let Some(body) = neff.body(name) else {
            return Ok(());
        };
        self.layers += 1;
        match DebugLayer::parse(name, &body?) {
            Ok(_) => Ok(()),
            Err(problem) => self.report.take(problem),
        }
    }

    fn subgraph(&mut self, neff: &Neff<'_>, index: usize) -> Result<(), Problem> {
        let Some(subgraph) = self.model.subgraphs.get(index) else {
            return Ok(());
        };
        self.constants += constants(neff, subgraph, &mut self.report)?;
        let debug = SubgraphDebug::read(neff, subgraph, &mut self.report)?;
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

/// Compares the constants' members with their variables; returns how many.
fn constants(neff: &Neff<'_>, subgraph: &Subgraph, report: &mut Report) -> Result<u64, Problem> {
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
        let mut held = member.size();
        if name.ends_with(".npy") {
            let body = neff.archive.body(member)?;
            match Npy::parse(&name, &body) {
                Ok(npy) => {
                    held = npy.data_length(&body);
                    if let Some(bytes) = npy.bytes().filter(|bytes| *bytes != held) {
                        let text = format!("the shape asks for {bytes} bytes, there are {held}");
                        report.note(Rule::Npy, Place::member(&name, npy.data_at), text)?;
                    }
                }
                Err(problem) => {
                    report.take(problem)?;
                    continue;
                }
            }
        }
        if held != size {
            let place = Place::key(&subgraph.definition_member, format!("var/{variable}/size"));
            let text = format!("the variable has {size} bytes, {name} has {held}");
            report.note(Rule::WeightSize, place, text)?;
        }
    }
    Ok(count)
}
