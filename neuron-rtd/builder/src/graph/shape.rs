//! Type and shape of the result of an operator, or why there is none.

use super::{Op, Origin, Tensor};
use crate::array::ElementType;

type Shaped = (ElementType, Vec<usize>);

/// The result of an operator.
pub(super) fn result(op: &Op, inputs: &[&Tensor]) -> Result<Shaped, String> {
    let refuse = || {
        let shapes: Vec<_> = inputs.iter().map(|t| (t.element.word(), &t.shape)).collect();
        format!("{} does not take {shapes:?}", op.word())
    };
    let fits = match op {
        Op::Embedding => None,
        Op::Slice { .. } | Op::Reshape(_) | Op::Concat { .. } => Some(()),
        _ => inputs.iter().all(|tensor| tensor.element != ElementType::I32).then_some(()),
    };
    if fits.is_none() && *op != Op::Embedding {
        return Err(refuse());
    }
    let same = inputs.windows(2).all(|pair| matches!(pair, [a, b] if a.element == b.element));
    if !same && *op != Op::Embedding {
        return Err(refuse());
    }
    shape(op, inputs).ok_or_else(refuse)
}

fn shape(op: &Op, inputs: &[&Tensor]) -> Option<Shaped> {
    let first = *inputs.first()?;
    let row = |t: &Tensor| first.shape.last().is_some_and(|last| t.shape == [*last]);
    let shape = match (op, inputs) {
        (Op::MatMul { transpose_a, transpose_b }, [a, b]) => {
            product(&exchanged(&a.shape, *transpose_a)?, &exchanged(&b.shape, *transpose_b)?)?
        }
        (Op::Activation(_) | Op::Softmax | Op::AllReduce(_), [x]) => x.shape.clone(),
        (Op::Two(_), [a, b]) if a.shape == b.shape || row(b) => a.shape.clone(),
        (Op::LayerNorm { eps }, [x, gamma, beta]) if row(gamma) && row(beta) && *eps >= 0.0 => {
            x.shape.clone()
        }
        (Op::RmsNorm { eps }, [x, gamma]) if row(gamma) && *eps >= 0.0 => x.shape.clone(),
        (Op::Convolution(window), [x, weights, bias @ ..]) => {
            let (&[n, c, h, w], &[o, i, kh, kw]) = (x.shape.as_slice(), weights.shape.as_slice())
            else {
                return None;
            };
            let biased = bias.is_empty() || matches!(bias, [b] if b.shape == [o]);
            let constant = matches!(weights.origin, Origin::Constant(_));
            if c != i || window.size != [kh, kw] || !biased || !constant {
                return None;
            }
            let [oh, ow] = window.positions([h, w])?;
            vec![n, o, oh, ow]
        }
        (Op::Pool(_, window), [x]) => {
            let &[n, c, h, w] = x.shape.as_slice() else {
                return None;
            };
            let [oh, ow] = window.positions([h, w]).filter(|_| window.padding == [0; 2])?;
            vec![n, c, oh, ow]
        }
        (Op::Attention(attention), [q, k, v]) => {
            let (lead, rows) = (lead(&q.shape, 2)?, lead(&k.shape, 2)?);
            let size = *q.shape.last()?;
            let fits = lead == rows && k.shape == v.shape && k.shape.last() == Some(&size);
            let head = size.checked_div(attention.heads)?;
            if !fits || head * attention.heads != size || head > 128 {
                return None;
            }
            q.shape.clone()
        }
        (Op::Embedding, [table, ids]) if ids.element == ElementType::I32 => {
            let &[_, size] = table.shape.as_slice() else {
                return None;
            };
            if table.element == ElementType::I32 {
                return None;
            }
            [ids.shape.as_slice(), &[size]].concat()
        }
        (Op::Concat { axis }, tensors) => {
            let mut shape = first.shape.clone();
            let along = shape.get_mut(*axis)?;
            *along = 0;
            let others = shape.clone();
            for tensor in tensors {
                let mut rest = tensor.shape.clone();
                *shape.get_mut(*axis)? += std::mem::take(rest.get_mut(*axis)?);
                if rest != others {
                    return None;
                }
            }
            shape
        }
        (Op::Slice { axis, start, size }, [x]) => {
            let mut shape = x.shape.clone();
            let along = shape.get_mut(*axis)?;
            if *size == 0 || start.checked_add(*size)? > *along {
                return None;
            }
            *along = *size;
            shape
        }
        (Op::Reshape(shape), [x]) => {
            let elements = crate::array::count(shape)?;
            (elements == x.elements()).then(|| shape.clone())?
        }
        _ => return None,
    };
    Some((first.element, shape))
}

/// All but the last `count` sizes.
fn lead(shape: &[usize], count: usize) -> Option<&[usize]> {
    shape.get(..shape.len().checked_sub(count)?)
}

fn product(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (&inner, rows) = a.split_last()?;
    let (&columns, rest) = b.split_last()?;
    let (&other, batch) = rest.split_last()?;
    let batched = batch.is_empty() || lead(a, 2) == Some(batch);
    (inner == other && batched).then(|| [rows, &[columns]].concat())
}

/// A shape with its last two sizes exchanged, if so asked.
fn exchanged(shape: &[usize], exchange: bool) -> Option<Vec<usize>> {
    let mut shape = shape.to_vec();
    if exchange {
        let last = shape.len().checked_sub(2)?;
        shape.get_mut(last..)?.reverse();
    }
    Some(shape)
}
