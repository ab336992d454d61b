//! Series against values nanosecond by nanosecond, with levels and without.

use neuron_core::instance::Arch;
use profile_engine::chip::Chip;
use proptest::prelude::*;

use super::rows::Place;
use super::{Series, Source, build};
use crate::encode::{Cells, TableWriter, Values};
use crate::ingest::testing::packets;
use crate::manifest;
use crate::read::Profile;
use crate::schema::table;

/// An event: start and end.
type Event = (u64, u64);

fn events() -> impl Strategy<Value = Vec<Event>> {
    let step = prop_oneof![6 => 0_u64..6, 3 => 0_u64..60, 1 => 0_u64..900];
    let length = prop_oneof![6 => 0_u64..12, 3 => 0_u64..80, 1 => 0_u64..700];
    proptest::collection::vec((step, length), 1..300).prop_map(|list| {
        let mut at = 0;
        list.into_iter()
            .map(|(step, length)| {
                at += step;
                (at, at + length)
            })
            .collect()
    })
}

/// Two lanes of packets with their series.
fn stored(dir: &std::path::Path, lanes: &[Vec<Event>; 2], total: u64) -> Profile {
    let profile = packets(dir, lanes, total);
    build(&profile, Chip::of(Arch::V3).peak()).unwrap();
    Profile::open(dir.to_owned(), profile.manifest().clone(), Default::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn columns_and_integrals_are_exact(
        first in events(),
        second in events(),
        views in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64, 1_u32..60), 1..10),
    ) {
        let total = first.iter().chain(&second).map(|event| event.1).max().unwrap() + 9;
        let dir = tempfile::tempdir().unwrap();
        let lanes = [first, second];
        let profile = stored(dir.path(), &lanes, total);
        let mut depth = vec![0.0; total as usize];
        for (start, end) in lanes.iter().flatten() {
            depth[*start as usize..*end as usize].iter_mut().for_each(|at| *at += 1.0);
        }
        let active: Vec<f64> = depth.iter().map(|at: &f64| at.min(1.0)).collect();
        let find = |id: &str| profile.series().iter().find(|series| series.id == id).unwrap();
        let (in_flight, busy) = (find("dma_in_flight.0"), find("dma_active.0"));
        let any = find("active.all");
        prop_assert_eq!(in_flight.levels.is_empty(), lanes.iter().flatten().count() * 2 < 60);
        prop_assert_eq!(in_flight.max, depth.iter().copied().fold(0.0, f64::max));
        for (a, b, width) in views {
            let (a, b) = ((a * total as f64) as u64, (b * total as f64) as u64);
            let (from, to) = (a.min(b), a.max(b) + 1);
            for (series, values) in [(in_flight, &depth), (busy, &active), (any, &active)] {
                let view = profile.series_view(from, to, width, &[series]).unwrap();
                let mut seen = 0;
                for column in &view.series[0] {
                    let begin = view.columns.begin(column.at);
                    let end = view.columns.begin(column.at + 1).min(total);
                    let own = &values[begin as usize..end as usize];
                    let sum: f64 = own.iter().sum();
                    let wanted = (
                        own.iter().copied().fold(f64::INFINITY, f64::min),
                        own.iter().copied().fold(0.0, f64::max),
                        sum / own.len() as f64,
                    );
                    prop_assert_eq!((column.min, column.max, column.mean), wanted);
                    seen += 1;
                }
                let columns = (0..view.columns.columns).filter(|at| view.columns.begin(*at) < total);
                prop_assert_eq!(seen, columns.count());
                let sum: f64 = values[from as usize..to as usize].iter().sum();
                prop_assert_eq!(profile.series_integral(series, from, to).unwrap(), sum);
            }
        }
    }

    #[test]
    fn values_of_a_table_hold_until_the_next(
        updates in proptest::collection::vec((0_u64..9, 0_usize..2, rare(), -3_i64..4), 1..900),
        views in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64), 1..10),
        mixed in any::<bool>(),
    ) {
        let mut now = 3;
        let updates: Vec<Update> = updates.into_iter().map(|(step, core, id, value)| {
            now += step;
            Update { time: now, core, id, value }
        }).collect();
        let total = now + 5;
        let dir = tempfile::tempdir().unwrap();
        let profile = updated(dir.path(), &updates, total, mixed);
        for core in 0..2 {
            for id in 0..4 {
                let mut holds: Vec<Option<f64>> = vec![None; total as usize];
                for update in updates.iter().filter(|update| (update.core, update.id) == (core, id)) {
                    holds[update.time as usize..].fill(Some(update.value as f64));
                }
                let series = semaphore(core, id);
                for (a, b) in &views {
                    let (a, b) = ((a * total as f64) as u64, (b * total as f64) as u64);
                    let (from, to) = (a.min(b), a.max(b) + 1);
                    let steps = profile.steps(&series, from, to).unwrap();
                    let mut seen = vec![None; (to - from) as usize];
                    for (time, value) in &steps {
                        prop_assert!((from..to).contains(time));
                        seen[(time - from) as usize..].fill(Some(*value));
                    }
                    prop_assert_eq!(&seen[..], &holds[from as usize..to as usize]);
                }
            }
        }
    }
}

/// One of four semaphores, of which the last two hardly ever change.
fn rare() -> impl Strategy<Value = usize> {
    prop_oneof![400 => 0_usize..2, 1 => 2_usize..4]
}

#[derive(Debug, Clone, Copy)]
struct Update {
    time: u64,
    core: usize,
    id: usize,
    value: i64,
}

/// A profile with a table of semaphores: row groups of a core each, which end
/// inside of chunks, or one with both cores one after the other.
fn updated(dir: &std::path::Path, updates: &[Update], total: u64, mixed: bool) -> Profile {
    let mut writer = TableWriter::create(dir, table("SemaphoreUpdate").unwrap()).unwrap();
    let of = |core| updates.iter().copied().filter(move |one| one.core == core);
    let parts: Vec<Vec<Update>> = if mixed {
        vec![of(0).chain(of(1)).collect()]
    } else {
        (0..2).map(|c| of(c).collect()).collect()
    };
    for (part, own) in (0..).zip(&parts) {
        for (number, rows) in (0..).zip(own.chunks(if mixed { 900 } else { 130 })) {
            let cores = Cells::Longs(rows.iter().map(|row| Some(row.core as i64)).collect());
            let times: Vec<i64> = rows.iter().map(|row| row.time as i64).collect();
            let values: Vec<i64> = rows.iter().map(|row| row.value).collect();
            let ids = Cells::Texts(rows.iter().map(|row| Some(format!("s{}", row.id))).collect());
            let columns = [
                Values::Longs(&times),
                Values::Cells(&ids),
                Values::Repeated(&values),
                Values::Null,
                Values::Null,
                Values::Cells(&cores),
            ];
            writer.group((part, number), rows.len(), &columns).unwrap();
        }
    }
    let written = writer.finish(&[]).unwrap();
    let mut manifest = packets(dir, &[vec![(0, 1)], vec![]], total).manifest().clone();
    let table = manifest::Table { rows: written.rows, bytes: written.bytes };
    manifest.tables.insert(String::from("SemaphoreUpdate"), table);
    Profile::open(dir.to_owned(), manifest, Default::default()).unwrap()
}

fn semaphore(core: usize, id: usize) -> Series {
    let (table, value, by): Place = (String::from("SemaphoreUpdate"), String::from("value"), None);
    Series {
        id: String::from("semaphore"),
        name: String::new(),
        group: String::new(),
        stack: None,
        unit: String::new(),
        description: String::new(),
        core: Some(core as u32),
        source: Source::Table { table, value, by, id: Some(format!("s{id}")) },
        mean_of: None,
        max: 0.0,
        first: 0,
        levels: Vec::new(),
    }
}
