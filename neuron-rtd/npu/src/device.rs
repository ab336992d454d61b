//! Addresses of the device, as loaded images have them.
//!
//! A core sees its own window of 64 MiB: SBUF at 0, PSUM, events and semaphores
//! above it (neuroncore.md §1.2, §3.3). Every core finds itself at [`WINDOW`],
//! the base of the only public captures (isa-layouts.md §3.2); that each core
//! has that one base here is our choice. Other addresses lead nowhere.

use neuron_core::isa::address::{Addr8, Location, PSUM_BASE};

use crate::exec::{Site, State};
use crate::fault::Fault;
use crate::hbm::{Hbm, Place};
use crate::sync::Sync;

/// The window of the core itself.
pub(crate) const WINDOW: u64 = 0x8020_0000_0000;
/// Bytes of the window.
const SIZE: u64 = 0x400_0000;
/// Events and semaphores in the window: one word each, and four ways to touch
/// a semaphore.
const EVENTS: u64 = 0x270_0000;
const BLOCK: u64 = 0x400;
const READ: u64 = 0x1000;

/// What a word of the window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Event(u8),
    Semaphore(u8, Way),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Set,
    Add,
    Subtract,
}

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Memory(Place, i64),
    Word(Word),
}

/// A variable, a table or SBUF, and the offset in it.
pub(crate) fn place(state: &State, site: Site<'_>, address: Addr8) -> Result<(Place, i64), Fault> {
    match spot(state, site, address)? {
        Spot::Memory(place, offset) => Ok((place, offset)),
        Spot::Word(word) => Err(Fault::address(format!("{word:?} is no memory"))),
    }
}

fn spot(state: &State, site: Site<'_>, address: Addr8) -> Result<Spot, Fault> {
    let (place, offset) = match address.location() {
        Location::Variable { id, offset } => {
            (site.program.variable(u64::from(id))?, i64::from(offset))
        }
        Location::Table { index, offset } => (site.program.table(index)?, i64::from(offset)),
        Location::TableRegister { index, register } => {
            let offset = state.register(site.engine, register);
            (site.program.table(index)?, i64::from(offset))
        }
        Location::Device(address) => return window(address),
        Location::Other(address) => {
            return Err(Fault::unknown(format!("address form {address:#018x}")));
        }
    };
    Ok(Spot::Memory(place, offset))
}

/// A place in the window of the core.
fn window(address: u64) -> Result<Spot, Fault> {
    let lost = || Fault::address(format!("device address {address:#x}"));
    let offset = address.checked_sub(WINDOW).filter(|offset| *offset < SIZE).ok_or_else(lost)?;
    if offset < u64::from(PSUM_BASE) {
        return Ok(Spot::Memory(Place::Sbuf, i64::try_from(offset).map_err(|_| lost())?));
    }
    let word = offset.checked_sub(EVENTS).filter(|word| word % 4 == 0).ok_or_else(lost)?;
    let index = u8::try_from(word % BLOCK / 4).map_err(|_| lost())?;
    let word = match word - word % BLOCK {
        0 => Word::Event(index),
        READ => Word::Semaphore(index, Way::Read),
        0x1400 => Word::Semaphore(index, Way::Set),
        0x1800 => Word::Semaphore(index, Way::Add),
        0x1c00 => Word::Semaphore(index, Way::Subtract),
        _ => return Err(lost()),
    };
    Ok(Spot::Word(word))
}

/// Reads the word of 4 bytes at `step` words from an address.
pub(crate) fn read(
    state: &State,
    hbm: &Hbm,
    site: Site<'_>,
    address: Addr8,
    step: i64,
) -> Result<u32, Fault> {
    match moved(spot(state, site, address)?, step)? {
        Spot::Memory(place, offset) => {
            let mut bytes = [0; 4];
            place.read(&state.memory, hbm, offset, &mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        }
        Spot::Word(Word::Event(index)) => Ok(u32::from(state.sync.event(index))),
        Spot::Word(Word::Semaphore(index, Way::Read)) => Ok(state.sync.semaphore(index)),
        Spot::Word(word) => Err(Fault::address(format!("{word:?} cannot be read"))),
    }
}

/// Writes the bytes of a number, at most 8, at `step` words from an address.
pub(crate) fn write(
    state: &mut State,
    hbm: &mut Hbm,
    site: Site<'_>,
    address: Addr8,
    step: i64,
    bytes: &[u8],
) -> Result<(), Fault> {
    match moved(spot(state, site, address)?, step)? {
        Spot::Memory(place, offset) => place.write(&mut state.memory, hbm, offset, bytes),
        Spot::Word(word) => {
            let Ok(bytes) = <[u8; 4]>::try_from(bytes) else {
                return Err(Fault::address(format!("{} bytes to {word:?}", bytes.len())));
            };
            touch(&mut state.sync, word, u32::from_le_bytes(bytes))
        }
    }
}

fn touch(sync: &mut Sync, word: Word, value: u32) -> Result<(), Fault> {
    match word {
        Word::Event(index) if value <= 1 => sync.put_event(index, value == 1),
        Word::Semaphore(index, Way::Set) => sync.put(index, value),
        Word::Semaphore(index, Way::Add) => sync.add(index, i64::from(value))?,
        Word::Semaphore(index, Way::Subtract) => sync.add(index, -i64::from(value))?,
        word => return Err(Fault::address(format!("{value} cannot be written to {word:?}"))),
    }
    Ok(())
}

/// Some words further. Words of one kind follow each other.
fn moved(spot: Spot, step: i64) -> Result<Spot, Fault> {
    let far = |index: u8| {
        let index = i64::from(index).checked_add(step).and_then(|index| u8::try_from(index).ok());
        index.ok_or_else(|| Fault::address(format!("a step of {step} semaphores")))
    };
    Ok(match spot {
        Spot::Memory(place, offset) => {
            let far = step.checked_mul(4).and_then(|bytes| offset.checked_add(bytes));
            let far = far.ok_or_else(|| Fault::address(format!("a step of {step} words")))?;
            Spot::Memory(place, far)
        }
        Spot::Word(Word::Event(index)) => Spot::Word(Word::Event(far(index)?)),
        Spot::Word(Word::Semaphore(index, way)) => Spot::Word(Word::Semaphore(far(index)?, way)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_of_a_core() {
        let at = |offset| window(WINDOW + offset);
        assert_eq!(at(0x8_0010), Ok(Spot::Memory(Place::Sbuf, 0x8_0010)));
        assert_eq!(at(EVENTS + 4 * 9), Ok(Spot::Word(Word::Event(9))));
        let semaphore = |way| Ok(Spot::Word(Word::Semaphore(255, way)));
        assert_eq!(at(EVENTS + 0x13fc), semaphore(Way::Read));
        assert_eq!(at(EVENTS + 0x17fc), semaphore(Way::Set));
        assert_eq!(at(EVENTS + 0x1bfc), semaphore(Way::Add));
        assert_eq!(at(EVENTS + 0x1ffc), semaphore(Way::Subtract));
        for offset in [u64::from(PSUM_BASE), EVENTS + 2, EVENTS + 0x400, EVENTS + 0x2000, SIZE] {
            assert!(at(offset).is_err(), "{offset:#x}");
        }
        assert!(window(WINDOW - 1).is_err());
    }
}
