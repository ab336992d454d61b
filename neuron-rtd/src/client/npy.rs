//! Arrays of NumPy, read and written.

use neuron_core::neff::Npy;
use rtd_api::TensorInfo;

/// NumPy's word for a data type; brain floats are plain bytes to it.
fn descr(dtype: &str) -> Option<&'static str> {
    Some(match dtype {
        "float32" | "float32r" => "<f4",
        "float16" => "<f2",
        "bfloat16" => "<V2",
        "int8" => "|i1",
        "uint8" => "|u1",
        "int16" => "<i2",
        "uint16" => "<u2",
        "int32" => "<i4",
        "uint32" => "<u4",
        "int64" => "<i8",
        "uint64" => "<u8",
        _ => return None,
    })
}

/// The data of an array that fits a tensor.
pub(super) fn read<'b>(
    name: &str,
    body: &'b [u8],
    tensor: &TensorInfo,
) -> Result<&'b [u8], String> {
    let npy = Npy::parse(name, body).map_err(|problem| problem.to_string())?;
    if npy.fortran_order && npy.shape.len() > 1 {
        return Err(format!("{name}: the first index runs fastest; save it in C order"));
    }
    if npy.descr.starts_with('>') {
        return Err(format!("{name}: its numbers are big-endian; save them as little-endian"));
    }
    // what the tensor is made of decides; the shape may be another one
    if let Some(wanted) = descr(&tensor.dtype).filter(|wanted| !npy.descr.ends_with(&wanted[1..])) {
        let (found, word) = (&npy.descr, &tensor.dtype);
        return Err(format!("{name}: its type is {found}, the tensor's is {word} ({wanted})"));
    }
    let data = body.get(npy.data_at..).unwrap_or_default();
    let bytes = npy.bytes().and_then(|bytes| usize::try_from(bytes).ok());
    bytes.and_then(|bytes| data.get(..bytes)).ok_or_else(|| format!("{name}: its data are cut"))
}

/// An array of a tensor's shape and type; bytes where those are not known.
pub(super) fn write(tensor: &TensorInfo, data: &[u8]) -> Vec<u8> {
    let known = descr(&tensor.dtype).filter(|_| tensor.shape.iter().all(|size| *size >= 0));
    let (descr, shape) = match known {
        Some(descr) => (descr, tensor.shape.iter().map(i64::to_string).collect::<Vec<_>>()),
        None => ("|u1", vec![data.len().to_string()]),
    };
    let mut shape = shape.join(", ");
    if !shape.is_empty() && !shape.contains(',') {
        shape.push(',');
    }
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // magic, version and length take 10 bytes; the data start at a multiple of 64
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: &str, shape: &[i64]) -> TensorInfo {
        TensorInfo { dtype: dtype.to_owned(), shape: shape.to_vec(), ..TensorInfo::default() }
    }

    #[test]
    fn what_is_written_is_read() {
        let data: Vec<u8> = (0..24).collect();
        for (dtype, shape) in [("float32", &[2, 3][..]), ("int64", &[3]), ("bfloat16", &[12])] {
            let tensor = tensor(dtype, shape);
            let body = write(&tensor, &data);
            assert_eq!((body.len() - data.len()) % 64, 0);
            assert_eq!(read("a", &body, &tensor), Ok(data.as_slice()));
        }
        let other = write(&tensor("float16", &[12]), &data);
        let refused = read("a", &other, &tensor("float32", &[6])).unwrap_err();
        assert!(refused.contains("its type is <f2, the tensor's is float32"), "{refused}");
    }
}
