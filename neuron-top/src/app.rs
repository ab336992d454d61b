//! What the screen shows and how it answers: a state machine without a
//! terminal, a clock or a file.

use std::sync::Arc;

use crate::frame::{Core, Frame, Share};
use crate::history::History;
use crate::keys::{Action, Code, Key, Keymap};
use crate::tabs::Tabs;
use crate::tree::{self, Line, Node, Open, Sort, View};

/// What a key or click asks of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing to be seen changed.
    None,
    /// Draw.
    Draw,
    /// Draw everything, whatever the terminal is held to show.
    Redraw,
    /// Stop until the shell lets the program go on.
    Suspend,
    /// End.
    Quit,
}

/// What lies over the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// Keys and what they do.
    Help,
    /// Everything that is wrong with devices.
    Notes,
}

/// Something on the screen that can be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A tab by its number.
    Tab(usize),
    /// A line of the tree.
    Line(Node),
    /// The mark in front of a line.
    Mark(Node),
    /// A core or device of the grid.
    Grid(Node),
    /// The line that says what is wrong.
    Notes,
}

/// The state.
#[derive(Debug)]
pub struct App {
    history: History,
    /// Number of the reading that is shown while paused.
    paused: Option<u64>,
    tabs: Tabs,
    open: Open,
    cursor: Option<Node>,
    /// Line of the tree's area that the cursor is on.
    row: usize,
    /// Lines of the tree's area when it was drawn last.
    page: usize,
    flops: bool,
    curves: bool,
    sort: Sort,
    filter: String,
    editing: bool,
    overlay: Option<Overlay>,
    scroll: usize,
    keymap: Keymap,
    /// Seconds that the newest reading is late.
    late: Option<u64>,
}

impl App {
    /// Before the first reading.
    pub fn new(keymap: Keymap, flops: bool, curves: bool) -> Self {
        Self {
            history: History::default(),
            paused: None,
            tabs: Tabs::default(),
            open: Open::default(),
            cursor: None,
            row: 0,
            page: 1,
            flops,
            curves,
            sort: Sort::default(),
            filter: String::new(),
            editing: false,
            overlay: None,
            scroll: 0,
            keymap,
            late: None,
        }
    }

    /// Takes a reading.
    pub fn on_frame(&mut self, frame: Arc<Frame>) -> Effect {
        if self.history.newest().is_none() && frame.machine.devices.len() == 1 {
            // With one device there is room for its cores.
            let devices = frame.machine.devices.iter();
            devices.for_each(|device| self.open.set(Node::device(device.index), true));
        }
        self.history.push(frame);
        self.late = None;
        if self.paused.is_some() {
            // The time since the pause is shown.
            return Effect::Draw;
        }
        self.settle();
        Effect::Draw
    }

    /// Tells how late the newest reading is.
    pub fn on_late(&mut self, seconds: u64) -> Effect {
        self.late = Some(seconds);
        Effect::Draw
    }

    /// Takes the size of the tree's area as it was drawn, and the line of it
    /// that the cursor is on.
    pub fn on_drawn(&mut self, page: usize, row: usize) {
        self.page = page.max(1);
        self.row = row.min(self.page - 1);
    }

    /// Answers a key.
    pub fn on_key(&mut self, key: Key) -> Effect {
        if self.editing
            && let Some(effect) = self.edit(key)
        {
            return effect;
        }
        let action = self.keymap.action(key);
        if action == Some(Action::Quit) && self.overlay.is_none() {
            return Effect::Quit;
        }
        if let Some(effect) = self.overlay_key(key, action) {
            return effect;
        }
        if key.code == Code::Escape {
            if self.filter.is_empty() {
                return Effect::None;
            }
            self.set_filter(String::new());
            return Effect::Draw;
        }
        action.map_or(Effect::None, |action| self.act(action))
    }

    fn overlay_key(&mut self, key: Key, action: Option<Action>) -> Option<Effect> {
        self.overlay?;
        match action {
            Some(Action::Up) => self.scroll = self.scroll.saturating_sub(1),
            Some(Action::Down) => self.scroll = self.scroll.saturating_add(1),
            Some(Action::PageUp) => self.scroll = self.scroll.saturating_sub(10),
            Some(Action::PageDown) => self.scroll = self.scroll.saturating_add(10),
            Some(Action::Redraw) => return Some(Effect::Redraw),
            Some(Action::Quit) if key.ctrl => return Some(Effect::Quit),
            _ => self.overlay = None,
        }
        Some(Effect::Draw)
    }

    fn act(&mut self, action: Action) -> Effect {
        match action {
            Action::Quit => return Effect::Quit,
            Action::Redraw => return Effect::Redraw,
            Action::Suspend => return Effect::Suspend,
            Action::Up => self.walk(-1),
            Action::Down => self.walk(1),
            Action::PageUp => self.walk(-signed(self.page)),
            Action::PageDown => self.walk(signed(self.page)),
            Action::First => self.walk(isize::MIN),
            Action::Last => self.walk(isize::MAX),
            Action::Toggle => self.expand(None),
            Action::Left => self.left(),
            Action::Right => self.right(),
            Action::ToggleAll => {
                self.open.toggle_all();
                self.settle();
            }
            Action::NextTab => self.turn(|tabs| tabs.turn(true)),
            Action::PreviousTab => self.turn(|tabs| tabs.turn(false)),
            Action::Tab(number) => self.turn(|tabs| tabs.select(number - 1)),
            Action::Flops => self.flops = !self.flops,
            Action::Curves => self.curves = !self.curves,
            Action::Sort => {
                self.sort = self.sort.next();
                self.settle();
            }
            Action::Filter => self.editing = true,
            Action::Pause => {
                self.paused = if self.paused.is_some() { None } else { self.history.newest() };
                self.settle();
            }
            Action::Back => self.step(false),
            Action::Forward => self.step(true),
            Action::Notes => self.show(Overlay::Notes),
            Action::Help => self.show(Overlay::Help),
        }
        Effect::Draw
    }

    fn show(&mut self, overlay: Overlay) {
        (self.overlay, self.scroll) = (Some(overlay), 0);
    }

    fn edit(&mut self, key: Key) -> Option<Effect> {
        match key.code {
            Code::Enter => self.editing = false,
            Code::Escape => {
                self.editing = false;
                self.set_filter(String::new());
            }
            Code::Backspace => {
                let mut text = self.filter.clone();
                text.pop();
                self.set_filter(text);
            }
            Code::Char(c) if !key.ctrl => {
                let mut text = self.filter.clone();
                text.push(c);
                self.set_filter(text);
            }
            _ => return None,
        }
        Some(Effect::Draw)
    }

    fn set_filter(&mut self, text: String) {
        self.filter = text;
        self.settle();
    }

    fn turn(&mut self, go: impl FnOnce(&mut Tabs)) {
        go(&mut self.tabs);
        self.settle();
    }

    /// One reading back or forward; back pauses, forward past the newest goes
    /// on.
    fn step(&mut self, forward: bool) {
        let Some(newest) = self.history.newest() else { return };
        let at = self.paused.unwrap_or(newest).clamp(self.history.oldest(), newest);
        self.paused = match forward {
            true if self.paused.is_none() || at >= newest => None,
            true => Some(at + 1),
            false => Some(at.saturating_sub(1).max(self.history.oldest())),
        };
        self.settle();
    }

    /// Answers a click.
    pub fn on_click(&mut self, target: Target) -> Effect {
        self.overlay = None;
        match target {
            Target::Tab(tab) => self.turn(|tabs| tabs.select(tab)),
            Target::Line(node) => self.go(node),
            Target::Mark(node) => {
                self.go(node);
                self.expand(None);
            }
            Target::Grid(node) => {
                if let Some(parent) = node.parent() {
                    self.open.set(parent, true);
                }
                self.go(node);
            }
            Target::Notes => self.show(Overlay::Notes),
        }
        Effect::Draw
    }

    /// Answers the wheel: lines down, or up where negative.
    pub fn on_wheel(&mut self, lines: isize) -> Effect {
        match self.overlay {
            Some(_) => self.scroll = self.scroll.saturating_add_signed(lines),
            None => self.walk(lines),
        }
        Effect::Draw
    }

    /// The lines of the tree.
    pub fn lines(&self) -> Vec<Line> {
        let Some(frame) = self.frame() else { return Vec::new() };
        tree::lines(
            frame,
            View {
                pid: self.pid(),
                filter: &self.filter.to_lowercase(),
                sort: self.sort,
                open: &self.open,
            },
        )
    }

    fn go(&mut self, node: Node) {
        self.cursor = Some(node);
        let lines = self.lines();
        let before = self.top(&lines, self.page);
        self.settle();
        if let Some(at) = lines.iter().position(|line| line.node == node) {
            // It stays where it is if it is to be seen.
            self.row = at.saturating_sub(before).min(self.page - 1);
        }
    }

    fn walk(&mut self, by: isize) {
        let lines = self.lines();
        let Some(last) = lines.len().checked_sub(1) else { return };
        let at = self.place(&lines);
        let to = at.saturating_add_signed(by).min(last);
        self.cursor = lines.get(to).map(|line| line.node);
        let row = self.row.saturating_add(to).saturating_sub(at);
        self.row = if to < at { self.row.saturating_sub(at - to) } else { row };
        self.row = self.row.min(self.page - 1);
    }

    /// Expands or collapses the line of the cursor.
    fn expand(&mut self, to: Option<bool>) {
        let lines = self.lines();
        let Some(line) = lines.get(self.place(&lines)) else { return };
        if let Some(open) = line.open {
            self.open.set(line.node, to.unwrap_or(!open));
        }
    }

    fn left(&mut self) {
        let lines = self.lines();
        let Some(line) = lines.get(self.place(&lines)) else { return };
        match (line.open, line.node.parent()) {
            (Some(true), _) => self.open.set(line.node, false),
            (_, Some(parent)) => {
                if let Some(to) = lines.iter().position(|line| line.node == parent) {
                    self.walk(signed(to) - signed(self.place(&lines)));
                }
            }
            _ => {}
        }
    }

    fn right(&mut self) {
        let lines = self.lines();
        let Some(line) = lines.get(self.place(&lines)) else { return };
        match line.open {
            Some(false) => self.open.set(line.node, true),
            Some(true) => self.walk(1),
            None => {}
        }
    }

    /// Index of the cursor's line.
    pub fn place(&self, lines: &[Line]) -> usize {
        let found = self.cursor.and_then(|node| lines.iter().position(|line| line.node == node));
        found.unwrap_or(0)
    }

    /// Index of the line that is drawn first in an area of `height`: the
    /// cursor stays on its line of the screen as far as there are lines.
    pub fn top(&self, lines: &[Line], height: usize) -> usize {
        let most = lines.len().saturating_sub(height);
        self.place(lines).saturating_sub(self.row.min(height.saturating_sub(1))).min(most)
    }

    /// After a change of what is shown: tabs follow the reading, and a cursor
    /// whose line has gone goes to what it hung under.
    fn settle(&mut self) {
        let Some(frame) = self.frame().cloned() else { return };
        self.tabs.update(&frame, &self.filter.to_lowercase());
        let lines = self.lines();
        while let Some(node) = self.cursor
            && !lines.iter().any(|line| line.node == node)
        {
            self.cursor = node.parent();
        }
        if self.cursor.is_none() {
            self.cursor = lines.first().map(|line| line.node);
            self.row = 0;
        }
        self.row = self.row.min(self.place(&lines));
    }

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

    /// Seconds that the newest reading is late.
    pub fn late(&self) -> Option<u64> {
        self.late
    }

    /// Expands the whole tree: for text that nobody can expand.
    pub fn expand_all(&mut self) {
        self.open = Open::default();
        self.open.toggle_all();
    }
}

fn signed(number: usize) -> isize {
    isize::try_from(number).unwrap_or(isize::MAX)
}
