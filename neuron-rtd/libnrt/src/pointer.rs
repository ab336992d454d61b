//! Memory of the caller. Null is refused here; all else about a pointer is the
//! caller's word.

use std::ffi::{c_char, c_void};

use crate::call::Fault;

/// Longest text that is taken from a caller, such as a path.
const TEXT_MOST: usize = 4096;

fn null(what: &str) -> Fault {
    Fault::invalid(format!("{what} is a null pointer"))
}

/// Refuses null.
pub(crate) fn given<T>(pointer: *const T, what: &str) -> Result<(), Fault> {
    if pointer.is_null() { Err(null(what)) } else { Ok(()) }
}

/// Stores a result where the caller wants it.
///
/// # Safety
///
/// `to` is null or may be written to for a `T`.
pub(crate) unsafe fn put<T>(to: *mut T, value: T, what: &str) -> Result<(), Fault> {
    given(to, what)?;
    // SAFETY: not null; the caller vouches for the rest, and no alignment is assumed.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads a value of the caller.
///
/// # Safety
///
/// `from` is null or may be read as a `T`.
pub(crate) unsafe fn get<T: Copy>(from: *const T, what: &str) -> Result<T, Fault> {
    given(from, what)?;
    // SAFETY: not null; the caller vouches for the rest, and no alignment is assumed.
    Ok(unsafe { from.read_unaligned() })
}

/// Stores as much of a struct as a caller has room for, which may have been
/// built with an older or newer header.
///
/// # Safety
///
/// `to` is null or may be written to for `room` bytes; `T` has no padding.
pub(crate) unsafe fn put_part<T: Copy>(
    to: *mut T,
    value: &T,
    room: usize,
    what: &str,
) -> Result<usize, Fault> {
    given(to, what)?;
    if room == 0 {
        return Err(Fault::invalid(format!("{what} has room for 0 bytes")));
    }
    let length = room.min(size_of::<T>());
    let from = std::ptr::from_ref(value).cast::<u8>();
    // SAFETY: `length` is within the value and within what the caller has, and
    // the value is a copy of our own, so that they do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(from, to.cast::<u8>(), length) };
    Ok(length)
}

/// Text of the caller, which a zero ends. Bytes that are no UTF-8 are replaced.
///
/// # Safety
///
/// `from` is null or may be read up to its zero.
pub(crate) unsafe fn text(from: *const c_char, what: &str) -> Result<String, Fault> {
    given(from, what)?;
    let mut bytes = Vec::new();
    for at in 0..TEXT_MOST {
        // SAFETY: every byte before was not the zero that ends the text, so this
        // one belongs to it.
        let byte = unsafe { from.cast::<u8>().add(at) };
        // SAFETY: as above.
        match unsafe { byte.read() } {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            byte => bytes.push(byte),
        }
    }
    Err(Fault::invalid(format!("{what} is longer than {} bytes", TEXT_MOST - 1)))
}

/// As [`text`], empty where there is none.
///
/// # Safety
///
/// As for [`text`].
pub(crate) unsafe fn text_or_empty(from: *const c_char, what: &str) -> Result<String, Fault> {
    if from.is_null() {
        return Ok(String::new());
    }
    // SAFETY: the caller vouches for it.
    unsafe { text(from, what) }
}

/// Bytes of the caller, for the time of the call.
///
/// # Safety
///
/// `from` is null or may be read for `length` bytes, which nobody changes
/// while the slice lives.
pub(crate) unsafe fn bytes<'a>(
    from: *const c_void,
    length: usize,
    what: &str,
) -> Result<&'a [u8], Fault> {
    given(from, what)?;
    if length == 0 || isize::try_from(length).is_err() {
        return Err(Fault::invalid(format!("{what} has {length} bytes")));
    }
    // SAFETY: not null, a length that a slice may have, and the caller vouches
    // for the rest; bytes have no alignment.
    Ok(unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) })
}

/// An address that a request takes to the thread that serves it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address(*mut c_void);

// SAFETY: the address is only followed by the thread that serves the request,
// while the caller keeps the memory for it (header: until the request is done).
unsafe impl Send for Address {}

impl Address {
    pub(crate) fn new(pointer: *mut c_void) -> Self {
        Self(pointer)
    }

    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}
