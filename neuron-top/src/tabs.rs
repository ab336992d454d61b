//! The tabs: all processes, and each of them.
//!
//! A process keeps its tab for as long as it lives. The tab of one that ended
//! is left free for the next, so that no other tab moves.

use neuron_core::model::Application;

use crate::frame::Frame;
use crate::tree::passes;

/// The tabs behind `all`, and which one is current.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tabs {
    slots: Vec<Slot>,
    /// 0 is `all`, 1 the first process.
    current: usize,
}

/// The tab of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its process id.
    pub pid: u32,
    /// What stands on the tab.
    pub tag: String,
    /// Whether the process has ended.
    pub gone: bool,
    /// Whether it passes the filter.
    pub passes: bool,
}

impl Tabs {
    /// Takes in who is there.
    pub fn update(&mut self, frame: &Frame, filter: &str) {
        for slot in &mut self.slots {
            slot.gone = frame.process(slot.pid).is_none();
        }
        for process in &frame.processes {
            let application = &*process.application;
            let kept = |application: &Application| {
                passes(application, filter)
                    || application.memory.models.iter().any(|model| {
                        model.name.to_lowercase().contains(filter) || model.id.to_string() == filter
                    })
            };
            let slot = Slot {
                pid: application.pid,
                tag: application.tag.clone(),
                gone: false,
                passes: kept(application),
            };
            let current = self.current;
            let own = self.slots.iter().position(|old| old.pid == slot.pid);
            let free = || {
                let mut slots = self.slots.iter().enumerate();
                slots.position(|(at, old)| old.gone && at + 1 != current)
            };
            match own.or_else(free).and_then(|at| self.slots.get_mut(at)) {
                Some(place) => *place = slot,
                None => self.slots.push(slot),
            }
        }
        // Nothing stands behind these, so nothing moves.
        while self.slots.last().is_some_and(|slot| slot.gone) && self.current != self.slots.len() {
            self.slots.pop();
        }
    }

    /// The tabs of processes, in their places.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Number of the current tab, 0 for `all`.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The process of the current tab; `None` for `all`.
    pub fn selected(&self) -> Option<&Slot> {
        self.current.checked_sub(1).and_then(|at| self.slots.get(at))
    }

    /// Whether a tab is to be seen.
    pub fn is_shown(&self, tab: usize) -> bool {
        match tab.checked_sub(1) {
            None => true,
            Some(at) => self
                .slots
                .get(at)
                .is_some_and(|slot| tab == self.current || (!slot.gone && slot.passes)),
        }
    }

    /// Goes to a tab, if there is one.
    pub fn select(&mut self, tab: usize) {
        if self.is_shown(tab) {
            self.current = tab;
        }
    }

    /// Goes to the next tab or the one before, round the end.
    pub fn turn(&mut self, forward: bool) {
        let count = self.slots.len() + 1;
        let step = if forward { 1 } else { count - 1 };
        let mut tab = self.current;
        for _ in 0..count {
            tab = (tab + step) % count;
            if self.is_shown(tab) {
                self.current = tab;
                return;
            }
        }
    }
}
