//! Makes the nodes of an outline ready and ties their tensors together.

use std::collections::HashMap;

use neuron_core::neff::doc::{Graph, Node as GraphNode};
use neuron_core::neff::{Tensor, Usage, node_tensors};

use super::outline::{NodeOutline, Outline};
use super::{Plan, Port, Step, TensorInfo, Work};
use crate::backend::{Backend, Node, NodeImage};
use crate::cpu::CpuOp;
use crate::failure::{Code, Failure};

const PLACE: &str = "NMGR:dlr_kelf_stage";

fn wrong(text: impl std::fmt::Display) -> Failure {
    Failure::new(Code::Invalid, PLACE, text)
}

/// Makes every node ready: in normal mode each on cores of its own from
/// `first_core` on, in shared-NC mode all on the same.
pub(crate) fn bind(
    outline: &Outline<'_>,
    backend: &dyn Backend,
    first_core: u32,
    shared: bool,
    native: &dyn Fn(&str) -> bool,
) -> Result<Plan, Failure> {
    let mut next_core = first_core;
    let mut works = Vec::new();
    for node in &outline.nodes {
        let Some(_) = &node.kelf else {
            works.push(None);
            continue;
        };
        let part = outline.part(node)?;
        let neff = part.as_deref().unwrap_or(outline.bytes);
        let image = NodeImage { name: &node.name, neff, first_core: next_core, cores: node.need };
        let ready = backend.load(&image).map_err(|failure| {
            failure.then(PLACE, format!("Failed to load subgraph {}", node.name))
        })?;
        works.push(Some((ready, next_core, node.need, node.physical)));
        if !shared {
            next_core += node.need;
        }
    }
    let plan = match outline.graph() {
        Some(graph) => of_graph(outline, graph, works, native)?,
        None => {
            let work = works.pop().flatten().ok_or_else(|| wrong("there is nothing to run"))?;
            alone(outline, work)
        }
    };
    Ok(plan)
}

/// A node on cores: made ready, first core, cores, physical cores.
type Ready = (Box<dyn Node>, u32, u32, u32);

/// A file without host graph: the tensors of its one node are the model's.
fn alone(outline: &Outline<'_>, (node, first_core, cores, physical): Ready) -> Plan {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let (mut takes, mut gives) = (Vec::new(), Vec::new());
    let mut takers = Vec::new();
    for (value, tensor) in node.tensors().iter().enumerate() {
        let listed = outline.model.tensors.iter();
        let listed = listed
            .filter(|listed| (listed.usage == Usage::Output) == tensor.output)
            .find(|listed| listed.name == tensor.name);
        let info = TensorInfo {
            name: tensor.name.clone(),
            output: tensor.output,
            bytes: tensor.bytes,
            dtype: listed.and_then(|listed| listed.dtype.clone()),
            shape: listed.and_then(|listed| listed.shape.clone()),
        };
        let port = Port { info, value, used: true };
        if tensor.output {
            gives.push((tensor.name.clone(), value));
            outputs.push(port);
            takers.push(Vec::new());
        } else {
            takes.push((tensor.name.clone(), value, tensor.bytes));
            inputs.push(port);
            takers.push(vec![0]);
        }
    }
    let work = Work::Neuron { node, first_core, cores, physical };
    let name = outline.nodes.first().map(|node| node.name.clone()).unwrap_or_default();
    let values = takers.len();
    Plan { steps: vec![Step { name, work, takes, gives }], values, inputs, outputs, takers }
}

fn of_graph(
    outline: &Outline<'_>,
    graph: &Graph,
    works: Vec<Option<Ready>>,
    native: &dyn Fn(&str) -> bool,
) -> Result<Plan, Failure> {
    let values = graph.node_row_ptr.last().and_then(|end| usize::try_from(*end).ok());
    let values = values.ok_or_else(|| wrong("the graph has no entries"))?;
    // entries are counted by the graph; a file may claim any number
    let listed = graph.attrs.shape.as_ref().map_or(0, |(_, shapes)| shapes.len());
    if values > listed {
        return Err(wrong(format!("{values} entries, {listed} of them have a shape")));
    }
    let mut sizes: Vec<Option<u64>> = vec![None; values];
    let mut steps = Vec::new();
    for (node, ready) in outline.nodes.iter().zip(works) {
        steps.push(step(graph, node, ready, native, &mut sizes)?);
    }
    let mut takers = vec![Vec::new(); values];
    for (number, step) in steps.iter().enumerate() {
        for (_, value, _) in &step.takes {
            let list: Option<&mut Vec<usize>> = takers.get_mut(*value);
            list.into_iter().for_each(|list| list.push(number));
        }
    }
    let (inputs, outputs) = ports(outline, graph, &sizes, &takers)?;
    // every value must come from an input or a step before its first taker
    let mut there = vec![false; values];
    let arrive = |there: &mut Vec<bool>, value: usize| {
        there.get_mut(value).into_iter().for_each(|slot| *slot = true);
    };
    for port in &inputs {
        arrive(&mut there, port.value);
    }
    for step in &steps {
        for (_, value, _) in &step.takes {
            if there.get(*value) != Some(&true) {
                let text =
                    format!("node {}: its input {value} comes from no node before it", step.name);
                return Err(wrong(text));
            }
        }
        for (_, value) in &step.gives {
            arrive(&mut there, *value);
        }
    }
    for port in &outputs {
        if there.get(port.value) != Some(&true) {
            return Err(wrong(format!("output {} comes from no node", port.info.name)));
        }
    }
    Ok(Plan { steps, values, inputs, outputs, takers })
}

/// Inputs of a graph node: entry of each, with what the graph says of it.
fn sources(
    graph: &Graph,
    node: &GraphNode,
    tensors: &[Tensor],
) -> Result<Vec<(usize, Tensor)>, Failure> {
    let found: Vec<&Tensor> = tensors.iter().filter(|t| t.usage == Usage::Input).collect();
    if found.len() != node.inputs.len() {
        return Err(wrong(format!("node {}: inputs without an entry", node.name)));
    }
    let mut out = Vec::new();
    for (input, tensor) in node.inputs.iter().zip(found) {
        let entry = match input.as_slice() {
            [from, output, ..] => graph.entry(*from, *output),
            _ => None,
        };
        let entry = entry.ok_or_else(|| {
            wrong(format!("node {}: input {} has no entry", node.name, tensor.name))
        })?;
        out.push((entry, tensor.clone()));
    }
    Ok(out)
}

fn step(
    graph: &Graph,
    outline: &NodeOutline,
    ready: Option<Ready>,
    native: &dyn Fn(&str) -> bool,
    sizes: &mut [Option<u64>],
) -> Result<Step, Failure> {
    let index = outline.index.unwrap_or_default();
    let node = graph.nodes.get(index).ok_or_else(|| wrong(format!("no node {index}")))?;
    let tensors = node_tensors(graph, index);
    let sources = sources(graph, node, &tensors)?;
    let outputs: Vec<Tensor> =
        tensors.into_iter().filter(|tensor| tensor.usage == Usage::Output).collect();
    let id = u64::try_from(index).unwrap_or(u64::MAX);
    let entry = |position: usize| graph.entry(id, u64::try_from(position).unwrap_or(u64::MAX));
    let mut settle = |value: usize, bytes: u64, name: &str| {
        let slot = sizes.get_mut(value).ok_or_else(|| wrong(format!("no entry {value}")))?;
        match slot {
            Some(known) if *known != bytes => {
                Err(wrong(format!("{name} has {bytes} bytes here and {known} elsewhere")))
            }
            _ => {
                *slot = Some(bytes);
                Ok(())
            }
        }
    };
    let (mut takes, mut gives) = (Vec::new(), Vec::new());
    let Some((ready, first_core, cores, physical)) = ready else {
        let function = node.attr("func_name").unwrap_or_default();
        let inputs: Vec<Tensor> = sources.iter().map(|(_, tensor)| tensor.clone()).collect();
        let op = CpuOp::new(function, |name| node.attr(name), native, &inputs, &outputs)
            .map_err(|reason| wrong(format!("CPU node {}: {reason}", node.name)))?;
        for ((value, tensor), bytes) in sources.iter().zip(op.inputs()) {
            settle(*value, *bytes, &tensor.name)?;
            takes.push((tensor.name.clone(), *value, *bytes));
        }
        for (position, tensor) in outputs.iter().enumerate() {
            let value = entry(position).ok_or_else(|| wrong("an output without an entry"))?;
            settle(value, op.output, &tensor.name)?;
            gives.push((tensor.name.clone(), value));
        }
        return Ok(Step { name: node.name.clone(), work: Work::Cpu(op), takes, gives });
    };
    // the program's own names are those of the graph (neff.md §5.1)
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (value, tensor) in &sources {
        by_name.entry(tensor.name.as_str()).or_insert(*value);
    }
    for tensor in ready.tensors().iter().filter(|tensor| !tensor.output) {
        let value = by_name.get(tensor.name.as_str()).copied().ok_or_else(|| {
            wrong(format!("node {}: no entry of the graph is its input {}", node.name, tensor.name))
        })?;
        settle(value, tensor.bytes, &tensor.name)?;
        takes.push((tensor.name.clone(), value, tensor.bytes));
    }
    for (position, output) in outputs.iter().enumerate() {
        let value = entry(position).ok_or_else(|| wrong("an output without an entry"))?;
        let mut own = ready.tensors().iter().filter(|tensor| tensor.output);
        let own = own.find(|tensor| tensor.name == output.name).ok_or_else(|| {
            wrong(format!("node {}: its program has no output {}", node.name, output.name))
        })?;
        settle(value, own.bytes, &output.name)?;
        gives.push((output.name.clone(), value));
    }
    let work = Work::Neuron { node: ready, first_core, cores, physical };
    Ok(Step { name: node.name.clone(), work, takes, gives })
}

/// The model's inputs and outputs.
fn ports(
    outline: &Outline<'_>,
    graph: &Graph,
    sizes: &[Option<u64>],
    takers: &[Vec<usize>],
) -> Result<(Vec<Port>, Vec<Port>), Failure> {
    let listed = |usage| outline.model.tensors.iter().filter(move |t| t.usage == usage);
    let heads = graph.heads.iter().filter_map(|head| match head.as_slice() {
        [node, output, ..] => Some((*node, *output)),
        _ => None,
    });
    let heads: Vec<(u64, u64)> = heads.collect();
    let head_values: Vec<usize> =
        heads.iter().filter_map(|(node, output)| graph.entry(*node, *output)).collect();
    let port = |tensor: &Tensor, node: u64, output: u64| {
        let place = || wrong(format!("{} has no entry", tensor.name));
        let value = graph.entry(node, output).ok_or_else(place)?;
        let size = sizes.get(value).copied().flatten().or(tensor.bytes);
        let used =
            takers.get(value).is_some_and(|list| !list.is_empty()) || head_values.contains(&value);
        let info = TensorInfo {
            name: tensor.name.clone(),
            output: tensor.usage == Usage::Output,
            bytes: size
                .ok_or_else(|| wrong(format!("the size of {} is not known", tensor.name)))?,
            dtype: tensor.dtype.clone(),
            shape: tensor.shape.clone(),
        };
        if value >= sizes.len() {
            return Err(place());
        }
        Ok(Port { info, value, used })
    };
    let inputs = graph.arg_nodes.iter().zip(listed(Usage::Input));
    let inputs = inputs.map(|(node, tensor)| port(tensor, *node, 0)).collect::<Result<_, _>>()?;
    let outputs = heads.iter().zip(listed(Usage::Output));
    // A node for a logical core of two lists the output of both, which is one.
    let mut seen = std::collections::HashSet::new();
    let outputs = outputs
        .filter(|((node, _), tensor)| seen.insert((*node, tensor.name.clone())))
        .map(|((node, output), tensor)| port(tensor, *node, *output))
        .collect::<Result<_, _>>()?;
    Ok((inputs, outputs))
}
