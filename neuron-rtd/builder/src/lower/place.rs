//! Where tensors are: on chip in one or more layouts, in HBM, or both.

use super::{Lower, PARTITIONS, RESIDENT, Value, VariableKind};
use crate::array::{Array, ElementType};
use crate::error::{BuildError, Result};
use crate::graph::{Origin, TensorId};

/// A tensor as a batch of matrices, last index fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    /// Matrices.
    pub(super) batch: usize,
    /// Rows of each.
    pub(super) rows: usize,
    /// Columns of each.
    pub(super) columns: usize,
}

impl View {
    /// One matrix with the last size as columns.
    pub(super) fn flat(shape: &[usize]) -> Self {
        Self::batched(shape, 0)
    }

    /// A batch over the first `lead` sizes; the last size is the columns.
    pub(super) fn batched(shape: &[usize], lead: usize) -> Self {
        let (columns, rest) = shape.split_last().map_or((1, shape), |(last, rest)| (*last, rest));
        let (batch, rows) = rest.split_at_checked(lead).unwrap_or((rest, &[]));
        Self { batch: batch.iter().product(), rows: rows.iter().product(), columns }
    }
}

/// How a matrix lies on chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Rows on partitions.
    Rows,
    /// Columns on partitions.
    Columns,
    /// The one row on every partition, as fp32.
    Spread,
    /// Columns on partitions, one element each, as fp32.
    Column,
}

/// A view in a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) view: View,
    pub(super) layout: Layout,
}

impl Form {
    pub(super) fn rows(view: View) -> Self {
        Self { view, layout: Layout::Rows }
    }

    pub(super) fn columns(view: View) -> Self {
        Self { view, layout: Layout::Columns }
    }

    /// Numbers on partitions and along them.
    pub(super) fn extent(self) -> (usize, usize) {
        match self.layout {
            Layout::Rows => (self.view.rows, self.view.columns),
            Layout::Columns => (self.view.columns, self.view.rows),
            Layout::Spread => (PARTITIONS, self.view.columns),
            Layout::Column => (self.view.columns, 1),
        }
    }

    /// Type of the elements on chip.
    pub(super) fn element(self, element: ElementType) -> ElementType {
        match self.layout {
            Layout::Rows | Layout::Columns => element,
            Layout::Spread | Layout::Column => ElementType::F32,
        }
    }

    /// Tiles of a matrix.
    pub(super) fn tiles(self) -> usize {
        self.extent().0.div_ceil(PARTITIONS)
    }

    /// Bytes from a tile to the next in a partition.
    pub(super) fn pitch(self, element: ElementType) -> usize {
        (self.extent().1 * self.element(element).bytes()).next_multiple_of(4)
    }

    /// Bytes of a partition.
    pub(super) fn footprint(self, element: ElementType) -> usize {
        self.view.batch * self.tiles() * self.pitch(element)
    }

    /// Whether each element is at the same place in both.
    pub(super) fn is(self, other: Self) -> bool {
        let whole = |view: View| view.batch == 1 || view.rows.is_multiple_of(PARTITIONS);
        self == other
            || self.layout == Layout::Rows
                && other.layout == Layout::Rows
                && self.view.columns == other.view.columns
                && whole(self.view)
                && whole(other.view)
    }
}

/// A tensor on chip.
#[derive(Debug, Clone)]
pub(super) struct Chip {
    pub(super) form: Form,
    /// First byte of its partition.
    pub(super) base: u32,
    /// Operator that used it last.
    pub(super) used: usize,
}

impl Lower<'_> {
    /// Room in SBUF. Tensors that the current operator does not use move away
    /// if there is none.
    pub(super) fn room(&mut self, bytes: usize) -> Result<u32> {
        let size: u32 = self.field(bytes)?;
        loop {
            if let Some(start) = self.sbuf.place(size) {
                return Ok(start);
            }
            if !self.evict()? {
                let reason = format!("{bytes} bytes a partition do not fit SBUF");
                return Err(BuildError::Memory { layer: self.layer(), reason });
            }
        }
    }

    /// Moves the tensor that was used longest ago out of SBUF.
    fn evict(&mut self) -> Result<bool> {
        let old = |value: &Value| value.chips.iter().map(|chip| chip.used).max();
        let ages = self.values.iter().enumerate();
        let ages = ages.filter_map(|(index, value)| Some((old(value)?, index)));
        let Some((_, index)) = ages.min().filter(|(age, _)| *age < self.now) else {
            return Ok(false);
        };
        let (id, now) = (TensorId(index), self.now);
        // turning it needs room too, which must not be its own
        for chip in &mut self.value_mut(id).chips {
            chip.used = now;
        }
        self.hbm_variable(id)?;
        for chip in std::mem::take(&mut self.value_mut(id).chips) {
            self.sbuf.release(chip.base);
        }
        Ok(true)
    }

    /// Whether a tensor may keep its room on chip.
    pub(super) fn may_stay(&self, element: ElementType, form: Form) -> bool {
        u32::try_from(form.footprint(element)).is_ok_and(|bytes| bytes <= RESIDENT)
    }

    /// The first byte of a tensor on chip in this form, if it is there.
    pub(super) fn find(&mut self, id: TensorId, form: Form) -> Option<u32> {
        let now = self.now;
        let chip = self.value_mut(id).chips.iter_mut().find(|chip| chip.form.is(form))?;
        chip.used = now;
        Some(chip.base)
    }

    /// Gives a tensor room on chip; what is there is not its data yet.
    pub(super) fn keep(&mut self, id: TensorId, form: Form) -> Result<u32> {
        let base = self.room(form.footprint(self.value(id).element))?;
        let used = self.now;
        self.value_mut(id).chips.push(Chip { form, base, used });
        Ok(base)
    }

    /// A tensor in HBM: its variable. What is on chip only is stored first.
    pub(super) fn hbm_variable(&mut self, id: TensorId) -> Result<u32> {
        if let Some(variable) = self.value(id).hbm {
            return Ok(variable);
        }
        if self.value(id).constant {
            return self.constant_variable(id);
        }
        let value = self.value(id);
        let (element, shape) = (value.element, value.shape.clone());
        let mut forms = value.chips.iter().map(|chip| chip.form);
        let first = forms.clone().next();
        let form = match (forms.find(|form| form.layout == Layout::Rows), first) {
            (Some(form), _) => form,
            (None, Some(form)) => Form::rows(form.view),
            (None, None) => return Err(self.refuse("a tensor that nothing made")),
        };
        let variable = self.scratch_variable(element, &shape);
        for (b, p, _) in tiles(form) {
            // turned on the way if it is there by columns only
            let columns = 0..form.extent().1;
            let tile = match self.find(id, form) {
                Some(_) => self.tile(id, form, b, p, columns)?,
                None => self.stream(id, form, b, p, columns)?,
            };
            self.store(variable, form.view, &tile, b, p, 0)?;
            self.drop_tile(&tile);
        }
        self.value_mut(id).hbm = Some(variable);
        Ok(variable)
    }

    /// The variable of a constant.
    fn constant_variable(&mut self, id: TensorId) -> Result<u32> {
        let root = self.root(id);
        let tensor = self.graph.tensors.get(root);
        let (name, array) = match (tensor, self.prepared.get(&root)) {
            (_, Some(array)) => (format!("constant.{root}"), array.clone()),
            (Some(tensor), None) => match &tensor.origin {
                Origin::Constant(array) => (tensor.name.clone(), array.clone()),
                _ => return Err(self.refuse("no constant")),
            },
            (None, None) => return Err(self.refuse("no constant")),
        };
        let (element, shape) = (array.element(), array.shape().to_vec());
        let variable = self.variable(&name, VariableKind::Constant(array), element, &shape);
        self.value_mut(id).hbm = Some(variable);
        Ok(variable)
    }

    /// A constant made of another one; its room is free after one use.
    pub(super) fn prepare(&mut self, array: Array) -> TensorId {
        let id = TensorId(self.values.len());
        let (element, shape) = (array.element(), array.shape().to_vec());
        self.prepared.insert(id.0, array);
        let (hbm, copies, chips) = Default::default();
        self.values.push(Value { element, shape, uses: 1, hbm, constant: true, copies, chips });
        id
    }

    pub(super) fn scratch_variable(&mut self, element: ElementType, shape: &[usize]) -> u32 {
        let name = format!("scratch.{}", self.variables.len() + 1);
        self.variable(&name, VariableKind::Scratch, element, shape)
    }

    /// Before a tensor is made: whether it stays on chip. If not, or if it is
    /// an output, it has a variable.
    pub(super) fn begin(&mut self, id: TensorId, form: Form) -> Result<()> {
        let element = self.value(id).element;
        if self.may_stay(element, form) {
            self.keep(id, form)?;
        } else if self.value(id).hbm.is_none() {
            let shape = self.value(id).shape.clone();
            let variable = self.scratch_variable(element, &shape);
            self.value_mut(id).hbm = Some(variable);
        }
        Ok(())
    }

    /// The form in which a tensor is on chip, if it is; else one by rows.
    pub(super) fn form_of(&self, id: TensorId, shape: &[usize]) -> Form {
        let mut chips = self.value(id).chips.iter();
        let plain = |form: Form| matches!(form.layout, Layout::Rows | Layout::Columns);
        let chip = chips.find(|chip| plain(chip.form));
        chip.map_or_else(|| Form::rows(View::flat(shape)), |chip| chip.form)
    }
}

/// Batch, first number on the partitions, and how many, of each tile.
pub(super) fn tiles(form: Form) -> impl Iterator<Item = (usize, usize, usize)> {
    let parts = form.extent().0;
    (0..form.view.batch).flat_map(move |batch| {
        (0..parts)
            .step_by(PARTITIONS)
            .map(move |first| (batch, first, (parts - first).min(PARTITIONS)))
    })
}

/// Ranges of at most `step` that cover a length.
pub(super) fn pieces(length: usize, step: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..length).step_by(step.max(1)).map(move |start| start..(start + step).min(length))
}
