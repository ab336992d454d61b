//! Call stacks of kernels: which function and which iteration of which loop an
//! instruction was made in, out of `kernel_debug_info.json` and the members that
//! it names (neff.md section 8).
//!
//! Settled on three real captures: the names there are the stems of backend
//! names, and `parent_tensorizer_id` is the penguin id of the instructions. The
//! document says where a function begins, not where it was called.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use neuron_core::neff::doc::{KernelDebugInfo, KernelLines};
use neuron_core::neff::{Member, Mode, Neff, Report, shown};

/// Most bytes of all documents of one NEFF that are read (our choice): some ten
/// thousand instructions are one MiB, and a profile should not take more memory
/// for its call stacks than for its events.
const MOST_BYTES: u64 = 16 << 20;

/// Most bytes of the texts of all rows (our choice): a document says the name of a
/// file once, each row has it.
const MOST_TEXT: usize = 64 << 20;

/// Most kernels of one NEFF, and most that are told as left out (our choices).
const MOST_KERNELS: usize = 4096;
const MOST_TOLD: usize = 20;

/// Most physical cores of a document: more than a logical one has.
const MOST_CORES: usize = 16;

/// A function that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Place of the one that it was entered from, in [`Kernels::frames`].
    pub parent: Option<usize>,
    /// How many are under way, itself among them.
    pub depth: u64,
    /// Physical core.
    pub core: usize,
    /// Name with its modules.
    pub function: Arc<str>,
    /// Source file, where it is told.
    pub file: Option<Arc<str>>,
    /// Line where it begins, 0 for none.
    pub line: u64,
}

/// An iteration of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration {
    /// Place of the iteration around it, in [`Kernels::iterations`].
    pub parent: Option<usize>,
    /// How many are under way, itself among them.
    pub depth: u64,
    /// Physical core.
    pub core: usize,
    /// Loop variable.
    pub variable: Arc<str>,
    /// Its value, where that is a whole number.
    pub value: Option<i64>,
    /// Source file, where it is told.
    pub file: Option<Arc<str>>,
    /// Line of the loop, 0 for none.
    pub line: u64,
}

/// An instruction of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInstruction {
    /// Stem of the backend name, a colon and the penguin id: `inst.53:8`.
    pub name: String,
    /// Physical core.
    pub core: usize,
    /// Place of the innermost function, in [`Kernels::frames`].
    pub frame: Option<usize>,
    /// Place of the innermost iteration, in [`Kernels::iterations`].
    pub iteration: Option<usize>,
    /// Source file, where it is told.
    pub file: Option<Arc<str>>,
    /// Source line, 0 for none.
    pub line: u64,
}

/// All kernels of a NEFF.
#[derive(Debug, Clone, Default)]
pub struct Kernels {
    /// Functions.
    pub frames: Vec<Frame>,
    /// Iterations of loops.
    pub iterations: Vec<Iteration>,
    /// Instructions, each name once for each core.
    pub instructions: Vec<KernelInstruction>,
    /// Which are not here, and why.
    pub left_out: Vec<String>,
    /// Cores that have an instruction of a name.
    known: HashMap<String, Vec<usize>>,
    /// Bytes of the texts of all rows.
    text: usize,
}

impl Kernels {
    /// Reads those of a NEFF. Nothing else needs them: what cannot be read is
    /// told in [`Kernels::left_out`].
    pub(crate) fn read(neff: &Neff<'_>) -> Self {
        const MEMBER: &str = "kernel_debug_info.json";
        let mut out = Self::default();
        let Some(member) = neff.member(MEMBER) else { return out };
        let limit = neff.options.limits.json.min(MOST_BYTES);
        let named = body(neff, member, limit).and_then(|body| {
            serde_json::from_slice::<KernelDebugInfo>(&body).map_err(|error| error.to_string())
        });
        let named = match named {
            Ok(named) => named.debug_info_files,
            Err(error) => {
                out.left_out.push(format!("{MEMBER}: {error}"));
                return out;
            }
        };
        if named.len() > MOST_KERNELS {
            out.leave_out("all others", &format!("{MOST_KERNELS} kernels are read"));
        }
        let mut read = Documents { neff, left: limit, known: HashMap::new() };
        for kernel in named.iter().take(MOST_KERNELS) {
            let done = match (kernel.parent_tensorizer_id, read.cores(&kernel.file_name)) {
                (None, _) => Err(String::from("it has no parent_tensorizer_id")),
                (_, Err(error)) => Err(error.clone()),
                // One document for each physical core, in their order (our choice).
                (Some(parent), Ok(cores)) => cores
                    .iter()
                    .take(MOST_CORES)
                    .enumerate()
                    .try_for_each(|(core, lines)| out.add(parent, core, lines)),
            };
            if let Err(error) = done {
                out.leave_out(&kernel.kernel_name, &error);
            }
        }
        out
    }

    fn leave_out(&mut self, kernel: &str, error: &str) {
        if self.left_out.len() < MOST_TOLD {
            self.left_out.push(format!("{}: {error}", shown(kernel)));
        }
    }

    /// Takes in what a document says of a core, or nothing of it.
    fn add(&mut self, penguin: u64, core: usize, lines: &KernelLines) -> Result<(), String> {
        self.text =
            self.text.checked_add(text(lines)).filter(|text| *text <= MOST_TEXT).ok_or_else(
                || format!("its rows would have more than {MOST_TEXT} bytes of names"),
            )?;
        let (frames, iterations) = (self.frames.len(), self.iterations.len());
        let file = |frame: Option<usize>| lines.frames.get(frame?)?.file.clone();
        for own in &lines.frames {
            let parent = own.parent.map(|at| at + frames);
            let outer = parent.and_then(|at| self.frames.get(at));
            self.frames.push(Frame {
                parent,
                depth: outer.map_or(1, |outer| outer.depth + 1),
                core,
                function: Arc::clone(&own.function),
                file: own.file.clone(),
                line: own.line,
            });
        }
        for own in &lines.iterations {
            let parent = own.parent.map(|at| at + iterations);
            let outer = parent.and_then(|at| self.iterations.get(at));
            self.iterations.push(Iteration {
                parent,
                depth: outer.map_or(1, |outer| outer.depth + 1),
                core,
                variable: Arc::clone(&own.variable),
                value: own.value,
                file: file(own.frame),
                line: own.line,
            });
        }
        let mut twice = 0_u64;
        for own in &lines.lines {
            let name = joined(&own.instruction, penguin);
            let cores = self.known.entry(name.clone()).or_default();
            if cores.contains(&core) {
                twice += 1;
                continue;
            }
            cores.push(core);
            self.instructions.push(KernelInstruction {
                name,
                core,
                frame: own.frame.map(|at| at + frames),
                iteration: own.iteration.map(|at| at + iterations),
                file: file(own.frame),
                line: own.line,
            });
        }
        match twice {
            0 => Ok(()),
            count => Err(format!("{count} of its instructions have names that are taken")),
        }
    }

    /// Name in [`Kernels::instructions`] of a backend instruction: `inst.53` and
    /// what was added to it, as `inst.53-wait-0`, are one there.
    pub(crate) fn name(&self, backend: &str, penguin: u64) -> Option<String> {
        if self.known.is_empty() {
            return None;
        }
        let stem = backend.split_once('-').map_or(backend, |(stem, _)| stem);
        let names = [backend, stem].map(|name| joined(name, penguin));
        names.into_iter().find(|name| self.known.contains_key(name))
    }
}

/// Bytes of the texts of all rows that are made of it.
fn text(lines: &KernelLines) -> usize {
    let file = |frame: Option<usize>| {
        let frame = frame.and_then(|at| lines.frames.get(at));
        frame.and_then(|frame| frame.file.as_ref()).map_or(0, |file| file.len())
    };
    let rows = lines.lines.iter().map(|own| own.instruction.len() + file(own.frame));
    let frames = lines
        .frames
        .iter()
        .map(|own| own.function.len() + own.file.as_ref().map_or(0, |file| file.len()));
    let iterations = lines.iterations.iter().map(|own| own.variable.len() + file(own.frame));
    rows.chain(frames).chain(iterations).fold(0, usize::saturating_add)
}

/// The documents that a NEFF names, each read once.
struct Documents<'n, 'a> {
    neff: &'n Neff<'a>,
    /// Bytes that may still be read.
    left: u64,
    known: HashMap<String, Result<Vec<KernelLines>, String>>,
}

impl Documents<'_, '_> {
    /// What one says of each core, or why it says nothing.
    fn cores(&mut self, name: &str) -> &Result<Vec<KernelLines>, String> {
        if !self.known.contains_key(name) {
            let read = self.read(name);
            self.known.insert(name.to_owned(), read);
        }
        self.known.entry(name.to_owned()).or_insert_with(|| Ok(Vec::new()))
    }

    fn read(&mut self, name: &str) -> Result<Vec<KernelLines>, String> {
        let member =
            self.neff.member(name).ok_or_else(|| format!("there is no {}", shown(name)))?;
        let body = body(self.neff, member, self.left)?;
        self.left = self.left.saturating_sub(member.size());
        let mut report = Report::new(Mode::Lenient);
        match KernelLines::parse(name, &body, MOST_BYTES, &mut report) {
            Ok(Some(lines)) => Ok(lines),
            Ok(None) => Err(report.warnings().first().map(ToString::to_string).unwrap_or_default()),
            Err(problem) => Err(problem.to_string()),
        }
    }
}

/// A member of no more than so many bytes.
fn body<'n>(
    neff: &'n Neff<'_>,
    member: &'n Member<'_>,
    most: u64,
) -> Result<Cow<'n, [u8]>, String> {
    if member.size() > most {
        let (size, name) = (member.size(), shown(member.name()));
        return Err(format!(
            "{name} has {size} bytes, and {MOST_BYTES} bytes of all kernels are read"
        ));
    }
    neff.archive.body(member).map_err(|problem| problem.to_string())
}

fn joined(name: &str, parent: u64) -> String {
    format!("{name}:{parent}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use neuron_core::neff::doc::{KernelFrame, KernelIteration, KernelLine};

    fn lines() -> KernelLines {
        let frame = |parent, function: &str, line| KernelFrame {
            parent,
            function: function.into(),
            file: Some("k.py".into()),
            line,
        };
        let iteration = |parent, value| KernelIteration {
            parent,
            frame: Some(0),
            variable: "i".into(),
            value: Some(value),
            line: 7,
        };
        let line = |instruction: &str, frame, iteration| KernelLine {
            instruction: instruction.to_owned(),
            line: 9,
            frame,
            iteration,
        };
        KernelLines {
            lnc: 1,
            frames: vec![frame(None, "main", 1), frame(Some(0), "inner", 5)],
            iterations: vec![iteration(None, 0), iteration(Some(0), 1)],
            lines: vec![line("jmp.3", None, None), line("inst.1", Some(1), Some(1))],
        }
    }

    #[test]
    fn kernels_of_several_cores_stand_side_by_side() {
        let mut all = Kernels::default();
        all.add(8, 0, &lines()).unwrap();
        all.add(8, 1, &lines()).unwrap();
        all.add(9, 0, &lines()).unwrap();
        assert_eq!((all.frames.len(), all.iterations.len(), all.instructions.len()), (6, 6, 6));
        let parents: Vec<_> = all.frames.iter().map(|frame| (frame.parent, frame.depth)).collect();
        let (outer, inner) = ((None, 1), |at| (Some(at), 2));
        assert_eq!(parents, [outer, inner(0), outer, inner(2), outer, inner(4)]);
        let last = all.instructions.last().unwrap();
        assert_eq!(
            (last.name.as_str(), last.frame, last.iteration),
            ("inst.1:9", Some(5), Some(5))
        );
        assert_eq!(all.iterations[5].parent, Some(4));
        assert_eq!(all.iterations[5].file.as_deref(), Some("k.py"));
    }

    #[test]
    fn what_cannot_be_told_apart_is_told() {
        let mut all = Kernels::default();
        all.add(8, 0, &lines()).unwrap();
        let error = all.add(8, 0, &lines()).unwrap_err();
        assert_eq!(error, "2 of its instructions have names that are taken");
        assert_eq!(all.instructions.len(), 2);
        let mut long = lines();
        long.frames[0].file = Some("x".repeat(MOST_TEXT).into());
        long.lines[1].frame = Some(0);
        assert!(all.add(9, 0, &long).unwrap_err().contains("bytes of names"));
        assert_eq!((all.frames.len(), all.instructions.len()), (4, 2));
    }

    #[test]
    fn what_was_added_to_a_name_is_left_off() {
        let mut all = Kernels::default();
        all.add(8, 0, &lines()).unwrap();
        assert_eq!(all.name("inst.1", 8).as_deref(), Some("inst.1:8"));
        assert_eq!(all.name("inst.1-wait-0", 8).as_deref(), Some("inst.1:8"));
        assert_eq!(all.name("inst.1", 7), None);
        assert_eq!(all.name("inst.10", 8), None);
    }
}
