//! Arrays of `.npy` files as the bytes of inputs.

use anyhow::{bail, ensure};
use neuron_core::neff::{Npy, shown};
use npu::TensorInfo;
use npu::number::Element;

/// An input as a file must fit it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: Option<&'a str>,
    pub(crate) shape: Option<&'a [i64]>,
    pub(crate) bytes: u64,
}

impl<'a> From<&'a TensorInfo> for Wanted<'a> {
    fn from(tensor: &'a TensorInfo) -> Self {
        let (dtype, shape) = (tensor.dtype.as_deref(), tensor.shape.as_deref());
        Self { name: &tensor.name, dtype, shape, bytes: tensor.bytes }
    }
}

/// NumPy's type of an element, `|V2` and `|V1` where it has none, as ml_dtypes
/// writes them.
pub(crate) fn descr(word: Option<&str>) -> &'static str {
    match word.and_then(|word| Element::of_word(word).ok()) {
        Some(Element::Int8) => "|i1",
        Some(Element::Int16) => "<i2",
        Some(Element::Uint16) => "<u2",
        Some(Element::Int32) => "<i4",
        Some(Element::Uint32) => "<u4",
        Some(Element::Fp16) => "<f2",
        Some(Element::Fp32) => "<f4",
        Some(Element::Bf16) => "<V2",
        Some(Element::Fp8E3M4 | Element::Fp8E4M3 | Element::Fp8E5M2) => "|V1",
        Some(Element::Uint8) | None => "|u1",
    }
}

/// The data of the file at `path` for an input.
///
/// # Errors
///
/// An array of another shape or type. The shape may differ where the input's is
/// not known; a type that NumPy has not may come as any of its width.
pub(crate) fn data(path: &str, file: &[u8], tensor: &Wanted<'_>) -> anyhow::Result<Vec<u8>> {
    let npy = Npy::parse(path, file)?;
    let name = shown(tensor.name);
    ensure!(!npy.fortran_order, "{path}: it is in Fortran order, save it with order='C'");
    let wanted = descr(tensor.dtype);
    let plain = |descr: &str| descr.trim_start_matches(['<', '|', '=']).to_owned();
    let (has, wants) = (plain(&npy.descr), plain(wanted));
    let raw = wants.starts_with('V') && has.get(1..) == wants.get(1..);
    if has != wants && !raw {
        let descr = shown(&npy.descr);
        let word = shown(tensor.dtype.unwrap_or("bytes"));
        bail!("{path}: its elements are {descr}, input {name} has {word}, which is {wanted}");
    }
    if let Some(shape) = tensor.shape {
        let same = npy.shape.len() == shape.len()
            && npy.shape.iter().zip(shape).all(|(has, wants)| u64::try_from(*wants) == Ok(*has));
        ensure!(same, "{path}: its shape is {:?}, input {name} has {shape:?}", npy.shape);
    }
    let bytes = npy.bytes().filter(|bytes| *bytes == npy.data_length(file));
    ensure!(
        bytes == Some(tensor.bytes),
        "{path}: it has {} bytes of data, input {name} has {}",
        npy.data_length(file),
        tensor.bytes
    );
    Ok(file.get(npy.data_at..).unwrap_or_default().to_vec())
}
