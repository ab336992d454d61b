//! Codes and details of what went wrong (neuron-rtd.md §1.4, §3.6).

use std::fmt;

macro_rules! codes {
    ($($name:ident $number:literal $text:literal;)*) => {
        /// Outcome of a call: the numbers of `status.code`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $text] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its number on the wire.
            pub const fn number(self) -> i32 {
                match self { $(Self::$name => $number,)* }
            }

            /// Its published name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    Ok 0 "NERR_OK";
    Fail 1 "NERR_FAIL";
    Invalid 2 "NERR_INVALID";
    InvalidHandle 3 "NERR_INVALID_HANDLE";
    Resource 4 "NERR_RESOURCE";
    Timeout 5 "NERR_TIMEOUT";
    HwError 6 "NERR_HW_ERROR";
    QueueFull 7 "NERR_QUEUE_FULL";
    FailedState 8 "NERR_FAILED_STATE";
    ResourceNc 9 "NERR_RESOURCE_NC";
    UnsupportedVersion 10 "NERR_UNSUPPORTED_VERSION";
    Pending 1000 "NERR_INFER_PENDING";
    Cancelled 1001 "NERR_INFER_CANCELLED";
    BadInput 1002 "NERR_INFER_BAD_INPUT";
    NumErr 1003 "NERR_INFER_COMPLETED_WITH_NUM_ERR";
    WithErr 1004 "NERR_INFER_COMPLETED_WITH_ERR";
}

/// Class of an error of an inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subtype {
    /// No class.
    None,
    /// NaN.
    Numerical,
    /// The instruction streams.
    Model,
    /// Corrected by the hardware.
    Transient,
    /// The device.
    Hardware,
    /// The runtime itself.
    Runtime,
}

impl Subtype {
    /// Every class, in the order of its number.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Numerical, Self::Model, Self::Transient, Self::Hardware, Self::Runtime];

    /// Its number on the wire, 0 to 5.
    pub const fn number(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Numerical => 1,
            Self::Model => 2,
            Self::Transient => 3,
            Self::Hardware => 4,
            Self::Runtime => 5,
        }
    }

    /// Its published name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "INFER_ERROR_SUBTYPE_NONE",
            Self::Numerical => "INFER_ERROR_SUBTYPE_NUMERICAL",
            Self::Model => "INFER_ERROR_SUBTYPE_MODEL",
            Self::Transient => "INFER_ERROR_SUBTYPE_TRANSIENT",
            Self::Hardware => "INFER_ERROR_SUBTYPE_HW_ERROR",
            Self::Runtime => "INFER_ERROR_SUBTYPE_RT",
        }
    }
}

/// Why a call failed: a code and lines, the innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: Code,
    lines: Vec<String>,
}

impl Failure {
    /// A failure with its first line, `[place] text`.
    pub fn new(code: Code, place: &str, text: impl fmt::Display) -> Self {
        Self { code, lines: Vec::new() }.then(place, text)
    }

    /// Adds the line of the next layer.
    #[must_use]
    pub fn then(mut self, place: &str, text: impl fmt::Display) -> Self {
        // one line each, whatever a file or a client put into the text
        let text = text.to_string().replace(['\n', '\r'], " ");
        self.lines.push(format!("[{place}] {text}"));
        self
    }

    /// The lines.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The lines as `status.details` has them: each ended by a newline.
    pub fn details(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.code.name(), self.code.number(), self.lines.join("; "))
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of §3.6.
    #[test]
    fn details_are_lines_with_the_innermost_first() {
        let failure = Failure::new(Code::WithErr, "NMGR:exec_wait", "a\nb")
            .then("NRTD:infer_wait", "error: 1004");
        assert_eq!(failure.details(), "[NMGR:exec_wait] a b\n[NRTD:infer_wait] error: 1004\n");
        assert_eq!(failure.code.number(), 1004);
    }
}
