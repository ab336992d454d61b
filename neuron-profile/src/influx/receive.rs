//! Columns of a part of a table out of the rows of an answer, which come in any
//! order.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use profile_store::encode::Cells;
use profile_store::schema::{Kind, Table};

use super::flux::Row;
use super::line::read_name;
use super::points::is_tag;

/// A part while its rows come.
#[derive(Debug)]
pub(super) struct Part<'t> {
    table: &'t Table,
    columns: Vec<Cells>,
    /// Further pieces of long texts, by column, row and number.
    pieces: BTreeMap<(usize, usize, usize), String>,
    came: Vec<bool>,
}

impl<'t> Part<'t> {
    /// A part of so many rows.
    pub(super) fn new(table: &'t Table, rows: usize) -> Self {
        let column = |kind| match kind {
            Kind::Long | Kind::Int => Cells::Longs(vec![None; rows]),
            Kind::Single | Kind::Double => Cells::Reals(vec![None; rows]),
            Kind::Text => Cells::Texts(vec![None; rows]),
            Kind::Flag => Cells::Flags(vec![None; rows]),
        };
        let columns = table.columns.iter().map(|of| column(of.kind)).collect();
        Self { table, columns, pieces: BTreeMap::new(), came: vec![false; rows] }
    }

    /// Takes a row.
    ///
    /// # Errors
    ///
    /// A row that has no number or one that came before; a value that is not of
    /// its column.
    pub(super) fn row(&mut self, row: &Row<'_>) -> anyhow::Result<()> {
        let number = row.values().find(|(column, _)| column.name == "row");
        let at = number.and_then(|(_, text)| text.parse::<usize>().ok());
        let at = at.context("a row has no number")?;
        match self.came.get_mut(at) {
            None => bail!("row {at} of {} rows", self.came.len()),
            Some(came) if *came => bail!("row {at} comes twice"),
            Some(came) => *came = true,
        }
        for (column, value) in row.values() {
            let (name, suffix) = match column.name.split_once('~') {
                Some((name, suffix)) => (name, suffix),
                None => (column.name.as_str(), ""),
            };
            // what the database adds is not of the table
            let Some(place) = self.table.column(name) else { continue };
            let tag = is_tag(&self.table.name, name).then(|| read_name(value)).flatten();
            let value = tag.as_deref().unwrap_or(value);
            let cells = self.columns.get_mut(place).context("a column too many")?;
            match suffix {
                "" | "real" => {
                    set(cells, at, value).with_context(|| format!("{name} {value:?}"))?
                }
                "empty" => set(cells, at, "")?,
                number => {
                    let number = number.parse().with_context(|| column.name.clone())?;
                    self.pieces.insert((place, at, number), value.to_owned());
                }
            }
        }
        Ok(())
    }

    /// The columns.
    ///
    /// # Errors
    ///
    /// Rows or pieces of texts that did not come.
    pub(super) fn finish(mut self) -> anyhow::Result<Vec<Cells>> {
        let missing = self.came.iter().filter(|came| !**came).count();
        ensure!(missing == 0, "{missing} of {} rows are not in the database", self.came.len());
        let mut last = (usize::MAX, usize::MAX, 0);
        for ((place, at, number), piece) in self.pieces {
            let before = if (last.0, last.1) == (place, at) { last.2 } else { 0 };
            ensure!(number == before + 1, "a piece of a text is not in the database");
            if let Some(Cells::Texts(list)) = self.columns.get_mut(place)
                && let Some(Some(text)) = list.get_mut(at)
            {
                text.push_str(&piece);
            }
            last = (place, at, number);
        }
        Ok(self.columns)
    }
}

fn set(cells: &mut Cells, at: usize, value: &str) -> anyhow::Result<()> {
    match cells {
        Cells::Longs(list) => {
            let number: i64 = value.parse()?;
            list.get_mut(at).context("no such row")?.replace(number);
        }
        Cells::Reals(list) => {
            let number: f64 = value.parse()?;
            list.get_mut(at).context("no such row")?.replace(number);
        }
        Cells::Texts(list) => {
            list.get_mut(at).context("no such row")?.replace(value.to_owned());
        }
        Cells::Flags(list) => {
            let flag: bool = value.parse()?;
            list.get_mut(at).context("no such row")?.replace(flag);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile_store::schema;

    fn part(text: &str, rows: usize) -> anyhow::Result<Vec<Cells>> {
        let table = schema::table("SemaphoreUpdate").unwrap();
        let mut part = Part::new(table, rows);
        super::super::flux::rows(text.as_bytes(), |row| part.row(row))?;
        part.finish()
    }

    #[test]
    fn rows_go_to_their_places() {
        let head = ",result,table,_time,id,part,row,timestamp,value,update_source\r\n";
        let two = format!("{head},,0,t,S[5] (Tensor),0,1,9,4,Tensor\r\n,,0,t,%,0,0,7,-3,\r\n");
        let columns = part(&two, 2).unwrap();
        let table = schema::table("SemaphoreUpdate").unwrap();
        let of = |name: &str| &columns[table.column(name).unwrap()];
        assert_eq!(of("timestamp"), &Cells::Longs(vec![Some(7), Some(9)]));
        assert_eq!(of("value"), &Cells::Longs(vec![Some(-3), Some(4)]));
        let ids = vec![Some(String::new()), Some("S[5] (Tensor)".to_owned())];
        assert_eq!(of("id"), &Cells::Texts(ids));
        assert_eq!(of("update_source"), &Cells::Texts(vec![None, Some("Tensor".into())]));
        let told = |text: &str, rows| part(text, rows).unwrap_err().to_string();
        assert_eq!(told(&two, 3), "1 of 3 rows are not in the database");
        assert_eq!(told(&two, 1), "row 1 of 1 rows");
        let twice = format!("{two},,0,t,a,0,0,7,1,\r\n");
        assert_eq!(told(&twice, 2), "row 0 comes twice");
        assert!(told(&two.replace("-3", "x"), 2).contains("value \"x\""));
    }

    #[test]
    fn pieces_are_joined() {
        let head = ",row,timestamp,id,value,update_source,update_source~2,update_source~1\r\n";
        let columns = part(&format!("{head},0,1,a,2,one,three,two\r\n"), 1).unwrap();
        let table = schema::table("SemaphoreUpdate").unwrap();
        let at = table.column("update_source").unwrap();
        assert_eq!(columns[at], Cells::Texts(vec![Some("onetwothree".to_owned())]));
        let broken = format!("{head},0,1,a,2,one,three,\r\n");
        assert!(part(&broken, 1).unwrap_err().to_string().contains("piece"));
    }
}
