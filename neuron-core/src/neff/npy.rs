//! The header of a `.npy` constant (sheet section 7.2). The runtime is known to
//! read version 1; versions 2 and 3 are read too (our choice).

use super::problem::{Place, Problem, Rule, widen};

/// Longest header read.
const MOST: usize = 1 << 20;

/// What a `.npy` header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Npy {
    /// Format version: 1, 2 or 3.
    pub version: u8,
    /// Type of an element: `<f4`.
    pub descr: String,
    /// First index fastest.
    pub fortran_order: bool,
    /// Shape.
    pub shape: Vec<u64>,
    /// Offset of the data.
    pub data_at: usize,
}

impl Npy {
    /// Reads the header at the start of `body`, the member `name`.
    pub fn parse(name: &str, body: &[u8]) -> Result<Self, Problem> {
        let bad = |at: usize, value: &str| Problem::new(Rule::Npy, Place::member(name, at), value);
        let rest = body.strip_prefix(b"\x93NUMPY").ok_or_else(|| bad(0, "the magic is absent"))?;
        let version = *rest.first().ok_or_else(|| bad(6, "the version is cut"))?;
        let (length, start) = match version {
            1 => {
                let bytes = body.get(8..10).and_then(|b| b.first_chunk::<2>());
                (bytes.map(|b| usize::from(u16::from_le_bytes(*b))), 10)
            }
            2 | 3 => {
                let bytes = body.get(8..12).and_then(|b| b.first_chunk::<4>());
                (bytes.and_then(|b| usize::try_from(u32::from_le_bytes(*b)).ok()), 12)
            }
            other => return Err(bad(6, &format!("the version is {other}"))),
        };
        let length = length.ok_or_else(|| bad(8, "the header length is cut"))?;
        if length > MOST {
            return Err(bad(8, &format!("the header has {length} bytes")));
        }
        let data_at = start + length;
        let header = body.get(start..data_at).ok_or_else(|| bad(start, "the header is cut"))?;
        let header = std::str::from_utf8(header).map_err(|_| bad(start, "it is not text"))?;
        let value = |key: &str| {
            let (_, after) = header.split_once(&format!("'{key}':"))?;
            Some(after.trim_start())
        };
        let descr = value("descr").and_then(|text| text.strip_prefix('\''));
        let descr = descr.and_then(|text| text.split('\'').next());
        let descr = descr.ok_or_else(|| bad(start, "'descr' is absent"))?;
        let fortran = value("fortran_order");
        let shape = value("shape").and_then(|text| text.strip_prefix('(')?.split(')').next());
        let shape = shape.ok_or_else(|| bad(start, "'shape' is absent"))?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.parse::<u64>().ok()).collect::<Option<Vec<u64>>>();
        Ok(Self {
            version,
            descr: descr.to_owned(),
            fortran_order: fortran.is_some_and(|text| text.starts_with("True")),
            shape: shape.ok_or_else(|| bad(start, "a size is no number"))?,
            data_at,
        })
    }

    /// A header of version 1 for an array in C order, padded so that the data
    /// starts at a multiple of 64 bytes, as NumPy writes it.
    pub fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
        let sizes: String = match shape {
            [one] => format!("{one},"),
            all => all.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        };
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
        let padded = (10 + text.len() + 1).next_multiple_of(64);
        text.extend(std::iter::repeat_n(' ', padded - 11 - text.len()));
        text.push('\n');
        // Only thousands of dimensions would not fit; no tensor has them.
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        let mut out = b"\x93NUMPY\x01\0".to_vec();
        out.extend(length.to_le_bytes());
        out.extend(text.into_bytes());
        out
    }

    /// Bytes of an element; `None` for a type that is not a plain number.
    pub fn element(&self) -> Option<u64> {
        let digits = self.descr.trim_start_matches(['<', '>', '|', '=']);
        digits.get(1..)?.parse().ok()
    }

    /// Bytes of the data that shape and type ask for.
    pub fn bytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(self.element()?, |bytes, size| bytes.checked_mul(*size))
    }

    /// Bytes of data that `body` holds.
    pub fn data_length(&self, body: &[u8]) -> u64 {
        widen(body.len().saturating_sub(self.data_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str) -> Vec<u8> {
        let mut out = b"\x93NUMPY".to_vec();
        out.extend([version, 0]);
        let length = u32::try_from(header.len()).unwrap().to_le_bytes();
        out.extend(if version == 1 { &length[..2] } else { &length[..] });
        out.extend(header.as_bytes());
        out
    }

    #[test]
    fn reads_what_numpy_writes() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }   \n";
        for version in [1, 2, 3] {
            let npy = Npy::parse("w", &file(version, header)).unwrap();
            assert_eq!((npy.version, npy.shape.as_slice()), (version, &[3, 5][..]));
            assert_eq!((npy.descr.as_str(), npy.bytes()), ("<f4", Some(60)));
            assert!(!npy.fortran_order);
        }
        let scalar = "{'descr': '|u1', 'fortran_order': True, 'shape': (), }\n";
        let npy = Npy::parse("w", &file(1, scalar)).unwrap();
        assert_eq!((npy.bytes(), npy.fortran_order), (Some(1), true));
    }

    /// The bytes that NumPy 2 writes for `np.zeros((2, 3), '<f4')`,
    /// `np.zeros(5, '|u1')` and `np.zeros((), '<i4')`.
    #[test]
    fn writes_what_numpy_writes() {
        for (descr, shape, text) in [
            ("<f4", &[2, 3][..], "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
            ("|u1", &[5], "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }"),
            ("<i4", &[], "{'descr': '<i4', 'fortran_order': False, 'shape': (), }"),
        ] {
            let expected = file(1, &format!("{text:117}\n"));
            assert_eq!(Npy::header(descr, shape), expected);
        }
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        let whole = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n");
        for end in 0..whole.len() {
            assert_eq!(Npy::parse("w", &whole[..end]).unwrap_err().rule, Rule::Npy, "{end}");
        }
        for (version, header) in [(0, ""), (4, ""), (1, "{'descr': '<f4', 'shape': (x,), }")] {
            assert!(Npy::parse("w", &file(version, header)).is_err());
        }
        let huge = [b"\x93NUMPY\x02\0".as_slice(), &u32::MAX.to_le_bytes()].concat();
        assert!(Npy::parse("w", &huge).is_err());
    }
}
