//! zstd for small pages. Making a context costs more than a page does, so each
//! thread keeps its own.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

thread_local! {
    static PACK: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACK: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The context of this thread, made the first time.
fn kept<T>(kept: &mut Option<T>, make: impl FnOnce() -> io::Result<T>) -> io::Result<&mut T> {
    match kept {
        Some(context) => Ok(context),
        none => Ok(none.insert(make()?)),
    }
}

/// Packs bytes at the fastest level.
///
/// # Errors
///
/// No memory.
pub(crate) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    PACK.with_borrow_mut(|context| kept(context, || Compressor::new(1))?.compress(bytes))
}

/// Unpacks at most `most` bytes.
///
/// # Errors
///
/// Other bytes, or more.
pub(crate) fn unpack(bytes: &[u8], most: usize) -> io::Result<Vec<u8>> {
    UNPACK.with_borrow_mut(|context| kept(context, Decompressor::new)?.decompress(bytes, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_used_again_after_damage() {
        let bytes: Vec<u8> =
            (0..10_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let packed = pack(&bytes).unwrap();
        assert!(packed.len() < bytes.len() / 4);
        for _ in 0..3 {
            assert_eq!(unpack(&packed, bytes.len()).unwrap(), bytes);
            assert!(unpack(&packed, bytes.len() - 1).is_err());
            assert!(unpack(packed.get(..packed.len() / 2).unwrap(), bytes.len()).is_err());
            assert!(unpack(b"no frame", 100).is_err());
            assert_eq!(pack(&bytes).unwrap(), packed);
        }
    }
}
