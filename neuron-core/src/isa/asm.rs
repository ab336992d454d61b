//! Assembler and disassembler: a line of text for each record.
//!
//! ```text
//! # comment
//! 12: MATMUL $S[5]++@complete acc_flags=3 src=bfloat16@0x369f4[1,0,0][512,1,1] \
//!     dst=0x2000000[1,0,0][512,1,1] 128*128;
//! ```
//!
//! (on one line). The number before the colon, the semicolon and a name after
//! a semaphore, `S[5] (Tensor)`, are optional and say nothing; items may stand
//! in any order. The operand text of the vendor's viewer is read as well. What
//! a line leaves out has the value that the compiler writes. A record that the
//! generation does not know is `UNKNOWN` and its bytes.

use super::names::SemaphoreNames;
use super::record::Record;
use super::text::{parser, printer, token};
use crate::instance::Arch;

/// Why a text is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct AsmError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// The line of a record, without a line end. Assembling it for the generation
/// that the record was decoded for gives the same record.
pub fn disassemble(record: &Record, names: &SemaphoreNames) -> String {
    printer::line(record, names)
}

/// The operands as the vendor's viewer 2.28.23 prints them, equal to its text
/// for opcodes that are
/// [settled by capture](super::opcode::Status::SettledByCapture) and in the
/// same manner for the others. Made for comparison and display: it leaves
/// fields out that [`disassemble`] keeps.
pub fn viewer_operands(record: &Record, names: &SemaphoreNames) -> String {
    printer::viewer_operands(record, names)
}

/// Assembles a program: one record for each line that is not empty.
pub fn assemble(arch: Arch, text: &str) -> Result<Vec<Record>, AsmError> {
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fail = |reason| AsmError { line: index + 1, reason: shortened(reason) };
        let tokens = token::tokens(line).map_err(fail)?;
        let numbered = tokens.first().is_some_and(|first| is_slot_number(first));
        let tokens = tokens.get(usize::from(numbered)..).unwrap_or_default();
        if !tokens.is_empty() {
            records.push(parser::parse(arch, tokens).map_err(fail)?);
        }
    }
    Ok(records)
}

/// `12:`
fn is_slot_number(token: &str) -> bool {
    token.strip_suffix(':').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A reason quotes words of the text, which may be of any length.
fn shortened(mut reason: String) -> String {
    const LONGEST: usize = 200;
    if let Some((end, _)) = reason.char_indices().nth(LONGEST) {
        reason.truncate(end);
        reason.push_str("...");
    }
    reason
}
