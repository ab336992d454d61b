//! Quantities that carry their unit, and how each is written for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// From a count of bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// From a count of GiB (2^30 bytes); saturates.
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib.saturating_mul(1 << 30))
    }

    /// The count of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whole GiB, rounded down.
    pub const fn whole_gib(self) -> u64 {
        self.0 >> 30
    }
}

/// `32 GB`: whole GiB with the word the vendor's tools use for them.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} GB", self.whole_gib())
    }
}

/// A moment, in nanoseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From nanoseconds since the Unix epoch.
    pub const fn from_unix_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From a [`std::time::SystemTime`]; a time before the epoch becomes the epoch.
    pub fn from_system_time(time: std::time::SystemTime) -> Self {
        let since = time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn unix_nanos(self) -> u64 {
        self.0
    }

    /// Whole seconds since the Unix epoch.
    pub const fn unix_seconds(self) -> u64 {
        self.0 / 1_000_000_000
    }
}

/// A PCI address, `domain:bus:slot.function`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdf {
    /// PCI domain (segment).
    pub domain: u16,
    /// Bus number.
    pub bus: u8,
    /// Device number on the bus, 0 to 31.
    pub slot: u8,
    /// Function of the device, 0 to 7.
    pub function: u8,
}

impl Bdf {
    /// The form without the domain, `cc:00.0`.
    pub fn short(self) -> String {
        format!("{:02x}:{:02x}.{:x}", self.bus, self.slot, self.function)
    }
}

impl fmt::Display for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.slot, self.function)
    }
}

/// Reads `cc:00.0` and `0000:cc:00.0`.
impl std::str::FromStr for Bdf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("not a PCI address: {text:?}");
        let (rest, function) = text.rsplit_once('.').ok_or_else(wrong)?;
        let (rest, slot) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let (domain, bus) = rest.rsplit_once(':').unwrap_or(("0", rest));
        let bdf = Self {
            domain: u16::from_str_radix(domain, 16).map_err(|_| wrong())?,
            bus: u8::from_str_radix(bus, 16).map_err(|_| wrong())?,
            slot: u8::from_str_radix(slot, 16).map_err(|_| wrong())?,
            function: u8::from_str_radix(function, 16).map_err(|_| wrong())?,
        };
        if bdf.slot > 31 || bdf.function > 7 {
            return Err(wrong());
        }
        Ok(bdf)
    }
}

impl Serialize for Bdf {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bdf {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A version of a runtime, framework or FAL as the datastore packs it:
/// bits 0-31 build, 32-39 minor, 40-47 major (driver.md §5.4).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PackedVersion(u64);

impl PackedVersion {
    /// From the packed word; 0 means that no version was written.
    pub const fn from_packed(word: u64) -> Option<Self> {
        if word == 0 { None } else { Some(Self(word)) }
    }

    /// From its parts.
    pub const fn from_parts(major: u8, minor: u8, build: u32) -> Self {
        Self(((major as u64) << 40) | ((minor as u64) << 32) | build as u64)
    }

    /// The packed word.
    pub const fn packed(self) -> u64 {
        self.0
    }
}

/// `2.33.23331`: major, minor, build.
impl fmt::Display for PackedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [_, _, major, minor, b3, b2, b1, b0] = self.0.to_be_bytes();
        write!(f, "{major}.{minor}.{}", u32::from_be_bytes([b3, b2, b1, b0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bdf_reads_both_published_forms() {
        let full: Bdf = "0000:cc:00.0".parse().unwrap();
        assert_eq!("cc:00.0".parse::<Bdf>().unwrap(), full);
        assert_eq!(full.to_string(), "0000:cc:00.0");
        assert_eq!(full.short(), "cc:00.0");
        for bad in ["", "cc", "cc:00", "cc:20.0", "cc:00.8", "g:00.0", "1:2:3:4.5"] {
            assert!(bad.parse::<Bdf>().is_err(), "{bad:?} was accepted");
        }
    }

    /// The word a process wrote in real-driver/behaviour/datastore-reader-writer.txt.
    #[test]
    fn packed_version_of_the_recording() {
        let version = PackedVersion::from_packed(0x21c_0000_5b23).unwrap();
        assert_eq!(version.to_string(), "2.28.23331");
        assert_eq!(PackedVersion::from_parts(2, 28, 23331), version);
        assert!(PackedVersion::from_packed(0).is_none());
    }

    #[test]
    fn memory_is_whole_gib() {
        assert_eq!(Bytes::from_bytes(103_079_215_104).to_string(), "96 GB");
        assert_eq!(Bytes::from_gib(8).get(), 8_589_934_592);
    }
}
