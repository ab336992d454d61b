//! Text on a buffer: cut to its place, and what can be clicked.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::app::Target;
use crate::figures::cut;
use crate::theme::Theme;

/// Where one draws.
#[derive(Debug)]
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    pub(crate) theme: &'a Theme,
    pub(crate) hits: Vec<(Rect, Target)>,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut Buffer, area: Rect, theme: &'a Theme) -> Self {
        Self { area: area.intersection(buffer.area), buffer, theme, hits: Vec::new() }
    }

    /// Columns.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    /// Lines.
    pub(crate) fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    /// Whether glyphs beyond ASCII may be drawn.
    pub(crate) fn unicode(&self) -> bool {
        !self.theme.ascii
    }

    /// A place on the buffer; `None` outside.
    fn at(&self, x: usize, y: usize) -> Option<(u16, u16)> {
        let inside = x < self.width() && y < self.height();
        let x = u16::try_from(x).ok().filter(|_| inside)?;
        Some((self.area.x + x, self.area.y + u16::try_from(y).ok()?))
    }

    /// Writes a text, at most `width` columns of it; gives the column behind.
    pub(crate) fn put(
        &mut self,
        x: usize,
        y: usize,
        text: &str,
        width: usize,
        style: Style,
    ) -> usize {
        let width = width.min(self.width().saturating_sub(x));
        let text = cut(text, width, self.unicode());
        match self.at(x, y) {
            Some((left, top)) => {
                let (behind, _) = self.buffer.set_stringn(left, top, &text, width, style);
                usize::from(behind.saturating_sub(self.area.x))
            }
            None => x,
        }
    }

    /// Writes a text as far as the line goes.
    pub(crate) fn text(&mut self, x: usize, y: usize, text: &str, style: Style) -> usize {
        self.put(x, y, text, usize::MAX, style)
    }

    /// Writes a glyph `count` times.
    pub(crate) fn run(&mut self, x: usize, y: usize, glyph: char, count: usize, style: Style) {
        for x in x..x.saturating_add(count).min(self.width()) {
            if let Some(place) = self.at(x, y)
                && let Some(cell) = self.buffer.cell_mut(place)
            {
                cell.set_char(glyph).set_style(style);
            }
        }
    }

    /// Gives a whole line a style.
    pub(crate) fn band(&mut self, y: usize, style: Style) {
        let width = self.width();
        self.run(0, y, ' ', width, style);
    }

    /// Gives what is drawn a style.
    pub(crate) fn restyle(&mut self, x: usize, y: usize, count: usize, style: Style) {
        for x in x..x.saturating_add(count).min(self.width()) {
            if let Some(place) = self.at(x, y)
                && let Some(cell) = self.buffer.cell_mut(place)
            {
                cell.set_style(style);
            }
        }
    }

    /// Notes what can be clicked.
    pub(crate) fn hit(&mut self, x: usize, y: usize, width: usize, target: Target) {
        if let Some((left, top)) = self.at(x, y) {
            let width = u16::try_from(width.min(self.width() - x)).unwrap_or(u16::MAX);
            self.hits.push((Rect::new(left, top, width, 1), target));
        }
    }

    /// Heading of a section.
    pub(crate) fn section(&mut self, y: usize, text: &str) {
        let style = self.theme.section;
        self.band(y, style);
        self.text(0, y, text, style);
    }
}
