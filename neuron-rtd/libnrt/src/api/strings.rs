//! Lists of words that the caller may free with `free`.

use std::ffi::{c_char, c_void};

use neuron_core::uapi::nrt::Status;

use crate::call::Fault;
use crate::pointer;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Memory of the C library for `size` bytes, not null.
fn memory(size: usize) -> Result<*mut c_void, Fault> {
    // SAFETY: no condition; the result is checked.
    let memory = unsafe { malloc(size.max(1)) };
    if memory.is_null() {
        return Err(Fault::new(Status::RESOURCE, format!("no {size} bytes of memory")));
    }
    Ok(memory)
}

/// Hands a list of words to the caller.
///
/// # Safety
///
/// `to` and `count` are null or may be written to.
pub(super) unsafe fn hand(
    words: &[&str],
    to: *mut *mut *mut c_char,
    count: *mut usize,
) -> Result<(), Fault> {
    pointer::given(to, "the list")?;
    pointer::given(count, "the count")?;
    let list = memory(words.len() * size_of::<*mut c_char>())?.cast::<*mut c_char>();
    for (at, word) in words.iter().enumerate() {
        let text = memory(word.len() + 1)?.cast::<c_char>();
        for (offset, byte) in word.bytes().chain([0]).enumerate() {
            // SAFETY: there is room for the bytes of the word and the zero.
            unsafe { text.cast::<u8>().wrapping_add(offset).write(byte) };
        }
        // SAFETY: the list has room for as many pointers as there are words, and
        // memory of the C library is aligned for them.
        unsafe { list.wrapping_add(at).write(text) };
    }
    // SAFETY: not null; the caller vouches for it.
    unsafe { pointer::put(to, list, "the list") }?;
    // SAFETY: not null; the caller vouches for it.
    unsafe { pointer::put(count, words.len(), "the count") }
}

/// Frees a list and its words.
///
/// # Safety
///
/// The list is null or one that [`hand`] gave, with its count, and was not
/// freed before.
pub(super) unsafe fn take_back(list: *mut *mut c_char, count: usize) -> Result<(), Fault> {
    pointer::given(list, "the list")?;
    for at in 0..count {
        // SAFETY: the list has `count` pointers, the caller vouches for it.
        let word = unsafe { list.wrapping_add(at).read() };
        // SAFETY: made by `malloc` in `hand`.
        unsafe { free(word.cast()) };
    }
    // SAFETY: made by `malloc` in `hand`.
    unsafe { free(list.cast()) };
    Ok(())
}
