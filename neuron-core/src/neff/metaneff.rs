//! metaneff: what a framework stores beside a NEFF about its tensors (sheet
//! section 7.3). A protobuf message of its own, not a member of the archive.

use super::problem::Problem;
use super::wire::Fields;
use std::collections::BTreeMap;

/// The message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetaNeff {
    /// Inputs; number i is `input{i}` at the runtime.
    pub inputs: Vec<MetaTensor>,
    /// Outputs; number i is `output{i}`.
    pub outputs: Vec<MetaTensor>,
    /// How to load it.
    pub config: Option<ModelConfig>,
    /// Bytes of the framework's graph.
    pub graph: Vec<u8>,
    /// Name of the model.
    pub name: String,
    /// Output to the input it lies on.
    pub aliases: BTreeMap<i64, i64>,
    /// Inputs that users give.
    pub user_inputs: i64,
    /// Inputs that are states.
    pub states: i64,
    /// Inputs that are weights.
    pub weights: i64,
}

/// One tensor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetaTensor {
    /// Name in the framework.
    pub name: String,
    /// Shape.
    pub shape: Vec<i64>,
    /// Data type number; see [`Self::dtype`].
    pub data_type: u64,
    /// Bytes of a constant.
    pub content: Vec<u8>,
    /// The first dimension may vary.
    pub dynamic_batch: bool,
    /// Key in a checkpoint.
    pub checkpoint_key: Option<String>,
    /// Kind number; see [`Self::kind`].
    pub kind: u64,
    /// Key of a user's input.
    pub user_key: Option<String>,
}

/// How to load a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelConfig {
    /// Inferences in flight.
    pub num_infer: i64,
    /// Timeout.
    pub timeout: i64,
    /// Cores of a group.
    pub optimal_group: i64,
    /// Load without waiting.
    pub async_load: bool,
    /// Load at first use.
    pub lazy_load: bool,
    /// Return aliased outputs.
    pub return_aliases: bool,
}

impl MetaTensor {
    /// Data type word; `None` for an unknown or reserved number.
    pub fn dtype(&self) -> Option<&'static str> {
        Some(match self.data_type {
            0 => "undefined",
            1 => "float",
            2 => "int32",
            3 => "byte",
            4 => "string",
            5 => "bool",
            6 => "uint8",
            7 => "int8",
            8 => "uint16",
            9 => "int16",
            10 => "int64",
            12 => "float16",
            13 => "double",
            14 => "bfloat16",
            15 => "f8e4m3fn",
            16 => "f8e5m2",
            _ => return None,
        })
    }

    /// Kind word; `None` for an unknown number.
    pub fn kind(&self) -> Option<&'static str> {
        Some(match self.kind {
            0 => "undefined",
            1 => "user input",
            2 => "state",
            3 => "weight",
            _ => return None,
        })
    }

    fn read(mut fields: Fields<'_>) -> Result<Self, Problem> {
        let mut out = Self::default();
        while let Some(field) = fields.next()? {
            match field.number {
                1 => out.name = fields.text(&field)?,
                2 => {
                    let mut sizes = Vec::new();
                    fields.numbers(&field, &mut sizes)?;
                    out.shape.extend(sizes.into_iter().map(u64::cast_signed));
                }
                3 => out.data_type = fields.number(&field)?,
                4 => out.content = fields.raw(&field)?.to_vec(),
                5 => out.dynamic_batch = fields.number(&field)? != 0,
                6 => out.checkpoint_key = Some(fields.text(&field)?),
                7 => out.kind = fields.number(&field)?,
                8 => out.user_key = Some(fields.text(&field)?),
                _ => {}
            }
        }
        Ok(out)
    }
}

impl MetaNeff {
    /// Reads a message; `name` is what errors call it.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let mut out = Self::default();
        let mut fields = Fields::new(name, bytes, 0);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => out.inputs.push(MetaTensor::read(fields.inner(&field)?)?),
                2 => out.outputs.push(MetaTensor::read(fields.inner(&field)?)?),
                3 => out.config = Some(config(fields.inner(&field)?)?),
                4 => out.graph = fields.raw(&field)?.to_vec(),
                5 => out.name = fields.text(&field)?,
                6 => {
                    let (mut key, mut value) = (0, 0);
                    let mut entry = fields.inner(&field)?;
                    while let Some(field) = entry.next()? {
                        match field.number {
                            1 => key = entry.number(&field)?.cast_signed(),
                            2 => value = entry.number(&field)?.cast_signed(),
                            _ => {}
                        }
                    }
                    out.aliases.insert(key, value);
                }
                7 => out.user_inputs = fields.number(&field)?.cast_signed(),
                8 => out.states = fields.number(&field)?.cast_signed(),
                9 => out.weights = fields.number(&field)?.cast_signed(),
                _ => {}
            }
        }
        Ok(out)
    }
}

fn config(mut fields: Fields<'_>) -> Result<ModelConfig, Problem> {
    let mut out = ModelConfig::default();
    while let Some(field) = fields.next()? {
        let number = match field.number {
            1..=6 => fields.number(&field)?,
            _ => continue,
        };
        match field.number {
            1 => out.num_infer = number.cast_signed(),
            2 => out.timeout = number.cast_signed(),
            3 => out.optimal_group = number.cast_signed(),
            4 => out.async_load = number != 0,
            5 => out.lazy_load = number != 0,
            _ => out.return_aliases = number != 0,
        }
    }
    Ok(out)
}
