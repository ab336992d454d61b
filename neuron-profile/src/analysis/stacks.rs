//! Call stacks of an instruction: of the kernel that it is of, and of the
//! framework that called that.

use std::collections::{BTreeMap, BTreeSet};

use profile_store::read::{Condition, Line, Match, Search};
use profile_store::{Error, Profile};
use serde_json::{Map, Value, json};

/// Frames of one call stack at most.
const MOST: usize = 256;

/// The call stacks of a row of `Instruction`, innermost frames first. Empty for
/// rows of other tables and where the NEFF had none.
///
/// # Errors
///
/// Tables that cannot be read.
pub fn call_stacks(profile: &Profile, fields: &Map<String, Value>) -> Result<Vec<Value>, Error> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let mut out = Vec::new();
    if let Some(name) = text("kernel_instruction_name") {
        out.extend(kernel(profile, name, fields.get("pcore_idx").and_then(Value::as_i64))?);
    }
    if let Some(ids) = text("stack_frame_ids") {
        let ids: Vec<&str> = ids.split(',').collect();
        out.extend(framework(profile, &ids)?);
    }
    Ok(out)
}

/// Rows of a table by ids that count from 1; ids that it does not have are none.
#[derive(Default)]
struct Rows(BTreeMap<u64, Map<String, Value>>);

impl Rows {
    fn read(
        profile: &Profile,
        table: &str,
        ids: impl IntoIterator<Item = u64>,
    ) -> Result<Self, Error> {
        let rows = profile.manifest().tables.get(table).map_or(0, |table| table.rows);
        let places = ids.into_iter().filter_map(|id| id.checked_sub(1));
        let places: BTreeSet<u64> = places.filter(|place| *place < rows).collect();
        if places.is_empty() {
            return Ok(Self::default());
        }
        let wanted: Vec<u64> = places.into_iter().collect();
        let found = profile.rows(table, &wanted)?;
        Ok(Self(wanted.into_iter().map(|place| place + 1).zip(found).collect()))
    }

    fn get(&self, id: Option<u64>, column: &str) -> Option<&Value> {
        self.0.get(&id?)?.get(column)
    }

    fn id(&self, id: Option<u64>, column: &str) -> Option<u64> {
        self.get(id, column)?.as_u64()
    }
}

/// Who stands above whom in a table whose ids count from 1: read once, since a
/// row at a time is a file opened at a time.
struct Parents(Vec<Option<u64>>);

impl Parents {
    fn read(profile: &Profile, table: &str, column: &str) -> Result<Self, Error> {
        let mut out = Vec::new();
        if !profile.manifest().tables.contains_key(table) {
            return Ok(Self(out));
        }
        let path = profile.table(table)?;
        for batch in profile.columns(table, &[column])? {
            let batch = batch.map_err(|error| Error::damaged(&path, error))?;
            // Ids are numbers in tables of kernels, texts in those of the framework.
            out.extend(Line::all(&batch).map(|line| match line.long(column) {
                Some(id) => u64::try_from(id).ok(),
                None => line.text(column)?.parse().ok(),
            }));
        }
        Ok(Self(out))
    }

    /// An id, the one above it, and so on; a ring, which only a damaged file has,
    /// ends where it closes.
    fn chain(&self, from: Option<u64>) -> Vec<u64> {
        let mut out = Vec::new();
        let mut next = from;
        while let Some(id) = next.filter(|id| out.len() < MOST && !out.contains(id)) {
            let place = id.checked_sub(1).and_then(|place| usize::try_from(place).ok());
            let Some(parent) = place.and_then(|place| self.0.get(place)) else { break };
            out.push(id);
            next = *parent;
        }
        out
    }
}

fn kernel(profile: &Profile, name: &str, core: Option<i64>) -> Result<Option<Value>, Error> {
    const TABLE: &str = "KernelInstructions";
    if !profile.manifest().tables.contains_key(TABLE) {
        return Ok(None);
    }
    let is = Match::Is(name.to_owned());
    let condition = Condition { column: String::from("kernel_instruction_name"), is };
    let limit = 64;
    let search =
        Search { table: TABLE.to_owned(), conditions: vec![condition], from_row: 0, limit };
    let found = profile.rows(TABLE, &profile.search(&search)?.rows)?;
    // Of its own core, else of the first: one document may stand for all.
    let own = |row: &&Map<String, Value>| row.get("pcore_idx").and_then(Value::as_i64) == core;
    let Some(row) = found.iter().find(own).or(found.first()) else { return Ok(None) };
    let id = |name: &str| row.get(name).and_then(Value::as_u64);
    let chain = |table: &str, parent: &str, from: &str| -> Result<_, Error> {
        let ids = Parents::read(profile, table, parent)?.chain(id(from));
        let rows = Rows::read(profile, table, ids.iter().copied())?;
        Ok((ids, rows))
    };
    let (frames, functions) =
        chain("KernelStackFrames", "parent_stack_frame_id", "stack_frame_id")?;
    let (iterations, loops) = chain(
        "KernelIterationVariables",
        "parent_iteration_variable_id",
        "iteration_variables_id",
    )?;
    // Where a function was called from is not told, only where it begins.
    let frame = |(at, id): (usize, &u64)| {
        let of = |column: &str| functions.get(Some(*id), column);
        json!({
            "function": of("fully_qualified_function_name"),
            "file": of("file_path"),
            "line": if at == 0 { row.get("line_number") } else { None },
            "begins": of("line_number"),
        })
    };
    let iteration = |id: &u64| {
        let of = |column: &str| loops.get(Some(*id), column);
        json!({
            "variable": of("variable_name"),
            "value": of("variable_value"),
            "file": of("file_path"),
            "line": of("line_number"),
        })
    };
    Ok(Some(json!({
        "of": "kernel",
        "name": name,
        "frames": frames.iter().enumerate().map(frame).collect::<Vec<_>>(),
        "loops": iterations.iter().map(iteration).collect::<Vec<_>>(),
    })))
}

fn framework(profile: &Profile, ids: &[&str]) -> Result<Vec<Value>, Error> {
    let parents = Parents::read(profile, "StackFrame", "parent_frame_id")?;
    let stacks: Vec<(&str, Vec<u64>)> =
        ids.iter().map(|id| (*id, parents.chain(id.parse().ok()))).collect();
    let all = || stacks.iter().flat_map(|(_, stack)| stack).copied();
    let frames = Rows::read(profile, "StackFrame", all())?;
    let place = |id: u64| frames.id(Some(id), "file_location_id");
    let places = Rows::read(profile, "StackFrameFileLocation", all().filter_map(place))?;
    let of_place = |column: &str| {
        let of = |id: u64| places.id(place(id), column);
        all().filter_map(of).collect::<Vec<u64>>()
    };
    let files = Rows::read(profile, "StackFrameFileName", of_place("file_name_id"))?;
    let functions = Rows::read(profile, "StackFrameFunctionName", of_place("function_name_id"))?;
    let frame = |id: &u64| {
        let place = place(*id);
        json!({
            "function": functions.get(places.id(place, "function_name_id"), "name"),
            "file": files.get(places.id(place, "file_name_id"), "name"),
            "line": places.get(place, "line_number"),
            "begins": null,
        })
    };
    let stacks = stacks.iter().filter(|(_, stack)| !stack.is_empty()).map(|(id, stack)| {
        let frames: Vec<Value> = stack.iter().map(frame).collect();
        json!({ "of": "framework", "name": id, "frames": frames, "loops": [] })
    });
    Ok(stacks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_and_holes_end_a_stack() {
        let parents = Parents(vec![None, Some(1), Some(2), Some(5), Some(4), Some(99), Some(0)]);
        for (from, chain) in [
            (3, vec![3, 2, 1]),
            (4, vec![4, 5]),
            (6, vec![6]),
            (7, vec![7]),
            (0, vec![]),
            (8, vec![]),
        ] {
            assert_eq!(parents.chain(Some(from)), chain, "{from}");
        }
        assert!(parents.chain(None).is_empty());
        let long = Parents((0..1000).map(|above| Some(above).filter(|above| *above > 0)).collect());
        assert_eq!(long.chain(Some(1000)).len(), MOST);
    }
}
