//! Named reports: questions that are asked of every profile, as SQL.
//!
//! The SQL is what `neuron-profile query` would run; a user can print it, and
//! change it. Times are nanoseconds, shares percent of the execution.

mod list;

pub use list::{COMPARE, REPORTS};

/// A table of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// Name, for scripts.
    pub name: &'static str,
    /// What it says.
    pub title: &'static str,
    /// The question; `{limit}` is the number of rows.
    sql: &'static str,
}

impl Section {
    /// The question for at most so many rows.
    pub fn sql(&self, limit: usize) -> String {
        self.sql.replace("{limit}", &limit.to_string())
    }
}

/// A named report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its tables.
    pub sections: &'static [Section],
}

/// A report by its name.
pub fn find(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_clear_and_lengths_are_bounded() {
        let all = REPORTS.iter().chain([&COMPARE]);
        for report in all {
            assert!(!report.sections.is_empty(), "{}", report.name);
            for (at, section) in report.sections.iter().enumerate() {
                let before = report.sections.iter().take(at);
                assert!(before.clone().all(|other| other.name != section.name), "{}", section.name);
                assert!(section.sql(7).contains("LIMIT 7"), "{}", section.name);
            }
        }
        assert_eq!(find("dma").map(|report| report.name), Some("dma"));
        assert_eq!(find("nothing"), None);
    }
}
