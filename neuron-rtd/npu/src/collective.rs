//! Collectives between the cores of one program (neuroncore.md §2.8, §3.7).
//!
//! A record posts its part and its engine goes on. When every rank of the group
//! has posted, the collective acts at once, and the updates of all the records
//! follow: that is what "at complete" means for them. The n-th post of a rank
//! to a group goes with the n-th post of the others.
//!
//! Numbers: sums run over the ranks in the order of the group, floats in fp32
//! with one rounding at the end, integers in their own width with wrap (our
//! choice; a ring of the device rounds at each hop).
//!
//! Sizes: the count of a record is that of a part. Reduce-scatter and
//! all-to-all take a part for each rank, all-gather and all-to-all give one
//! (neuroncore.md §2.8).
//!
//! Our choices: the rank of a core is its number in the file; a group without
//! ranks is all cores; the pairs of a permute are `[source, target]` lists by
//! group in `src_target_pairs`; a rank that is no target gets zeros. Left out,
//! and refused: permutes that reduce, implicit ones, parts of different sizes.

use std::collections::BTreeSet;

use neuron_core::isa::Opcode;
use neuron_core::isa::body::pseudo::Collective;
use neuron_core::isa::code::{AluOp, CollectiveKind};
use neuron_core::isa::event::Events;

use crate::alu::float::maximum;
use crate::dma::MOST_BYTES;
use crate::exec::State;
use crate::fault::Fault;
use crate::hbm::{Hbm, Place};
use crate::number::Element;
use crate::observer::At;
use crate::program::CoreProgram;
use crate::stop::Blocked;
use crate::sync::Unmet;

/// The part of a rank in a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// The record that posted; its core is the rank.
    pub at: At,
    /// What is done.
    pub kind: CollectiveKind,
    /// How numbers are reduced.
    pub op: AluOp,
    /// Type of a number.
    pub element: Element,
    /// Numbers of a part.
    pub count: u64,
    /// The ranks that take part, in the order of the reduction.
    pub ranks: Vec<usize>,
    /// Source and target of each way of a permute.
    pub pairs: Vec<Pair>,
    /// Variable of the input, and the first byte in it.
    pub from: (Place, u64),
    /// Variable of the output, and the first byte in it.
    pub to: (Place, u64),
    /// Update of the record once the collective is done.
    pub update: Events,
}

impl Post {
    /// Bytes that the rank gives.
    pub fn input_bytes(&self) -> u64 {
        self.part_bytes() * self.parts(&[CollectiveKind::REDUCE_SCATTER])
    }

    /// Bytes that the rank gets.
    pub fn output_bytes(&self) -> u64 {
        self.part_bytes() * self.parts(&[CollectiveKind::ALL_GATHER])
    }

    /// Bounded when the post was made.
    const fn part_bytes(&self) -> u64 {
        self.count * self.element.bytes() as u64
    }

    fn parts(&self, wide: &[CollectiveKind]) -> u64 {
        let all = wide.contains(&self.kind) || self.kind == CollectiveKind::ALL_TO_ALL;
        if all { self.ranks.len() as u64 } else { 1 }
    }
}

/// The post of a record; `cores` is how many the program has.
pub(crate) fn post(
    at: At,
    body: &Collective,
    update: Events,
    program: &CoreProgram,
    cores: usize,
) -> Result<Post, Fault> {
    let (ranks, pairs) = members(body, program, cores)?;
    if let Some(rank) = ranks.iter().find(|rank| **rank >= cores) {
        let text = format!("rank {rank} is no core of this program, which has {cores}");
        return Err(Fault::collective(text));
    }
    if ranks.iter().collect::<BTreeSet<_>>().len() != ranks.len() {
        return Err(Fault::collective(format!("a rank is twice in the group {ranks:?}")));
    }
    if !ranks.contains(&at.core) {
        return Err(Fault::collective(format!("rank {} is not in the group {ranks:?}", at.core)));
    }
    let element = Element::of(body.dtype)?;
    let reduces = [CollectiveKind::ALL_REDUCE, CollectiveKind::REDUCE_SCATTER].contains(&body.kind);
    // the operations that a runtime takes (neuroncore.md §2.8)
    let known = [AluOp::ADD, AluOp::MULTIPLY, AluOp::MAX, AluOp::MIN].contains(&body.op);
    if reduces && !known {
        return Err(Fault::Operation { op: body.op, reason: "does not reduce over ranks" });
    }
    let most = MOST_BYTES / element.bytes() as u64 / ranks.len().max(1) as u64;
    if body.num_elements == 0 || body.num_elements > most {
        return Err(Fault::collective(format!("{} elements", body.num_elements)));
    }
    Ok(Post {
        at,
        kind: body.kind,
        op: body.op,
        element,
        count: body.num_elements,
        from: (program.variable(u64::from(body.input_tensor_id))?, body.src_offset),
        to: (program.variable(u64::from(body.output_tensor_id))?, body.dst_offset),
        ranks,
        pairs,
        update,
    })
}

/// A source and a target of a permute.
type Pair = (usize, usize);

/// The ranks that take part, and the ways of a permute.
fn members(
    body: &Collective,
    program: &CoreProgram,
    cores: usize,
) -> Result<(Vec<usize>, Vec<Pair>), Fault> {
    let group = usize::from(body.group_id);
    match body.kind {
        CollectiveKind::ALL_REDUCE
        | CollectiveKind::REDUCE_SCATTER
        | CollectiveKind::ALL_GATHER
        | CollectiveKind::ALL_TO_ALL => {
            let groups = program.replica_groups.as_ref().map_err(Fault::collective)?;
            let ranks = groups.get(group).filter(|ranks| !ranks.is_empty()).cloned();
            if ranks.is_none() && group >= groups.len().max(1) {
                return Err(Fault::collective(format!("there is no group {group}")));
            }
            Ok((ranks.unwrap_or_else(|| (0..cores).collect()), Vec::new()))
        }
        CollectiveKind::PERMUTE => {
            let routes = program.routes.as_ref().map_err(Fault::collective)?;
            let pairs: Result<Vec<Pair>, Fault> = routes
                .get(group)
                .ok_or_else(|| Fault::collective(format!("there are no pairs of group {group}")))?
                .iter()
                .map(|pair| match pair.as_slice() {
                    [source, target] => Ok((*source, *target)),
                    other => Err(Fault::collective(format!("{other:?} is no pair of ranks"))),
                })
                .collect();
            let pairs = pairs?;
            let targets: BTreeSet<usize> = pairs.iter().map(|(_, target)| *target).collect();
            if targets.len() != pairs.len() {
                return Err(Fault::collective("two sources have one target"));
            }
            let ranks: BTreeSet<usize> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
            Ok((ranks.into_iter().collect(), pairs))
        }
        other => Err(Fault::unknown(format!("collective {other}"))),
    }
}

/// Posts whose group is not complete yet.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// By the order of their first post.
    open: Vec<Vec<Post>>,
}

impl Gathering {
    /// Adds a post. Gives all posts of its collective, in the order of the
    /// group, when it is the last one.
    pub(crate) fn post(&mut self, post: Post) -> Result<Option<Vec<Post>>, Fault> {
        let fits = |posts: &&mut Vec<Post>| {
            let same = |other: &Post| (&other.ranks, &other.pairs) == (&post.ranks, &post.pairs);
            posts.iter().all(|other| same(other) && other.at.core != post.at.core)
        };
        match self.open.iter_mut().find(fits) {
            Some(posts) => {
                if let Some(first) = posts.first() {
                    agree(first, &post)?;
                }
                posts.push(post);
            }
            None => self.open.push(vec![post]),
        }
        let complete =
            |posts: &Vec<Post>| posts.first().is_some_and(|first| first.ranks.len() == posts.len());
        Ok(self.open.iter().position(complete).map(|index| {
            let mut posts = self.open.remove(index);
            let place = |post: &Post| post.ranks.iter().position(|rank| *rank == post.at.core);
            posts.sort_by_key(place);
            posts
        }))
    }

    /// Each post that waits, with the ranks that it waits for.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = Blocked> {
        self.open.iter().flat_map(|posts| {
            let here = |rank: &usize| posts.iter().any(|post| post.at.core == *rank);
            posts.iter().map(move |post| {
                let missing = post.ranks.iter().copied().filter(|rank| !here(rank)).collect();
                let unmet = vec![Unmet::Ranks(missing)];
                Blocked { at: post.at, opcode: Opcode::PSEUDO_TRIGGER_COLLECTIVE, unmet }
            })
        })
    }
}

/// All ranks must mean the same collective.
fn agree(first: &Post, post: &Post) -> Result<(), Fault> {
    let what = |post: &Post| (post.kind, post.op, post.element, post.count);
    if what(first) == what(post) {
        return Ok(());
    }
    let text =
        |post: &Post| format!("{} {} of {} {:?}", post.kind, post.op, post.count, post.element);
    let (rank, other) = (post.at.core, first.at.core);
    let (mine, theirs) = (text(post), text(first));
    Err(Fault::collective(format!("rank {rank} posts {mine}, rank {other} {theirs}")))
}

/// The states of the cores, by number.
pub(crate) trait States {
    /// The state of a core.
    fn state(&mut self, core: usize) -> Option<&mut State>;
}

/// Moves the numbers of a complete collective. The updates are the caller's.
pub(crate) fn perform(
    posts: &[Post],
    hbm: &mut Hbm,
    states: &mut impl States,
) -> Result<(), Fault> {
    let absent = |core| Fault::collective(format!("core {core} is absent"));
    let mut inputs = Vec::with_capacity(posts.len());
    for post in posts {
        let size = usize::try_from(post.input_bytes()).unwrap_or(usize::MAX);
        let mut bytes = vec![0; size];
        let state = states.state(post.at.core).ok_or_else(|| absent(post.at.core))?;
        let (place, offset) = post.from;
        place.read(&state.memory, hbm, signed(offset)?, &mut bytes)?;
        inputs.push(bytes);
    }
    for (index, post) in posts.iter().enumerate() {
        let bytes = result(post, index, posts, &inputs);
        let state = states.state(post.at.core).ok_or_else(|| absent(post.at.core))?;
        let (place, offset) = post.to;
        place.write(&mut state.memory, hbm, signed(offset)?, &bytes)?;
    }
    Ok(())
}

/// Refuses what [`perform`] refuses, and moves nothing.
pub(crate) fn check(posts: &[Post], hbm: &Hbm, states: &mut impl States) -> Result<(), Fault> {
    for post in posts {
        let absent = || Fault::collective(format!("core {} is absent", post.at.core));
        let memory = &states.state(post.at.core).ok_or_else(absent)?.memory;
        for ((place, offset), bytes) in
            [(post.from, post.input_bytes()), (post.to, post.output_bytes())]
        {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            place.check(memory, hbm, signed(offset)?, bytes)?;
        }
    }
    Ok(())
}

fn signed(offset: u64) -> Result<i64, Fault> {
    i64::try_from(offset).map_err(|_| Fault::address(format!("offset {offset}")))
}

/// What the rank at a place of the group gets.
fn result(post: &Post, place: usize, posts: &[Post], inputs: &[Vec<u8>]) -> Vec<u8> {
    let part = usize::try_from(post.part_bytes()).unwrap_or(usize::MAX);
    let slice = |input: &'_ Vec<u8>, index: usize| -> Vec<u8> {
        input.iter().skip(index * part).take(part).copied().collect()
    };
    match post.kind {
        CollectiveKind::ALL_GATHER => inputs.concat(),
        CollectiveKind::ALL_TO_ALL => inputs.iter().flat_map(|input| slice(input, place)).collect(),
        CollectiveKind::REDUCE_SCATTER => {
            let parts: Vec<Vec<u8>> = inputs.iter().map(|input| slice(input, place)).collect();
            fold(post, &parts)
        }
        CollectiveKind::PERMUTE => {
            let source = post.pairs.iter().find(|(_, target)| *target == post.at.core);
            let source = source.and_then(|(source, _)| {
                posts.iter().zip(inputs).find(|(other, _)| other.at.core == *source)
            });
            source.map_or_else(|| vec![0; part], |(_, input)| input.clone())
        }
        // the post has no other kind
        _ => fold(post, inputs),
    }
}

/// Numbers of all ranks, reduced in order.
fn fold(post: &Post, inputs: &[Vec<u8>]) -> Vec<u8> {
    let element = post.element;
    let bytes = element.bytes();
    let Some((first, others)) = inputs.split_first() else {
        return Vec::new();
    };
    let mut out = first.clone();
    if element.is_signed().is_some() {
        let reduce: fn(i64, i64) -> i64 = match post.op {
            AluOp::MULTIPLY => i64::wrapping_mul,
            AluOp::MAX => i64::max,
            AluOp::MIN => i64::min,
            _ => i64::wrapping_add,
        };
        for other in others {
            for (sum, value) in out.chunks_exact_mut(bytes).zip(other.chunks_exact(bytes)) {
                let wide = |bytes: &[u8]| element.widen(element.load(bytes));
                element.store(element.wrap(reduce(wide(sum), wide(value))), sum);
            }
        }
        return out;
    }
    let reduce: fn(f32, f32) -> f32 = match post.op {
        AluOp::MULTIPLY => |a, b| a * b,
        AluOp::MAX => maximum,
        AluOp::MIN => |a, b| -maximum(-a, -b),
        _ => |a, b| a + b,
    };
    let number = |bytes: &[u8]| element.decode(element.load(bytes));
    let mut sums: Vec<f32> = first.chunks_exact(bytes).map(number).collect();
    for other in others {
        for (sum, value) in sums.iter_mut().zip(other.chunks_exact(bytes)) {
            *sum = reduce(*sum, number(value));
        }
    }
    for (sum, into) in sums.iter().zip(out.chunks_exact_mut(bytes)) {
        element.store(element.encode(*sum), into);
    }
    out
}
