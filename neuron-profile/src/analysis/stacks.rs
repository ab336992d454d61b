//! Call stacks of an instruction: of the kernel that it is of, and of the
//! framework that called that.

use profile_store::read::{Condition, Match, Search};
use profile_store::{Error, Profile};
use serde_json::{Map, Value, json};

/// Frames of one call stack at most; parents of a damaged file may form a ring.
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
    for id in text("stack_frame_ids").into_iter().flat_map(|ids| ids.split(',')) {
        out.extend(framework(profile, id)?);
    }
    Ok(out)
}

/// The row of an id that counts from 1, where the table has it.
fn numbered(profile: &Profile, table: &str, id: Option<u64>) -> Result<Map<String, Value>, Error> {
    let rows = profile.manifest().tables.get(table).map_or(0, |table| table.rows);
    match id.and_then(|id| id.checked_sub(1)).filter(|row| *row < rows) {
        Some(row) => profile.row(table, row),
        None => Ok(Map::new()),
    }
}

/// The row of the id that `from` names, the row of its parent, and so on.
fn upwards(
    profile: &Profile,
    table: &str,
    from: Option<u64>,
    parent: impl Fn(&Map<String, Value>) -> Option<u64>,
) -> Result<Vec<Map<String, Value>>, Error> {
    let (mut out, mut next) = (Vec::new(), from);
    while out.len() < MOST {
        let row = numbered(profile, table, next)?;
        if row.is_empty() {
            break;
        }
        next = parent(&row);
        out.push(row);
    }
    Ok(out)
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
    let id = |row: &Map<String, Value>, name: &str| row.get(name).and_then(Value::as_u64);
    let frames = upwards(profile, "KernelStackFrames", id(row, "stack_frame_id"), |row| {
        id(row, "parent_stack_frame_id")
    })?;
    let loops =
        upwards(profile, "KernelIterationVariables", id(row, "iteration_variables_id"), |row| {
            id(row, "parent_iteration_variable_id")
        })?;
    // Where a function was called from is not told, only where it begins.
    let frame = |(at, frame): (usize, &Map<String, Value>)| {
        json!({
            "function": frame.get("fully_qualified_function_name"),
            "file": frame.get("file_path"),
            "line": if at == 0 { row.get("line_number") } else { None },
            "begins": frame.get("line_number"),
        })
    };
    let turn = |turn: &Map<String, Value>| {
        json!({
            "variable": turn.get("variable_name"),
            "value": turn.get("variable_value"),
            "file": turn.get("file_path"),
            "line": turn.get("line_number"),
        })
    };
    Ok(Some(json!({
        "of": "kernel",
        "name": name,
        "frames": frames.iter().enumerate().map(frame).collect::<Vec<_>>(),
        "loops": loops.iter().map(turn).collect::<Vec<_>>(),
    })))
}

fn framework(profile: &Profile, id: &str) -> Result<Option<Value>, Error> {
    let text_id = |row: &Map<String, Value>, name: &str| row.get(name)?.as_str()?.parse().ok();
    let id_of = |row: &Map<String, Value>, name: &str| row.get(name).and_then(Value::as_u64);
    let stack =
        upwards(profile, "StackFrame", id.parse().ok(), |row| text_id(row, "parent_frame_id"))?;
    if stack.is_empty() {
        return Ok(None);
    }
    let mut frames = Vec::new();
    for frame in &stack {
        let place = numbered(profile, "StackFrameFileLocation", id_of(frame, "file_location_id"))?;
        let file = numbered(profile, "StackFrameFileName", id_of(&place, "file_name_id"))?;
        let function = id_of(&place, "function_name_id");
        let function = numbered(profile, "StackFrameFunctionName", function)?;
        frames.push(json!({
            "function": function.get("name"),
            "file": file.get("name"),
            "line": place.get("line_number"),
            "begins": null,
        }));
    }
    Ok(Some(json!({ "of": "framework", "name": id, "frames": frames, "loops": [] })))
}
