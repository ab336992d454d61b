//! The operators.

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// The number.
    Identity,
    /// max(x, 0).
    Relu,
    /// The form with tanh: x/2 (1 + tanh(0.7978846 (x + 0.044715 x^3))). The
    /// form with erf has no function that the software NeuronCore runs.
    Gelu,
    /// x sigmoid(x).
    Silu,
    /// Hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e^-x).
    Sigmoid,
    /// e^x.
    Exp,
    /// x^2.
    Square,
}

impl Activation {
    /// Every function.
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::Relu,
        Self::Gelu,
        Self::Silu,
        Self::Tanh,
        Self::Sigmoid,
        Self::Exp,
        Self::Square,
    ];

    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "IDENTITY",
            Self::Relu => "RELU",
            Self::Gelu => "GELU_APPRX_TANH",
            Self::Silu => "SILU",
            Self::Tanh => "TANH",
            Self::Sigmoid => "SIGMOID",
            Self::Exp => "EXP",
            Self::Square => "SQUARE",
        }
    }
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TwoTensors {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
    /// Larger.
    Maximum,
}

/// How a pooling folds its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// Largest.
    Max,
    /// Mean.
    Average,
}

/// Height and width of a window, and its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Height, width.
    pub size: [usize; 2],
    /// Step down, step right.
    pub stride: [usize; 2],
    /// Zeros above and below, left and right; convolutions only.
    pub padding: [usize; 2],
}

impl Window {
    /// A square window with equal steps, without padding.
    pub const fn square(size: usize, stride: usize) -> Self {
        Self { size: [size; 2], stride: [stride; 2], padding: [0; 2] }
    }

    /// Positions of the window in an image of this height and width; `None`
    /// when it does not fit once or is no window.
    pub fn positions(&self, image: [usize; 2]) -> Option<[usize; 2]> {
        let mut out = [0; 2];
        for (axis, positions) in out.iter_mut().enumerate() {
            let size = *self.size.get(axis)?;
            let (padding, stride) = (*self.padding.get(axis)?, *self.stride.get(axis)?);
            let whole = image.get(axis)?.checked_add(padding.checked_mul(2)?)?;
            if size == 0 || stride == 0 || size > whole {
                return None;
            }
            *positions = (whole - size) / stride + 1;
        }
        Some(out)
    }
}

/// Parameters of attention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attention {
    /// Heads; each has an equal part of the last index.
    pub heads: usize,
    /// Factor of the scores, 1/sqrt(size of a head) as a rule.
    pub scale: f32,
    /// Row i of q sees the rows of k up to this plus i; `None`: all.
    pub causal: Option<usize>,
}

/// How a collective folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Sum.
    Sum,
    /// Largest.
    Max,
}

/// What an operator does. Numbers are fp32 within an operator and rounded to
/// the type of its result at its end.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// a b, each with its last two indices exchanged first if so asked; a
    /// \[.., M, K\], b \[K, N\] or \[.., K, N\].
    MatMul {
        /// a is \[.., K, M\].
        transpose_a: bool,
        /// b is \[.., N, K\].
        transpose_b: bool,
    },
    /// A function of each element.
    Activation(Activation),
    /// a op b, of one shape, or with b along the last index.
    Two(TwoTensors),
    /// Softmax along the last index.
    Softmax,
    /// (x - mean) / sqrt(variance + eps) gamma + beta along the last index;
    /// inputs x, gamma, beta.
    LayerNorm {
        /// Added to the variance.
        eps: f32,
    },
    /// x / sqrt(mean of squares + eps) gamma along the last index; inputs x,
    /// gamma.
    RmsNorm {
        /// Added to the mean of the squares.
        eps: f32,
    },
    /// Cross-correlation; inputs x \[N, C, H, W\], constant weights \[O, C,
    /// KH, KW\], and a bias \[O\] if there is a third.
    Convolution(Window),
    /// Pooling of \[N, C, H, W\].
    Pool(PoolKind, Window),
    /// softmax(scale q k^T + mask) v for each head; inputs q \[.., S, E\], k
    /// and v \[.., T, E\].
    Attention(Attention),
    /// Rows of a table; inputs table \[V, E\] and int32 indices.
    Embedding,
    /// Tensors one after the other along an axis.
    Concat {
        /// The axis.
        axis: usize,
    },
    /// A piece of a tensor.
    Slice {
        /// The axis.
        axis: usize,
        /// First index along it.
        start: usize,
        /// Indices along it.
        size: usize,
    },
    /// The same elements in another shape.
    Reshape(Vec<usize>),
    /// The tensors of all cores, folded; every core has the result.
    AllReduce(Reduction),
}

impl Op {
    /// Its word in the names of instructions.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::MatMul { .. } => "matmul",
            Self::Activation(_) => "activation",
            Self::Two(_) => "elementwise",
            Self::Softmax => "softmax",
            Self::LayerNorm { .. } => "layernorm",
            Self::RmsNorm { .. } => "rmsnorm",
            Self::Convolution(_) => "convolution",
            Self::Pool(..) => "pool",
            Self::Attention(_) => "attention",
            Self::Embedding => "embedding",
            Self::Concat { .. } => "concat",
            Self::Slice { .. } => "slice",
            Self::Reshape(_) => "reshape",
            Self::AllReduce(_) => "all-reduce",
        }
    }
}
