//! Arguments of the requests as `repr(C)` structs (driver.md §3.4).
//!
//! They are plain data: fields that the driver declares as pointers are `u64`
//! user addresses. Bytes become values and back field by field in little
//! endian, without `unsafe`; padding is written as zero and ignored when read.
//! Left out are superseded forms for which the driver has a newer request.

mod apps;
mod core;
mod device;
mod dma;
mod memory;
mod pod;
#[cfg(test)]
mod tests;

pub use self::apps::{AppInfo, AppLock, AppsInfo, GetAppsInfo, NeuronAppInfo};
pub use self::core::*;
pub use self::device::*;
pub use self::dma::*;
pub use self::memory::*;
pub use self::pod::*;

/// One field of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldLayout {
    /// Name of the field.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// Its type as written in Rust.
    pub ty: &'static str,
}

/// A value with one fixed form in bytes: an integer, an array of these, or a
/// struct of this module.
pub trait Plain: Copy {
    /// All bytes zero.
    const ZERO: Self;

    /// Size in bytes.
    const SIZE: usize;

    /// Reads the value at an offset; `None` when the bytes end before it does.
    fn read_at(bytes: &[u8], at: usize) -> Option<Self>;

    /// Writes the value at an offset; `None`, and nothing written, when the
    /// bytes end before it does.
    fn write_at(&self, bytes: &mut [u8], at: usize) -> Option<()>;
}

macro_rules! plain_integers {
    ($($ty:ty),*) => {$(
        impl Plain for $ty {
            const ZERO: Self = 0;
            const SIZE: usize = size_of::<$ty>();

            fn read_at(bytes: &[u8], at: usize) -> Option<Self> {
                super::bytes_at(bytes, at).map(<$ty>::from_le_bytes)
            }

            fn write_at(&self, bytes: &mut [u8], at: usize) -> Option<()> {
                let end = at.checked_add(Self::SIZE)?;
                bytes.get_mut(at..end)?.copy_from_slice(&self.to_le_bytes());
                Some(())
            }
        }
    )*};
}
plain_integers!(u8, i8, u16, u32, i32, u64);

impl<T: Plain, const N: usize> Plain for [T; N] {
    const ZERO: Self = [T::ZERO; N];
    const SIZE: usize = T::SIZE * N;

    fn read_at(bytes: &[u8], at: usize) -> Option<Self> {
        let mut array = Self::ZERO;
        for (index, item) in array.iter_mut().enumerate() {
            *item = T::read_at(bytes, at.checked_add(index * T::SIZE)?)?;
        }
        Some(array)
    }

    fn write_at(&self, bytes: &mut [u8], at: usize) -> Option<()> {
        bytes.get(at..at.checked_add(Self::SIZE)?)?;
        self.iter().enumerate().try_for_each(|(i, item)| item.write_at(bytes, at + i * T::SIZE))
    }
}

/// Declares an argument: its name in the sheet, its size, its fields in order.
macro_rules! arguments {
    ($($(#[$meta:meta])* $name:ident, $sheet:literal, $size:literal {
        $($(#[$field_meta:meta])* $field:ident: $ty:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }

        const _: () = assert!(size_of::<$name>() == $size);

        impl $name {
            /// Name of the struct in driver.md §3.4.
            pub const SHEET_NAME: &'static str = $sheet;

            /// Its fields as laid out in memory.
            pub const FIELDS: &'static [$crate::uapi::arg::FieldLayout] = &[
                $($crate::uapi::arg::FieldLayout {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($name, $field),
                    size: size_of::<$ty>(),
                    ty: stringify!($ty),
                },)*
            ];

            /// From the start of the bytes; `None` when they are too few.
            pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
                <Self as $crate::uapi::arg::Plain>::read_at(bytes, 0)
            }

            /// The bytes that the driver reads.
            pub fn to_bytes(&self) -> [u8; $size] {
                let mut bytes = [0; $size];
                // The array has the size of the struct, so nothing is cut.
                let _ = $crate::uapi::arg::Plain::write_at(self, &mut bytes, 0);
                bytes
            }
        }

        impl $crate::uapi::arg::Plain for $name {
            const ZERO: Self =
                Self { $($field: <$ty as $crate::uapi::arg::Plain>::ZERO,)* };
            const SIZE: usize = $size;

            fn read_at(bytes: &[u8], at: usize) -> Option<Self> {
                let bytes = bytes.get(at..at.checked_add($size)?)?;
                Some(Self {
                    $($field: $crate::uapi::arg::Plain::read_at(
                        bytes,
                        std::mem::offset_of!($name, $field),
                    )?,)*
                })
            }

            fn write_at(&self, bytes: &mut [u8], at: usize) -> Option<()> {
                let bytes = bytes.get_mut(at..at.checked_add($size)?)?;
                $($crate::uapi::arg::Plain::write_at(
                    &self.$field,
                    bytes,
                    std::mem::offset_of!($name, $field),
                )?;)*
                Some(())
            }
        }

        /// All bytes zero.
        impl Default for $name {
            fn default() -> Self {
                <Self as $crate::uapi::arg::Plain>::ZERO
            }
        }
    )*};
}
use arguments;
