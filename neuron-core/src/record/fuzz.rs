//! Entry point of the fuzz target and the property test: the real reader on
//! any bytes, and every figure that a view makes of what it reads.

use std::path::Path;

use crate::model;
use crate::replay::Samples;
use crate::sample::Sample;

/// A recording as a file may hold it.
pub fn file(bytes: &[u8]) {
    let Ok(mut samples) = Samples::of(bytes, Path::new("recording")) else { return };
    let mut before: Option<Sample> = None;
    while let Ok(Some(now)) = samples.next() {
        let earlier = before.as_ref().unwrap_or(&now);
        let _ = model::MachineFacts::of(&now);
        let _ = model::applications(&now);
        let _ = model::core_use(earlier, &now);
        let _ = model::executions(earlier, &now);
        let _ = model::processor_shares(earlier, &now);
        let _ = model::cpu_use(earlier, &now);
        let _ = model::host_memory(&now);
        let _ = model::hardware(before.as_ref(), &now);
        before = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::Recorder;

    /// Two samples of a machine at work, as the recorder writes them.
    fn recording() -> Vec<u8> {
        let first = model::tests::machine(crate::instance::Chip::Trainium2, 8, 10);
        let first = model::tests::with(first, 0, 1, &[(0, 5), (1, 7), (15, 10), (29, 11)]);
        let second = model::tests::machine(crate::instance::Chip::Trainium2, 8, 12);
        let second = model::tests::with(second, 0, 1, &[(0, 6), (1, 9), (15, 12), (29, 12)]);
        let mut bytes = Vec::new();
        let mut recorder = Recorder::new(&mut bytes).unwrap();
        recorder.write(&first).unwrap();
        recorder.write(&second).unwrap();
        bytes
    }

    #[test]
    fn numbers_of_any_size_make_figures() {
        let text = String::from_utf8(recording()).unwrap();
        for huge in ["18446744073709551615", "4294967295", "0"] {
            for small in 5..13 {
                file(text.replace(&format!(":{small}"), &format!(":{huge}")).as_bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            file(&bytes);
            file(&[b"{\"neuron_recording\":2}\n", bytes.as_slice()].concat());
        }

        #[test]
        fn damaged_recordings(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = recording();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            file(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            file(&bytes);
        }
    }
}
