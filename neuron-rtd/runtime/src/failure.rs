//! Codes and details of what went wrong (neuron-rtd.md §1.4, §3.6).

use std::fmt;

macro_rules! codes {
    ($($name:ident $number:literal $text:literal $meaning:literal;)*) => {
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

            /// What it means and what to do, one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    Ok 0 "NERR_OK"
        "success";
    Fail 1 "NERR_FAIL"
        "an unspecific failure; the details say what";
    Invalid 2 "NERR_INVALID"
        "a bad NEFF, or a request that cannot be in this state";
    InvalidHandle 3 "NERR_INVALID_HANDLE"
        "a model, group, session, cookie or mapping that does not exist, or a model that does not run";
    Resource 4 "NERR_RESOURCE"
        "host or device memory or another resource is missing";
    Timeout 5 "NERR_TIMEOUT"
        "the inference took longer than the model's timeout; stop and start the model";
    HwError 6 "NERR_HW_ERROR"
        "a device failed, or the daemon has none: then every call gives this";
    QueueFull 7 "NERR_QUEUE_FULL"
        "as many inferences are in flight as the model may have; try again";
    FailedState 8 "NERR_FAILED_STATE"
        "the model has failed, or the daemon is ending; stop and start the model";
    ResourceNc 9 "NERR_RESOURCE_NC"
        "too few free NeuronCores; the details say who holds them";
    UnsupportedVersion 10 "NERR_UNSUPPORTED_VERSION"
        "a NEFF of a newer version or for unknown hardware";
    Pending 1000 "NERR_INFER_PENDING"
        "the inference is not done";
    Cancelled 1001 "NERR_INFER_CANCELLED"
        "the inference was given up because its model was stopped";
    BadInput 1002 "NERR_INFER_BAD_INPUT"
        "an input or output is missing, unknown or of another size";
    NumErr 1003 "NERR_INFER_COMPLETED_WITH_NUM_ERR"
        "done, with NaN in an output; the outputs are delivered";
    WithErr 1004 "NERR_INFER_COMPLETED_WITH_ERR"
        "the program stopped with an error; the details say core, engine and slot";
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

/// Characters of a line at most: names in it may be those of a client, of any
/// length, and go into the log too (our choice).
const LONGEST: usize = 2000;

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
        let mut text = text.to_string().replace(['\n', '\r'], " ");
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            text.truncate(end);
            text.push_str(" ...");
        }
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

    #[test]
    fn lines_are_not_as_long_as_a_client_likes() {
        let failure = Failure::new(Code::BadInput, "P", "\u{e9}".repeat(1 << 20));
        assert_eq!(failure.lines()[0].chars().count(), "[P]  ...".len() + LONGEST);
    }
}
