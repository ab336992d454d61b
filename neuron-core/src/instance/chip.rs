//! Generations and products, with the constants of each.
//!
//! Sources: driver.md §1.2 to §1.5 (driver 2.24.7.0 and the SDK's
//! architecture pages); strings and counts are confirmed by the recorded
//! trees.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Generation of a device as the driver numbers it. One host has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arch {
    /// Inferentia.
    V1,
    /// Trainium and Inferentia2.
    V2,
    /// Trainium2.
    V3,
    /// Trainium3.
    V4,
}

impl Arch {
    /// From the driver's number (ioctl 100); `None` for one that is unknown.
    pub const fn from_driver(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::V1),
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            _ => None,
        }
    }

    /// Physical NeuronCores of a device, where all products of the generation
    /// have the same.
    pub fn core_count(self) -> Option<u32> {
        self.common(Chip::core_count)
    }

    /// Device memory, where all products of the generation have the same.
    pub fn memory(self) -> Option<Bytes> {
        self.common(Chip::memory)
    }

    fn common<T: PartialEq>(self, fact: impl Fn(Chip) -> T) -> Option<T> {
        let mut facts = Chip::ALL.into_iter().filter(|chip| chip.arch() == self).map(fact);
        let first = facts.next()?;
        facts.all(|other| other == first).then_some(first)
    }

    /// The driver's number.
    pub const fn number(self) -> u32 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
            Self::V4 => 4,
        }
    }
}

/// A product. Trainium and Inferentia2 share a generation and differ here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chip {
    /// Inf1.
    Inferentia,
    /// Trn1.
    Trainium1,
    /// Inf2.
    Inferentia2,
    /// Trn2.
    Trainium2,
    /// Trn3.
    Trainium3,
}

/// Published peak rates of a whole device in 10^12 operations per second;
/// `None` where nothing was published. Dense unless the name says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// FP16 and BF16.
    pub bf16: f64,
    /// cFP8 or MXFP8.
    pub fp8: Option<f64>,
    /// TF32.
    pub tf32: Option<f64>,
    /// FP32.
    pub fp32: Option<f64>,
    /// INT8.
    pub int8: Option<f64>,
    /// Sparse FP16 and BF16.
    pub sparse_bf16: Option<f64>,
    /// Memory bandwidth in 10^9 bytes per second.
    pub memory_gb_per_s: f64,
}

impl Chip {
    /// Every product, oldest first.
    pub const ALL: [Self; 5] =
        [Self::Inferentia, Self::Trainium1, Self::Inferentia2, Self::Trainium2, Self::Trainium3];

    /// Generation of the product.
    pub const fn arch(self) -> Arch {
        match self {
            Self::Inferentia => Arch::V1,
            Self::Trainium1 | Self::Inferentia2 => Arch::V2,
            Self::Trainium2 => Arch::V3,
            Self::Trainium3 => Arch::V4,
        }
    }

    /// Physical NeuronCores of a device.
    pub const fn core_count(self) -> u32 {
        match self {
            Self::Inferentia => 4,
            Self::Trainium1 | Self::Inferentia2 => 2,
            Self::Trainium2 | Self::Trainium3 => 8,
        }
    }

    /// Physical cores per logical NeuronCore unless the user says otherwise;
    /// above 1 only where the user may choose (driver.md §7.7).
    pub const fn default_lnc(self) -> u32 {
        match self {
            Self::Inferentia | Self::Trainium1 | Self::Inferentia2 => 1,
            Self::Trainium2 | Self::Trainium3 => 2,
        }
    }

    /// Memory channels of a device (DRAM or HBM stacks).
    pub const fn memory_channels(self) -> u32 {
        match self {
            Self::Inferentia | Self::Trainium1 | Self::Inferentia2 => 2,
            Self::Trainium2 | Self::Trainium3 => 4,
        }
    }

    /// Device memory. The driver publishes no total; this is the table of
    /// driver.md §1.3.
    pub const fn memory(self) -> Bytes {
        match self {
            Self::Inferentia => Bytes::from_gib(8),
            Self::Trainium1 | Self::Inferentia2 => Bytes::from_gib(32),
            Self::Trainium2 => Bytes::from_gib(96),
            Self::Trainium3 => Bytes::from_gib(144),
        }
    }

    /// Text of sysfs `info/architecture/arch_type`. Inferentia2 prints the
    /// number of the next generation.
    pub const fn device_arch_text(self) -> &'static str {
        match self {
            Self::Inferentia => "NDv1",
            Self::Trainium1 => "NDv2",
            Self::Inferentia2 | Self::Trainium2 => "NDv3",
            Self::Trainium3 => "NDv4",
        }
    }

    /// Text of sysfs `neuron_coreN/info/architecture/arch_type`.
    pub const fn core_arch_text(self) -> &'static str {
        match self.arch() {
            Arch::V1 => "NCv1",
            Arch::V2 => "NCv2",
            Arch::V3 => "NCv3",
            Arch::V4 => "NCv4",
        }
    }

    /// Text of sysfs `info/architecture/instance_type`.
    pub const fn family_text(self) -> &'static str {
        match self {
            Self::Inferentia => "Inf1",
            Self::Trainium1 => "Trn1",
            Self::Inferentia2 => "Inf2",
            Self::Trainium2 => "Trn2",
            Self::Trainium3 => "Trn3",
        }
    }

    /// Text of sysfs `info/architecture/device_name`.
    pub const fn device_name(self) -> &'static str {
        match self {
            Self::Inferentia => "Inferentia",
            Self::Trainium1 => "Trainium1",
            Self::Inferentia2 => "Inferentia2",
            Self::Trainium2 => "Trainium2",
            Self::Trainium3 => "Trainium3",
        }
    }

    /// Name of the product in monitor records, `neuron_device_type`.
    pub const fn device_type(self) -> &'static str {
        match self {
            Self::Inferentia => "inferentia",
            Self::Trainium1 => "trainium",
            Self::Inferentia2 => "inferentia2",
            Self::Trainium2 => "trainium2",
            Self::Trainium3 => "trainium3",
        }
    }

    /// The product whose `info/architecture/instance_type` reads `text`.
    pub fn from_family_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chip| chip.family_text() == text)
    }

    /// The product of a PCI device id of vendor 1d0f (driver.md §1.2).
    pub const fn from_pci_device(id: u16) -> Option<Self> {
        match id {
            0x7064..=0x7067 => Some(Self::Inferentia),
            0x7164 => Some(Self::Trainium1),
            0x7264 => Some(Self::Inferentia2),
            0x7364 => Some(Self::Trainium2),
            0x7564 | 0x7565 => Some(Self::Trainium3),
            _ => None,
        }
    }

    /// PCI device id. Which of the ids of Inf1 and Trn3 belongs to which size
    /// is not published; the first is taken (our choice).
    pub const fn pci_device(self) -> u16 {
        match self {
            Self::Inferentia => 0x7064,
            Self::Trainium1 => 0x7164,
            Self::Inferentia2 => 0x7264,
            Self::Trainium2 => 0x7364,
            Self::Trainium3 => 0x7564,
        }
    }

    /// Published peak rates of one device (driver.md §1.5).
    pub const fn peak(self) -> Peak {
        match self {
            Self::Inferentia => Peak {
                bf16: 64.0,
                fp8: None,
                tf32: None,
                fp32: None,
                int8: Some(128.0),
                sparse_bf16: None,
                // 50 GiB/s
                memory_gb_per_s: 53.687_091_2,
            },
            Self::Trainium1 | Self::Inferentia2 => Peak {
                bf16: 190.0,
                fp8: Some(190.0),
                tf32: Some(190.0),
                fp32: Some(47.5),
                int8: Some(380.0),
                sparse_bf16: None,
                // 820 GiB/s
                memory_gb_per_s: 880.468_295_68,
            },
            Self::Trainium2 => Peak {
                bf16: 667.0,
                fp8: Some(1299.0),
                tf32: Some(667.0),
                fp32: Some(181.0),
                int8: None,
                sparse_bf16: Some(2563.0),
                memory_gb_per_s: 2900.0,
            },
            Self::Trainium3 => Peak {
                bf16: 671.0,
                fp8: Some(2517.0),
                tf32: Some(671.0),
                fp32: Some(183.0),
                int8: None,
                sparse_bf16: Some(2517.0),
                memory_gb_per_s: 4900.0,
            },
        }
    }
}
