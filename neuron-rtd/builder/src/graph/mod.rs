//! Operator graphs: tensors with shape and type, and operators between them.
//!
//! A graph is the program of one physical core. Its tensors are made in order,
//! so it has no cycles. Every operator belongs to a layer, a path such as
//! `encoder/attention`, and remembers the line of the code that added it; both
//! end up in the debug members of the file.

mod op;
mod shape;

use std::panic::Location;

pub use op::{Activation, Attention, Op, PoolKind, Reduction, TwoTensors, Window};

use crate::array::{Array, ElementType, count};
use crate::error::{BuildError, Result};

/// Most elements of a tensor (our choice).
const MOST_ELEMENTS: usize = 1 << 36;
/// Most sizes of a shape (neff.md §7.1).
const MOST_SIZES: usize = 32;
/// Longest path of a layer, in bytes: names of debug records have up to 509
/// (neff.md §8).
const LONGEST_LAYER: usize = 400;

/// A tensor of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(crate) usize);

/// Where a tensor comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Given to each run.
    Input,
    /// In the file.
    Constant(Array),
    /// Made by an operator.
    Operator,
}

/// A tensor.
#[derive(Debug, Clone)]
pub struct Tensor {
    /// Its name; unique among inputs and constants.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Its shape, last index fastest.
    pub shape: Vec<usize>,
    /// Where it comes from.
    pub origin: Origin,
}

impl Tensor {
    /// Elements of it.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of it.
    pub fn bytes(&self) -> usize {
        self.elements() * self.element.bytes()
    }
}

/// A line of source code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// An operator with its tensors.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What it takes.
    pub inputs: Vec<TensorId>,
    /// What it makes.
    pub output: TensorId,
    /// Its layer.
    pub layer: String,
    /// The code that added it.
    pub source: SourceLine,
}

/// The program of one physical core.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Its name.
    pub name: String,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) outputs: Vec<(String, TensorId)>,
    scope: Vec<String>,
    source: Option<SourceLine>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: &str) -> Self {
        let (tensors, nodes, outputs, scope) = Default::default();
        Self { name: name.to_owned(), tensors, nodes, outputs, scope, source: None }
    }

    /// A tensor.
    pub fn tensor(&self, id: TensorId) -> Option<&Tensor> {
        self.tensors.get(id.0)
    }

    /// Operators, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Names and tensors of the results.
    pub fn outputs(&self) -> &[(String, TensorId)] {
        &self.outputs
    }

    /// Tensors that each run is given.
    pub fn inputs(&self) -> impl Iterator<Item = &Tensor> {
        self.tensors.iter().filter(|tensor| tensor.origin == Origin::Input)
    }

    /// Constants, with their name.
    pub fn constants(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.tensors.iter().filter_map(|tensor| match &tensor.origin {
            Origin::Constant(array) => Some((tensor.name.as_str(), array)),
            _ => None,
        })
    }

    /// Adds layers below a layer.
    ///
    /// # Errors
    ///
    /// What `build` returns.
    pub fn scope<T>(
        &mut self,
        name: &str,
        build: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.scope.push(name.to_owned());
        let result = build(self);
        self.scope.pop();
        result
    }

    /// Operators from here on come from this line of other code, such as that
    /// of a framework; `None`: from the line that adds them.
    pub fn source(&mut self, source: Option<SourceLine>) {
        self.source = source;
    }

    /// An input.
    ///
    /// # Errors
    ///
    /// When the name is taken or the shape has a zero.
    pub fn input(&mut self, name: &str, element: ElementType, shape: &[usize]) -> Result<TensorId> {
        self.named(name, element, shape, Origin::Input)
    }

    /// A constant.
    ///
    /// # Errors
    ///
    /// When the name is taken.
    pub fn constant(&mut self, name: &str, array: Array) -> Result<TensorId> {
        let (element, shape) = (array.element(), array.shape().to_vec());
        self.named(name, element, &shape, Origin::Constant(array))
    }

    /// Makes a tensor a result.
    ///
    /// # Errors
    ///
    /// When the name is taken.
    pub fn output(&mut self, name: &str, tensor: TensorId) -> Result<()> {
        self.check_name(name)?;
        self.get("output", tensor)?;
        self.outputs.push((name.to_owned(), tensor));
        Ok(())
    }

    fn named(
        &mut self,
        name: &str,
        element: ElementType,
        shape: &[usize],
        origin: Origin,
    ) -> Result<TensorId> {
        self.check_name(name)?;
        self.check_shape(name, shape)?;
        Ok(self.add(Tensor { name: name.to_owned(), element, shape: shape.to_vec(), origin }))
    }

    fn check_shape(&self, layer: &str, shape: &[usize]) -> Result<()> {
        let fits = count(shape).is_some_and(|count| count <= MOST_ELEMENTS);
        if !fits || shape.len() > MOST_SIZES {
            let reason = format!("the shape {shape:?}; 1 to 2^36 elements, up to 32 sizes");
            return Err(self.refuse(layer, reason));
        }
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<()> {
        let inputs = self.tensors.iter().filter(|tensor| tensor.origin != Origin::Operator);
        let mut names =
            inputs.map(|t| t.name.as_str()).chain(self.outputs.iter().map(|(n, _)| n.as_str()));
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        // it becomes the name of a member and of a variable; variables of the
        // builder have a number after one of these words
        let own = ["scratch.", "constant."].iter().any(|word| name.starts_with(word));
        if own || name == "SB" {
            return Err(self.refuse(name, "the name is the builder's own".to_owned()));
        }
        if name.is_empty() || name.len() > 80 || !name.chars().all(plain) {
            return Err(self.refuse(name, "names are 1 to 80 letters, digits, . _ -".to_owned()));
        }
        if names.any(|taken| taken == name) {
            return Err(self.refuse(name, "the name is taken".to_owned()));
        }
        Ok(())
    }

    fn add(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() - 1)
    }

    fn refuse(&self, layer: &str, reason: String) -> BuildError {
        BuildError::Operator { layer: format!("{}/{layer}", self.name), reason }
    }

    fn get(&self, layer: &str, id: TensorId) -> Result<&Tensor> {
        let tensor = self.tensors.get(id.0);
        tensor.ok_or_else(|| self.refuse(layer, "a tensor of another graph".to_owned()))
    }

    /// Adds an operator; its result has the shape that follows from it.
    ///
    /// # Errors
    ///
    /// When shapes or types do not fit.
    #[track_caller]
    pub fn apply(&mut self, layer: &str, op: Op, inputs: &[TensorId]) -> Result<TensorId> {
        let here = Location::caller();
        let source = self
            .source
            .clone()
            .unwrap_or_else(|| SourceLine { file: here.file().to_owned(), line: here.line() });
        let path = self.scope.iter().map(String::as_str).chain([layer]);
        let layer = path.collect::<Vec<_>>().join("/");
        let operands: Result<Vec<&Tensor>> =
            inputs.iter().map(|id| self.get(&layer, *id)).collect();
        let (element, shape) =
            shape::result(&op, &operands?).map_err(|reason| self.refuse(&layer, reason))?;
        self.check_shape(&layer, &shape)?;
        if layer.len() > LONGEST_LAYER {
            return Err(self.refuse(&layer, format!("the path is longer than {LONGEST_LAYER}")));
        }
        let name = format!("{layer}.{}", self.nodes.len());
        let output = self.add(Tensor { name, element, shape, origin: Origin::Operator });
        self.nodes.push(Node { op, inputs: inputs.to_vec(), output, layer, source });
        Ok(output)
    }

    /// a b, with a \[.., M, K\] and b \[K, N\] or \[.., K, N\].
    ///
    /// # Errors
    ///
    /// As [`Graph::apply`], and so below.
    #[track_caller]
    pub fn matmul(&mut self, layer: &str, a: TensorId, b: TensorId) -> Result<TensorId> {
        self.apply(layer, Op::MatMul { transpose_a: false, transpose_b: false }, &[a, b])
    }

    /// x + b, with b along the last index.
    ///
    /// # Errors
    ///
    /// As [`Graph::apply`].
    #[track_caller]
    pub fn bias(&mut self, layer: &str, x: TensorId, b: TensorId) -> Result<TensorId> {
        self.apply(layer, Op::Two(TwoTensors::Add), &[x, b])
    }

    /// A function of each element.
    ///
    /// # Errors
    ///
    /// As [`Graph::apply`].
    #[track_caller]
    pub fn activation(&mut self, layer: &str, f: Activation, x: TensorId) -> Result<TensorId> {
        self.apply(layer, Op::Activation(f), &[x])
    }

    /// a op b, of one shape, or with b along the last index.
    ///
    /// # Errors
    ///
    /// As [`Graph::apply`].
    #[track_caller]
    pub fn two(
        &mut self,
        layer: &str,
        op: TwoTensors,
        a: TensorId,
        b: TensorId,
    ) -> Result<TensorId> {
        self.apply(layer, Op::Two(op), &[a, b])
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    ///
    /// As [`Graph::apply`].
    #[track_caller]
    pub fn reshape(&mut self, layer: &str, x: TensorId, shape: &[usize]) -> Result<TensorId> {
        self.apply(layer, Op::Reshape(shape.to_vec()), &[x])
    }

    /// A tensor in pieces of these sizes along an axis.
    ///
    /// # Errors
    ///
    /// As [`Graph::apply`].
    #[track_caller]
    pub fn split(
        &mut self,
        layer: &str,
        x: TensorId,
        axis: usize,
        sizes: &[usize],
    ) -> Result<Vec<TensorId>> {
        let whole = self.get(layer, x)?.shape.get(axis).copied();
        if whole != Some(sizes.iter().sum()) {
            return Err(self.refuse(layer, format!("pieces {sizes:?} of axis {axis}")));
        }
        let mut start = 0;
        let mut pieces = Vec::new();
        for size in sizes {
            pieces.push(self.apply(layer, Op::Slice { axis, start, size: *size }, &[x])?);
            start += size;
        }
        Ok(pieces)
    }
}
