//! Every data type against NumPy and ml_dtypes: each bit pattern of the narrow
//! types as fp32, and fp32 rounded to each type.

mod support;

use npu::number::Element;
use support::{Random, fp32, numpy};

/// NumPy's name of a type.
fn name(element: Element) -> &'static str {
    match element {
        Element::Int8 => "int8",
        Element::Uint8 => "uint8",
        Element::Int16 => "int16",
        Element::Uint16 => "uint16",
        Element::Int32 => "int32",
        Element::Uint32 => "uint32",
        Element::Bf16 => "bfloat16",
        Element::Fp16 => "float16",
        Element::Fp32 => "float32",
        Element::Fp8E3M4 => "float8_e3m4",
        Element::Fp8E4M3 => "float8_e4m3",
        Element::Fp8E5M2 => "float8_e5m2",
    }
}

/// Bytes of the first type in, bytes of the second type out.
const CONVERT: &str = r#"
import sys, numpy, ml_dtypes
numpy.seterr(all="ignore")
kind = lambda name: numpy.dtype(getattr(ml_dtypes, name, None) or name)
data = numpy.frombuffer(sys.stdin.buffer.read(), kind(sys.argv[1]))
sys.stdout.buffer.write(data.astype(kind(sys.argv[2])).tobytes())
"#;

#[test]
fn every_pattern_widens_as_in_numpy() {
    let Some(numpy) = numpy() else { return };
    let mut random = Random(1);
    for element in Element::ALL {
        let patterns: Vec<u32> = match element.bytes() {
            1 => (0..1 << 8).collect(),
            2 => (0..1 << 16).collect(),
            _ => (0..1 << 16).map(|_| random.next() as u32).collect(),
        };
        let bytes: Vec<u8> = patterns
            .iter()
            .flat_map(|bits| bits.to_le_bytes().into_iter().take(element.bytes()))
            .collect();
        let theirs = fp32(&numpy.run(CONVERT, &[name(element), "float32"], &bytes));
        assert_eq!(theirs.len(), patterns.len());
        for (bits, theirs) in patterns.iter().zip(theirs) {
            let ours = element.decode(*bits);
            let same = ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
            assert!(same, "{element:?} {bits:#x}: {ours} is not {theirs}");
        }
    }
}

/// Random bits, numbers of usual size, and for each small float the numbers
/// beside, at and between its own.
fn hard_floats() -> Vec<f32> {
    let mut random = Random(2);
    let mut out: Vec<f32> = (0..200_000).map(|_| f32::from_bits(random.next() as u32)).collect();
    out.extend((0..50_000).map(|_| random.normal() * 4.0));
    for element in
        [Element::Fp16, Element::Bf16, Element::Fp8E3M4, Element::Fp8E4M3, Element::Fp8E5M2]
    {
        let step = if element.bytes() == 2 { 7 } else { 1 };
        for bits in (0..1u32 << (8 * element.bytes() - 1)).step_by(step) {
            let (low, high) = (element.decode(bits), element.decode(bits + 1));
            let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
            for value in [low, middle, middle.next_up(), middle.next_down()] {
                out.extend([value, -value]);
            }
        }
    }
    out
}

#[test]
fn fp32_rounds_as_in_numpy() {
    let Some(numpy) = numpy() else { return };
    let all = hard_floats();
    for element in Element::ALL {
        // what is out of range of an integer is undefined in NumPy
        let range = match element {
            Element::Int8 => -128.99..127.99,
            Element::Uint8 => -0.99..255.99,
            Element::Int16 => -32768.9..32767.9,
            Element::Uint16 => -0.99..65535.9,
            Element::Int32 => -2147483648.0..2147483520.0,
            Element::Uint32 => -0.99..4294967040.0,
            _ => f32::NEG_INFINITY..f32::INFINITY,
        };
        let integer = range.end.is_finite();
        let values: Vec<f32> =
            all.iter().copied().filter(|value| !integer || range.contains(value)).collect();
        assert!(values.len() > 10_000, "{element:?}");
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let theirs = numpy.run(CONVERT, &["float32", name(element)], &bytes);
        let ours = Element::Fp32.convert(&bytes, element);
        assert_eq!(ours.len(), theirs.len());
        let pairs = ours.chunks(element.bytes()).zip(theirs.chunks(element.bytes()));
        for (value, (ours, theirs)) in values.iter().zip(pairs) {
            let nan = |bytes| element.decode(element.load(bytes)).is_nan();
            assert!(
                ours == theirs || nan(ours) && nan(theirs),
                "{element:?} of {value:e} ({:#x}): {ours:?} is not {theirs:?}",
                value.to_bits()
            );
        }
    }
}
