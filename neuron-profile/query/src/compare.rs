//! What differs between two profiles: every metric, and times by layer,
//! operator and opcode.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};

use crate::dataset::Dataset;
use crate::describe;
use crate::engine::Engine;
use crate::error::Error;
use crate::facts::facts;
use crate::limits::{Limits, Stop};
use crate::session::Session;

/// A metric of two profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its name.
    pub metric: String,
    /// Its unit; `%` is a fraction from 0 to 1.
    pub unit: String,
    /// In the first profile.
    pub first: Option<f64>,
    /// In the second.
    pub second: Option<f64>,
}

impl Change {
    /// Second less first.
    pub fn difference(&self) -> Option<f64> {
        Some(self.second? - self.first?)
    }

    /// Second by first; `None` for a first of 0.
    pub fn ratio(&self) -> Option<f64> {
        let first = self.first.filter(|first| *first != 0.0)?;
        Some(self.second? / first)
    }
}

/// The metrics of two profiles, those that differ by the largest ratio first,
/// then those that are equal by name.
///
/// # Errors
///
/// Tables that cannot be read.
pub fn metrics(
    engine: &Engine,
    first: &Dataset,
    second: &Dataset,
    limits: Limits,
    stop: &Stop,
) -> Result<Vec<Change>, Error> {
    let of = |profile: &Dataset| facts(&Session::on(engine, vec![profile.clone()], limits, stop)?);
    let (one, two) = (of(first)?, of(second)?);
    let both = [first.clone(), second.clone()];
    let units: BTreeMap<String, String> = describe::columns(&both, "Summary")?
        .into_iter()
        .map(|column| (column.column, column.unit))
        .collect();
    let mut names: Vec<&String> = one.keys().chain(two.keys()).collect();
    names.sort();
    names.dedup();
    let mut changes: Vec<Change> = names
        .into_iter()
        .map(|name| Change {
            metric: name.clone(),
            unit: units.get(name).cloned().unwrap_or_default(),
            first: one.get(name).copied(),
            second: two.get(name).copied(),
        })
        .collect();
    // By how much larger or smaller, not in which direction.
    let size = |change: &Change| match change.difference() {
        Some(0.0) => 0.0,
        None => f64::INFINITY,
        Some(_) => change.ratio().map_or(f64::INFINITY, |ratio| ratio.abs().ln().abs()),
    };
    changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
    Ok(changes)
}

/// The same as rows: metric, unit, first, second, difference, ratio.
///
/// # Errors
///
/// None that is known: columns have one length.
pub fn batch(changes: &[Change]) -> Result<RecordBatch, Error> {
    let texts = |of: fn(&Change) -> &str| -> ArrayRef {
        Arc::new(changes.iter().map(|change| Some(of(change))).collect::<StringArray>())
    };
    let reals = |of: fn(&Change) -> Option<f64>| -> ArrayRef {
        Arc::new(changes.iter().map(of).collect::<Float64Array>())
    };
    RecordBatch::try_from_iter([
        ("metric", texts(|change| &change.metric)),
        ("unit", texts(|change| &change.unit)),
        ("first", reals(|change| change.first)),
        ("second", reals(|change| change.second)),
        ("difference", reals(Change::difference)),
        ("ratio", reals(Change::ratio)),
    ])
    .map_err(|error| Error::Read(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_something_to_divide_by() {
        let change = |first, second| Change {
            metric: String::from("a"),
            unit: String::new(),
            first,
            second,
        };
        assert_eq!(change(Some(2.0), Some(3.0)).difference(), Some(1.0));
        assert_eq!(change(Some(2.0), Some(3.0)).ratio(), Some(1.5));
        assert_eq!(change(Some(0.0), Some(3.0)).ratio(), None);
        assert_eq!(change(None, Some(3.0)).difference(), None);
        let batch = batch(&[change(Some(2.0), None)]).unwrap();
        assert_eq!((batch.num_rows(), batch.num_columns()), (1, 6));
    }
}
