//! The metrics as one JSON object and as two columns.

use std::io::{self, Write};

use profile_engine::{Metric, Value};
use serde_json::{Map, Value as Json};

/// A value as JSON.
pub fn value(value: &Value) -> Json {
    match value {
        Value::Count(count) => Json::from(*count),
        // A whole number is written as one, as the vendor's tool does.
        Value::Real(real) if *real == 0.0 => Json::from(0),
        Value::Real(real) => Json::from(*real),
        Value::Text(text) => Json::from(text.as_str()),
    }
}

/// All metrics by name.
pub fn object(metrics: &[Metric]) -> Map<String, Json> {
    metrics.iter().map(|metric| (metric.name.clone(), value(&metric.value))).collect()
}

/// Two columns, name and value, in the order of the metrics.
///
/// # Errors
///
/// Those of the writer.
pub fn text(out: &mut dyn Write, metrics: &[Metric]) -> io::Result<()> {
    let shown = metrics.iter().map(|metric| (metric.name.as_str(), shown(&metric.value)));
    pairs(out, &shown.collect::<Vec<_>>())
}

/// The same of names and values.
///
/// # Errors
///
/// Those of the writer.
pub fn columns(out: &mut dyn Write, metrics: &[(String, Value)]) -> io::Result<()> {
    let shown = metrics.iter().map(|(name, value)| (name.as_str(), shown(value)));
    pairs(out, &shown.collect::<Vec<_>>())
}

/// A value for people.
fn shown(value: &Value) -> String {
    match value {
        Value::Count(count) => count.to_string(),
        Value::Real(real) => Json::from(*real).to_string(),
        Value::Text(text) => text.clone(),
    }
}

fn pairs(out: &mut dyn Write, all: &[(&str, String)]) -> io::Result<()> {
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, shown) in all {
        writeln!(out, "{name:width$}  {shown}")?;
    }
    Ok(())
}
