//! The text of a record.
//!
//! There is one description of each payload's text ([`operands`]), which a
//! printer and a parser both follow, so that they cannot disagree. It is
//! written in the order and with the words of the vendor's viewer where that
//! text is known. Two styles come from it:
//!
//! * *viewer*: the operand text of the vendor's viewer 2.28.23, to the last
//!   space (isa-layouts.md §2.3). It leaves fields out, so it cannot always be
//!   read back.
//! * *line*: the assembler's text. The same items between single spaces, then
//!   the fields that the viewer does not show, when they are not the usual
//!   ones. It always reads back to the same bytes.

pub(crate) mod control;
pub(crate) mod dma;
pub(crate) mod event;
pub(crate) mod immediate;
pub(crate) mod operands;
pub(crate) mod parser;
pub(crate) mod printer;
pub(crate) mod register;
pub(crate) mod select;
pub(crate) mod tensor;
pub(crate) mod token;
pub(crate) mod value;
pub(crate) mod walk;

use value::Value;
use walk::Typed;

use super::code::Dtype;
use super::event::Events;

/// Which text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Operands as the vendor's viewer prints them.
    Viewer,
    /// Operands as the assembler reads them.
    Line,
}

/// Why a text is not an instruction.
pub(crate) type Outcome = Result<(), String>;

/// When an item is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// In both styles; must be there when reading.
    Always,
    /// In both styles, unless it has its usual value.
    Unusual,
    /// In lines only, unless it has its usual value.
    UnusualInLine,
    /// By the viewer always, in lines unless it has its usual value.
    Viewer,
}

/// Writes or reads the items of one record. Each call names an item and the
/// place of its value; a printer writes the value, a parser replaces it.
pub(crate) trait Text {
    /// An item `key=value`.
    fn entry<V: Value>(&mut self, when: When, key: &str, value: &mut V, usual: V) -> Outcome;

    /// A value without a key.
    fn bare<V: Value>(&mut self, what: &str, value: &mut V) -> Outcome;

    /// Which of several keys stands for an operand: `shown` when writing,
    /// the one that is there when reading (else `shown`).
    fn choose(&mut self, keys: &[&str], shown: usize) -> usize;

    /// `key=value` that says nothing: written when `shown`, ignored on
    /// reading.
    fn constant(&mut self, key: &str, value: &str, shown: bool) -> Outcome;

    /// The second event block of EVENT_SEMAPHORE.
    fn second_events(&mut self, events: &mut Events) -> Outcome;

    /// A further space of the viewer.
    fn gap(&mut self);

    /// The viewer writes no space after the last item.
    fn close(&mut self);

    /// An item that is always there.
    fn item<V: Value + Default>(&mut self, key: &str, value: &mut V) -> Outcome {
        self.entry(When::Always, key, value, V::default())
    }

    /// An item that the viewer leaves out when it has its usual value.
    fn optional<V: Value>(&mut self, key: &str, value: &mut V, usual: V) -> Outcome {
        self.entry(When::Unusual, key, value, usual)
    }

    /// An item that the viewer never shows.
    fn hidden<V: Value>(&mut self, key: &str, value: &mut V, usual: V) -> Outcome {
        self.entry(When::UnusualInLine, key, value, usual)
    }

    /// An item through another type that says how it is written.
    fn item_as<T, V: Value + Default>(
        &mut self,
        key: &str,
        place: &mut T,
        wrap: impl Fn(&T) -> V,
        unwrap: impl Fn(V) -> T,
    ) -> Outcome {
        let mut value = wrap(place);
        self.item(key, &mut value)?;
        *place = unwrap(value);
        Ok(())
    }

    /// `key=type@value`.
    fn typed<V: Value + Default + Clone>(
        &mut self,
        key: &str,
        dtype: &mut Dtype,
        place: &mut V,
    ) -> Outcome {
        let mut value = Typed { dtype: *dtype, value: place.clone() };
        self.item(key, &mut value)?;
        (*dtype, *place) = (value.dtype, value.value);
        Ok(())
    }
}
