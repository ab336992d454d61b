//! Collectives in time. A collective is done once the last rank has posted: what
//! its transfers take is left out.

use super::events::Event;
use super::machine::{Core, Machine};
use super::parameters::{Ps, by_engine};
use crate::collective::{self, Post, States};
use crate::exec::State;
use crate::fault::Fault;

impl States for Vec<Core<'_>> {
    fn state(&mut self, core: usize) -> Option<&mut State> {
        self.get_mut(core).map(|core| &mut core.state)
    }
}

impl Machine<'_, '_> {
    /// Takes a post that ends at this time, and does the collective if it is
    /// the last one.
    pub(super) fn post(&mut self, end: Ps, post: Post) -> Result<(), Fault> {
        self.posted.push((post.at, end));
        let Some(posts) = self.gathering.post(post)? else { return Ok(()) };
        if self.moves {
            collective::perform(&posts, &mut self.hbm, &mut self.cores)?;
        }
        let mine = |at| posts.iter().any(|post| post.at == at);
        let ends = self.posted.iter().filter(|(at, _)| mine(*at)).map(|(_, end)| *end);
        let end = ends.max().unwrap_or(end);
        self.posted.retain(|(at, _)| !mine(*at));
        self.last = self.last.max(end);
        for post in &posts {
            let time = end + by_engine(&self.timing.parameters.update, post.at.engine);
            let (engine, slot) = (post.at.engine, post.at.slot);
            self.agenda.push(time, post.at.core, Event::Collected { engine, slot });
        }
        Ok(())
    }
}
