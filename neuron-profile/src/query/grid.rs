//! Rows as a table for people.

use std::io::Write;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use neuron_core::model::printable;
use profile_query::arrow::array::RecordBatch;
use profile_query::arrow::datatypes::{DataType, Schema};
use profile_query::arrow::util::display::{ArrayFormatter, FormatOptions};

/// A number of whatever kind, which is aligned right.
fn right(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, of) => right(of),
        of => of.is_numeric(),
    }
}

/// A real number in at most seven digits; other forms of a result have all.
fn short(text: &str) -> String {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number != 0.0);
    let Some(number) = number.filter(|_| text.len() > 9) else { return text.to_owned() };
    let places = 6.0 - number.abs().log10().floor();
    if places > 15.0 {
        return format!("{number:.6e}");
    }
    // At most 15, and a sign makes 0 of it.
    let places = (0..=15).take_while(|count| f64::from(*count) < places).count();
    let text = format!("{number:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Writes rows under the names of their columns. `width` is that of the
/// terminal: wider rows are broken within cells; `None` breaks nothing.
///
/// # Errors
///
/// Those of `out`, and values that have no text.
pub(crate) fn write(
    out: &mut dyn Write,
    schema: &Schema,
    batches: &[RecordBatch],
    width: Option<usize>,
) -> anyhow::Result<()> {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    match width.and_then(|width| u16::try_from(width).ok()) {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table.set_header(schema.fields().iter().map(|field| printable(field.name())));
    let options = FormatOptions::default();
    for batch in batches {
        let cells: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            let texts = cells.iter().zip(batch.columns()).map(|(cell, column)| {
                let text = cell.value(row).try_to_string()?;
                Ok(if column.data_type().is_floating() { short(&text) } else { printable(&text) })
            });
            table.add_row(texts.collect::<anyhow::Result<Vec<_>>>()?);
        }
    }
    for (at, field) in schema.fields().iter().enumerate() {
        if right(field.data_type())
            && let Some(column) = table.column_mut(at)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_short() {
        for (long, text) in [
            ("0.015279806803613488", "0.01527981"),
            ("-0.000014839976000000001", "-0.00001483998"),
            ("4293248.0", "4293248.0"),
            ("1234567890.123", "1234567890"),
            ("12.300000000001", "12.3"),
            ("0.0", "0.0"),
            ("NaN", "NaN"),
            ("0.0000000000000000012345678", "1.234568e-18"),
        ] {
            assert_eq!(short(long), text);
        }
    }
}
