//! Viewports and selections against sums over each nanosecond.

use neuron_core::instance::Arch;
use profile_engine::chip::Chip;
use proptest::prelude::*;

use super::gather::{Moved, Ran};
use super::write::Writer;
use crate::manifest::Manifest;
use crate::read::{Column, Profile};

/// An event: start, end and ring.
type Event = (u64, u64, u8);

/// A lane of these packets, in blocks, as they come: in order of the ends.
fn profile(dir: &std::path::Path, events: &[Event], block: usize) -> Profile {
    let mut rows: Vec<Moved> = (1..)
        .zip(events)
        .map(|(id, (start, end, queue))| Moved {
            start: start * 1000,
            end: end * 1000,
            id,
            index: id,
            bytes: 64,
            rate: 1.0,
            crc: 7,
            queue: *queue,
        })
        .collect();
    rows.sort_by_key(|row| row.end);
    let mut writer = Writer::new(dir, &[], Chip::of(Arch::V3)).unwrap();
    for rows in rows.chunks(block) {
        writer.moved(5, rows.to_vec(), 400).unwrap();
    }
    let mut manifest = Manifest::default();
    writer.finish_lanes(&mut manifest).unwrap();
    Profile::open(dir.to_owned(), manifest, Default::default()).unwrap()
}

/// Events in order: by start, then as they are numbered.
fn sorted(events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.0);
    events
}

/// The columns, from who covers each nanosecond first.
fn brute(profile: &Profile, events: &[Event], start: u64, width: u64, count: u32) -> Vec<Column> {
    let events = sorted(events);
    let ring = |name: u32| profile.name(name).to_owned();
    let names: Vec<u32> = (0..profile.names().len() as u32).collect();
    let name_of = |queue: u8| {
        let wanted = format!("Q{queue}-E5");
        names.iter().copied().find(|name| ring(*name) == wanted).unwrap()
    };
    let last = start + width * u64::from(count);
    let mut owner: Vec<Option<u8>> = vec![None; last as usize];
    for (from, to, queue) in &events {
        for at in *from..(*to).min(last) {
            owner[at as usize].get_or_insert(*queue);
        }
    }
    let mut out = Vec::new();
    for at in 0..count {
        let (from, to) = (start + u64::from(at) * width, start + u64::from(at + 1) * width);
        let begin: Vec<&Event> = events.iter().filter(|e| (from..to).contains(&e.0)).collect();
        let row = events.iter().position(|event| event.0 >= from).unwrap_or(events.len());
        let mut sums: std::collections::BTreeMap<u32, u64> = Default::default();
        for event in &begin {
            sums.entry(name_of(event.2)).or_default();
        }
        for owner in owner[from as usize..to as usize].iter().flatten() {
            *sums.entry(name_of(*owner)).or_default() += 1;
        }
        let Some((name, _)) = sums.iter().max_by_key(|(n, busy)| (**busy, std::cmp::Reverse(**n)))
        else {
            continue;
        };
        out.push(Column {
            at,
            count: begin.len() as u32,
            busy: sums.values().sum(),
            name: *name,
            row: row as u64,
        });
    }
    out
}

/// Without the rows of columns in which no event begins.
fn plain(list: &[Column]) -> Vec<Column> {
    list.iter().map(|c| Column { row: if c.count > 0 { c.row } else { 0 }, ..*c }).collect()
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let step = prop_oneof![6 => 0_u64..6, 3 => 0_u64..60, 1 => 0_u64..900];
    let length = prop_oneof![6 => 0_u64..12, 3 => 0_u64..80, 1 => 0_u64..1500];
    proptest::collection::vec((step, length, 0_u8..4), 1..700).prop_map(|list| {
        let mut at = 0;
        list.into_iter()
            .map(|(step, length, queue)| {
                at += step;
                (at, at + length, queue)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn viewports_are_exact(
        events in events(),
        block in 20_usize..800,
        views in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64, 1_u32..40), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let profile = profile(dir.path(), &events, block);
        let total = events.iter().map(|event| event.1).max().unwrap() + 50;
        prop_assert_eq!(profile.lanes().len(), 1);
        for (a, b, width) in views {
            let (a, b) = ((a * total as f64) as u64, (b * total as f64) as u64);
            let (from, to) = (a.min(b), a.max(b) + 1);
            let view = profile.viewport(from, to, width, &[0]).unwrap();
            prop_assert!(view.columns >= width.min(u32::try_from(to - from).unwrap()));
            prop_assert!(view.columns <= 2 * width + 2);
            prop_assert!(view.start <= from);
            prop_assert!(view.start + view.column_ns * u64::from(view.columns) >= to);
            let wanted = brute(&profile, &events, view.start, view.column_ns, view.columns);
            let got = &view.lanes[0].columns;
            prop_assert_eq!(plain(got), plain(&wanted));

            let sums = profile.selection(from, to, &[0]).unwrap();
            let one = brute(&profile, &events, from, to - from, 1);
            let (count, busy) = one.first().map_or((0, 0), |c| (u64::from(c.count), c.busy));
            prop_assert_eq!((sums[0].count, sums[0].busy), (count, busy));
            for name in &sums[0].names {
                let ring = |e: &&Event| format!("Q{}-E5", e.2) == profile.name(name.name);
                let mine: Vec<&Event> =
                    events.iter().filter(|e| (from..to).contains(&e.0)).filter(ring).collect();
                prop_assert_eq!(name.count, mine.len() as u64);
                prop_assert_eq!(name.time, mine.iter().map(|e| e.1 - e.0).sum::<u64>());
            }
        }
    }
}

/// A lane that becomes a hundred times denser is exact on both sides.
#[test]
fn a_lane_that_becomes_denser() {
    let mut events: Vec<Event> = (0..200).map(|at| (at * 400, at * 400 + 100, 0)).collect();
    events.extend((0..3000).map(|at| (80_000 + at * 2, 80_001 + at * 2, 1)));
    let dir = tempfile::tempdir().unwrap();
    let profile = profile(dir.path(), &events, 600);
    let lane = &profile.lanes()[0];
    assert!(lane.levels.iter().any(|level| level.from > 0), "finer levels were added");
    for (from, to, width) in [(0, 90_000, 64), (78_000, 84_000, 100), (79_990, 80_100, 50)] {
        let view = profile.viewport(from, to, width, &[0]).unwrap();
        let wanted = brute(&profile, &events, view.start, view.column_ns, view.columns);
        assert_eq!(plain(&view.lanes[0].columns), plain(&wanted));
    }
}

/// Any column of a stored lane is what was given.
#[test]
fn engine_lanes_without_a_program() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), &[], Chip::of(Arch::V3)).unwrap();
    let rows: Vec<Ran> = (1..=30_000_u64)
        .map(|id| Ran {
            start: id * 5_000,
            end: id * 5_000 + 2_500,
            id,
            slot: u32::MAX,
            pc: 12_345,
            wait: 6,
            crc_in: (id % 65_536) as u16,
            crc_out: 65_535,
        })
        .collect();
    for rows in rows.chunks(9_000) {
        writer.ran(0, rows.to_vec(), 100).unwrap();
    }
    let mut manifest = Manifest::default();
    writer.finish_lanes(&mut manifest).unwrap();
    assert_eq!((manifest.events, manifest.late), (30_000, 0));
    let profile = Profile::open(dir.path().to_owned(), manifest, Default::default()).unwrap();
    for column in crate::schema::table("Instruction").unwrap().columns.iter() {
        let search = crate::read::Search {
            table: String::from("Instruction"),
            conditions: vec![crate::read::Condition {
                column: column.name.clone(),
                is: if column.kind == crate::schema::Kind::Text {
                    crate::read::Match::Has(String::from("no such text"))
                } else {
                    crate::read::Match::Between(-2.0, -1.0)
                },
            }],
            from_row: 0,
            limit: 5,
        };
        let found = profile.search(&search);
        assert!(found.as_ref().is_ok_and(|found| found.rows.is_empty()), "{column:?} {found:?}");
    }
    for row in [0, 1, 8_191, 8_192, 20_000, 29_999] {
        let fields = profile.row("Instruction", row).unwrap();
        let id = row + 1;
        assert_eq!(fields["id"], id);
        assert_eq!(fields["start_ts"], id * 5);
        assert_eq!((&fields["end_ts"], &fields["duration_ns"]), (&(id * 5 + 2).into(), &2.into()));
        assert_eq!(fields["crc_in"], id % 65_536);
        assert_eq!(fields["pc"], 12_345);
        assert_eq!(fields["timeline_track"], "Tensor");
    }
    assert!(profile.row("Instruction", 30_000).is_err());
}
