//! Findings for people and for tables.

use std::io::Write;

use neuron_core::model::printable;
use profile_query::Judged;
use profile_query::rules::Side;
use serde_json::Value;

/// A figure with its unit; shares are told in percent.
pub(crate) fn figure(value: f64, unit: &str) -> String {
    match unit {
        "%" => format!("{:.1} %", value * 100.0),
        "" => format!("{value:.2}"),
        unit => format!("{value:.1} {unit}"),
    }
}

/// Above or below.
pub(crate) const fn side(side: Side) -> &'static str {
    match side {
        Side::Above => "above",
        Side::Below => "below",
    }
}

/// A field of evidence without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        other => other.to_string(),
    }
}

/// Each finding in a few lines.
pub(super) fn text(
    out: &mut dyn Write,
    findings: &[Judged],
    width: Option<usize>,
) -> std::io::Result<()> {
    if findings.is_empty() {
        return writeln!(out, "\nno rule holds: nothing stands out");
    }
    for (at, judged) in findings.iter().enumerate() {
        let finding = &judged.finding;
        writeln!(
            out,
            "\n{}. {} [{}, {}]",
            at + 1,
            finding.sentence,
            finding.rule,
            finding.severity.name()
        )?;
        writeln!(
            out,
            "   {} {}, {} the limit of {}",
            finding.figure,
            figure(finding.value, finding.unit),
            side(finding.side),
            figure(finding.threshold, finding.unit)
        )?;
        if let Some(speedup) = finding.speedup {
            writeln!(out, "   repairing this alone makes it at most {speedup:.2} times as fast")?;
        }
        writeln!(out, "   {}", finding.advice)?;
        for evidence in &judged.evidence {
            let fields =
                evidence.fields.iter().map(|(name, value)| format!("{name} {}", plain(value)));
            let line = format!(
                "   {} {}: {}",
                evidence.table,
                evidence.row,
                fields.collect::<Vec<_>>().join(", ")
            );
            let line = match width {
                Some(width) => line.chars().take(width).collect(),
                None => line,
            };
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A row for each finding; its evidence as `TABLE:ROW` with blanks between.
pub(super) fn csv(
    out: &mut dyn Write,
    title: &str,
    findings: &[Judged],
    many: bool,
) -> std::io::Result<()> {
    if many {
        writeln!(out, "# findings: {title}")?;
    }
    writeln!(
        out,
        "rule,severity,weight,value,unit,side,threshold,speedup,sentence,advice,evidence"
    )?;
    for judged in findings {
        let finding = &judged.finding;
        let rows = judged.evidence.iter().map(|row| format!("{}:{}", row.table, row.row));
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{}",
            finding.rule,
            finding.severity.name(),
            finding.weight,
            finding.value,
            finding.unit,
            side(finding.side),
            finding.threshold,
            finding.speedup.map(|speedup| speedup.to_string()).unwrap_or_default(),
            quoted(&finding.sentence),
            quoted(finding.advice),
            rows.collect::<Vec<_>>().join(" ")
        )?;
    }
    Ok(())
}
