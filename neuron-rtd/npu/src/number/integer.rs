//! Elements as integers of their own width.

use super::Element;

impl Element {
    /// Whether an integer type has a sign; `None` for floats.
    pub const fn is_signed(self) -> Option<bool> {
        match self {
            Self::Int8 | Self::Int16 | Self::Int32 => Some(true),
            Self::Uint8 | Self::Uint16 | Self::Uint32 => Some(false),
            _ => None,
        }
    }

    /// The integer that bits stand for; floats are taken for unsigned patterns.
    pub const fn widen(self, bits: u32) -> i64 {
        match self {
            Self::Int8 => bits as u8 as i8 as i64,
            Self::Int16 => bits as u16 as i16 as i64,
            Self::Int32 => bits as i32 as i64,
            Self::Uint8 | Self::Fp8E3M4 | Self::Fp8E4M3 | Self::Fp8E5M2 => bits as u8 as i64,
            Self::Uint16 | Self::Bf16 | Self::Fp16 => bits as u16 as i64,
            Self::Uint32 | Self::Fp32 => bits as i64,
        }
    }

    /// The low bits of an integer, as many as an element has.
    pub const fn wrap(self, value: i64) -> u32 {
        match self.bytes() {
            1 => value as u8 as u32,
            2 => value as u16 as u32,
            _ => value as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_widen_with_their_sign_and_wrap() {
        assert_eq!(Element::Int8.widen(0xff), -1);
        assert_eq!(Element::Uint8.widen(0xff), 255);
        assert_eq!(Element::Int32.widen(0x8000_0000), -0x8000_0000);
        assert_eq!(Element::Uint32.widen(0x8000_0000), 0x8000_0000);
        assert_eq!(Element::Int16.wrap(-1), 0xffff);
        assert_eq!(Element::Uint8.wrap(256), 0);
    }
}
