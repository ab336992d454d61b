//! Operators that CPU nodes may use: safe code, known by name.
//!
//! What the original runs is native code out of the NEFF (`cpu.so`); here a
//! node whose operator is not in the table is refused when it is loaded, also
//! where the configuration allows native code of that name: how such a function
//! is called is published nowhere. Shapes and types are those of the host
//! graph, names those of [`operator`].

pub use neuron_core::neff::operator::OPERATORS;
use neuron_core::neff::{Tensor, dtype, operator};
use npu::number::Element;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Identity,
    Cast(Element, Element),
    /// Element bytes, shape, axes.
    Transpose(usize, Vec<usize>, Vec<usize>),
    Add,
    Relu,
    /// Length of the last axis.
    Softmax(usize),
}

/// An operator with the shapes of its tensors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuOp {
    kind: Kind,
    inputs: Vec<u64>,
    /// Bytes of the output.
    pub(crate) output: u64,
}

impl CpuOp {
    /// The operator `name` between these tensors of the graph. `attribute` gives
    /// the node's by name, `native` says whether native code of a name is
    /// allowed.
    pub(crate) fn new<'a>(
        name: &str,
        attribute: impl Fn(&str) -> Option<&'a str>,
        native: impl Fn(&str) -> bool,
        inputs: &[Tensor],
        outputs: &[Tensor],
    ) -> Result<Self, String> {
        let [output] = outputs else {
            return Err(format!("operator {name} has {} outputs, not 1", outputs.len()));
        };
        let wanted = if name == operator::ADD { 2 } else { 1 };
        let (Some(input), true) = (inputs.first(), inputs.len() == wanted) else {
            return Err(format!("operator {name} has {} inputs, not {wanted}", inputs.len()));
        };
        let same = |tensor: &Tensor| tensor.bytes == output.bytes;
        let fp32 = |tensor: &Tensor| tensor.dtype.as_deref() == Some("float32");
        let all_fp32 = || inputs.iter().all(|input| fp32(input) && same(input)) && fp32(output);
        let kind = match name {
            operator::IDENTITY if same(input) => Kind::Identity,
            operator::CAST => {
                let element = |tensor: &Tensor| {
                    let word = tensor.dtype.as_deref().unwrap_or_default();
                    Element::of_word(word).map_err(|fault| format!("operator cast: {fault}"))
                };
                Kind::Cast(element(input)?, element(output)?)
            }
            operator::TRANSPOSE if same(input) => transpose(input, attribute("axes"))?,
            operator::ADD if all_fp32() => Kind::Add,
            operator::RELU if all_fp32() => Kind::Relu,
            operator::SOFTMAX if all_fp32() => {
                let shape = input.shape.as_deref().unwrap_or_default();
                let named = attribute("axis").map(str::trim).unwrap_or("-1");
                let rank = shape.len().saturating_sub(1).to_string();
                if named != "-1" && named != rank {
                    return Err(format!("operator softmax: axis {named} is not the last one"));
                }
                let last = shape.last();
                let last = last.and_then(|last| usize::try_from(*last).ok()).filter(|n| *n > 0);
                Kind::Softmax(last.ok_or("operator softmax: the last axis has no length")?)
            }
            known if OPERATORS.iter().any(|(name, _)| *name == known) => {
                return Err(format!("operator {name} cannot have these types and shapes"));
            }
            native_name if native(native_name) => {
                return Err(format!(
                    "operator {name:?} is native code of the file: rtd.native_cpu_nodes allows \
                     it, but how such a function is called is not published, so it is not run"
                ));
            }
            _ => {
                let known: Vec<&str> = OPERATORS.iter().map(|(name, _)| *name).collect();
                return Err(format!(
                    "operator {name:?} is not built in (built in are {}); native code of a NEFF \
                     is refused unless rtd.native_cpu_nodes names it",
                    known.join(", ")
                ));
            }
        };
        let bytes = |tensor: &Tensor| {
            tensor.bytes.ok_or_else(|| format!("the size of {} is not known", tensor.name))
        };
        let output = bytes(output)?;
        let inputs = inputs.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
        if let Kind::Cast(from, to) = kind {
            let count = |bytes: u64, element: Element| {
                usize::try_from(bytes).ok().map(|bytes| bytes / element.bytes())
            };
            if count(inputs.first().copied().unwrap_or(0), from) != count(output, to) {
                return Err("operator cast: input and output have different counts".to_owned());
            }
        }
        Ok(Self { kind, inputs, output })
    }

    /// Bytes of the inputs.
    pub(crate) fn inputs(&self) -> &[u64] {
        &self.inputs
    }

    /// Runs it; the inputs have the sizes of [`Self::inputs`].
    pub(crate) fn run(&self, inputs: &[&[u8]]) -> Vec<u8> {
        let first = inputs.first().copied().unwrap_or_default();
        match &self.kind {
            Kind::Identity => first.to_vec(),
            Kind::Cast(from, to) => from.convert(first, *to),
            Kind::Transpose(element, shape, axes) => permuted(first, *element, shape, axes),
            Kind::Add => {
                let second = inputs.get(1).copied().unwrap_or_default();
                let sums = numbers(first).zip(numbers(second)).map(|(a, b)| a + b);
                sums.flat_map(f32::to_le_bytes).collect()
            }
            Kind::Relu => numbers(first).map(|x| x.max(0.0)).flat_map(f32::to_le_bytes).collect(),
            Kind::Softmax(length) => {
                let all: Vec<f32> = numbers(first).collect();
                all.chunks(*length).flat_map(softmax).flat_map(f32::to_le_bytes).collect()
            }
        }
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = row.iter().map(|x| (x - most).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn transpose(input: &Tensor, axes: Option<&str>) -> Result<Kind, String> {
    let shape: Option<Vec<usize>> = input.shape.as_ref().and_then(|shape| {
        shape.iter().map(|size| usize::try_from(*size).ok()).collect::<Option<Vec<usize>>>()
    });
    let shape = shape.ok_or("operator transpose: the shape is not known")?;
    let axes: Vec<usize> = match axes {
        None => (0..shape.len()).rev().collect(),
        Some(text) => text
            .split(',')
            .map(|axis| axis.trim().parse::<usize>())
            .collect::<Result<_, _>>()
            .map_err(|_| format!("operator transpose: axes {text:?} are not numbers"))?,
    };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..shape.len()) {
        return Err(format!("operator transpose: axes {axes:?} of {} axes", shape.len()));
    }
    let (_, element) = dtype(input.dtype.as_deref().unwrap_or_default());
    let element = usize::try_from(element).unwrap_or(1);
    Ok(Kind::Transpose(element, shape, axes))
}

fn permuted(bytes: &[u8], element: usize, shape: &[usize], axes: &[usize]) -> Vec<u8> {
    let mut strides = vec![element; shape.len()];
    for axis in (1..shape.len()).rev() {
        let step = strides.get(axis).copied().unwrap_or(0) * shape.get(axis).copied().unwrap_or(0);
        if let Some(stride) = strides.get_mut(axis - 1) {
            *stride = step;
        }
    }
    // starts of the elements, the last axis of the output running fastest
    let mut starts = vec![0_usize];
    for axis in axes {
        let (size, stride) =
            (shape.get(*axis).copied().unwrap_or(0), strides.get(*axis).copied().unwrap_or(0));
        starts = starts
            .into_iter()
            .flat_map(|start| (0..size).map(move |index| start + index * stride))
            .collect();
    }
    let element = |start: usize| bytes.get(start..start + element).unwrap_or_default();
    starts.into_iter().flat_map(element).copied().collect()
}

#[cfg(test)]
mod tests {
    use neuron_core::neff::Usage;

    use super::*;

    fn tensor(dtype: &str, shape: &[i64]) -> Tensor {
        let (_, element) = super::dtype(dtype);
        let count: i64 = shape.iter().product();
        Tensor {
            name: "t".to_owned(),
            usage: Usage::Input,
            dtype: Some(dtype.to_owned()),
            shape: Some(shape.to_vec()),
            bytes: Some(count.cast_unsigned() * element),
        }
    }

    fn none(_name: &str) -> Option<&'static str> {
        None
    }

    fn no(_name: &str) -> bool {
        false
    }

    fn fp32(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn operators_compute_what_they_say() {
        let two = [tensor("float32", &[2, 2]), tensor("float32", &[2, 2])];
        let out = &two[..1];
        let run = |name, inputs: &[Vec<u8>]| {
            let op = CpuOp::new(name, none, no, &two[..inputs.len()], out).unwrap();
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            numbers(&op.run(&inputs)).collect::<Vec<_>>()
        };
        let x = fp32(&[1.0, -2.0, 3.0, 4.0]);
        let one = std::slice::from_ref(&x);
        assert_eq!(run("identity", one), [1.0, -2.0, 3.0, 4.0]);
        assert_eq!(run("relu", one), [1.0, 0.0, 3.0, 4.0]);
        assert_eq!(run("transpose", one), [1.0, 3.0, -2.0, 4.0]);
        assert_eq!(run("add", &[x.clone(), x.clone()]), [2.0, -4.0, 6.0, 8.0]);
        let soft = run("softmax", one);
        assert!((soft[0] + soft[1] - 1.0).abs() < 1e-6 && soft[0] > 0.95, "{soft:?}");
    }

    #[test]
    fn a_cast_keeps_the_numbers() {
        let (from, to) = (tensor("float32", &[2]), tensor("bfloat16", &[2]));
        let op = CpuOp::new("cast", none, no, &[from], &[to]).unwrap();
        assert_eq!(op.run(&[&fp32(&[1.0, -2.0])]), [0x80, 0x3f, 0x00, 0xc0]);
    }

    #[test]
    fn axes_are_kept_in_order() {
        let (from, to) = (tensor("uint8", &[2, 1, 3]), tensor("uint8", &[3, 2, 1]));
        let op = CpuOp::new("transpose", |_| Some("2, 0, 1"), no, &[from], &[to]).unwrap();
        assert_eq!(op.run(&[&[1, 2, 3, 4, 5, 6]]), [1, 4, 2, 5, 3, 6]);
    }

    #[test]
    fn what_is_not_built_in_is_refused_by_name() {
        let t = [tensor("float32", &[2])];
        let text = CpuOp::new("system", none, no, &t, &t).unwrap_err();
        assert!(text.contains("\"system\" is not built in") && text.contains("softmax"), "{text}");
        let half = [tensor("float16", &[2])];
        assert!(
            CpuOp::new("relu", none, no, &half, &half).unwrap_err().contains("types and shapes")
        );
        assert!(CpuOp::new("add", none, no, &t, &t).unwrap_err().contains("has 1 inputs, not 2"));
        assert!(CpuOp::new("transpose", |_| Some("0,0"), no, &t, &t).is_err());
        let axis = CpuOp::new("softmax", |_| Some("1"), no, &t, &t).unwrap_err();
        assert!(axis.contains("axis 1 is not the last one"), "{axis}");
        let named = CpuOp::new("mine", none, |name| name == "mine", &t, &t).unwrap_err();
        assert!(named.contains("is not published, so it is not run"), "{named}");
    }
}
