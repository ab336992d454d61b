//! Devices as a graph, and the shapes that it can have.

use std::collections::{BTreeMap, BTreeSet};

use neuron_core::model::DeviceRow;

/// Columns of the widest torus that is drawn.
const WIDEST_TORUS: usize = 8;

/// The visible devices, numbered by position, and their links.
#[derive(Debug)]
pub(super) struct Graph {
    /// Index of each device, for its cell.
    pub(super) labels: Vec<u32>,
    /// Positions of the neighbours.
    neighbours: Vec<BTreeSet<usize>>,
    /// Host indices that some device is linked to and that are not visible.
    pub(super) unseen: BTreeSet<u32>,
    /// Whether a device does not say what it is linked to, or only one end of
    /// a link knows of it.
    doubtful: bool,
}

/// A shape that has a drawing; positions of the graph in drawing order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A line; a single device is a line of one.
    Chain(Vec<usize>),
    /// A ring.
    Ring(Vec<usize>),
    /// A torus, row by row.
    Torus { cells: Vec<usize>, columns: usize },
}

impl Shape {
    pub(super) fn wraps_around(&self) -> bool {
        !matches!(self, Self::Chain(_))
    }
}

impl Graph {
    pub(super) fn of(devices: &[DeviceRow]) -> Self {
        let position: BTreeMap<u32, usize> =
            devices.iter().enumerate().map(|(at, device)| (device.host_index, at)).collect();
        let mut graph = Self {
            labels: devices.iter().map(|device| device.index).collect(),
            neighbours: Vec::with_capacity(devices.len()),
            unseen: BTreeSet::new(),
            doubtful: devices.iter().any(|device| device.connected.is_none()),
        };
        for device in devices {
            let mut seen = BTreeSet::new();
            for host_index in device.connected.iter().flatten() {
                match position.get(host_index) {
                    Some(&at) => drop(seen.insert(at)),
                    None => drop(graph.unseen.insert(*host_index)),
                }
            }
            graph.neighbours.push(seen);
        }
        let mutual = |(from, list): (usize, &BTreeSet<usize>)| {
            list.iter().all(|&to| to != from && graph.linked(to, from))
        };
        graph.doubtful |= !graph.neighbours.iter().enumerate().all(mutual);
        graph
    }

    fn of_position(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.neighbours.get(at).into_iter().flatten().copied()
    }

    fn degree(&self, at: usize) -> usize {
        self.neighbours.get(at).map_or(0, BTreeSet::len)
    }

    fn linked(&self, from: usize, to: usize) -> bool {
        self.neighbours.get(from).is_some_and(|list| list.contains(&to))
    }

    /// The connected parts, each ascending, in the order of their first device.
    pub(super) fn parts(&self) -> Vec<Vec<usize>> {
        let mut visited: BTreeSet<usize> = BTreeSet::new();
        let mut parts = Vec::new();
        for start in 0..self.labels.len() {
            if visited.contains(&start) {
                continue;
            }
            let mut part = BTreeSet::from([start]);
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                open.extend(self.of_position(at).filter(|&next| part.insert(next)));
            }
            visited.extend(&part);
            parts.push(part.into_iter().collect());
        }
        parts
    }

    /// The shape of a connected part; `None` when it has no drawing.
    pub(super) fn shape(&self, part: &[usize]) -> Option<Shape> {
        if self.doubtful || !self.unseen.is_empty() {
            return None;
        }
        let ends: Vec<usize> = part.iter().copied().filter(|&at| self.degree(at) <= 1).collect();
        let in_line = part.iter().all(|&at| self.degree(at) <= 2);
        match (ends.first(), in_line) {
            (Some(&end), true) => Some(Shape::Chain(self.walk(end))),
            (None, true) => Some(Shape::Ring(self.walk(*part.first()?))),
            _ => self.torus(part),
        }
    }

    /// From a device on along links to devices not yet met, the lowest first.
    /// On a ring whose lowest device is linked to the next this counts up.
    fn walk(&self, start: usize) -> Vec<usize> {
        let mut order = vec![start];
        let mut met = BTreeSet::from([start]);
        let mut at = start;
        while let Some(next) = self.of_position(at).find(|next| met.insert(*next)) {
            order.push(next);
            at = next;
        }
        order
    }

    /// A torus of at least 3 by 3 whose devices ascend row by row.
    fn torus(&self, part: &[usize]) -> Option<Shape> {
        let count = part.len();
        let fits = |columns: &usize| {
            let columns = *columns;
            let rows = count / columns;
            rows >= 3
                && rows * columns == count
                && part.iter().enumerate().all(|(place, &at)| {
                    let (row, column) = (place / columns, place % columns);
                    let around = [
                        (row + rows - 1) % rows * columns + column,
                        row * columns + (column + columns - 1) % columns,
                        (row + 1) % rows * columns + column,
                        row * columns + (column + 1) % columns,
                    ];
                    self.degree(at) == 4
                        && around
                            .iter()
                            .all(|&place| part.get(place).is_some_and(|&to| self.linked(at, to)))
                })
        };
        let columns = (3..=WIDEST_TORUS).find(fits)?;
        Some(Shape::Torus { cells: part.to_vec(), columns })
    }
}
