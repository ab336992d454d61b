//! `<kernel>.klir.debuginfo.json`: source lines of a kernel's instructions
//! (sheet section 8). A tree of functions, loops and instructions; read into
//! lists, in which functions that are entered from the same one are one.

use super::json;
use crate::neff::problem::{Problem, Report};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A function that is under way. The document has no place of the call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelFrame {
    /// Place of the one that it was entered from, in [`KernelLines::frames`].
    pub parent: Option<usize>,
    /// Name with its modules.
    pub function: Arc<str>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Line where it begins, 0 for none.
    pub line: u64,
}

/// One iteration of a loop that the compiler took apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelIteration {
    /// Place of the iteration around it, in [`KernelLines::iterations`].
    pub parent: Option<usize>,
    /// Place of its function, in [`KernelLines::frames`].
    pub frame: Option<usize>,
    /// Loop variable.
    pub variable: Arc<str>,
    /// Its value, where that is a whole number.
    pub value: Option<i64>,
    /// Line of the loop, 0 for none.
    pub line: u64,
}

/// The source line of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLine {
    /// Stem of the backend name: `inst.53`.
    pub instruction: String,
    /// Source line; 0 for what no line stands for.
    pub line: u64,
    /// Place of the innermost function, in [`KernelLines::frames`].
    pub frame: Option<usize>,
    /// Place of the innermost iteration, in [`KernelLines::iterations`].
    pub iteration: Option<usize>,
}

/// The lines of one kernel on one core.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelLines {
    /// `lnc` of the document.
    pub lnc: u64,
    /// Functions; each comes after the one that it was entered from.
    pub frames: Vec<KernelFrame>,
    /// Iterations of loops; each comes after the one around it.
    pub iterations: Vec<KernelIteration>,
    /// In program order.
    pub lines: Vec<KernelLine>,
}

#[derive(Deserialize)]
struct Core {
    lnc: u64,
    info: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Item {
    Func(Func),
    Iter(Iter),
    Inst(Inst),
}

#[derive(Deserialize)]
struct Func {
    name: String,
    line: Option<u64>,
    file: Option<String>,
    #[serde(default)]
    children: Vec<Item>,
}

#[derive(Deserialize)]
struct Iter {
    var: Option<Value>,
    val: Option<Value>,
    line: Option<u64>,
    #[serde(default)]
    children: Vec<Item>,
}

#[derive(Deserialize)]
struct Inst {
    name: String,
    line: u64,
}

/// A text as it is, anything else as JSON.
fn text(value: Option<Value>) -> String {
    match value {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// Adds `item` where it is new; its place.
fn place<T: Clone + Eq + std::hash::Hash>(
    list: &mut Vec<T>,
    known: &mut HashMap<T, usize>,
    item: T,
) -> usize {
    *known.entry(item).or_insert_with_key(|item| {
        list.push(item.clone());
        list.len() - 1
    })
}

impl KernelLines {
    /// Reads the member `name`. `None` where it does not parse and the report
    /// is lenient.
    pub fn parse(
        name: &str,
        body: &[u8],
        limit: u64,
        report: &mut Report,
    ) -> Result<Option<Vec<Self>>, Problem> {
        let cores: Option<Vec<Core>> = json::parse(name, body, limit, report)?;
        Ok(cores.map(|cores| cores.into_iter().map(Self::of).collect()))
    }

    /// Source file of an instruction's innermost function.
    pub fn file(&self, line: &KernelLine) -> Option<&str> {
        self.frames.get(line.frame?)?.file.as_deref()
    }

    fn of(core: Core) -> Self {
        let mut out = Self { lnc: core.lnc, ..Self::default() };
        let (mut frames, mut iterations) = (HashMap::new(), HashMap::new());
        // The nesting is bounded by the JSON reader; the walk uses no recursion
        // all the same, to stay independent of it.
        let mut open = vec![(core.info.into_iter(), None, None)];
        while let Some((items, frame, iteration)) = open.last_mut() {
            let (frame, iteration) = (*frame, *iteration);
            match items.next() {
                None => {
                    open.pop();
                }
                Some(Item::Inst(Inst { name: instruction, line })) => {
                    out.lines.push(KernelLine { instruction, line, frame, iteration });
                }
                Some(Item::Iter(item)) => {
                    let own = KernelIteration {
                        parent: iteration,
                        frame,
                        variable: text(item.var).into(),
                        value: text(item.val).parse().ok(),
                        line: item.line.unwrap_or(0),
                    };
                    let at = place(&mut out.iterations, &mut iterations, own);
                    open.push((item.children.into_iter(), frame, Some(at)));
                }
                Some(Item::Func(func)) => {
                    let outer = frame.and_then(|at| out.frames.get(at)?.file.clone());
                    let own = KernelFrame {
                        parent: frame,
                        function: func.name.into(),
                        file: func.file.map(Arc::from).or(outer),
                        line: func.line.unwrap_or(0),
                    };
                    let at = place(&mut out.frames, &mut frames, own);
                    open.push((func.children.into_iter(), Some(at), iteration));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neff::problem::Mode;

    const TREE: &str = r#"[{"lnc": 1, "info": [
        {"inst": {"name": "jmp.3", "line": 0}},
        {"func": {"name": "k.main", "line": 4, "file": "k.py", "children": [
            {"iter": {"var": "i", "val": "0", "line": 7, "children": [
                {"func": {"name": "k.zeros", "line": 2, "file": "z.py", "children": [
                    {"inst": {"name": "inst.1", "line": 3}}]}},
                {"inst": {"name": "inst.2", "line": 8}}]}},
            {"iter": {"var": "i", "val": "1", "line": 7, "children": [
                {"func": {"name": "k.zeros", "line": 2, "file": "z.py", "children": [
                    {"inst": {"name": "inst.3", "line": 3}}]}}]}},
            {"func": {"name": "k.inner", "children": [
                {"iter": {"var": null, "val": "n", "children": [
                    {"inst": {"name": "inst.4", "line": 9}}]}}]}}]}}]}]"#;

    #[test]
    fn functions_and_turns_are_lists() {
        let mut report = Report::new(Mode::Strict);
        let read = KernelLines::parse("k", TREE.as_bytes(), 1 << 20, &mut report).unwrap().unwrap();
        let [kernel] = read.as_slice() else { panic!("{}", read.len()) };
        let functions: Vec<_> = kernel
            .frames
            .iter()
            .map(|f| (&*f.function, f.parent, f.file.as_deref(), f.line))
            .collect();
        assert_eq!(
            functions,
            [
                ("k.main", None, Some("k.py"), 4),
                ("k.zeros", Some(0), Some("z.py"), 2),
                ("k.inner", Some(0), Some("k.py"), 0),
            ]
        );
        let iterations: Vec<_> = kernel
            .iterations
            .iter()
            .map(|iteration| {
                (
                    &*iteration.variable,
                    iteration.value,
                    iteration.parent,
                    iteration.frame,
                    iteration.line,
                )
            })
            .collect();
        assert_eq!(
            iterations,
            [
                ("i", Some(0), None, Some(0), 7),
                ("i", Some(1), None, Some(0), 7),
                ("", None, None, Some(2), 0),
            ]
        );
        let lines: Vec<_> =
            kernel.lines.iter().map(|l| (&*l.instruction, l.line, l.frame, l.iteration)).collect();
        assert_eq!(
            lines,
            [
                ("jmp.3", 0, None, None),
                ("inst.1", 3, Some(1), Some(0)),
                ("inst.2", 8, Some(0), Some(0)),
                ("inst.3", 3, Some(1), Some(1)),
                ("inst.4", 9, Some(2), Some(2)),
            ]
        );
        assert_eq!(
            kernel.lines.iter().map(|line| kernel.file(line)).collect::<Vec<_>>(),
            [None, Some("z.py"), Some("k.py"), Some("z.py"), Some("k.py"),]
        );
    }
}
