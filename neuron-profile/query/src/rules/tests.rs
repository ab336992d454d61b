//! Rules on metrics made by hand.

use super::*;

fn metrics(all: &[(&str, f64)]) -> Metrics {
    all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn rules(all: &[(&str, f64)]) -> Vec<&'static str> {
    judge(&metrics(all)).iter().map(|finding| finding.rule).collect()
}

const ACTIVE: &str = "total_active_time_percent";
const DMA: &str = "dma_active_time_percent";
const TENSOR: &str = "tensor_engine_active_time_percent";
const VECTOR: &str = "vector_engine_active_time_percent";

#[test]
fn nothing_is_said_about_nothing() {
    assert!(rules(&[]).is_empty());
    // A profile in which nothing ran at all is idle, and has no quotients.
    let zero = RULES.iter().flat_map(|_| {
        [ACTIVE, DMA, TENSOR, VECTOR, "total_time", "hbm_read_bytes", "hardware_flops"]
    });
    let zero: Vec<(&str, f64)> = zero.map(|name| (name, 0.0)).collect();
    assert_eq!(rules(&zero), ["idle"]);
}

/// Each rule with metrics on both sides of its limit; equal is not beyond.
#[test]
fn rules_hold_beyond_their_limits_only() {
    type Case = (&'static str, fn(f64) -> Vec<(&'static str, f64)>, f64, f64);
    let cases: &[Case] = &[
        ("hardware-fault", |x| vec![("error_count", x)], 0.0, 1.0),
        ("incomplete", |x| vec![("warning_count", x)], 0.0, 1.0),
        ("idle", |x| vec![(ACTIVE, x)], 0.700_001, 0.69),
        ("no-overlap", |x| vec![(ACTIVE, 1.0), (DMA, 0.1), (TENSOR, x)], 0.7, 0.69),
        ("dma-bound", |x| vec![(DMA, x), (TENSOR, 0.3)], 0.5, 0.51),
        (
            "memory-bound",
            |x| {
                vec![
                    ("mm_arithmetic_intensity", x),
                    ("peak_flops_bandwidth_ratio", 100.0),
                    (DMA, 0.5),
                ]
            },
            100.0,
            99.0,
        ),
        (
            "reloads",
            |x| vec![("hbm_read_bytes", x), ("inputs_and_weights_size_bytes", 50.0), (DMA, 0.4)],
            100.0,
            101.0,
        ),
        ("one-engine", |x| vec![(VECTOR, x), (TENSOR, 0.2)], 0.5, 0.51),
        (
            "tensor-waits",
            |x| vec![("total_time", 10.0), ("tensor_engine_semaphore_wait_time", x), (TENSOR, 0.2)],
            3.0,
            3.1,
        ),
        ("tensor-underused", |x| vec![("mfu_estimated_percent", x), (TENSOR, 0.4)], 0.2, 0.19),
        (
            "transposes",
            |x| vec![("transpose_flops", x), ("hardware_flops", 100.0), (TENSOR, 0.4)],
            10.0,
            10.1,
        ),
        (
            "spills",
            |x| vec![("spill_reload_bytes", x), ("hbm_read_bytes", 100.0), (DMA, 0.4)],
            25.0,
            25.1,
        ),
        ("small-packets", |x| vec![("dma_packet_average_bytes", x), (DMA, 0.4)], 512.0, 511.0),
        (
            "throttled",
            |x| vec![("throttle_avg_util_limit_nc0_percent", x), (TENSOR, 0.4)],
            0.95,
            0.94,
        ),
        (
            "kernel-coverage",
            |x| {
                vec![
                    ("vector_engine_kernel_instruction_percent", 1.0),
                    (VECTOR, 0.1),
                    ("scalar_engine_kernel_instruction_percent", x),
                    ("scalar_engine_active_time_percent", 0.4),
                ]
            },
            0.5,
            0.49,
        ),
    ];
    let tested: Vec<_> = cases.iter().map(|case| case.0).collect();
    let all: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tested, all);
    for (id, with, at, beyond) in cases {
        assert!(!rules(&with(*at)).contains(id), "{id} at its limit");
        assert!(rules(&with(*beyond)).contains(id), "{id} beyond its limit");
    }
}

/// Lost records make a profile incomplete; they are no faults of the hardware.
#[test]
fn lost_records_are_told_as_such() {
    let told = |losses: f64, warnings: f64| {
        let found = judge(&metrics(&[
            ("error_count", 0.0),
            ("loss_count", losses),
            ("warning_count", warnings),
        ]));
        found.into_iter().map(|one| (one.rule, one.sentence)).collect::<Vec<_>>()
    };
    let lost = "287 records have the mark that others of their ring are lost";
    assert_eq!(told(287.0, 0.0), [("incomplete", lost.to_owned())]);
    let both = format!("1 warning says that numbers of this profile are incomplete, and {lost}");
    assert_eq!(told(287.0, 1.0), [("incomplete", both)]);
    assert!(told(0.0, 0.0).is_empty());
}

#[test]
fn a_busy_tensor_engine_is_no_dma_bound_profile() {
    assert!(!rules(&[(DMA, 0.9), (TENSOR, 0.8)]).contains(&"dma-bound"));
    assert!(!rules(&[(VECTOR, 0.9), (TENSOR, 0.8)]).contains(&"one-engine"));
    // Nothing overlaps where nothing runs beside it.
    let overlapped = [(ACTIVE, 0.8), (DMA, 0.8), (TENSOR, 0.7), (VECTOR, 0.5)];
    assert!(!rules(&overlapped).contains(&"no-overlap"));
}

#[test]
fn the_heaviest_comes_first_with_its_numbers() {
    let found = judge(&metrics(&[
        (ACTIVE, 0.1),
        ("transpose_flops", 50.0),
        ("hardware_flops", 100.0),
        (TENSOR, 0.08),
        ("warning_count", 2.0),
        ("error_count", 1.0),
    ]));
    let names: Vec<_> = found.iter().map(|finding| finding.rule).collect();
    assert_eq!(names, ["hardware-fault", "idle", "transposes", "incomplete"]);
    let idle = &found[1];
    assert_eq!(idle.sentence, "nothing runs for 90.0 % of the execution");
    assert_eq!((idle.severity, idle.side, idle.threshold), (Severity::High, Side::Above, 0.3));
    assert!((idle.value - 0.9).abs() < 1e-12 && (idle.speedup.unwrap() - 10.0).abs() < 1e-9);
    let transposes = &found[2];
    assert_eq!(transposes.metrics["hardware_flops"], 100.0);
    assert_eq!((transposes.value, transposes.severity), (0.5, Severity::Low));
}

#[test]
fn what_is_won_is_what_goes_away() {
    let found = judge(&metrics(&[(ACTIVE, 1.0), (DMA, 0.8), (TENSOR, 0.4)]));
    let bound = found.iter().find(|finding| finding.rule == "dma-bound").unwrap();
    // DMA that is hidden leaves the tensor engine: 0.8 becomes 0.4.
    assert_eq!(bound.speedup, Some(2.0));
    assert_eq!(bound.severity, Severity::High);
    // An engine that is not there makes no number of it.
    let found = judge(&metrics(&[(DMA, 0.8), (TENSOR, 0.0)]));
    assert_eq!(found[0].speedup, None);
}

#[test]
fn unknown_sources_are_not_those_of_the_compiler() {
    let none = [
        ("tensor_engine_kernel_instruction_percent", 0.0),
        ("scalar_engine_kernel_instruction_percent", 0.0),
        (TENSOR, 0.5),
        ("scalar_engine_active_time_percent", 0.5),
    ];
    assert!(rules(&none).is_empty());
}

/// Texts have no number that is none, whatever the metrics.
#[test]
fn numbers_that_are_none_hold_nothing() {
    let names: Vec<&str> = [ACTIVE, DMA, TENSOR, VECTOR].to_vec();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300] {
        let all: Vec<(&str, f64)> = names.iter().map(|name| (*name, value)).collect();
        for finding in judge(&metrics(&all)) {
            assert!(
                finding.value.is_finite() && (0.0..=1.0).contains(&finding.weight),
                "{finding:?}"
            );
        }
    }
}

#[test]
fn evidence_is_bounded_and_names_its_rows() {
    for rule in RULES {
        assert!(rule.sql.contains(&format!("FROM {}", rule.table)), "{}", rule.id);
        assert!(rule.sql.ends_with("LIMIT 10"), "{}", rule.id);
        assert!(rule.sql.contains("file_row_index() AS row"), "{}", rule.id);
    }
}
