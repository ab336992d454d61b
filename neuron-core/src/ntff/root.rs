//! A message that is a file or most of it: field by field.
//!
//! What is whole is kept: a broken field costs that field, a broken key costs
//! what follows (ntff.md §10).

use super::error::Findings;
use super::messages::NtffInfo;
use super::schema;
use super::table::{Field, Message};
use super::wire::{Fields, Visitor, Walker};
use super::{Finding, Limits, Rule};

/// Notes what the schema does not explain.
#[derive(Debug)]
struct Unknown<'f>(&'f mut Findings);

impl Visitor for Unknown<'_> {
    fn misfit(
        &mut self,
        message: &'static Message,
        field: &'static Field,
        offset: u64,
        value: u64,
    ) {
        let (message, field) = (message.name, field.name);
        self.0.push(offset, Rule::Misfit { message, field, value });
    }

    fn unknown(&mut self, message: &'static Message, number: u32, offset: u64, bytes: &[u8]) {
        let bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let message = message.name;
        self.0.push(offset, Rule::UnknownField { message, field: number, bytes });
    }
}

/// Decodes the message that lies at `base` in the file. In strict mode
/// (`lenient` false) the first broken field is the error; else it is pushed to
/// `findings`.
///
/// # Errors
///
/// See above; `findings` has the unknown fields in either mode.
pub fn decode(
    bytes: &[u8],
    base: u64,
    limits: &Limits,
    lenient: bool,
    findings: &mut Findings,
) -> Result<NtffInfo, Finding> {
    decode_fields(bytes, base, &schema::NTFF_INFO, limits, lenient, findings)
}

/// The same for any message.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_fields<M: prost::Message + Default>(
    bytes: &[u8],
    base: u64,
    root: &'static Message,
    limits: &Limits,
    lenient: bool,
    findings: &mut Findings,
) -> Result<M, Finding> {
    let mut info = M::default();
    let mut budget = *limits;
    let mut at = 0;
    for raw in Fields::new(bytes, base, root, limits.nesting) {
        let step = raw.and_then(|raw| {
            let from = at;
            at += raw.size;
            let mut unknown = Unknown(findings);
            let mut walker = Walker::new(&mut unknown, &budget);
            walker.field(&raw, root)?;
            budget.decoded = walker.left();
            let field = bytes.get(from..at).unwrap_or_default();
            info.merge(field).map_err(|error| Finding {
                offset: raw.offset,
                rule: Rule::Decode { message: root.name, reason: error.to_string() },
            })
        });
        match step {
            Ok(()) => {}
            Err(finding) if lenient => findings.push(finding.offset, finding.rule),
            Err(finding) => return Err(finding),
        }
    }
    Ok(info)
}

/// Checks a message against its schema and decodes it.
///
/// # Errors
///
/// The first place that does not hold to the wire format or the schema.
pub fn decode_whole<M: prost::Message + Default>(
    bytes: &[u8],
    base: u64,
    message: &'static Message,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<M, Finding> {
    Walker::new(&mut Unknown(findings), limits).message(bytes, base, message)?;
    M::decode(bytes).map_err(|error| Finding {
        offset: base,
        rule: Rule::Decode { message: message.name, reason: error.to_string() },
    })
}
