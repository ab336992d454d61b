//! Answers to questions in Flux: tables as CSV, with lines before them that say
//! what the columns are.

use std::collections::HashMap;
use std::io::Read;

use anyhow::{Context as _, bail};

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name.
    pub(super) name: String,
    /// `long`, `double`, `boolean`, `string`, ...
    pub(super) kind: String,
    /// The value of empty cells.
    default: String,
}

/// A row of an answer, by the names of its columns. Empty cells are left out.
#[derive(Debug)]
pub(super) struct Row<'a> {
    columns: &'a [Column],
    cells: &'a csv::StringRecord,
}

impl<'a> Row<'a> {
    /// Columns that have a value.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'a Column, &'a str)> {
        self.columns.iter().zip(self.cells.iter()).filter_map(|(column, cell)| {
            let value = if cell.is_empty() { column.default.as_str() } else { cell };
            (!value.is_empty()).then_some((column, value))
        })
    }
}

/// Calls `each` for each row of the answer.
///
/// # Errors
///
/// An answer that breaks off or is no such table; the database's own error,
/// which may come in the middle; errors of `each`.
pub(super) fn rows(
    answer: impl Read,
    mut each: impl FnMut(&Row<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(answer);
    let mut about: HashMap<String, csv::StringRecord> = HashMap::new();
    let mut columns: Vec<Column> = Vec::new();
    let mut cells = csv::StringRecord::new();
    while reader.read_record(&mut cells).context("the answer breaks off")? {
        let first = cells.get(0).unwrap_or_default();
        if let Some(what) = first.strip_prefix('#') {
            columns.clear();
            about.insert(what.to_owned(), cells.clone());
            continue;
        }
        if columns.is_empty() {
            let of = |what: &str, at: usize| {
                let cell = about.get(what).and_then(|cells| cells.get(at));
                cell.filter(|_| at > 0).unwrap_or_default().to_owned()
            };
            columns = cells
                .iter()
                .enumerate()
                .map(|(at, name)| Column {
                    name: name.to_owned(),
                    kind: of("datatype", at),
                    default: of("default", at),
                })
                .collect();
            about.clear();
            continue;
        }
        let at = |name: &str| columns.iter().position(|column| column.name == name);
        if let (Some(error), Some(_), None) = (at("error"), at("reference"), at("result")) {
            bail!("{}", cells.get(error).unwrap_or("an error without a word"));
        }
        each(&Row { columns: &columns, cells: &cells })?;
    }
    Ok(())
}

/// A text in a question.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            // "${" would begin an expression
            '$' => out.push_str("\\x24"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The rows of a part of a measurement, or all of them, a column for each field.
pub(super) fn question(bucket: &str, measurement: &str, part: Option<usize>) -> String {
    let part = part.map_or_else(String::new, |part| format!(" and r.part == \"{part}\""));
    // Times are those of people, or begin with 1970.
    format!(
        "from(bucket: {}) |> range(start: 1900-01-01T00:00:00Z, stop: 2250-01-01T00:00:00Z) |> \
         filter(fn: (r) => r._measurement == {}{part}) |> \
         pivot(rowKey: [\"_time\"], columnKey: [\"_field\"], valueColumn: \"_value\")",
        quoted(bucket),
        quoted(measurement),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Vec<Vec<(String, String, String)>>> {
        let mut all = Vec::new();
        rows(text.as_bytes(), |row| {
            let own = |s: &str| s.to_owned();
            all.push(row.values().map(|(c, v)| (own(&c.name), own(&c.kind), own(v))).collect());
            Ok(())
        })?;
        Ok(all)
    }

    /// The shape of the documentation's examples of annotated CSV.
    #[test]
    fn tables_follow_each_other() {
        let text = "#datatype,string,long,dateTime:RFC3339,string,long,string\r\n\
            #group,false,false,false,true,false,false\r\n#default,_result,,,,,\r\n\
            ,result,table,_time,part,row,text\r\n\
            ,,0,1970-01-01T00:00:00Z,0,5,\"two\nlines, \"\"quoted\"\"\"\r\n\
            ,,0,1970-01-01T00:00:00.000000001Z,0,6,\r\n\r\n\
            #datatype,string,long,boolean\r\n#group,false,false,false\r\n#default,_result,,\r\n\
            ,result,table,flag\r\n,,1,true\r\n\r\n";
        let all = read(text).unwrap();
        let has = |at: usize, name: &str, kind: &str, value: &str| {
            let wanted = (name.to_owned(), kind.to_owned(), value.to_owned());
            assert!(all[at].contains(&wanted), "{:?} {wanted:?}", all[at]);
        };
        assert_eq!(all.len(), 3);
        has(0, "text", "string", "two\nlines, \"quoted\"");
        has(0, "result", "string", "_result");
        has(0, "row", "long", "5");
        assert!(!all[1].iter().any(|(name, ..)| name == "text"));
        has(2, "flag", "boolean", "true");
        assert_eq!(read("\r\n").unwrap(), Vec::<Vec<_>>::new());
    }

    #[test]
    fn an_error_may_come_in_the_middle() {
        let text = "#datatype,string,long\r\n#group,false,false\r\n#default,_result,\r\n\
            ,result,row\r\n,,1\r\n\r\n#datatype,string,string\r\n#group,true,true\r\n\
            #default,,\r\n,error,reference\r\n,\"schema collision: cannot group\",897\r\n";
        assert_eq!(read(text).unwrap_err().to_string(), "schema collision: cannot group");
    }

    #[test]
    fn texts_of_questions_are_only_texts() {
        assert_eq!(quoted("a\"b\\${c}\n"), "\"a\\\"b\\\\\\x24{c}\\n\"");
        let flux = question("n_1", "Instruction", Some(2));
        assert!(flux.contains("r._measurement == \"Instruction\" and r.part == \"2\""), "{flux}");
        assert!(!question("n_1", "Summary", None).contains("part"));
    }
}
