//! What the state shows: read by the drawing, changed by nothing here.

use std::sync::Arc;

use super::{App, Overlay};
use crate::frame::{Core, Frame, Share};
use crate::keys::Keymap;
use crate::tabs::Tabs;
use crate::tree::{Node, Sort};

impl App {
    /// The reading that is shown.
    pub fn frame(&self) -> Option<&Arc<Frame>> {
        self.history.at(self.shown()?)
    }

    /// Number of the reading that is shown.
    fn shown(&self) -> Option<u64> {
        self.paused.or_else(|| self.history.newest())
    }

    /// The last readings up to the one that is shown, oldest first.
    pub fn past(&self, count: usize) -> Vec<&Arc<Frame>> {
        self.shown().map(|shown| self.history.until(shown, count).collect()).unwrap_or_default()
    }

    /// A core as the current tab shows it, by its place in [`Frame::cores`].
    pub fn core(&self, frame: &Frame, at: usize) -> Core {
        let own = |pid| frame.process(pid).and_then(|process| process.cores.get(&at).copied());
        match self.pid() {
            Some(pid) => own(pid).unwrap_or_default(),
            None => frame.cores.get(at).copied().unwrap_or_default(),
        }
    }

    /// CPU time of the processes of the current tab, or why it is not known.
    pub fn runtime_cpu(&self) -> Option<Result<Share, String>> {
        let frame = self.frame()?;
        frame.span?;
        let mut sum = Share::default();
        let pid = self.pid();
        for process in frame.processes.iter() {
            if pid.is_some_and(|pid| pid != process.application.pid) {
                continue;
            }
            match process.cpu.as_ref()? {
                Ok(share) => {
                    sum.user += share.user;
                    sum.system += share.system;
                }
                Err(reason) => return Some(Err(reason.clone())),
            }
        }
        Some(Ok(sum))
    }

    /// The process of the current tab; `None` for all.
    pub fn pid(&self) -> Option<u32> {
        self.tabs.selected().map(|slot| slot.pid)
    }

    /// How many readings, and seconds, the shown one is behind the newest;
    /// `None` while it is the newest.
    pub fn behind(&self) -> Option<(u64, f64)> {
        let (paused, newest) = (self.paused?, self.history.newest()?);
        let nanos = |number| self.history.at(number).map_or(0, |frame| frame.taken);
        let between = nanos(newest).saturating_sub(nanos(paused));
        let seconds = std::time::Duration::from_nanos(between).as_secs_f64();
        Some((newest.saturating_sub(paused), seconds))
    }
}

/// What is drawn beside the figures.
impl App {
    /// The tabs.
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// Whether cores show operations per second.
    pub fn flops(&self) -> bool {
        self.flops
    }

    /// Whether cores show their history.
    pub fn curves(&self) -> bool {
        self.curves
    }

    /// Order of the tree.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// The filter, and whether it is being written.
    pub fn filter(&self) -> (&str, bool) {
        (&self.filter, self.editing)
    }

    /// What lies over the screen, and how far it is scrolled.
    pub fn overlay(&self) -> Option<(Overlay, usize)> {
        self.overlay.map(|overlay| (overlay, self.scroll))
    }

    /// The line of the tree that the cursor is on.
    pub fn cursor(&self) -> Option<Node> {
        self.cursor
    }

    /// Which key does what.
    pub fn keymap(&self) -> &Keymap {
        &self.keymap
    }

    /// What is read, where it is not a machine as it is now; else empty.
    pub fn label(&self) -> &'static str {
        self.label
    }

    /// Seconds that the newest reading is late.
    pub fn late(&self) -> Option<u64> {
        self.late
    }
}
