//! The JSON members of one NEFF: the one place that unpacks and parses them,
//! and counts what that may cost.

use super::doc::{Budget, parse};
use super::file::Neff;
use super::problem::{Place, Problem, Report, Rule, widen};
use serde::de::DeserializeOwned;

/// Reads JSON members within limits: of each before it is unpacked, of all
/// together before they are parsed.
#[derive(Debug)]
pub(super) struct Documents<'n, 'a> {
    pub(super) neff: &'n Neff<'a>,
    budget: Budget,
}

impl<'n, 'a> Documents<'n, 'a> {
    pub(super) fn new(neff: &'n Neff<'a>) -> Self {
        Self { neff, budget: Budget::default() }
    }

    /// A member that may be absent.
    pub(super) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &str,
        report: &mut Report,
    ) -> Result<Option<T>, Problem> {
        let Some(member) = self.neff.member(name) else {
            return Ok(None);
        };
        let (size, limit) = (member.size(), self.neff.options.limits.json);
        if size > limit {
            let value = format!("{name} has {size} bytes, the limit is {limit}");
            return Err(Problem::new(Rule::LimitJson, Place::member(name, 0), value));
        }
        let body = self.neff.archive.body(member)?;
        self.budget.charge(name, &body)?;
        parse(name, &body, limit, report)
    }

    /// A member without which the loader refuses the file.
    pub(super) fn required<T: DeserializeOwned>(
        &mut self,
        name: &str,
        report: &mut Report,
    ) -> Result<Option<T>, Problem> {
        if self.neff.member(name).is_none() {
            let at = Place::File(widen(self.neff.payload_range.start));
            report.note(Rule::MemberAbsent, at, format!("there is no {name}"))?;
        }
        self.optional(name, report)
    }

    /// Counts a member once more that was parsed before: each mention of it is
    /// checked.
    pub(super) fn again(&mut self, name: &str) -> Result<(), Problem> {
        self.budget.again(name)
    }
}
