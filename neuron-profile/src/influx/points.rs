//! Rows of tables as points, and the names of their tags and fields.

use std::collections::HashMap;

use anyhow::{Context as _, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array as _, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::DataType;

use super::line::{self, Field};

/// Columns that are tags: those by which people group, of few values each.
pub(super) const TAGS: [&str; 13] = [
    "pcore_idx",
    "engine",
    "timeline_track",
    "opcode",
    "engine_idx",
    "queue_name",
    "queue_type",
    "trace_event_source",
    "nc_idx",
    "device_idx",
    "hbm_idx",
    "cpu_id",
    "instance_id",
];

/// Columns that are the time of a row, the first that there is.
const TIMES: [&str; 2] = ["start_ts", "timestamp"];

/// Longest text of a field in bytes: the database takes 64 KiB.
pub(super) const LONGEST: usize = 60_000;

/// Whether a column of a table is a tag.
pub(super) fn is_tag(table: &str, column: &str) -> bool {
    TAGS.contains(&column) || (table == "SemaphoreUpdate" && column == "id")
}

/// Values of a column.
#[derive(Debug)]
enum Values<'b> {
    Long(&'b Int64Array),
    Int(&'b Int32Array),
    Single(&'b Float32Array),
    Double(&'b Float64Array),
    Flag(&'b BooleanArray),
    Text(&'b Int32Array, &'b StringArray),
}

/// A value of a row.
enum Cell<'b> {
    Field(Field<'b>),
    /// A real that no field can hold.
    Odd(f64),
}

impl<'b> Values<'b> {
    fn of(batch: &'b RecordBatch, at: usize) -> anyhow::Result<Self> {
        let column = batch.columns().get(at).context("a column is missing")?;
        Ok(match column.data_type() {
            DataType::Int64 => Self::Long(column.as_primitive::<Int64Type>()),
            DataType::Int32 => Self::Int(column.as_primitive::<Int32Type>()),
            DataType::Float32 => Self::Single(column.as_primitive::<Float32Type>()),
            DataType::Float64 => Self::Double(column.as_primitive::<Float64Type>()),
            DataType::Boolean => Self::Flag(column.as_boolean()),
            DataType::Dictionary(..) => {
                let column = column.as_dictionary::<Int32Type>();
                let texts = column.values().as_string_opt::<i32>().context("no texts")?;
                Self::Text(column.keys(), texts)
            }
            other => bail!("a column has type {other}"),
        })
    }

    fn cell(&self, row: usize) -> Option<Cell<'b>> {
        let long = |value| Some(Cell::Field(Field::Long(value)));
        match self {
            Self::Long(list) => list.is_valid(row).then(|| list.value(row)).and_then(long),
            Self::Int(list) => list.is_valid(row).then(|| list.value(row).into()).and_then(long),
            Self::Single(list) => list.is_valid(row).then(|| match list.value(row) {
                real if real.is_finite() => Cell::Field(Field::Real(real.into())),
                real => Cell::Odd(real.into()),
            }),
            Self::Double(list) => list.is_valid(row).then(|| match list.value(row) {
                real if real.is_finite() => Cell::Field(Field::Real(real)),
                real => Cell::Odd(real),
            }),
            Self::Flag(list) => {
                list.is_valid(row).then(|| Cell::Field(Field::Flag(list.value(row))))
            }
            Self::Text(keys, texts) => {
                let at = keys.is_valid(row).then(|| keys.value(row))?;
                let at = usize::try_from(at).ok().filter(|at| *at < texts.len())?;
                texts.is_valid(at).then(|| Cell::Field(Field::Text(texts.value(at))))
            }
        }
    }
}

/// Writes the rows of one part of a table. Series and time of a point are its
/// key in the database, so rows that have both in common are told apart.
#[derive(Debug)]
pub(super) struct Points<'t> {
    table: &'t str,
    part: usize,
    /// Nanoseconds since 1970 of the time 0 of the table.
    base: i64,
    /// Rows so far.
    row: i64,
    /// Series by their tags.
    series: HashMap<String, u32>,
    /// Rows of a series and time.
    seen: HashMap<(u32, i64), u32>,
}

impl<'t> Points<'t> {
    pub(super) fn new(table: &'t str, part: usize, base: i64) -> Self {
        let (series, seen) = (HashMap::new(), HashMap::new());
        Self { table, part, base, row: 0, series, seen }
    }

    /// Appends a line for each row; calls `each` after each, which may take the
    /// lines away.
    ///
    /// # Errors
    ///
    /// A column of a type that no table has; errors of `each`.
    pub(super) fn batch(
        &mut self,
        batch: &RecordBatch,
        out: &mut String,
        mut each: impl FnMut(&mut String) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let schema = batch.schema_ref();
        let mut tags = Vec::new();
        let mut fields = Vec::new();
        for (at, field) in schema.fields().iter().enumerate() {
            let values = Values::of(batch, at).with_context(|| field.name().clone())?;
            let to = if is_tag(self.table, field.name()) { &mut tags } else { &mut fields };
            to.push((field.name().as_str(), values));
        }
        // the database keeps them in this order
        tags.sort_by_key(|(name, _)| *name);
        let time = TIMES.iter().find_map(|name| {
            let (_, values) = fields.iter().find(|(own, _)| own == name)?;
            if let Values::Long(list) = values { Some(*list) } else { None }
        });
        for row in 0..batch.num_rows() {
            let at = match time {
                Some(list) if list.is_valid(row) => self.base.saturating_add(list.value(row)),
                _ => self.row,
            };
            self.key(out, &tags, row, at);
            out.push(' ');
            let mut first = true;
            line::field(out, &mut first, "row", Field::Long(self.row));
            for (name, values) in &fields {
                match values.cell(row) {
                    Some(cell) => put(out, &mut first, name, &cell),
                    None => continue,
                }
            }
            out.push_str(&format!(" {at}\n"));
            self.row += 1;
            each(out)?;
        }
        Ok(())
    }

    /// Measurement and tags.
    fn key(&mut self, out: &mut String, tags: &[(&str, Values<'_>)], row: usize, at: i64) {
        let begin = out.len();
        line::name(out, self.table);
        for (name, values) in tags {
            let Some(Cell::Field(field)) = values.cell(row) else { continue };
            out.push(',');
            line::name(out, name);
            out.push('=');
            match field {
                Field::Text(text) => line::name(out, text),
                Field::Long(number) => out.push_str(&number.to_string()),
                Field::Flag(flag) => out.push_str(&flag.to_string()),
                Field::Real(real) => out.push_str(&real.to_string()),
            }
        }
        let key = out.get(begin..).unwrap_or_default();
        let series = match self.series.get(key) {
            Some(known) => *known,
            None => {
                let next = u32::try_from(self.series.len()).unwrap_or(u32::MAX);
                self.series.insert(key.to_owned(), next);
                next
            }
        };
        out.push_str(&format!(",part={}", self.part));
        let before = self.seen.entry((series, at)).or_default();
        if *before > 0 {
            out.push_str(&format!(",seq={before}"));
        }
        *before += 1;
    }
}

/// A field, or several where one does not hold the value: the pieces of a long
/// text are `NAME`, `NAME~1`, ...; `NAME~empty` is a text of no length, which
/// tables of answers do not tell from none; `NAME~real` is no finite number.
fn put(out: &mut String, first: &mut bool, name: &str, cell: &Cell<'_>) {
    match cell {
        Cell::Odd(real) => {
            line::field(out, first, &format!("{name}~real"), Field::Text(&real.to_string()));
        }
        Cell::Field(Field::Text("")) => {
            line::field(out, first, &format!("{name}~empty"), Field::Flag(true));
        }
        Cell::Field(Field::Text(text)) => {
            for (at, piece) in pieces(text).enumerate() {
                let own = if at == 0 { name.to_owned() } else { format!("{name}~{at}") };
                line::field(out, first, &own, Field::Text(piece));
            }
        }
        Cell::Field(field) => line::field(out, first, name, *field),
    }
}

/// Pieces of a text of at most [`LONGEST`] bytes.
pub(super) fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (piece, rest) = text.split_at(text.floor_char_boundary(LONGEST));
        text = rest;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::DictionaryArray;
    use arrow_schema::{Field as Column, Schema};
    use std::sync::Arc;

    fn lines(table: &str, batch: &RecordBatch, base: i64) -> Vec<String> {
        let mut points = Points::new(table, 3, base);
        let (mut out, mut all) = (String::new(), Vec::new());
        let take = |line: &mut String| {
            all.push(std::mem::take(line));
            Ok(())
        };
        points.batch(batch, &mut out, take).unwrap();
        all
    }

    #[test]
    fn a_row_is_a_line() {
        let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let schema = Schema::new(vec![
            Column::new("timestamp", DataType::Int64, false),
            Column::new("id", text.clone(), true),
            Column::new("value", DataType::Float64, true),
            Column::new("rate", DataType::Float32, true),
            Column::new("note", text, true),
            Column::new("pcore_idx", DataType::Int64, true),
        ]);
        let ids: DictionaryArray<Int32Type> =
            vec![Some("S[5] (Tensor)"), Some("S[5] (Tensor)"), None].into_iter().collect();
        let notes: DictionaryArray<Int32Type> =
            vec![Some("say \"hi\""), Some(""), None].into_iter().collect();
        let batch = RecordBatch::try_new(
            Arc::new(schema),
            vec![
                Arc::new(Int64Array::from(vec![7, 7, 9])),
                Arc::new(ids),
                Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN), None])),
                Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::INFINITY)])),
                Arc::new(notes),
                Arc::new(Int64Array::from(vec![Some(1), Some(1), None])),
            ],
        )
        .unwrap();
        assert_eq!(
            lines("SemaphoreUpdate", &batch, 1000),
            [
                "SemaphoreUpdate,id=S[5]\\ (Tensor),pcore_idx=1,part=3 \
                 row=0i,timestamp=7i,value=0.5,rate=0.10000000149011612,note=\"say \\\"hi\\\"\" 1007\n",
                "SemaphoreUpdate,id=S[5]\\ (Tensor),pcore_idx=1,part=3,seq=1 \
                 row=1i,timestamp=7i,value~real=\"NaN\",note~empty=true 1007\n",
                "SemaphoreUpdate,part=3 row=2i,timestamp=9i,rate~real=\"inf\" 1009\n",
            ]
        );
        // elsewhere an id is a field, and a row without a time has its number
        let batch = batch.project(&[1, 5]).unwrap();
        assert_eq!(
            lines("Other", &batch, 1000)[1],
            "Other,pcore_idx=1,part=3 row=1i,id=\"S[5] (Tensor)\" 1\n"
        );
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        let text = "é".repeat(LONGEST);
        let all: Vec<&str> = pieces(&text).collect();
        assert!(all.len() == 2 && all.iter().all(|piece| piece.len() <= LONGEST));
        assert_eq!(all.concat(), text);
        let (mut out, mut first) = (String::new(), true);
        put(&mut out, &mut first, "t", &Cell::Field(Field::Text(&text)));
        assert!(out.starts_with("t=\"éé") && out.contains(",t~1=\"é"));
    }
}
