//! Debug layers (sheet section 8): from an instruction slot to the compiler's
//! instruction and its source line.
//!
//! All `.dbg` members are bare protobuf of one message; the pttf layer of real
//! files too.

use super::doc::Engine;
use super::file::Neff;
use super::model::Subgraph;
use super::problem::{Place, Problem, Report, Rule, widen};
use super::wire::{Field, Fields};
use std::collections::{BTreeMap, HashMap, HashSet};

/// One layer of one engine, or of the whole subgraph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DebugLayer {
    /// In words.
    pub description: String,
    /// Member of the layer above.
    pub parent: String,
    /// The instructions; in an asm layer one for each slot.
    pub records: Vec<DebugRecord>,
    /// Engine number: 0 unknown, 1 PE, 2 ACT, 3 POOL, 4 DMA, 5 DVE, 6 SP.
    pub engine: u64,
    /// Source files that `kernel_file` counts.
    pub files: Vec<String>,
    /// Functions that `kernel_name` counts.
    pub functions: Vec<String>,
    /// Call stacks.
    pub frames: Option<StackFrames>,
    /// Fields that are not in the published schema.
    pub unknown: u64,
}

/// One instruction of a layer. An asm layer fills only `parents`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DebugRecord {
    /// Id: bits 63 to 48 subgraph, 47 to 32 function, 31 to 0 instruction.
    pub id: u64,
    /// Name.
    pub name: String,
    /// Ids in the layer above; the first of an asm record is the backend id.
    pub parents: Vec<u64>,
    /// Ids it takes data from.
    pub dataflow: Vec<u64>,
    /// Ids it waits for.
    pub scheduling: Vec<u64>,
    /// 0 unknown, 1 regular, 2 spill, 3 transpose.
    pub kind: u64,
    /// Attributes; `kernel_file`, `kernel_line` and `kernel_name` in real files.
    pub attrs: BTreeMap<String, String>,
    /// Call stack, 0 for none.
    pub frame: u64,
    /// Kinds of the data edges: 1 ordered, 2 anti, 3 output, 4 flow.
    pub dataflow_kinds: Vec<u64>,
    /// Kinds of the scheduling edges.
    pub scheduling_kinds: Vec<u64>,
}

/// Call stacks; ids count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackFrames {
    /// File names.
    pub files: Vec<String>,
    /// Function names.
    pub functions: Vec<String>,
    /// File, function and line.
    pub locations: Vec<(u64, u64, u64)>,
    /// Location and calling frame, 0 for the outermost.
    pub frames: Vec<(u64, u64)>,
}

/// A place in source code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Function.
    pub function: String,
}

/// Most records and texts of a layer together (our choice): an empty record is
/// two bytes of a file and hundreds in memory.
const MOST_ITEMS: u64 = 2 << 20;

impl DebugLayer {
    /// Reads the member `name`.
    pub fn parse(name: &str, body: &[u8]) -> Result<Self, Problem> {
        let mut out = Self::default();
        let mut fields = Fields::new(name, body, 0);
        let mut items = 0;
        while let Some(field) = fields.next()? {
            items += 1;
            if items > MOST_ITEMS {
                let place = Place::member(name, field.at);
                let value = format!("there are more than {MOST_ITEMS} records");
                return Err(Problem::new(Rule::LimitDebug, place, value));
            }
            match field.number {
                1 => out.description = fields.text(&field)?,
                2 => out.parent = fields.text(&field)?,
                3 => {
                    let record = DebugRecord::read(fields.inner(&field)?, &mut out.unknown)?;
                    out.records.push(record);
                }
                4 => out.engine = fields.number(&field)?,
                5 => out.files.push(fields.text(&field)?),
                6 => {
                    out.frames = Some(StackFrames::read(fields.inner(&field)?, &mut out.unknown)?);
                }
                7 => out.functions.push(fields.text(&field)?),
                _ => out.unknown += 1,
            }
        }
        Ok(out)
    }

    /// [`Self::parse`], with a limit on the bytes.
    pub(super) fn checked(name: &str, body: &[u8], limit: u64) -> Result<Self, Problem> {
        if widen(body.len()) > limit {
            let value = format!("{name} has {} bytes, the limit is {limit}", body.len());
            return Err(Problem::new(Rule::LimitDebug, Place::member(name, 0), value));
        }
        Self::parse(name, body)
    }

    /// The engine, where the number is one of an engine.
    pub fn engine(&self) -> Option<Engine> {
        Some(match self.engine {
            1 => Engine::Pe,
            2 => Engine::Act,
            3 => Engine::Pool,
            5 => Engine::Dve,
            6 => Engine::Sp,
            _ => return None,
        })
    }

    /// The source line of a record of this layer: by its attributes, else by
    /// its call stack.
    pub fn source(&self, record: &DebugRecord) -> Option<SourceLine> {
        let index = |key: &str| record.attrs.get(key)?.parse::<usize>().ok();
        let by_attrs = || {
            let line = record.attrs.get("kernel_line")?.parse().ok()?;
            let file = self.files.get(index("kernel_file")?)?.clone();
            let function = index("kernel_name").and_then(|at| self.functions.get(at)).cloned();
            Some(SourceLine { file, line, function: function.unwrap_or_default() })
        };
        by_attrs().or_else(|| self.frames.as_ref()?.line(record.frame))
    }
}

impl DebugRecord {
    fn read(mut fields: Fields<'_>, unknown: &mut u64) -> Result<Self, Problem> {
        let mut out = Self::default();
        while let Some(field) = fields.next()? {
            match field.number {
                1 => out.id = fields.number(&field)?,
                2 => out.name = fields.text(&field)?,
                3 => fields.numbers(&field, &mut out.parents)?,
                4 => fields.numbers(&field, &mut out.dataflow)?,
                5 => fields.numbers(&field, &mut out.scheduling)?,
                6 => out.kind = fields.number(&field)?,
                7 => {
                    let (key, value) = pair(&fields, &field)?;
                    out.attrs.insert(key, value);
                }
                8 => out.frame = fields.number(&field)?,
                9 => fields.numbers(&field, &mut out.dataflow_kinds)?,
                10 => fields.numbers(&field, &mut out.scheduling_kinds)?,
                _ => *unknown += 1,
            }
        }
        Ok(out)
    }

    /// The id as the viewer writes it: `sg0000:218805`.
    pub fn id_text(&self) -> String {
        format!("sg{:04}:{}", self.id >> 48, self.id & 0xffff_ffff)
    }
}

/// An entry of a map of strings.
fn pair<'a>(fields: &Fields<'a>, field: &Field<'a>) -> Result<(String, String), Problem> {
    let mut entry = fields.inner(field)?;
    let (mut key, mut value) = (String::new(), String::new());
    while let Some(field) = entry.next()? {
        match field.number {
            1 => key = entry.text(&field)?,
            2 => value = entry.text(&field)?,
            _ => {}
        }
    }
    Ok((key, value))
}

impl StackFrames {
    fn read(mut fields: Fields<'_>, unknown: &mut u64) -> Result<Self, Problem> {
        let mut out = Self::default();
        while let Some(field) = fields.next()? {
            match field.number {
                1 => out.files.push(fields.text(&field)?),
                2 => out.functions.push(fields.text(&field)?),
                3 => {
                    let [file, function, line] = numbers(fields.inner(&field)?, unknown)?;
                    out.locations.push((file, function, line));
                }
                4 => {
                    let [location, parent] = numbers(fields.inner(&field)?, unknown)?;
                    out.frames.push((location, parent));
                }
                _ => *unknown += 1,
            }
        }
        Ok(out)
    }

    /// The innermost source line of a frame.
    pub fn line(&self, frame: u64) -> Option<SourceLine> {
        fn at<T>(list: &[T], id: u64) -> Option<&T> {
            list.get(usize::try_from(id.checked_sub(1)?).ok()?)
        }
        let (location, _) = at(&self.frames, frame)?;
        let (file, function, line) = at(&self.locations, *location)?;
        Some(SourceLine {
            file: at(&self.files, *file)?.clone(),
            line: *line,
            function: at(&self.functions, *function).cloned().unwrap_or_default(),
        })
    }
}

/// The numbers of a message whose fields 1 to `N` are numbers.
fn numbers<const N: usize>(mut fields: Fields<'_>, unknown: &mut u64) -> Result<[u64; N], Problem> {
    let mut out = [0; N];
    while let Some(field) = fields.next()? {
        let index = usize::try_from(field.number - 1).unwrap_or(usize::MAX);
        match out.get_mut(index) {
            Some(slot) => *slot = fields.number(&field)?,
            None => *unknown += 1,
        }
    }
    Ok(out)
}

/// The debug layers of a subgraph, joined.
#[derive(Debug, Clone, Default)]
pub struct SubgraphDebug {
    /// Asm layers, with their member.
    pub asm: Vec<(Engine, String, DebugLayer)>,
    /// Backend layers, with their member; `None` is DMA.
    pub backend: Vec<(Option<Engine>, String, DebugLayer)>,
    /// Backend id to layer and record.
    ids: HashMap<u64, (usize, usize)>,
}

impl SubgraphDebug {
    /// Reads the layers that a definition names and the archive has.
    pub fn read(
        neff: &Neff<'_>,
        subgraph: &Subgraph,
        report: &mut Report,
    ) -> Result<Self, Problem> {
        let mut out = Self::default();
        let mut seen = HashSet::new();
        let mut layer = |file: &String| -> Result<Option<(String, DebugLayer)>, Problem> {
            let name = subgraph.member(file);
            let Some(member) = neff.member(&name).filter(|_| seen.insert(name.clone())) else {
                return Ok(None);
            };
            let body = neff.archive.body(member)?;
            match DebugLayer::checked(&name, &body, neff.options.limits.debug) {
                Ok(layer) => Ok(Some((name, layer))),
                Err(problem) => report.take(problem).map(|()| None),
            }
        };
        let definition = &subgraph.definition;
        for engine in Engine::ALL {
            for file in definition.asm_debug(engine) {
                out.asm.extend(layer(file)?.map(|(name, layer)| (engine, name, layer)));
            }
            for file in definition.backend_debug(engine) {
                out.backend.extend(layer(file)?.map(|(name, layer)| (Some(engine), name, layer)));
            }
        }
        for file in definition.dma_dbg.iter().flatten() {
            out.backend.extend(layer(file)?.map(|(name, layer)| (None, name, layer)));
        }
        for (at, (_, _, layer)) in out.backend.iter().enumerate() {
            for (index, record) in layer.records.iter().enumerate() {
                out.ids.entry(record.id).or_insert((at, index));
            }
        }
        Ok(out)
    }

    /// The compiler's instruction in a slot; `None` for slots that have none
    /// (fillers, and instructions that only the runtime knows).
    pub fn instruction(&self, engine: Engine, slot: usize) -> Option<(&DebugLayer, &DebugRecord)> {
        let (_, _, layer) = self.asm.iter().find(|(of, _, _)| *of == engine)?;
        let id = layer.records.get(slot)?.parents.first()?;
        self.by_id(*id)
    }

    /// The compiler's instruction of an id.
    pub fn by_id(&self, id: u64) -> Option<(&DebugLayer, &DebugRecord)> {
        let (layer, record) = self.ids.get(&id)?;
        let (_, _, layer) = self.backend.get(*layer)?;
        Some((layer, layer.records.get(*record)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
        out.extend_from_slice(bytes);
        out
    }

    /// Real files hold an empty frame index; this one is by the schema.
    #[test]
    fn source_line_by_call_stack() {
        let frames = [
            field(1, b"a.py"),
            field(1, b"b.py"),
            field(2, b"f"),
            // Location 1: a.py, f, line 7; location 2: b.py, no function, line 9.
            field(3, &[0x08, 1, 0x10, 1, 0x18, 7]),
            field(3, &[0x08, 2, 0x18, 9]),
            field(4, &[0x08, 1]),
            field(4, &[0x08, 2, 0x10, 1]),
            field(4, &[0x08, 9]),
        ]
        .concat();
        let record = |frame: u8| field(3, &[0x08, 5, 0x40, frame]);
        let body = [field(6, &frames), record(1), record(2), record(3), record(4), record(0)];
        let layer = DebugLayer::parse("d", &body.concat()).unwrap();
        let lines: Vec<_> = layer.records.iter().map(|r| layer.source(r)).collect();
        let line = |file: &str, line, function: &str| {
            Some(SourceLine { file: file.into(), line, function: function.into() })
        };
        assert_eq!(lines, [line("a.py", 7, "f"), line("b.py", 9, ""), None, None, None]);
        assert_eq!(layer.unknown, 0);
        let more = DebugLayer::parse("d", &[field(9, b"new"), body.concat()].concat()).unwrap();
        assert_eq!(more.unknown, 1);
    }

    #[test]
    fn ids_have_three_parts() {
        let record = DebugRecord { id: 3 << 48 | 1 << 32 | 218_805, ..DebugRecord::default() };
        assert_eq!(record.id_text(), "sg0003:218805");
    }
}
