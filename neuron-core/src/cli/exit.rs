//! Exit codes, one table for all tools.

use std::process::{ExitCode, Termination};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; also when the reader of stdout went away.
    Done,
    /// An error; of neuron-ls, neuron-top, neuron-monitor and neuron-profile
    /// also a usage error, as with the programs that they replace.
    Error,
    /// A usage error of neuron-rtd.
    Usage,
    /// Something was printed and something could not be read; stderr says what.
    Partial,
}

impl Exit {
    /// The number that the caller sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error => 1,
            Self::Usage => 2,
            Self::Partial => 3,
        }
    }

    /// What the number means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done, also when the reader of the output went away",
            Self::Error => "an error, usage errors included; nothing was printed",
            Self::Usage => "a usage error",
            Self::Partial => {
                "a part could not be read: the output is complete but for it, stderr says what"
            }
        }
    }

    /// A block for `--help` with one line per code that a tool uses.
    pub fn help(codes: &[Self]) -> String {
        let mut text = String::from("Exit status:\n");
        for code in codes {
            text.push_str(&format!("  {}  {}\n", code.code(), code.meaning()));
        }
        text
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_number_and_meaning() {
        let text = Exit::help(&[Exit::Done, Exit::Partial]);
        assert!(text.starts_with("Exit status:\n  0  done"), "{text}");
        assert!(text.contains("\n  3  a part"), "{text}");
    }
}
