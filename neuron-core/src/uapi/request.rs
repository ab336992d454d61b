//! Request numbers of the driver (driver.md §3.1 and §3.3).
//!
//! Every request is a row of [`TABLE`] and a constant of this module. Two
//! traps are settled here. Many requests were declared with a pointer to their
//! struct, so their number carries size 8 whatever the struct's length:
//! [`Request::arg_size`] is the true size. And the direction bits say nothing
//! reliable about the direction of the data.

mod table;
#[cfg(test)]
mod tests;

pub use table::*;

use super::version::DriverVersion;

/// The driver's magic byte, `N`.
pub const MAGIC: u8 = b'N';

/// The two direction bits of a request number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// No argument.
    None,
    /// Declared as written by the caller.
    Write,
    /// Declared as read by the caller.
    Read,
    /// Declared as both.
    Both,
}

/// How a request's number states the size of its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The number carries 8, the size of a pointer; the argument has this size.
    Pointer(usize),
    /// The number carries this size, which is the argument's.
    Exact(usize),
}

/// Who may make a request (driver.md §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody, a free-access (`O_WRONLY`) descriptor too.
    Misc,
    /// Any descriptor of an attaching open; `EINVAL` on a free-access one.
    Attached,
    /// As [`Access::Attached`], and the driver checks that the process is
    /// attached (`EACCES`).
    Checked,
}

/// One request of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    name: &'static str,
    number: u32,
    nr: u8,
    form: Form,
    access: Access,
    since: DriverVersion,
}

impl Request {
    const fn new(
        name: &'static str,
        direction: Direction,
        nr: u8,
        form: Form,
        access: Access,
        since: DriverVersion,
    ) -> Self {
        let size = match form {
            Form::Pointer(_) => 8,
            Form::Exact(size) => size,
        };
        Self { name, number: encode(direction, size, nr), nr, form, access, since }
    }

    /// The driver's name without prefix, `DEVICE_INFO`. A form that the driver
    /// declares again under the same name has its release as suffix.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The request as passed to `ioctl`.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The sequence number, the low byte. Several requests can share one.
    pub const fn nr(&self) -> u8 {
        self.nr
    }

    /// How the number states the size.
    pub const fn form(&self) -> Form {
        self.form
    }

    /// True size of the argument in bytes, 0 for none. For
    /// [`DEVICE_GET_ALL_APPS_INFO`] the size of the header, to which the
    /// caller adds room for entries.
    pub const fn arg_size(&self) -> usize {
        match self.form {
            Form::Pointer(size) | Form::Exact(size) => size,
        }
    }

    /// Who may make it.
    pub const fn access(&self) -> Access {
        self.access
    }

    /// The first release with today's meaning and layout, as far as known
    /// (driver.md §9.1). For requests added between 2.26 and 2.30.2 the
    /// release that is known to have them, which may not be the first.
    pub const fn since(&self) -> DriverVersion {
        self.since
    }
}

/// The number of a request: direction in the two highest bits, then 14 bits
/// of size in bytes, the magic byte and the sequence number.
pub const fn encode(direction: Direction, size: usize, nr: u8) -> u32 {
    assert!(size < 1 << 14, "the size field has 14 bits");
    let direction: u32 = match direction {
        Direction::None => 0,
        Direction::Write => 1,
        Direction::Read => 2,
        Direction::Both => 3,
    };
    let [low, high, ..] = size.to_le_bytes();
    (direction << 30) | u32::from_le_bytes([nr, MAGIC, low, high])
}

/// The row of a request number; `None` for one the driver does not know.
pub fn by_number(number: u32) -> Option<&'static Request> {
    TABLE.iter().find(|row| row.number == number)
}

/// The row of a name, `DEVICE_INFO`.
pub fn by_name(name: &str) -> Option<&'static Request> {
    TABLE.iter().find(|row| row.name == name)
}

/// Declares the constants and the table from one list of rows.
macro_rules! requests {
    ($($name:ident: $direction:expr, $nr:literal, $form:expr, $access:expr, ($a:literal, $b:literal, $c:literal);)*) => {
        $(
            #[doc = concat!("Request nr ", stringify!($nr), ", argument ", stringify!($form), " bytes.")]
            pub const $name: $crate::uapi::request::Request = $crate::uapi::request::Request::new(
                stringify!($name),
                $direction,
                $nr,
                $form,
                $access,
                $crate::uapi::version::DriverVersion::new($a, $b, $c, 0),
            );
        )*

        /// Every request, ascending by sequence number within each release
        /// group.
        pub const TABLE: &[$crate::uapi::request::Request] = &[$($name),*];
    };
}
use requests;
