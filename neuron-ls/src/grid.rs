//! A table in the original's form, drawn by comfy-table.
//!
//! Two heading lines, centred with the spare column to the right; bodies to
//! the left; one blank of padding; a rule behind every block once any block
//! has two lines (sys-tools.md §2.3, §2.4). comfy-table centres with the spare
//! column to the left, so headings are centred here.

use comfy_table::{ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};
use neuron_core::cli::Paint;
use unicode_width::UnicodeWidthStr;

/// The lines of one device (or process): for each column, its cells from the
/// top; columns that run out are blank below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) columns: Vec<Vec<String>>,
    /// Colour of the block, where colour is on.
    pub(crate) paint: Option<Paint>,
}

impl Block {
    fn height(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0).max(1)
    }
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) headings: Vec<[&'static str; 2]>,
    pub(crate) blocks: Vec<Block>,
}

impl Grid {
    /// Columns of the terminal that the table needs.
    pub(crate) fn width(&self) -> usize {
        self.column_widths().iter().map(|width| width + 3).sum::<usize>() + 1
    }

    /// Writes the table; every line ends with a newline.
    pub(crate) fn draw(&self, color: bool, out: &mut String) {
        let widths = self.column_widths();
        let rules = self.blocks.iter().any(|block| block.height() > 1);
        let mut table = Table::new();
        table.load_style(style(rules)).set_content_arrangement(ContentArrangement::Disabled);
        let headings = self.headings.iter().zip(&widths);
        table.set_header(
            headings.map(|(lines, width)| lines.map(|line| centred(line, *width)).join("\n")),
        );
        for block in &self.blocks {
            let cells = |column: usize| block.columns.get(column).map_or(&[][..], Vec::as_slice);
            table.add_row((0..widths.len()).map(|column| cells(column).join("\n")));
        }
        let mut lines = table.lines();
        let mut take = |count: usize, paint: Option<Paint>| {
            for line in lines.by_ref().take(count) {
                match paint {
                    Some(paint) => out.push_str(&paint.apply(&line, color)),
                    None => out.push_str(&line),
                }
                out.push('\n');
            }
        };
        // Rule, two headings, rule.
        take(4, None);
        for block in &self.blocks {
            take(block.height(), block.paint);
            take(usize::from(rules), None);
        }
        take(usize::from(!rules), None);
    }

    fn column_widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> =
            self.headings.iter().map(|lines| lines[0].width().max(lines[1].width())).collect();
        for block in &self.blocks {
            for (width, cells) in widths.iter_mut().zip(&block.columns) {
                let widest = cells.iter().map(|text| text.width()).max().unwrap_or(0);
                *width = widest.max(*width);
            }
        }
        widths
    }
}

/// Everything `+`, `-` and `|`.
fn style(rules: bool) -> TableStyle {
    let rule = LineStyle::new('+', '-', '+', '+');
    let content = ContentLineStyle::new('|', '|', '|');
    let style = TableStyle::new()
        .top_border(rule)
        .header_lines(content)
        .header_separator(rule)
        .content_lines(content)
        .bottom_border(rule);
    if rules { style.row_separator(rule) } else { style }
}

fn centred(text: &str, width: usize) -> String {
    let spare = width.saturating_sub(text.width());
    format!("{}{text}{}", " ".repeat(spare / 2), " ".repeat(spare - spare / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(columns: &[&[&str]]) -> Block {
        let columns = columns.iter().map(|c| c.iter().map(|t| (*t).to_owned()).collect());
        Block { columns: columns.collect(), paint: None }
    }

    fn drawn(grid: &Grid, color: bool) -> String {
        let mut out = String::new();
        grid.draw(color, &mut out);
        out
    }

    /// Blanks around a heading as published: 2+1 left, 3+1 right in a field of 13.
    #[test]
    fn spare_column_of_a_heading_goes_to_the_right() {
        let grid = Grid {
            headings: vec![["CPU", "AFFINITY"]],
            blocks: vec![block(&[&["48-95,144-191"]])],
        };
        let text = drawn(&grid, false);
        assert_eq!(text.lines().nth(2), Some("|   AFFINITY    |"));
        assert_eq!(grid.width(), text.lines().next().unwrap().len());
    }

    #[test]
    fn rules_follow_every_block_once_one_has_two_lines() {
        let mut grid =
            Grid { headings: vec![["A", ""], ["B", ""]], blocks: vec![block(&[&["1"], &["x"]])] };
        assert_eq!(drawn(&grid, false).matches("+---+---+").count(), 3);
        grid.blocks.push(block(&[&["2"], &["y", "z"]]));
        let text = drawn(&grid, false);
        assert_eq!(text.matches("+---+---+").count(), 4);
        assert!(text.ends_with("| 2 | y |\n|   | z |\n+---+---+\n"), "{text}");
    }

    #[test]
    fn wide_characters_keep_the_borders_straight() {
        let grid = Grid {
            headings: vec![["A", ""]],
            blocks: vec![block(&[&["模型"]]), block(&[&["ab"]])],
        };
        assert!(drawn(&grid, false).contains("| 模型 |\n| ab   |\n"));
    }

    #[test]
    fn paint_needs_colour() {
        let mut one = block(&[&["x"]]);
        one.paint = Some(Paint::Red);
        let grid = Grid { headings: vec![["A", ""]], blocks: vec![one] };
        assert!(drawn(&grid, false).contains("\n| x |\n"));
        assert!(drawn(&grid, true).contains("\n\x1b[31m| x |\x1b[0m\n"));
    }
}
