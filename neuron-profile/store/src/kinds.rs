//! `kinds.json`: kinds of events, what executions have in common that are alike
//! but for their time and addresses.
//!
//! Tiles and sums go by kinds, so every question about layers, operators,
//! source lines or opcodes is answered from the same few bytes. The opcode, or
//! the ring of a packet, is in [`Index::names`](crate::lanes::Index), at the
//! same place.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The place of no text.
pub const NONE: u32 = u32::MAX;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// What one execution moves and computes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// From device memory, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub hbm_read: u64,
    /// To device memory, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub hbm_write: u64,
    /// From the state buffer, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub sbuf_read: u64,
    /// To the state buffer, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub sbuf_write: u64,
    /// From the sum buffer, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub psum_read: u64,
    /// To the sum buffer, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub psum_write: u64,
    /// To the state buffer by one that reads the sum buffer, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub psum_read_sbuf_write: u64,
    /// Saved for want of space, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub spill_save: u64,
    /// Loaded again after that, bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub spill_reload: u64,
    /// Operations of a product, two for a multiply-add.
    #[serde(skip_serializing_if = "is_zero")]
    pub flops: u64,
    /// Those that change a layout.
    #[serde(skip_serializing_if = "is_zero")]
    pub transpose_flops: u64,
}

impl Work {
    /// Adds `times` that of another.
    pub fn add(&mut self, other: &Self, times: u64) {
        let pairs = [
            (&mut self.hbm_read, other.hbm_read),
            (&mut self.hbm_write, other.hbm_write),
            (&mut self.sbuf_read, other.sbuf_read),
            (&mut self.sbuf_write, other.sbuf_write),
            (&mut self.psum_read, other.psum_read),
            (&mut self.psum_write, other.psum_write),
            (&mut self.psum_read_sbuf_write, other.psum_read_sbuf_write),
            (&mut self.spill_save, other.spill_save),
            (&mut self.spill_reload, other.spill_reload),
            (&mut self.flops, other.flops),
            (&mut self.transpose_flops, other.transpose_flops),
        ];
        for (sum, one) in pairs {
            *sum = sum.saturating_add(one.saturating_mul(times));
        }
    }
}

/// A kind; texts are places in [`Kinds::texts`], [`NONE`] for none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kind {
    /// Path of the framework's layer.
    pub layer: u32,
    /// HLO operator.
    pub operator: u32,
    /// `file:line`.
    pub source: u32,
    /// Waiting is all it does.
    pub waits: bool,
    /// A product of the matrix unit.
    pub product: bool,
    /// What one execution does.
    pub work: Work,
}

impl Default for Kind {
    fn default() -> Self {
        let work = Work::default();
        Self { layer: NONE, operator: NONE, source: NONE, waits: false, product: false, work }
    }
}

/// All kinds of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds {
    /// Texts, each once.
    pub texts: Vec<String>,
    /// Kinds by place.
    pub kinds: Vec<Kind>,
}

impl Kinds {
    /// A text; `None` for [`NONE`].
    pub fn text(&self, place: u32) -> Option<&str> {
        self.texts.get(usize::try_from(place).ok()?).map(String::as_str)
    }

    /// A kind by place.
    pub fn kind(&self, place: u32) -> Option<&Kind> {
        self.kinds.get(usize::try_from(place).ok()?)
    }
}

/// What an ingest knows of a kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) layer: Option<String>,
    pub(crate) operator: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) waits: bool,
    pub(crate) product: bool,
    pub(crate) work: Work,
}

/// Kinds while they are gathered.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Names by place of the kind.
    pub(crate) names: Vec<String>,
    pub(crate) kinds: Kinds,
    texts: HashMap<String, u32>,
    places: HashMap<(u32, Kind), u32>,
}

impl Gathered {
    fn text(&mut self, text: Option<String>) -> u32 {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return NONE };
        if let Some(place) = self.texts.get(&text) {
            return *place;
        }
        let place = u32::try_from(self.kinds.texts.len()).unwrap_or(NONE);
        self.kinds.texts.push(text.clone());
        self.texts.insert(text, place);
        place
    }

    /// The place of a kind.
    pub(crate) fn place(&mut self, of: Description) -> u32 {
        let name = self.text(Some(of.name.clone()));
        let kind = Kind {
            layer: self.text(of.layer),
            operator: self.text(of.operator),
            source: self.text(of.source),
            waits: of.waits,
            product: of.product,
            work: of.work,
        };
        if let Some(place) = self.places.get(&(name, kind.clone())) {
            return *place;
        }
        let place = u32::try_from(self.names.len()).unwrap_or(NONE);
        self.names.push(of.name);
        self.kinds.kinds.push(kind.clone());
        self.places.insert((name, kind), place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_is_one_kind() {
        let mut all = Gathered::default();
        let one = |name: &str, layer: &str, flops| Description {
            name: name.to_owned(),
            layer: Some(layer.to_owned()),
            work: Work { flops, ..Work::default() },
            ..Description::default()
        };
        let places: Vec<u32> = [
            one("MATMUL", "a/b", 2),
            one("MATMUL", "a/b", 2),
            one("MATMUL", "a/c", 2),
            one("MATMUL", "a/b", 4),
            one("COPY", "a/b", 2),
        ]
        .into_iter()
        .map(|kind| all.place(kind))
        .collect();
        assert_eq!(places, [0, 0, 1, 2, 3]);
        assert_eq!(all.names, ["MATMUL", "MATMUL", "MATMUL", "COPY"]);
        let kind = all.kinds.kind(1).unwrap();
        assert_eq!((all.kinds.text(kind.layer), kind.operator), (Some("a/c"), NONE));
        let mut sum = Work::default();
        sum.add(&kind.work, 3);
        assert_eq!(sum.flops, 6);
    }
}
