//! Collectives in time: a ring over the ranks, from the last post on.
//!
//! The cost is the sheet's model (neuroncore.md §5.5): steps of a ring, each a
//! fixed time and the bytes of one rank's part over the link. No public number
//! exists for the fixed time; nothing here was fitted.

use neuron_core::isa::code::CollectiveKind;

use super::events::Event;
use super::machine::{Core, Machine, narrow};
use super::parameters::{CollectiveCost, Ps};
use crate::collective::{self, Gathering, Post, States};
use crate::exec::State;
use crate::fault::Fault;
use crate::stop::Stop;

/// Collectives of a run.
#[derive(Debug, Default)]
pub(super) struct Collectives {
    pub(super) gathering: Gathering,
    /// Those that are complete, until they are done.
    running: Vec<Vec<Post>>,
}

impl States for Vec<Core<'_>> {
    fn state(&mut self, core: usize) -> Option<&mut State> {
        self.get_mut(core).map(|core| &mut core.state)
    }
}

impl CollectiveCost {
    /// From the last post to the end. `whole` is the larger of a rank's input
    /// and output.
    fn time(&self, kind: CollectiveKind, ranks: u64, whole: u64) -> Ps {
        let ranks = ranks.max(1);
        let hop = |bytes: u64| self.step + bytes.saturating_mul(self.fs_per_byte) / 1000;
        match kind {
            CollectiveKind::PERMUTE => hop(whole),
            // reduce-scatter, then all-gather
            CollectiveKind::ALL_REDUCE => 2 * (ranks - 1) * hop(whole / ranks),
            _ => (ranks - 1) * hop(whole / ranks),
        }
        .max(self.step)
    }
}

impl Machine<'_, '_> {
    /// Takes the post of a record that begins now.
    pub(super) fn posted(&mut self, now: Ps, post: Post) -> Result<(), Fault> {
        let core = post.at.core;
        let Some(posts) = self.collectives.gathering.post(post)? else { return Ok(()) };
        let whole = posts.iter().map(|post| post.input_bytes().max(post.output_bytes())).max();
        let kind = posts.first().map_or(CollectiveKind::PERMUTE, |post| post.kind);
        let cost = &self.timing.parameters.collective;
        let time = cost.time(kind, posts.len() as u64, whole.unwrap_or_default());
        let number = narrow(self.collectives.running.len());
        self.collectives.running.push(posts);
        self.agenda.push(now + time, core, Event::Collective { number });
        Ok(())
    }

    /// Ends a collective: moves its numbers, then updates as its records say.
    pub(super) fn collected(&mut self, now: Ps, number: u32) -> Result<(), Stop> {
        let posts = self.collectives.running.get_mut(number as usize).map(std::mem::take);
        let posts = posts.unwrap_or_default();
        self.last = self.last.max(now);
        let done = if self.moves {
            collective::perform(&posts, &mut self.hbm, &mut self.cores)
        } else {
            collective::check(&posts, &self.hbm, &mut self.cores)
        };
        if let (Err(fault), Some(post)) = (done, posts.first()) {
            return Err(self.stop(post.at, fault));
        }
        for post in &posts {
            let at = post.at;
            self.change(now, at.core, at.engine, narrow(at.slot), None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 (p - 1) (a + n / (p B)) for 4 ranks, 1 MiB, 5 us and 1 TB/s.
    #[test]
    fn a_ring_takes_two_rounds_to_reduce() {
        let cost = CollectiveCost { step: 5_000_000, fs_per_byte: 1000 };
        let hop = 5_000_000 + (1 << 20) / 4;
        assert_eq!(cost.time(CollectiveKind::ALL_REDUCE, 4, 1 << 20), 6 * hop);
        assert_eq!(cost.time(CollectiveKind::ALL_GATHER, 4, 1 << 20), 3 * hop);
        assert_eq!(cost.time(CollectiveKind::PERMUTE, 2, 100), 5_000_100);
        assert_eq!(cost.time(CollectiveKind::ALL_REDUCE, 1, 1 << 20), 5_000_000);
    }
}
