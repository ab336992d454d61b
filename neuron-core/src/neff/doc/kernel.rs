//! `<kernel>.klir.debuginfo.json`: source lines of a kernel's instructions
//! (sheet section 8). A tree of functions, loops and instructions; read into a
//! list with the innermost file of each instruction.

use super::json;
use crate::neff::problem::{Problem, Report};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The source line of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLine {
    /// Stem of the backend name: `inst.53`.
    pub instruction: String,
    /// Source line; 0 for what no line stands for.
    pub line: u64,
    /// Innermost function.
    pub function: Option<Arc<str>>,
    /// Source file of that function.
    pub file: Option<Arc<str>>,
}

/// The lines of one kernel on one core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLines {
    /// `lnc` of the document.
    pub lnc: u64,
    /// In program order; file and function are shared between lines.
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
    #[serde(rename = "line")]
    _line: Option<u64>,
    file: Option<String>,
    #[serde(default)]
    children: Vec<Item>,
}

#[derive(Deserialize)]
struct Iter {
    #[serde(rename = "var")]
    _var: Option<Value>,
    #[serde(rename = "val")]
    _val: Option<Value>,
    #[serde(rename = "line")]
    _line: Option<u64>,
    #[serde(default)]
    children: Vec<Item>,
}

#[derive(Deserialize)]
struct Inst {
    name: String,
    line: u64,
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

    fn of(core: Core) -> Self {
        let mut lines = Vec::new();
        // The nesting is bounded by the JSON reader; the walk uses no recursion
        // all the same, to stay independent of it.
        let mut open = vec![(core.info.into_iter(), None::<Arc<str>>, None::<Arc<str>>)];
        while let Some((items, function, file)) = open.last_mut() {
            match items.next() {
                None => {
                    open.pop();
                }
                Some(Item::Inst(inst)) => lines.push(KernelLine {
                    instruction: inst.name,
                    line: inst.line,
                    function: function.clone(),
                    file: file.clone(),
                }),
                Some(Item::Iter(iter)) => {
                    let level = (iter.children.into_iter(), function.clone(), file.clone());
                    open.push(level);
                }
                Some(Item::Func(func)) => {
                    let file = func.file.map(Arc::from).or_else(|| file.clone());
                    open.push((func.children.into_iter(), Some(Arc::from(func.name)), file));
                }
            }
        }
        Self { lnc: core.lnc, lines }
    }
}
