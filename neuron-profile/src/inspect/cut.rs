//! What a program that was killed within a write left: the kernel may end such
//! a write between two pages, so the last frame of a file may be cut.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::path::Path;

use anyhow::Context as _;
use neuron_core::Error;
use neuron_core::ntff::frames::FrameReader;
use neuron_core::ntff::{Options, Rule};

/// The files of a run that are frames to their end.
const FILES: [&str; 3] = ["ntrace.pb", "cpu_util.pb", "host_mem.pb"];

/// Takes a frame that is cut off the end of each file of a run: all that is
/// left are whole ones.
///
/// # Errors
///
/// A file that cannot be read or shortened.
pub(super) fn mend(run: &Path) -> anyhow::Result<()> {
    for path in FILES.map(|name| run.join(name)) {
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(Error::io("open", &path))?,
        };
        if let Some(whole) = whole(&file).with_context(|| path.display().to_string())? {
            file.set_len(whole).map_err(Error::io("shorten", &path))?;
        }
    }
    Ok(())
}

/// Bytes of whole frames, where the last one is cut.
fn whole(file: &File) -> anyhow::Result<Option<u64>> {
    let mut frames = FrameReader::new(BufReader::new(file), Options::default());
    while frames.next_frame()?.is_some() {}
    let (findings, _) = frames.findings().list();
    let cut = findings.last().is_some_and(|last| matches!(last.rule, Rule::FrameCut { .. }));
    Ok(cut.then(|| frames.position()))
}

#[cfg(test)]
mod tests {
    use neuron_core::ntff::frames::write_frame;
    use neuron_core::ntff::messages::NtraceEvent;

    use super::*;

    #[test]
    fn a_frame_that_is_cut_is_taken_off_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ntrace.pb");
        let (mut all, mut ends) = (Vec::new(), vec![0]);
        for id in 1..4 {
            write_frame(&mut all, &NtraceEvent { id, ..NtraceEvent::default() }, 0).unwrap();
            ends.push(all.len());
        }
        for length in 0..=all.len() {
            std::fs::write(&path, &all[..length]).unwrap();
            mend(dir.path()).unwrap();
            let wanted = ends.iter().rev().find(|end| **end <= length).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), all[..*wanted], "{length}");
        }
        // Damage within is left as it is.
        let strange = [&[0xff; 40][..], &all].concat();
        std::fs::write(&path, &strange).unwrap();
        mend(dir.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), strange);
    }
}
