//! Arrays: weights and other constants, as bytes with a shape and a type; read
//! from and written to `.npy`.
//!
//! NumPy has no bfloat16: ml_dtypes writes it as two raw bytes (`<V2`), and so
//! it is read and written here. Left out: Fortran order, big-endian data, and
//! types that no operator takes.

use neuron_core::isa::code::Dtype;
use neuron_core::neff::Npy;

use crate::error::{BuildError, Result};

/// Type of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// Two's complement, 4 bytes; indices of an embedding only.
    I32,
}

impl ElementType {
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// The word of the host graph (neff.md §5.1).
    pub const fn word(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
            Self::I32 => "int32",
        }
    }

    /// The code in records.
    pub const fn dtype(self) -> Dtype {
        match self {
            Self::F32 => Dtype::FP32,
            Self::F16 => Dtype::FP16,
            Self::Bf16 => Dtype::BFLOAT16,
            Self::I32 => Dtype::INT32,
        }
    }

    const fn descr(self) -> &'static str {
        match self {
            Self::F32 => "<f4",
            Self::F16 => "<f2",
            Self::Bf16 => "<V2",
            Self::I32 => "<i4",
        }
    }

    fn of_descr(descr: &str) -> Option<Self> {
        Some(match descr {
            "<f4" => Self::F32,
            "<f2" => Self::F16,
            "<V2" | "|V2" => Self::Bf16,
            "<i4" => Self::I32,
            _ => return None,
        })
    }
}

/// A tensor with its data, last index fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    element: ElementType,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Array {
    /// An array of bytes.
    ///
    /// # Errors
    ///
    /// When the shape asks for another number of bytes, or has a zero.
    pub fn new(element: ElementType, shape: &[usize], data: Vec<u8>) -> Result<Self> {
        let count = count(shape).and_then(|count| count.checked_mul(element.bytes()));
        if count != Some(data.len()) {
            let reason = format!("{} bytes for {} of shape {shape:?}", data.len(), element.word());
            return Err(BuildError::Array { name: "given".to_owned(), reason });
        }
        Ok(Self { element, shape: shape.to_vec(), data })
    }

    /// An array of numbers, rounded to nearest even.
    ///
    /// # Errors
    ///
    /// As [`Array::new`].
    pub fn from_f32(element: ElementType, shape: &[usize], values: &[f32]) -> Result<Self> {
        let bytes = |value: &f32| match element {
            ElementType::F32 => value.to_le_bytes().to_vec(),
            ElementType::F16 => half(*value).to_le_bytes().to_vec(),
            ElementType::Bf16 => brain(*value).to_le_bytes().to_vec(),
            ElementType::I32 => (*value as i32).to_le_bytes().to_vec(),
        };
        Self::new(element, shape, values.iter().flat_map(bytes).collect())
    }

    /// Reads a `.npy` file's bytes; `name` is for the error.
    ///
    /// # Errors
    ///
    /// When it is no `.npy` file, has another type, or another order.
    pub fn from_npy(name: &str, body: &[u8]) -> Result<Self> {
        let refuse = |reason: String| BuildError::Array { name: name.to_owned(), reason };
        let npy = Npy::parse(name, body)?;
        let element = ElementType::of_descr(&npy.descr).ok_or_else(|| {
            refuse(format!("its type is {}, and must be f4, f2, i4 or raw bfloat16", npy.descr))
        })?;
        if npy.fortran_order && npy.shape.len() > 1 {
            return Err(refuse("it is in Fortran order; save it in C order".to_owned()));
        }
        let shape: Option<Vec<usize>> =
            npy.shape.iter().map(|n| usize::try_from(*n).ok()).collect();
        let shape = shape.ok_or_else(|| refuse(format!("its shape is {:?}", npy.shape)))?;
        let data = body.get(npy.data_at..).unwrap_or_default().to_vec();
        Self::new(element, &shape, data).map_err(|error| refuse(error.to_string()))
    }

    /// The bytes of a `.npy` file, version 1, with this array; the data starts
    /// at a multiple of 64 bytes, as NumPy writes it.
    pub fn to_npy(&self) -> Vec<u8> {
        npy(self.element, &self.shape, &self.data)
    }

    /// Type of its elements.
    pub const fn element(&self) -> ElementType {
        self.element
    }

    /// Its shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Elements in another order: element `i` of the `count` of the result is
    /// element `source(i)` of this array.
    pub(crate) fn part(
        &self,
        shape: &[usize],
        count: usize,
        source: impl Fn(usize) -> usize,
    ) -> Self {
        let size = self.element.bytes();
        let mut data = Vec::with_capacity(count * size);
        for index in 0..count {
            let at = source(index) * size;
            data.extend_from_slice(self.data.get(at..at + size).unwrap_or_default());
        }
        Self { element: self.element, shape: shape.to_vec(), data }
    }
}

/// Elements of a shape; `None` beyond the address space and for a zero.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    let count = shape.iter().try_fold(1usize, |count, size| count.checked_mul(*size))?;
    (count > 0).then_some(count)
}

fn npy(element: ElementType, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        element.descr(),
        sizes.join(", ")
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    // the longest shape here stays far below 64 KiB
    out.extend_from_slice(&u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

/// bfloat16, to nearest even.
fn brain(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((u64::from(bits) + 0x7fff + u64::from(bits >> 16 & 1)) >> 16) as u16
}

/// IEEE half precision, to nearest even.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    // from 65520 on everything rounds to infinity
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    let value = f32::from_bits(magnitude);
    // the last place of a half at this magnitude, subnormals included
    let exponent = ((magnitude >> 23) as i32 - 127).max(-14);
    let unit = f64::from(exponent - 10).exp2();
    let steps = (f64::from(value) / unit).round_ties_even() as u32;
    // 1024 steps to the next exponent carry by themselves
    let base = ((exponent + 14) as u32) << 10;
    sign | (base + steps) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_to_the_nearest_even() {
        // NumPy 2.4: np.float16(x).view(np.uint16)
        let halves = [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (0.1, 0x2e66),
            (6.0e-8, 0x0001),
            (2.9e-8, 0x0000),
            (6.104e-5, 0x0400),
            (6.097_555e-5, 0x03ff),
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
            (f32::NEG_INFINITY, 0xfc00),
        ];
        for (value, bits) in halves {
            assert_eq!(half(value), bits, "{value}");
        }
        for (value, bits) in [(1.0, 0x3f80), (1.003_906_3, 0x3f80), (1.011_718_8, 0x3f82)] {
            assert_eq!(brain(value), bits, "{value}");
        }
        assert!(brain(f32::NAN) & 0x7f > 0);
    }

    #[test]
    fn npy_files_come_back() {
        for element in [ElementType::F32, ElementType::F16, ElementType::Bf16, ElementType::I32] {
            let array = Array::from_f32(element, &[2, 3], &[1., -2., 3., 4., 5., -6.]).unwrap();
            let bytes = array.to_npy();
            assert_eq!(Array::from_npy("a", &bytes).unwrap(), array);
            assert_eq!((bytes.len() - array.data().len()) % 64, 0);
        }
        assert!(Array::from_npy("a", b"no").is_err());
        assert!(Array::new(ElementType::F32, &[2, 0], vec![]).is_err());
        assert!(Array::new(ElementType::F32, &[2], vec![0; 4]).is_err());
    }
}
