//! Tables of call stacks: those of kernels, those of the framework. Ids count
//! from 1; rows are columns from the start, since kernels have many of them.

use neuron_core::neff::StackFrames;
use profile_engine::{Capture, ReadAt};

use super::small::Filled;
use crate::encode::Cells;
use crate::schema;

/// The columns of a list, as `table` has them.
fn filled(table: &str, rows: usize, columns: Vec<Cells>) -> Option<Filled> {
    schema::table(table).map(|table| (table.clone(), columns, rows))
}

fn longs<T>(list: &[T], value: impl Fn(&T) -> Option<i64>) -> Cells {
    Cells::Longs(list.iter().map(value).collect())
}

fn texts<T>(list: &[T], value: impl Fn(&T) -> Option<String>) -> Cells {
    Cells::Texts(list.iter().map(value).collect())
}

fn long(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

/// Its own place in the list, as an id.
fn numbered<T>(list: &[T]) -> impl Iterator<Item = i64> {
    (1_i64..).take(list.len())
}

/// The id of a place in a list.
fn id(place: Option<usize>) -> Option<i64> {
    i64::try_from(place?).ok()?.checked_add(1)
}

fn core(number: usize) -> Option<i64> {
    i64::try_from(number).ok()
}

/// A line, where there is one.
fn line(number: u64) -> Option<i64> {
    long(number).filter(|line| *line != 0)
}

fn file(name: Option<&std::sync::Arc<str>>) -> Option<String> {
    name.map(|name| name.to_string())
}

/// All of them; tables without rows are not written.
pub(super) fn tables<S: ReadAt + ?Sized>(capture: &Capture<'_, S>) -> Vec<Filled> {
    let kernels = &capture.kernels;
    let (frames, iterations) = (&kernels.frames, &kernels.iterations);
    let list = &kernels.instructions;
    let of_kernels = [
        filled(
            "KernelInstructions",
            list.len(),
            vec![
                texts(list, |own| Some(own.name.clone())),
                longs(list, |own| id(own.frame)),
                longs(list, |own| long(frames.get(own.frame?)?.depth)),
                longs(list, |own| id(own.iteration)),
                longs(list, |own| long(iterations.get(own.iteration?)?.depth)),
                longs(list, |own| core(own.core)),
                texts(list, |own| file(own.file.as_ref())),
                longs(list, |own| line(own.line)),
            ],
        ),
        filled(
            "KernelStackFrames",
            frames.len(),
            vec![
                Cells::Longs(numbered(frames).map(Some).collect()),
                texts(frames, |own| Some(own.function.to_string())),
                longs(frames, |own| id(own.parent)),
                longs(frames, |own| core(own.core)),
                texts(frames, |own| file(own.file.as_ref())),
                longs(frames, |own| line(own.line)),
            ],
        ),
        filled(
            "KernelIterationVariables",
            iterations.len(),
            vec![
                Cells::Longs(numbered(iterations).map(Some).collect()),
                texts(iterations, |own| Some(own.variable.to_string())),
                longs(iterations, |own| own.value),
                longs(iterations, |own| id(own.parent)),
                longs(iterations, |own| core(own.core)),
                texts(iterations, |own| file(own.file.as_ref())),
                longs(iterations, |own| line(own.line)),
            ],
        ),
    ];
    of_kernels.into_iter().chain(framework(&capture.frames)).flatten().collect()
}

/// The framework's: normalised, ids as text.
fn framework(stacks: &StackFrames) -> [Option<Filled>; 4] {
    fn ids<T>(list: &[T]) -> Cells {
        Cells::Texts(numbered(list).map(|id| Some(id.to_string())).collect())
    }
    let StackFrames { files, functions, locations, frames } = stacks;
    // A number that is no id of a table is none of 32 bits either.
    let known = |number: u64| Some(i64::from(i32::try_from(number).unwrap_or(0)));
    [
        filled(
            "StackFrame",
            frames.len(),
            vec![
                ids(frames),
                longs(frames, |(location, _)| known(*location)),
                texts(frames, |(_, parent)| Some(parent.to_string())),
            ],
        ),
        filled(
            "StackFrameFileLocation",
            locations.len(),
            vec![
                ids(locations),
                longs(locations, |(file, ..)| known(*file)),
                longs(locations, |(_, function, _)| known(*function)),
                longs(locations, |(.., line)| known(*line)),
            ],
        ),
        filled(
            "StackFrameFileName",
            files.len(),
            vec![ids(files), texts(files, |name| Some(name.clone()))],
        ),
        filled(
            "StackFrameFunctionName",
            functions.len(),
            vec![ids(functions), texts(functions, |name| Some(name.clone()))],
        ),
    ]
}
