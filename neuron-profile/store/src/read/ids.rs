//! Rows by the ids that dependences name.

use std::collections::HashMap;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use parquet::arrow::ProjectionMask;
use parquet::file::statistics::Statistics;

use super::Profile;
use crate::error::Error;

impl Profile {
    /// The rows of some ids of a table, for those that it has. Row groups whose
    /// statistics say that they have none are not read.
    ///
    /// # Errors
    ///
    /// A table that is not there, has no ids, or cannot be read.
    pub fn rows_of_ids(&self, table: &str, ids: &[i64]) -> Result<HashMap<i64, u64>, Error> {
        let mut wanted = ids.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let mut out = HashMap::new();
        let (path, builder) = self.builder(table)?;
        if builder.schema().column_with_name("id").is_none() {
            return Err(Error::NoColumn { table: table.to_owned(), column: String::from("id") });
        }
        let mut first = 0;
        for (at, group) in builder.metadata().row_groups().iter().enumerate() {
            let begin = first;
            first += u64::try_from(group.num_rows()).unwrap_or(0);
            let mut columns = group.columns().iter();
            let column = columns.find(|column| column.column_path().string() == "id");
            if let Some(Statistics::Int64(of)) = column.and_then(|column| column.statistics())
                && let (Some(least), Some(most)) = (of.min_opt(), of.max_opt())
            {
                let next = wanted.partition_point(|id| id < least);
                if wanted.get(next).is_none_or(|id| id > most) {
                    continue;
                }
            }
            if out.len() == wanted.len() {
                break;
            }
            let (_, builder) = self.builder(table)?;
            let mask = ProjectionMask::columns(builder.parquet_schema(), ["id"]);
            let reader = builder.with_row_groups(vec![at]).with_projection(mask);
            let reader = reader.with_batch_size(1 << 16).build().map_err(Error::parquet(&path))?;
            let mut row = begin;
            for batch in reader {
                let batch = batch.map_err(|error| Error::damaged(&path, error))?;
                let column = batch.column_by_name("id");
                let Some(column) = column.and_then(|c| c.as_primitive_opt::<Int64Type>()) else {
                    return Err(Error::damaged(&path, "ids are no whole numbers"));
                };
                for id in column.values() {
                    if wanted.binary_search(id).is_ok() {
                        out.insert(*id, row);
                    }
                    row += 1;
                }
            }
        }
        Ok(out)
    }
}
