//! Conditions on rows, and which rows of a batch meet them.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use regex::Regex;

/// What a value must be.
#[derive(Debug, Clone)]
pub enum Test {
    /// This text, this number, or within this range of numbers (`10..20`).
    Is(String),
    /// A text that has this one in it, whatever the case of ASCII letters.
    Has(String),
    /// A text in which this occurs.
    Matches(Regex),
    /// A number in this range; the flags say whether the ends are in it.
    Between((f64, bool), (f64, bool)),
}

/// A column and what it must be; any column of texts if none is named.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The column.
    pub column: Option<String>,
    /// What it must be.
    pub test: Test,
    /// It must not.
    pub not: bool,
}

/// Conditions put together.
#[derive(Debug, Clone)]
pub enum Expression {
    /// All must hold.
    And(Vec<Expression>),
    /// One must hold.
    Or(Vec<Expression>),
    /// It must not hold.
    Not(Box<Expression>),
    /// One condition.
    One(Condition),
}

/// A range of numbers that a text says: `10..20`, `..20`, `10..`.
fn range(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once("..")?;
    let end = |text: &str, open: f64| if text.is_empty() { Some(open) } else { text.parse().ok() };
    let range = (end(low, f64::NEG_INFINITY)?, end(high, f64::INFINITY)?);
    (text != "..").then_some(range)
}

const fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Dictionary(..) | DataType::Utf8)
}

impl Expression {
    /// Calls `each` with all conditions.
    pub fn conditions<'e>(&'e self, each: &mut impl FnMut(&'e Condition)) {
        match self {
            Self::And(list) | Self::Or(list) => list.iter().for_each(|one| one.conditions(each)),
            Self::Not(one) => one.conditions(each),
            Self::One(condition) => each(condition),
        }
    }

    /// The columns that it needs of a table; `Err` for a condition that has no
    /// meaning for its column.
    pub fn columns(&self, schema: &Schema) -> Result<Vec<String>, String> {
        let (mut out, mut wrong) = (Vec::new(), None);
        self.conditions(&mut |condition| {
            for field in schema.fields() {
                let named = condition.column.as_ref().is_some_and(|name| name == field.name());
                let text = is_text(field.data_type());
                if !named && (condition.column.is_some() || !text) {
                    continue;
                }
                if named && let Err(reason) = fits(condition, text) {
                    wrong.get_or_insert(reason);
                }
                if !out.contains(field.name()) {
                    out.push(field.name().clone());
                }
            }
        });
        wrong.map_or(Ok(out), Err)
    }

    /// Whether a row group may have a row that meets it.
    pub fn possible(&self, group: &RowGroupMetaData) -> bool {
        match self {
            Self::And(list) => list.iter().all(|one| one.possible(group)),
            Self::Or(list) => list.iter().any(|one| one.possible(group)),
            Self::Not(_) => true,
            Self::One(condition) if condition.not => true,
            Self::One(condition) => {
                let Some(name) = &condition.column else { return true };
                let mut columns = group.columns().iter();
                let column = columns.find(|column| column.column_path().string() == *name);
                let statistics = column.map(|column| column.statistics());
                // A column that is not there is met by no row.
                statistics.is_some_and(|s| s.is_none_or(|s| may_have(&condition.test, s)))
            }
        }
    }

    /// Which rows of a batch meet it.
    pub fn rows(&self, batch: &RecordBatch) -> Vec<bool> {
        let count = batch.num_rows();
        match self {
            Self::And(list) => {
                let mut out = vec![true; count];
                for one in list {
                    let other = one.rows(batch);
                    out.iter_mut().zip(other).for_each(|(out, other)| *out &= other);
                }
                out
            }
            Self::Or(list) => {
                let mut out = vec![false; count];
                for one in list {
                    let other = one.rows(batch);
                    out.iter_mut().zip(other).for_each(|(out, other)| *out |= other);
                }
                out
            }
            Self::Not(one) => one.rows(batch).into_iter().map(|holds| !holds).collect(),
            Self::One(condition) => condition.rows(batch),
        }
    }
}

/// Whether a condition has a meaning for a column of texts, or of numbers.
fn fits(condition: &Condition, text: bool) -> Result<(), String> {
    let name = condition.column.as_deref().unwrap_or_default();
    match (&condition.test, text) {
        (Test::Has(_) | Test::Matches(_), false) => {
            Err(format!("column {name} has numbers: compare it with one"))
        }
        (Test::Between(..), true) => Err(format!("column {name} has texts, not numbers")),
        (Test::Is(wanted), false) => {
            let number = wanted.parse::<f64>().is_ok() || wanted.parse::<bool>().is_ok();
            if number || range(wanted).is_some() {
                Ok(())
            } else {
                Err(format!("column {name} has numbers, and {wanted:?} is none"))
            }
        }
        _ => Ok(()),
    }
}

/// Whether a chunk with these statistics may have a fitting value.
fn may_have(test: &Test, statistics: &Statistics) -> bool {
    let bounds = match statistics {
        Statistics::Int64(of) => {
            of.min_opt().zip(of.max_opt()).map(|(a, b)| (*a as f64, *b as f64))
        }
        Statistics::Int32(of) => {
            of.min_opt().zip(of.max_opt()).map(|(a, b)| (f64::from(*a), f64::from(*b)))
        }
        Statistics::ByteArray(of) => {
            let (Test::Is(text), Some((least, most))) = (test, of.min_opt().zip(of.max_opt()))
            else {
                return true;
            };
            return (least.data()..=most.data()).contains(&text.as_bytes());
        }
        _ => None,
    };
    let Some((least, most)) = bounds else { return true };
    match test {
        Test::Is(text) => {
            let wanted = text.parse::<f64>().map(|number| (number, number)).ok();
            wanted.or_else(|| range(text)).is_none_or(|(low, high)| low <= most && least <= high)
        }
        Test::Between((low, _), (high, _)) => *low <= most && least <= *high,
        Test::Has(_) | Test::Matches(_) => true,
    }
}

impl Condition {
    fn rows(&self, batch: &RecordBatch) -> Vec<bool> {
        let mut out = vec![false; batch.num_rows()];
        match &self.column {
            Some(name) => match batch.column_by_name(name) {
                Some(column) => self.column(column, &mut out),
                None => return out,
            },
            None => {
                for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                    if is_text(field.data_type()) {
                        self.column(column, &mut out);
                    }
                }
            }
        }
        if self.not {
            out.iter_mut().for_each(|holds| *holds = !*holds);
        }
        out
    }

    /// Adds the rows whose value fits.
    fn column(&self, column: &dyn Array, out: &mut [bool]) {
        if let Some(column) = column.as_dictionary_opt::<Int32Type>() {
            let Some(texts) = column.values().as_string_opt::<i32>() else { return };
            let mut known: Vec<Option<bool>> = vec![None; texts.len()];
            for (out, key) in out.iter_mut().zip(column.keys().iter()) {
                let place = key.and_then(|key| usize::try_from(key).ok());
                let Some((place, known)) = place.and_then(|at| Some((at, known.get_mut(at)?)))
                else {
                    continue;
                };
                *out |= *known.get_or_insert_with(|| self.text(texts.value(place)));
            }
            return;
        }
        if let (Test::Is(text), Some(column)) = (&self.test, column.as_primitive_opt::<Int64Type>())
            && let Ok(wanted) = text.parse::<i64>()
        {
            // Ids may be larger than what a real number tells apart.
            out.iter_mut().zip(column.iter()).for_each(|(out, v)| *out |= v == Some(wanted));
            return;
        }
        let (low, high) = match &self.test {
            Test::Is(text) => {
                let flag = text.parse::<bool>().ok().map(|flag| f64::from(u8::from(flag)));
                let number = text.parse::<f64>().ok().or(flag);
                let Some((low, high)) = number.map(|n| (n, n)).or_else(|| range(text)) else {
                    return;
                };
                ((low, true), (high, true))
            }
            Test::Between(low, high) => (*low, *high),
            Test::Has(_) | Test::Matches(_) => return,
        };
        let fits = |value: f64| {
            (value > low.0 || low.1 && value == low.0)
                && (value < high.0 || high.1 && value == high.0)
        };
        let mut set = |values: &mut dyn Iterator<Item = Option<f64>>| {
            out.iter_mut().zip(values).for_each(|(out, v)| *out |= v.is_some_and(fits));
        };
        match column.data_type() {
            DataType::Int64 => {
                set(&mut column.as_primitive::<Int64Type>().iter().map(|v| Some(v? as f64)));
            }
            DataType::Int32 => {
                set(&mut column.as_primitive::<Int32Type>().iter().map(|v| Some(v?.into())));
            }
            DataType::Float32 => {
                set(&mut column.as_primitive::<Float32Type>().iter().map(|v| Some(v?.into())));
            }
            DataType::Float64 => set(&mut column.as_primitive::<Float64Type>().iter()),
            DataType::Boolean => {
                set(&mut column.as_boolean().iter().map(|v| Some(f64::from(u8::from(v?)))));
            }
            _ => {}
        }
    }

    fn text(&self, text: &str) -> bool {
        match &self.test {
            Test::Is(wanted) => wanted == text,
            Test::Has(part) => has(text, part),
            Test::Matches(regex) => regex.is_match(text),
            Test::Between(..) => false,
        }
    }
}

/// Whether `part` is in a text, whatever the case of ASCII letters.
fn has(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let Some(first) = part.first() else { return true };
    let starts = text.iter().enumerate().filter(|(_, byte)| byte.eq_ignore_ascii_case(first));
    starts
        .map(|(at, _)| at)
        .any(|at| text.get(at..at + part.len()).is_some_and(|here| here.eq_ignore_ascii_case(part)))
}
