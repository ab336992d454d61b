//! What records, clocks, windows and devices are told as findings, and how.

#![cfg(feature = "ntff")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod ntff_support;

use neuron_core::ntff::messages::{
    BlockTimestampInfo, ExecutionInfo, NcTimestampInfo, NotificationBufferSize, NtffInfo,
    neff_node_info::Node,
};
use neuron_core::ntff::{Mode, Reader, Rule, Severity};
use ntff_support::{Whole, assemble, options, small};
use prost::Message as _;

/// The rules that the small file breaks once its blobs or message changed.
fn record_rules(change: impl Fn(&mut [u8], &mut NtffInfo)) -> Vec<Rule> {
    let data = small();
    let reader = Reader::new(data.as_slice(), options(Mode::Strict)).unwrap();
    let (mut info, start) = (reader.info().clone(), reader.header().blobs_start());
    let mut blobs = data[usize::try_from(start).unwrap()..].to_vec();
    change(&mut blobs, &mut info);
    let data = assemble(&info.encode_to_vec(), &blobs);
    let whole = Whole::read(&data, Mode::Lenient);
    whole.findings.list().0.iter().map(|finding| finding.rule.clone()).collect()
}

/// What the records themselves tell (ntff.md §10).
#[test]
fn findings_of_records() {
    assert!(record_rules(|_, _| ()).is_empty());
    let rules = record_rules(|blobs, _| blobs[..16].fill(0));
    assert!(matches!(rules.as_slice(), [Rule::Blank { count: 1, .. }]), "{rules:?}");
    let rules = record_rules(|blobs, _| blobs[3] = 0x98);
    assert!(
        matches!(rules.as_slice(), [Rule::Undecodable { count: 1, total: 4, .. }]),
        "{rules:?}"
    );
    let rules = record_rules(|blobs, _| blobs[3] |= 0x20);
    assert!(matches!(rules.as_slice(), [Rule::SoftwareLoss { count: 1, .. }]), "{rules:?}");
    let rules = record_rules(|blobs, _| blobs[3] |= 0x40);
    assert!(matches!(rules.as_slice(), [Rule::HardwareLoss { count: 1, .. }]), "{rules:?}");
    // An update with one of its reserved bits set.
    let rules = record_rules(|blobs, _| (blobs[3], blobs[1]) = (0x9b, 0x05));
    assert!(matches!(rules.as_slice(), [Rule::Unexplained { count: 1, .. }]), "{rules:?}");
    let rules = record_rules(|_, info| {
        let ring = NotificationBufferSize { buffer_size: 64, ..NotificationBufferSize::default() };
        info.notification_buffer_size = vec![ring];
    });
    assert!(matches!(rules.as_slice(), [Rule::RingFull { size: 64, .. }]), "{rules:?}");
}

/// Times that a calibration cannot give, a window that runs backwards, a device
/// that does not exist.
#[test]
fn findings_of_clocks_windows_and_devices() {
    let clock = |init, actual, expected| {
        let clock = BlockTimestampInfo {
            init_timestamp: init,
            actual_timestamp_inc: actual,
            expected_timestamp_inc: expected,
        };
        record_rules(move |_, info| {
            let Some(Node::NdNode(node)) = &mut info.neff_nodes[0].node else { panic!() };
            let times = NcTimestampInfo { act: Some(clock), ..NcTimestampInfo::default() };
            node.graphs[0].timestamp_info = Some(times);
        })
    };
    // Six records of ACT, at 1000 to 1005, four of them in the first section.
    for (init, expected, lost) in
        [(u64::MAX, 1, [4, 2]), (0, u64::MAX, [4, 2]), (999, u64::MAX, [3, 2])]
    {
        let rules = clock(init, 1, expected);
        let counts: Vec<u64> = rules
            .iter()
            .map(|rule| match rule {
                Rule::ClockRange { count, .. } => *count,
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(counts, lost, "{init} {expected}");
        assert!(rules.iter().all(|rule| rule.severity() == Severity::Damage));
    }
    let rules = clock(1002, 1, 1);
    assert!(matches!(&rules[..], [Rule::ClockRange { count: 2, .. }]), "{rules:?}");
    assert!(clock(1000, 1024, 731_408).is_empty());

    let window = |start, end| {
        record_rules(move |_, info| {
            let window = ExecutionInfo { start, end, ..ExecutionInfo::default() };
            info.execution_timeline = vec![window];
        })
    };
    let backwards = Rule::Window { index: 0, start: 5, end: 4 };
    assert_eq!(backwards.severity(), Severity::Damage);
    assert_eq!(window(5, 4), [backwards]);
    assert!(window(5, 5).is_empty());

    for arch in [0, 4, 1 << 63] {
        let rules = record_rules(|_, info| info.arch = arch);
        assert_eq!(rules, [Rule::Arch { arch }]);
        assert_eq!(rules[0].severity(), Severity::Note);
    }
    for arch in [1, 2, 3] {
        assert!(record_rules(|_, info| info.arch = arch).is_empty());
    }
}

/// One is one.
#[test]
fn a_count_and_its_words() {
    let section = String::from("core 4 NC EVENT trace");
    let text = |count| Rule::HardwareLoss { section: section.clone(), count }.to_string();
    assert_eq!(
        text(1),
        "core 4 NC EVENT trace: one record says that later ones were lost in hardware"
    );
    assert!(text(2).contains(": 2 records say that "), "{}", text(2));
    assert_eq!(
        Rule::Trailing { bytes: 1 }.to_string(),
        "one byte after the last section belongs to nothing"
    );
    assert_eq!(Rule::More { count: 2 }.to_string(), "2 more findings are not listed");
}
