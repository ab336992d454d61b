//! Damaged traces: any bytes give a profile or an error, never a panic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::PathBuf;

use neuron_core::neff::{self, Neff, Report};
use profile_engine::{Capture, Nothing, Options, Parts, run, summary};

fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/profiles");
    std::fs::read(root.join(name)).unwrap()
}

/// Numbers of one seed (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Whether there was a profile.
fn profile(neff: &Neff<'_>, trace: &[u8]) -> bool {
    let mut report = Report::new(neff::Mode::Lenient);
    let Ok(capture) = Capture::open(neff, trace, Options::default(), &mut report) else {
        return false;
    };
    let Ok(outcome) = run(&capture, Parts::default(), &mut Nothing) else { return false };
    for metric in summary(&capture, &outcome.totals) {
        assert!(metric.value.number().is_none_or(f64::is_finite), "{metric:?}");
    }
    true
}

#[test]
fn any_damage_is_survived() {
    let name = "attn-fused-fp32-512";
    let neff = fixture(&format!("{name}.neff"));
    let neff = Neff::open(&neff, &neff::Options::lenient()).unwrap();
    let whole = fixture(&format!("{name}.ntff"));
    assert!(profile(&neff, &whole));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut made = 0;
    for round in 0..60 {
        let mut bytes = whole.clone();
        // A few bytes anywhere, many in the records, or words of ones.
        let (count, from) = match round % 3 {
            0 => (4, 0),
            1 => (400, 3400),
            _ => (0, 0),
        };
        for _ in 0..count {
            let at = from + random.below(bytes.len() - from);
            bytes[at] = random.next().to_le_bytes()[0];
        }
        if round % 3 == 2 {
            for _ in 0..200 {
                let at = (3400 + random.below(bytes.len() - 3500)) / 8 * 8;
                bytes[at..at + 8].fill(0xff);
            }
        }
        if round % 7 == 6 {
            bytes.truncate(random.below(bytes.len()));
        }
        made += usize::from(profile(&neff, &bytes));
    }
    assert!(made > 20, "{made} of 60 traces gave a profile");
}
