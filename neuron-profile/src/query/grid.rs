//! Rows as a table for people.

use std::io::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
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
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
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
            let texts = cells.iter().map(|cell| Ok(printable(&cell.value(row).try_to_string()?)));
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
