//! How the lines of a screen are shared out: a pure function of its size and
//! of what there is to show.
//!
//! The layout of the original where there is room (sys-tools.md §3.2); with
//! less, blank lines go first, then headings, then the tree.

use super::grid::Form;

/// What there is to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content {
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Its lines.
    pub(crate) height: usize,
    /// Devices.
    pub(crate) devices: usize,
    /// The most cores that a device has.
    pub(crate) cores: usize,
    /// Whether cores show operations per second.
    pub(crate) flops: bool,
    /// Whether something is wrong.
    pub(crate) notes: bool,
}

/// Where each part begins, by line; `None` for what has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) title: usize,
    pub(crate) notes: Option<usize>,
    pub(crate) cores: usize,
    /// How the grid is drawn, and whether columns have headings.
    pub(crate) form: Form,
    pub(crate) heads: bool,
    pub(crate) cpu: usize,
    pub(crate) memory: usize,
    pub(crate) summary: Summary,
    /// Heading of the tree, its first line, and how many lines it has.
    pub(crate) details: Option<usize>,
    pub(crate) tree: usize,
    pub(crate) tree_height: usize,
    pub(crate) tabs: usize,
    pub(crate) help: Option<usize>,
}

/// How the memory summary is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summary {
    /// Heading and two lines of names and figures.
    Lines,
    /// Heading and a table of three lines.
    Table,
    /// The two totals on two lines.
    Totals,
}

/// Least columns of [`Summary::Lines`] and of [`Summary::Table`].
const LINES: usize = 160;
const TABLE: usize = 64;

/// A way to share out the lines, from the roomiest to the tightest.
struct Manner {
    blanks: bool,
    heads: bool,
    /// Whether the two CPU lines have a heading.
    cpu: bool,
    summary: bool,
    help: bool,
    /// Least lines of the tree; without headings when they are none.
    tree: usize,
}

const MANNERS: &[Manner] = &[
    Manner { blanks: true, heads: true, cpu: true, summary: true, help: true, tree: 8 },
    Manner { blanks: false, heads: true, cpu: true, summary: true, help: true, tree: 6 },
    Manner { blanks: false, heads: false, cpu: true, summary: true, help: true, tree: 4 },
    Manner { blanks: false, heads: false, cpu: false, summary: false, help: true, tree: 4 },
    Manner { blanks: false, heads: false, cpu: false, summary: false, help: true, tree: 2 },
    Manner { blanks: false, heads: false, cpu: false, summary: false, help: false, tree: 0 },
];

impl Plan {
    pub(crate) fn of(content: Content) -> Self {
        let forms = Form::all(content.width, content.devices, content.cores, content.flops);
        let tightest = forms.last().copied().unwrap_or_default();
        let fitting = |manner: &Manner, figures: bool| {
            let room = content.height.checked_sub(fixed(manner, &content) + manner.tree)?;
            let fits = |form: &&Form| {
                form.rows(content.devices) <= room && (form.has_figures() || !figures)
            };
            forms.iter().find(fits).copied()
        };
        // Figures of each core are worth more than blanks and headings.
        let found = [true, false].into_iter().find_map(|figures| {
            let manners = MANNERS.iter().filter(|manner| !figures || manner.help);
            let mut fit = manners.filter_map(|m| fitting(m, figures).map(|form| (m, form)));
            fit.next()
        });
        let last = || MANNERS.last().map(|manner| (manner, tightest));
        match found.or_else(last) {
            Some((manner, form)) => Self::lay(manner, form, &content),
            None => Self::lay(&MANNERS[0], tightest, &content),
        }
    }

    fn lay(manner: &Manner, form: Form, content: &Content) -> Self {
        let blank = usize::from(manner.blanks);
        let mut next = blank;
        let mut take = |lines: usize| {
            let at = next;
            next += lines;
            at
        };
        let title = take(1);
        let notes = content.notes.then(|| take(1));
        take(if notes.is_some() { 0 } else { blank });
        let heads = manner.heads && form.one_device_a_row();
        let cores = take(1 + usize::from(heads) + form.rows(content.devices) + blank);
        let cpu = take(usize::from(manner.cpu) + 2 + blank);
        let summary = summary(manner, content);
        let memory = take(summary.lines() + blank);
        let bottom = 1 + usize::from(manner.help);
        let left = content.height.saturating_sub(next + bottom);
        // Heading and columns, where a line of the tree has room below them.
        let details = (left >= 3).then_some(next);
        let tree = next + if details.is_some() { 2 } else { 0 };
        let tree_height = if details.is_some() { left - 2 } else { 0 };
        let tabs = content.height.saturating_sub(bottom).max(1);
        let help = manner.help.then_some(tabs + 1);
        Self {
            title,
            notes,
            cores,
            form,
            heads,
            cpu,
            memory,
            summary,
            details,
            tree,
            tree_height,
            tabs,
            help,
        }
    }

    /// Whether the CPU lines have a heading.
    pub(crate) fn cpu_heading(&self) -> bool {
        self.memory >= self.cpu + 3
    }
}

/// Lines of everything but the grid and the lines of the tree.
fn fixed(manner: &Manner, content: &Content) -> usize {
    let blanks = if manner.blanks { 5 - usize::from(content.notes) } else { 0 };
    let tree = if manner.tree > 0 { 2 } else { 0 };
    blanks
        + 1
        + usize::from(content.notes)
        + 1
        + usize::from(manner.heads)
        + usize::from(manner.cpu)
        + 2
        + summary(manner, content).lines()
        + tree
        + 1
        + usize::from(manner.help)
}

fn summary(manner: &Manner, content: &Content) -> Summary {
    match content.width {
        _ if !manner.summary => Summary::Totals,
        LINES.. => Summary::Lines,
        TABLE.. => Summary::Table,
        _ => Summary::Totals,
    }
}

impl Summary {
    /// Lines with the heading.
    pub(crate) const fn lines(self) -> usize {
        match self {
            Self::Lines => 3,
            Self::Table => 4,
            Self::Totals => 2,
        }
    }
}
