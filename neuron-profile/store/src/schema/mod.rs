//! Tables and columns by name: the public schema (profiler.md §2.2), as far as
//! there is data for it, and two tables of our own.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Version of the public schema that is followed.
pub const VERSION: &str = "7.4.0";

/// Tables of the public schema that a device profile never has here, with the
/// reason.
pub const ABSENT: [(&str, &str); 13] = [
    ("AssemblyInstruction", "only profiles of the vendor's simulator have it"),
    ("BirInstruction", "Instruction has bir_id; group by it"),
    ("CcInstruction", "no public record of a collective core"),
    ("CcOp", "no public record of a collective"),
    ("CcStream", "no public record of a collective"),
    ("CoreBarriers", "no public record of a barrier"),
    ("DmaPacketAggregated", "needs notifications of descriptor generation"),
    ("DmaUsageSummary", "lanes.json has zoom levels"),
    ("FrameworkInstruction", "Instruction has layer; group by it"),
    ("FrameworkNode", "LayerSummary has the tree"),
    ("HbmUsage", "which packets touch device memory is not in a trace"),
    ("HloInstruction", "Instruction has hlo_name; group by it"),
    ("PenguinInstruction", "Instruction has penguin_id; group by it"),
];

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Long,
    /// Whole numbers of 32 bits.
    Int,
    /// Single precision.
    Single,
    /// Double precision.
    Double,
    /// Text.
    Text,
    /// Yes or no.
    Flag,
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "i64" => Self::Long,
            "i32" => Self::Int,
            "f32" => Self::Single,
            "f64" => Self::Double,
            "str" => Self::Text,
            "bool" => Self::Flag,
            _ => return None,
        })
    }

    /// The schema's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Long => "int64",
            Self::Int => "int32",
            Self::Single => "float",
            Self::Double => "double",
            Self::Text => "string",
            Self::Flag => "boolean",
        }
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: Kind,
    /// It is never null.
    pub required: bool,
    /// Unit, empty for none; `%` is a fraction from 0 to 1.
    pub unit: String,
    /// What it says.
    pub description: String,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Name, which is also the name of the file.
    pub name: String,
    /// What one row is.
    pub description: String,
    /// It is not of the public schema.
    pub ours: bool,
    /// Columns in order.
    pub columns: Vec<Column>,
}

impl Table {
    /// Place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// All tables but Summary, whose columns are the metrics of the profile.
pub fn tables() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    TABLES.get_or_init(|| parse(include_str!("tables.txt")))
}

/// Whether only profiles of inspect runs have a table.
pub fn is_system(name: &str) -> bool {
    name.starts_with("SystemProfile")
        || matches!(name, "CpuUsage" | "HostMemUsage" | "DeviceProfileList")
}

/// A table by name.
pub fn table(name: &str) -> Option<&'static Table> {
    tables().iter().find(|table| table.name == name)
}

/// What a metric of `Summary`, or of a region, is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricInfo {
    /// Its name.
    pub name: &'static str,
    /// Unit, empty for none; `%` is a fraction from 0 to 1.
    pub unit: &'static str,
    /// What it says, a sentence.
    pub description: &'static str,
}

/// All metrics that are known, by name.
pub fn metrics() -> &'static [MetricInfo] {
    static METRICS: OnceLock<Vec<MetricInfo>> = OnceLock::new();
    METRICS.get_or_init(|| {
        let lines = include_str!("metrics.txt").lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(metric_line).collect()
    })
}

/// A metric by name; `None` for one that only this capture has.
pub fn metric(name: &str) -> Option<MetricInfo> {
    let all = metrics();
    all.binary_search_by_key(&name, |metric| metric.name).ok().and_then(|at| all.get(at)).copied()
}

fn metric_line(line: &'static str) -> Option<MetricInfo> {
    let mut words = line.splitn(3, ' ');
    let (name, unit, description) = (words.next()?, words.next()?, words.next()?);
    Some(MetricInfo { name, unit: if unit == "-" { "" } else { unit }, description })
}

/// Lines that say nothing are left out; a test sees that there are none.
fn parse(text: &str) -> Vec<Table> {
    let mut out: Vec<Table> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix("= ") {
            let ours = head.starts_with("+ ");
            let (name, text) = head.trim_start_matches("+ ").split_once(' ').unwrap_or((head, ""));
            let columns = Vec::new();
            out.push(Table { name: name.to_owned(), description: text.to_owned(), ours, columns });
            continue;
        }
        let mut words = line.splitn(4, ' ');
        let (Some(name), Some(kind), Some(unit), Some(text), Some(table)) =
            (words.next(), words.next(), words.next(), words.next(), out.last_mut())
        else {
            continue;
        };
        let Some(of) = Kind::of(kind.trim_end_matches('!')) else { continue };
        table.columns.push(Column {
            name: name.to_owned(),
            kind: of,
            required: kind.ends_with('!'),
            unit: if unit == "-" { String::new() } else { unit.to_owned() },
            description: text.to_owned(),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_found_by_name() {
        let text = include_str!("metrics.txt");
        let names: Vec<&str> = text.lines().skip(1).filter_map(|l| l.split(' ').next()).collect();
        assert!(names.is_sorted() && names.len() > 80);
        for name in names {
            let found = metric(name).unwrap();
            assert!(found.name == name && found.description.ends_with('.'), "{name}");
        }
        assert_eq!(metric("hbm_read_bytes").map(|metric| metric.unit), Some("B"));
        assert_eq!(metric("trace_count").map(|metric| metric.unit), Some(""));
        assert_eq!(metric("nothing"), None);
    }

    #[test]
    fn every_line_is_a_column() {
        let text = include_str!("tables.txt");
        let lines = text.lines().filter(|line| !line.starts_with(['#', '=']) && !line.is_empty());
        let columns: usize = tables().iter().map(|table| table.columns.len()).sum();
        assert_eq!(columns, lines.count());
        assert_eq!(table("Instruction").map(|table| table.columns.len()), Some(55));
        assert_eq!(table("DmaPacket").map(|table| table.columns.len()), Some(17));
        for table in tables() {
            assert!(!table.description.is_empty() && !table.columns.is_empty(), "{}", table.name);
            assert!(!ABSENT.iter().any(|(absent, _)| *absent == table.name), "{}", table.name);
        }
    }
}
