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

#[cfg(test)]
mod tests {
    use super::*;

    /// A message put together field by field, by the schema of the sheet.
    const MESSAGE: &[u8] = &[
        0x0a, 0x18, // input_tensors, 24 bytes
        0x0a, 0x05, b'x', b':', b'0', b'-', b'a', // name
        0x12, 0x03, 0x01, 0x80, 0x02, // shape, packed: 1, 256
        0x18, 0x0e, // data_type BFLOAT16
        0x28, 0x01, // allow_dynamic_batch_size
        0x32, 0x02, b'w', b'k', // checkpoint_key
        0x38, 0x03, // type INPUT_WEIGHT
        0x42, 0x00, // user_input_key, empty but there
        0x12, 0x0d, // output_tensors, 13 bytes
        0x10, 0x02, // shape, not packed: 2
        0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // shape: -1
        0x1a, 0x06, // model_config
        0x08, 0x04, 0x20, 0x01, 0x30, 0x01, // num_infer 4, async_load, return_aliases
        0x22, 0x02, 0xde, 0xad, // serialized_graph_def
        0x2a, 0x01, b'm', // name
        0x32, 0x04, 0x08, 0x01, 0x10, 0x02, // output 1 on input 2
        0x38, 0x01, 0x48, 0x05, // num_user_inputs 1, num_weights 5
        0x99, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, // field 99, fixed 64: passed over
    ];

    #[test]
    fn every_field() {
        let meta = MetaNeff::parse("m", MESSAGE).unwrap();
        let [input] = &meta.inputs[..] else { panic!() };
        assert_eq!((input.name.as_str(), &input.shape[..]), ("x:0-a", &[1, 256][..]));
        assert_eq!((input.dtype(), input.kind()), (Some("bfloat16"), Some("weight")));
        assert!(input.dynamic_batch);
        assert_eq!(input.checkpoint_key.as_deref(), Some("wk"));
        assert_eq!(input.user_key.as_deref(), Some(""));
        assert_eq!(meta.outputs[0].shape, [2, -1]);
        let config = meta.config.unwrap();
        assert_eq!((config.num_infer, config.async_load, config.lazy_load), (4, true, false));
        assert!(config.return_aliases);
        assert_eq!((meta.graph.as_slice(), meta.name.as_str()), (&[0xde, 0xad][..], "m"));
        assert_eq!(meta.aliases, BTreeMap::from([(1, 2)]));
        assert_eq!((meta.user_inputs, meta.states, meta.weights), (1, 0, 5));
        let reserved = MetaTensor { data_type: 11, kind: 4, ..MetaTensor::default() };
        assert_eq!((reserved.dtype(), reserved.kind()), (None, None));
    }

    #[test]
    fn damage_has_its_offset() {
        for (bytes, at, value) in [
            (&[0x0a, 0x05, 0x0a][..], "0x0", "a field of 5 bytes, 1 follow"),
            (&[0x38][..], "0x1", "a number is cut"),
            (
                &[0x38, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02][..],
                "0x1",
                "a number is beyond 64 bits",
            ),
            (&[0x38, 0x01, 0x0b][..], "0x2", "field 1 has wire type 3"),
            (&[0x00, 0x00][..], "0x0", "a field has number 0"),
            (&[0x08, 0x01][..], "0x0", "field 1 is a number"),
            (&[0x3a, 0x01, 0x01][..], "0x0", "field 7 is not a number"),
            (&[0x0a, 0x02, 0x12, 0x01][..], "0x2", "a field of 1 bytes, 0 follow"),
        ] {
            let error = MetaNeff::parse("m", bytes).unwrap_err().to_string();
            let expected = format!("m offset {at}: {value} (rule protobuf");
            assert!(error.starts_with(&expected), "{error}");
        }
        for end in 0..MESSAGE.len() {
            let _ = MetaNeff::parse("m", &MESSAGE[..end]);
        }
    }
}
