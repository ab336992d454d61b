//! Inputs and outputs of a model: names, types, shapes, bytes (sheet sections
//! 5.1 and 7.1).

use super::doc::{Graph, VarKind};
use super::model::Subgraph;
use super::problem::{Mode, Place, Problem, Report, Rule};
use std::collections::{BTreeMap, HashSet};

/// Most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 32;

/// Most inputs and outputs that are listed (our choice).
const MOST_TENSORS: usize = 65_536;

/// Longest name in the public C API, in bytes.
const LONGEST_NAME: usize = 256;

/// A data type word with the runtime's code and the bytes of an element.
const DTYPES: &[(&str, u32, u64)] = &[
    ("uint64", 1, 8),
    ("int8", 2, 1),
    ("uint8", 3, 1),
    ("int16", 4, 2),
    ("uint16", 5, 2),
    ("bfloat16", 6, 2),
    ("float16", 7, 2),
    ("int32", 8, 4),
    ("uint32", 9, 4),
    ("float32", 10, 4),
    ("float32r", 11, 4),
    ("int64", 12, 8),
    // Codes from the public C header; the spelling in files is not published.
    ("float8e3", 13, 1),
    ("float8e4", 14, 1),
    ("float8e5", 15, 1),
];

/// Code of the runtime and bytes of an element. Any other word has code 0 and
/// one byte, as in the loader.
pub fn dtype(word: &str) -> (u32, u64) {
    let known = DTYPES.iter().find(|(name, _, _)| *name == word);
    known.map_or((0, 1), |(_, code, bytes)| (*code, *bytes))
}

/// Input or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Usage {
    /// Runtime code 0.
    Input,
    /// Runtime code 1.
    Output,
}

/// One input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Name by which the runtime matches it.
    pub name: String,
    /// Input or output.
    pub usage: Usage,
    /// Data type word.
    pub dtype: Option<String>,
    /// Shape; a dimension below 0 is not known.
    pub shape: Option<Vec<i64>>,
    /// Bytes; `None` if neither shape nor variable gives them.
    pub bytes: Option<u64>,
}

/// Bytes of a tensor; `None` for an unknown dimension or beyond 64 bits.
fn bytes(shape: &[i64], element: u64) -> Option<u64> {
    shape.iter().try_fold(element, |bytes, size| bytes.checked_mul(u64::try_from(*size).ok()?))
}

/// Lists the tensors of the host graph and compares them with the variables of
/// the definitions; without a usable graph, lists the variables.
pub(super) fn list(
    member: Option<&str>,
    graph: Option<&Graph>,
    subgraphs: &[Subgraph],
    report: &mut Report,
) -> Result<Vec<Tensor>, Problem> {
    let variables = variables(subgraphs);
    let (Some(member), Some(graph)) = (member, graph) else {
        return Ok(variables.into_values().map(|found| found.tensor).collect());
    };
    let tensors = of_graph(member, graph, report)?;
    if subgraphs.is_empty() {
        return Ok(tensors);
    }
    // CPU nodes stand between the graph's tensors and those of the subgraph;
    // then only what both name can be compared.
    let direct = graph.executable().count() == 1;
    for tensor in &tensors {
        let key = (tensor.usage, tensor.name.clone());
        let place = || Place::key(member, &tensor.name);
        match variables.get(&key) {
            None if direct => {
                let value = format!("no variable is named {}", tensor.name);
                report.note(Rule::TensorName, place(), value)?;
            }
            None => {}
            Some(found) => compare(tensor, found, report)?,
        }
    }
    let listed: HashSet<(Usage, &str)> =
        tensors.iter().map(|tensor| (tensor.usage, tensor.name.as_str())).collect();
    for ((usage, name), found) in variables.iter().filter(|_| direct) {
        if !listed.contains(&(*usage, name.as_str())) {
            let place = Place::key(&found.member, format!("var/{name}"));
            report.note(Rule::TensorName, place, format!("the graph has no {name}"))?;
        }
    }
    Ok(tensors)
}

fn compare(tensor: &Tensor, found: &Found, report: &mut Report) -> Result<(), Problem> {
    if let (Some(bytes), Some(size)) = (tensor.bytes, found.tensor.bytes)
        && bytes != size
    {
        let place = Place::key(&found.member, format!("var/{}/size", tensor.name));
        let value = format!("the variable has {size} bytes, the tensor {bytes}");
        report.note(Rule::TensorSize, place, value)?;
    }
    Ok(())
}

/// A variable that is an input or output, and the definition it is in.
struct Found {
    tensor: Tensor,
    member: String,
}

fn variables(subgraphs: &[Subgraph]) -> BTreeMap<(Usage, String), Found> {
    let mut out = BTreeMap::new();
    for subgraph in subgraphs {
        for (name, variable) in &subgraph.definition.var {
            let usage = match variable.kind() {
                Some(VarKind::Input) => Usage::Input,
                Some(VarKind::Output) => Usage::Output,
                _ => continue,
            };
            let tensor = Tensor {
                name: name.clone(),
                usage,
                dtype: variable.dtype.clone(),
                shape: variable.shape.clone().or_else(|| variable.framework_shape.clone()),
                bytes: variable.size,
            };
            let found = Found { tensor, member: subgraph.definition_member.clone() };
            out.entry((usage, name.clone())).or_insert(found);
        }
    }
    out
}

fn of_graph(member: &str, graph: &Graph, report: &mut Report) -> Result<Vec<Tensor>, Problem> {
    let mut tensors = Vec::new();
    let count = graph.arg_nodes.len().saturating_add(graph.heads.len());
    if count > MOST_TENSORS {
        let value = format!("there are {count}");
        report.note(Rule::TensorCount, Place::key(member, "heads"), value)?;
    }
    for index in graph.arg_nodes.iter().take(MOST_TENSORS) {
        let node = usize::try_from(*index).ok().and_then(|index| graph.nodes.get(index));
        let name = node.map(|node| node.name.as_str()).unwrap_or_default();
        tensors.push(entry(member, graph, Usage::Input, name, (*index, 0), report)?);
    }
    for (position, head) in graph.heads.iter().enumerate().take(MOST_TENSORS) {
        let (index, output) = (head.first().copied(), head.get(1).copied());
        let (Some(index), Some(output)) = (index, output) else {
            continue;
        };
        let name = output_name(graph, position, index, output);
        tensors.push(entry(member, graph, Usage::Output, name, (index, output), report)?);
    }
    Ok(tensors)
}

/// Name of an output: of the graph, else of the node's output, else of the node.
fn output_name(graph: &Graph, position: usize, index: u64, output: u64) -> &str {
    let of_graph = graph.attrs.output_names.as_ref().and_then(|names| names.get(position));
    match of_graph {
        Some(name) => name,
        None => node_output_name(graph, index, output),
    }
}

fn node_output_name(graph: &Graph, index: u64, output: u64) -> &str {
    let node = usize::try_from(index).ok().and_then(|index| graph.nodes.get(index));
    let Some(node) = node else {
        return "";
    };
    let names = node.output_names.as_ref().or(node.output.as_ref());
    let of_node = usize::try_from(output).ok().and_then(|output| names?.get(output));
    of_node.unwrap_or(&node.name)
}

/// Inputs and outputs of one node of the host graph, as far as it says.
pub fn node_tensors(graph: &Graph, index: usize) -> Vec<Tensor> {
    // What is wrong was told when the graph was read.
    let mut told = Report::new(Mode::Lenient);
    let mut out = Vec::new();
    let Some(node) = graph.nodes.get(index) else {
        return out;
    };
    for input in node.inputs.iter().take(MOST_TENSORS) {
        let (Some(&from), Some(&output)) = (input.first(), input.get(1)) else {
            continue;
        };
        let name = node_output_name(graph, from, output);
        out.extend(entry("", graph, Usage::Input, name, (from, output), &mut told));
    }
    let node_id = super::problem::widen(index);
    let first = graph.entry(node_id, 0).unwrap_or(0);
    let end = graph.entry(node_id.saturating_add(1), 0).unwrap_or(first);
    let count = super::problem::widen(end.saturating_sub(first).min(MOST_TENSORS));
    for output in 0..count {
        let name = node_output_name(graph, node_id, output);
        out.extend(entry("", graph, Usage::Output, name, (node_id, output), &mut told));
    }
    out
}

fn entry(
    member: &str,
    graph: &Graph,
    usage: Usage,
    name: &str,
    (index, output): (u64, u64),
    report: &mut Report,
) -> Result<Tensor, Problem> {
    let id = graph.entry(index, output);
    let of = |id: usize| {
        let shape = graph.attrs.shape.as_ref().and_then(|(_, list)| list.get(id));
        let dtype = graph.attrs.dltype.as_ref().and_then(|(_, list)| list.get(id));
        (shape, dtype)
    };
    let (mut shape, word) = id.map(of).unwrap_or_default();
    let place = || Place::key(member, name);
    if name.len() > LONGEST_NAME {
        let value = format!("the name has {} bytes", name.len());
        report.note(Rule::TensorName, place(), value)?;
    }
    if shape.is_none() || word.is_none() {
        let value = format!("output {output} of node {index} ({name:?}) has no shape or type");
        report.note(Rule::GraphShape, place(), value)?;
    }
    if let Some(long) = shape.filter(|shape| shape.len() > MOST_DIMENSIONS) {
        let value = format!("{name} has {} dimensions", long.len());
        report.note(Rule::TensorRank, place(), value)?;
        shape = None;
    }
    let (code, element) = dtype(word.map(String::as_str).unwrap_or_default());
    if let Some(word) = word.filter(|_| code == 0) {
        report.note(Rule::TensorType, place(), format!("the type is {word:?}"))?;
    }
    let bytes = shape.and_then(|shape| bytes(shape, element));
    if let Some(shape) = shape.filter(|_| bytes.is_none()) {
        let rule = match shape.iter().any(|size| *size < 0) {
            true => Rule::TensorShape,
            false => Rule::TensorSize,
        };
        report.note(rule, place(), format!("{name} has shape {shape:?}, of no known size"))?;
    }
    // A list may name one node a million times: nothing long is copied.
    let cut = |text: &str| text.chars().take(LONGEST_NAME).collect::<String>();
    let (name, dtype) = (cut(name), word.map(|word| cut(word)));
    Ok(Tensor { name, usage, dtype, shape: shape.cloned(), bytes })
}
