//! The kelf member: subgraphs and target (sheet sections 5.2 and 9.2).

use serde::{Deserialize, Serialize};

/// The kelf member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kelf {
    /// One program per physical core.
    pub graphs: Vec<KelfGraph>,
    /// `0.5`; refused only without a dot.
    pub version: String,
    /// Which hardware it is for; see [`Target`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// One subgraph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KelfGraph {
    /// Member that defines it: `sg00/def.json`.
    pub definition: String,
    /// `sg00`.
    pub name: String,
}

/// Generation of the hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Trn1 and Inf2.
    V2,
    /// Trn2.
    V3,
    /// Trn3.
    V4,
    /// Any.
    Any,
    /// Our software NeuronCore; no real loader accepts it.
    Simulator,
    /// Inf1, which runtime 2.31 no longer accepts.
    V1,
}

impl Target {
    /// Reads a target word; none means v2.
    pub fn parse(word: Option<&str>) -> Option<Self> {
        Some(match word.unwrap_or_default() {
            "sunda" | "v2" | "" => Self::V2,
            "cayman" | "v3" => Self::V3,
            "mariana" | "v4" => Self::V4,
            "tonga" | "inferentia" => Self::V1,
            "npu-sim" => Self::Simulator,
            "*" => Self::Any,
            _ => return None,
        })
    }

    /// Families it is for, for people.
    pub fn families(self) -> &'static str {
        match self {
            Self::V1 => "Inf1",
            Self::V2 => "Trn1, Inf2",
            Self::V3 => "Trn2",
            Self::V4 => "Trn3",
            Self::Any => "any",
            Self::Simulator => "simulated",
        }
    }
}
