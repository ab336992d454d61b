//! Timelines in the Trace Event Format: what the original's files hold, and what
//! is written for those who read these.

mod event;
mod layout;
mod write;

use std::path::Path;

use anyhow::Context as _;
use profile_store::Timeline;

pub use write::{Writer, write};

use super::files;
use layout::Layout;

/// Events that are read of one file at most (our choice: some 500 MB of memory).
const MOST: usize = 5_000_000;

/// Reads a trace. Its time begins at the first event.
///
/// # Errors
///
/// A file that cannot be read, is too large, or has another form; the error
/// says where.
pub fn read(path: &Path) -> anyhow::Result<Timeline> {
    let name = || path.file_name().unwrap_or_default().display().to_string();
    let reader = files::open(path, files::TIMELINE)?;
    let mut layout = Layout::default();
    event::each(reader, MOST, &mut |event| layout.take(event)).with_context(name)?;
    Ok(layout.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(text: &str) -> Result<Timeline, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neuron_trace.json");
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|error| format!("{error:#}"))
    }

    /// Group, label, and slices with name and times.
    type Told = (String, String, Vec<(String, u64, u64)>);

    fn told(timeline: &Timeline) -> Vec<Told> {
        let name = |at: u32| timeline.names[at as usize].clone();
        timeline
            .lanes
            .iter()
            .map(|lane| {
                let rows =
                    lane.rows.iter().map(|row| (name(row.name), row.start, row.end)).collect();
                (lane.group.clone(), lane.name.clone(), rows)
            })
            .collect()
    }

    #[test]
    fn rows_nest_and_stand_in_the_order_of_the_file() {
        let found = timeline(
            r#"{"displayTimeUnit": "ns", "traceEvents": [
              {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "/host:CPU"}},
              {"ph": "M", "name": "process_sort_index", "pid": 7, "args": {"sort_index": 5}},
              {"ph": "X", "pid": 7, "tid": "python#24", "ts": 1001.5, "dur": 2, "name": "inner"},
              {"ph": "X", "pid": 7, "tid": "python#24", "ts": 1000.5, "dur": 10.25, "name": "outer", "args": {"fused": "a,\nb"}},
              {"ph": "X", "pid": 4736, "tid": "IO Data Transfer", "ts": 1002, "dur": 0.001, "name": "copy"},
              {"ph": "B", "pid": 4736, "tid": "CC", "ts": 1003, "name": "gather"},
              {"ph": "E", "pid": 4736, "tid": "CC", "ts": 1004},
              {"ph": "C", "pid": 1, "ts": 1, "name": "counter"}
            ]}"#,
        )
        .unwrap();
        let row = |name: &str, start, end| (name.to_owned(), start, end);
        let lane = |group: &str, name: &str, rows| (group.to_owned(), name.to_owned(), rows);
        let wanted = vec![
            lane("Process 4736", "IO Data Transfer", vec![row("copy", 1500, 1501)]),
            lane("Process 4736", "CC", vec![row("gather", 2500, 3500)]),
            lane("Process /host:CPU", "python#24", vec![row("outer", 0, 10_250)]),
            lane("Process /host:CPU", "", vec![row("inner", 1000, 3000)]),
        ];
        assert_eq!(told(&found), wanted);
        assert_eq!(&*found.lanes[2].rows[0].args, r#"{"fused":"a,\nb"}"#);
        assert_eq!(found.notes, ["1 events have a form that is not drawn"]);
    }

    #[test]
    fn a_bare_list_and_blank_rows() {
        let found = timeline(
            r#"[{"ph":"X","pid":"Control","tid":" ","ts":0,"dur":1,"name":"m"},
                {"ph":"X","pid":"Control","tid":"  ","ts":0,"dur":1,"name":"l"},
                {"ph":"X","pid":"Control","tid":"HLO Ops","ts":0,"dur":1,"name":"%a"}]"#,
        )
        .unwrap();
        let labels: Vec<_> = found.lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(labels, ["", "", "HLO Ops"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = timeline(r#"{"traceEvents": [{"ph": "X", "ts": 1},]}"#).unwrap_err();
        assert!(
            told.starts_with("neuron_trace.json: ") && told.contains("line 1 column"),
            "{told}"
        );
        assert!(timeline("{}").unwrap_err().contains("no traceEvents"));
        assert!(timeline("\"text\"").is_err());
        let huge = timeline(
            r#"[{"ph":"X","pid":1,"tid":1,"ts":1e300,"dur":1e300,"name":"x"},
                                {"ph":"X","pid":1,"tid":1,"ts":-1e300,"dur":-5,"name":"y"}]"#,
        )
        .unwrap();
        assert_eq!(huge.notes, ["2 events have times that cannot be"]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let found = timeline(
            r#"[{"ph":"X","pid":"Overview","tid":"Busy","ts":0.125,"dur":1,"name":"a","args":{"k":1}},
                {"ph":"X","pid":"Control","tid":" ","ts":3,"dur":4,"name":"b"}]"#,
        )
        .unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("again.json");
        write(&found, &mut std::fs::File::create(&path).unwrap()).unwrap();
        let again = read(&path).unwrap();
        assert_eq!(told(&again), told(&found));
        assert_eq!(again.lanes[0].rows, found.lanes[0].rows);
    }
}
