//! What a stored profile is: written once with it, but for name and tags.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Layout of the files of a profile. Readers refuse newer ones.
pub const LAYOUT: u32 = 3;

/// `manifest.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// See [`LAYOUT`].
    pub layout: u32,
    /// `n_` and 40 hex digits.
    pub id: String,
    /// Version of the public schema that the tables follow.
    pub schema_version: String,
    /// Version of the tool that stored it.
    pub written_by: String,
    /// When, nanoseconds after 1970.
    pub written_at_ns: u64,
    /// Path of the NEFF as it was given.
    pub neff: String,
    /// Path of the trace as it was given.
    pub trace: String,
    /// The program is of the software NeuronCore.
    pub simulated: bool,
    /// It is of an inspect run: events of hosts and devices, not of engines.
    #[serde(default)]
    pub system: bool,
    /// Which execution of the trace, from 0.
    pub execution: u32,
    /// Length of the execution, ns.
    pub total_ns: u64,
    /// Rows of the instruction and DMA tables.
    pub events: u64,
    /// Tables with their rows.
    pub tables: BTreeMap<String, Table>,
    /// Tables of the public schema that it does not have, with the reason.
    pub absent: BTreeMap<String, String>,
    /// What of the trace is not shown, in words with counts.
    pub notes: Vec<String>,
    /// Rows that came too late to be put in order within their lane.
    pub late: u64,
    /// Bytes of all files but this one.
    pub bytes: u64,
}

/// A table of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Rows.
    pub rows: u64,
    /// Bytes of its file.
    pub bytes: u64,
}

/// `labels.json`: what a person calls it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Name for lists.
    pub display_name: String,
    /// Tags, each once, in order.
    pub tags: Vec<String>,
}
