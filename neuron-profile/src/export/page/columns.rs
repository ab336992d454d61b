//! A column of some rows as JSON: steps of whole numbers, places of texts, or
//! the one value that all rows have.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_schema::DataType;
use serde_json::{Value, json};

use super::archive::steps;

/// See the module.
pub(super) enum Column {
    Longs(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Flags(Vec<Option<bool>>),
    Texts {
        list: Vec<String>,
        known: HashMap<String, i64>,
        keys: Vec<i64>,
    },
    /// A type that no table has.
    Other,
}

/// A single-precision number with its own digits, as the interface tells it.
fn single(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}

impl Column {
    pub(super) fn of(kind: &DataType) -> Self {
        match kind {
            DataType::Int64 | DataType::Int32 => Self::Longs(Vec::new()),
            DataType::Float32 | DataType::Float64 => Self::Reals(Vec::new()),
            DataType::Boolean => Self::Flags(Vec::new()),
            DataType::Dictionary(..) => {
                Self::Texts { list: Vec::new(), known: HashMap::new(), keys: Vec::new() }
            }
            _ => Self::Other,
        }
    }

    /// Takes some rows of an array.
    pub(super) fn take(&mut self, values: &dyn Array, rows: Range<usize>) {
        let slice = values.slice(rows.start, rows.len());
        match (self, values.data_type()) {
            (Self::Longs(out), DataType::Int64) => {
                out.extend(slice.as_primitive::<Int64Type>().iter());
            }
            (Self::Longs(out), DataType::Int32) => {
                out.extend(slice.as_primitive::<Int32Type>().iter().map(|v| Some(v?.into())));
            }
            (Self::Reals(out), DataType::Float32) => {
                out.extend(slice.as_primitive::<Float32Type>().iter().map(|v| Some(single(v?))));
            }
            (Self::Reals(out), DataType::Float64) => {
                out.extend(slice.as_primitive::<Float64Type>().iter());
            }
            (Self::Flags(out), DataType::Boolean) => out.extend(slice.as_boolean().iter()),
            (Self::Texts { list, known, keys }, DataType::Dictionary(..)) => {
                let Some(slice) = slice.as_dictionary_opt::<Int32Type>() else { return };
                let Some(texts) = slice.values().as_string_opt::<i32>() else { return };
                // Texts of this array by place, so that each is looked up once.
                let mut seen: Vec<Option<i64>> = vec![None; texts.len()];
                for key in slice.keys().iter() {
                    let place = key.and_then(|key| usize::try_from(key).ok());
                    let found = place.and_then(|place| Some((place, seen.get_mut(place)?)));
                    let Some((place, found)) = found else {
                        keys.push(-1);
                        continue;
                    };
                    let next = i64::try_from(list.len()).unwrap_or(-1);
                    keys.push(*found.get_or_insert_with(|| {
                        let text = texts.value(place);
                        *known.entry(text.to_owned()).or_insert_with(|| {
                            list.push(text.to_owned());
                            next
                        })
                    }));
                }
            }
            _ => {}
        }
    }

    /// The column; none where all rows are null.
    pub(super) fn value(self) -> Option<Value> {
        fn listed<T: Copy + PartialEq + serde::Serialize>(list: &[Option<T>]) -> Option<Value> {
            let first = (*list.first()?)?;
            if list.iter().all(|value| *value == Some(first)) {
                return Some(json!({ "c": first }));
            }
            Some(json!({ "v": list }))
        }
        let some = |any: bool| any.then_some(());
        match self {
            Self::Longs(list) => {
                some(list.iter().any(Option::is_some))?;
                let whole: Option<Vec<i64>> = list.iter().copied().collect();
                match whole {
                    Some(whole) if whole.iter().any(|value| whole.first() != Some(value)) => {
                        Some(steps(&whole))
                    }
                    _ => listed(&list).or_else(|| Some(json!({ "v": list }))),
                }
            }
            Self::Reals(list) => {
                some(list.iter().any(Option::is_some))?;
                listed(&list).or_else(|| Some(json!({ "v": list })))
            }
            Self::Flags(list) => {
                some(list.iter().any(Option::is_some))?;
                listed(&list).or_else(|| Some(json!({ "v": list })))
            }
            Self::Texts { list, keys, .. } => {
                some(!list.is_empty())?;
                match list.as_slice() {
                    [text] if keys.iter().all(|key| *key == 0) => Some(json!({ "c": text })),
                    _ => Some(json!({ "t": list, "k": keys })),
                }
            }
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{DictionaryArray, Float32Array, Int64Array};

    use super::*;

    fn column(values: &dyn Array) -> Option<Value> {
        let mut column = Column::of(values.data_type());
        column.take(values, 0..values.len());
        column.value()
    }

    #[test]
    fn columns() {
        let longs = |list: Vec<Option<i64>>| column(&Int64Array::from(list));
        assert_eq!(longs(vec![Some(4), Some(6)]), Some(json!({ "d": [4, 2] })));
        assert_eq!(longs(vec![Some(4), Some(4)]), Some(json!({ "c": 4 })));
        assert_eq!(longs(vec![None, Some(4)]), Some(json!({ "v": [null, 4] })));
        assert_eq!(longs(vec![None, None]), None);
        let reals = Float32Array::from(vec![0.1_f32, 0.2]);
        assert_eq!(column(&reals), Some(json!({ "v": [0.1, 0.2] })));
        let texts: DictionaryArray<Int32Type> =
            vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect();
        let texts: Arc<dyn Array> = Arc::new(texts);
        assert_eq!(column(&texts), Some(json!({ "t": ["a", "b"], "k": [0, -1, 1, 0] })));
    }
}
