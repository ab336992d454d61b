//! Series against values nanosecond by nanosecond, with levels and without.

use neuron_core::instance::Arch;
use profile_engine::chip::Chip;
use proptest::prelude::*;

use super::build;
use crate::ingest::testing::packets;
use crate::read::Profile;

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
}
