//! What came out: a row for each output, and its file.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use neuron_core::neff::{Npy, path, shown};
use npu::TensorInfo;
use npu::number::Element;
use serde_json::{Value, json};

use super::npy;

/// An output for people.
pub(super) struct Row {
    name: String,
    dtype: Option<String>,
    shape: Option<Vec<i64>>,
    bytes: usize,
    /// `None` for types that are not understood.
    numbers: Option<Numbers>,
    file: Option<PathBuf>,
}

/// What an output's numbers are like.
#[derive(Default)]
struct Numbers {
    /// Of those that are no NaN; `None` if there is none.
    range: Option<(f32, f32)>,
    /// Of the finite ones.
    mean: Option<f64>,
    nan: usize,
}

impl Numbers {
    fn of(element: Element, data: &[u8]) -> Self {
        let mut all = Self::default();
        let (mut sum, mut count) = (0.0, 0_u32);
        for place in data.chunks_exact(element.bytes()) {
            let number = element.decode(element.load(place));
            if number.is_nan() {
                all.nan += 1;
                continue;
            }
            let (low, high) = all.range.unwrap_or((number, number));
            all.range = Some((low.min(number), high.max(number)));
            if number.is_finite() {
                sum += f64::from(number);
                count = count.saturating_add(1);
            }
        }
        all.mean = (count > 0).then(|| sum / f64::from(count));
        all
    }
}

/// `bfloat16 [512,128]`.
pub(super) fn type_text(tensor: &TensorInfo) -> String {
    let word = shown(tensor.dtype.as_deref().unwrap_or("bytes"));
    format!("{word} {}", shape_text(tensor.shape.as_deref()))
}

fn shape_text(shape: Option<&[i64]>) -> String {
    let sizes = shape.unwrap_or_default().iter().map(i64::to_string);
    format!("[{}]", sizes.collect::<Vec<_>>().join(","))
}

impl Row {
    pub(super) fn new(tensor: &TensorInfo, data: &[u8], file: Option<PathBuf>) -> Self {
        let element = tensor.dtype.as_deref().and_then(|word| Element::of_word(word).ok());
        Self {
            name: tensor.name.clone(),
            dtype: tensor.dtype.clone(),
            shape: tensor.shape.clone(),
            bytes: data.len(),
            numbers: element.map(|element| Numbers::of(element, data)),
            file,
        }
    }

    pub(super) fn cells(&self) -> Vec<String> {
        let number = |number: Option<f64>| number.map_or(String::from("-"), |n| format!("{n:.6}"));
        let numbers = self.numbers.as_ref();
        let range = numbers.and_then(|numbers| numbers.range);
        vec![
            shown(&self.name),
            shown(self.dtype.as_deref().unwrap_or("-")),
            shape_text(self.shape.as_deref()),
            self.bytes.to_string(),
            number(range.map(|(low, _)| f64::from(low))),
            number(range.map(|(_, high)| f64::from(high))),
            number(numbers.and_then(|numbers| numbers.mean)),
            numbers.map_or(String::from("-"), |numbers| numbers.nan.to_string()),
            self.file.as_ref().map_or(String::new(), |file| shown(&file.display().to_string())),
        ]
    }

    pub(super) fn document(&self) -> Value {
        let numbers = self.numbers.as_ref();
        json!({
            "name": self.name,
            "dtype": self.dtype,
            "shape": self.shape,
            "bytes": self.bytes,
            "min": numbers.and_then(|numbers| numbers.range).map(|(low, _)| number(low)),
            "max": numbers.and_then(|numbers| numbers.range).map(|(_, high)| number(high)),
            "mean": numbers.and_then(|numbers| numbers.mean),
            "nan": numbers.map(|numbers| numbers.nan),
            "file": self.file.as_ref().map(|file| file.display().to_string()),
        })
    }
}

/// A number that is no NaN; JSON has no infinities, which are words here.
fn number(number: f32) -> Value {
    match number {
        f32::INFINITY => json!("inf"),
        f32::NEG_INFINITY => json!("-inf"),
        number => json!(number),
    }
}

/// Makes the folder, and sees whether files can be made in it.
pub(super) fn check(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let cannot = || format!("cannot write in {}", folder.display());
    super::temporary(folder).map(drop).with_context(cannot)
}

/// Writes an output into the folder, which [`check`] made; the file appears
/// whole. A name that is no plain file name gives way to the number of
/// the output.
pub(super) fn save(
    folder: &Path,
    tensor: &TensorInfo,
    index: usize,
    data: &[u8],
) -> anyhow::Result<PathBuf> {
    let plain = path::is_safe(&tensor.name) && !tensor.name.contains('/');
    let name = if plain { tensor.name.clone() } else { format!("output-{index}") };
    let target = folder.join(format!("{name}.npy"));
    let known: Option<Vec<u64>> = tensor
        .shape
        .as_deref()
        .and_then(|shape| shape.iter().map(|size| u64::try_from(*size).ok()).collect());
    let element = tensor.dtype.as_deref().and_then(|word| Element::of_word(word).ok());
    let bytes = u64::try_from(data.len())?;
    // Without a shape or type that is understood, the bytes as they are.
    let (descr, shape) = match (known, element) {
        (Some(shape), Some(_)) => (npy::descr(tensor.dtype.as_deref()), shape),
        _ => ("|u1", vec![bytes]),
    };
    let cannot = || format!("cannot write {}", target.display());
    let mut file = super::temporary(folder).with_context(cannot)?;
    file.write_all(&Npy::header(descr, &shape)).with_context(cannot)?;
    file.write_all(data).with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    file.persist(&target).map_err(|error| error.error).with_context(cannot)?;
    Ok(target)
}
