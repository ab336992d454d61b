//! An NTFF that grows while it is written, and that can be read after each step,
//! however its writer ends.
//!
//! The message lies before the blobs (ntff.md §2.1), so room is kept for it: a
//! file begins with a message of a fixed size, most of which is a hole. What fills
//! the hole is field 2, the id as bytes, which the end of the message has once more:
//! of a field that is there twice the last one counts, so every reader of the
//! format sees the message alone, and no field is made up.
//!
//! A step writes its blobs behind the others, then its part of the message into the
//! hole, where it is still a part of the filler; the length of the filler is then
//! set to nothing, and what was in it counts. That is a write of five bytes within a
//! page, which the kernel does whole or not at all when a process is killed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use prost::Message as _;

use neuron_core::ntff::header::{self, Header};
use neuron_core::ntff::messages::NtffInfo;

/// Key of the filler: field 2, bytes.
const KEY: u8 = 0x12;

/// Bytes of the filler's key and length. The length always takes five bytes, so
/// that it can be set in place.
const FILLER: u64 = 6;

/// Bytes that the kernel copies at once.
const PAGE: u64 = 4096;

/// What moves the next filler away from the end of a page: field 2 with four bytes.
const SHIFT: [u8; 6] = [KEY, 4, 0, 0, 0, 0];

/// Most bytes of a message.
pub(super) const MOST: u64 = 1 << 30;

/// See the module.
#[derive(Debug)]
pub(super) struct Growing {
    file: File,
    /// Bytes of the message with the hole.
    room: u64,
    /// Bytes of it that are taken at its front, and at its end.
    front: u64,
    end: u64,
    /// Bytes of the blob area that a step has written for good, and of the step under way.
    done: u64,
    fresh: u64,
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A length in five bytes.
fn length(bytes: u64) -> [u8; 5] {
    let [mut a, mut b, mut c, mut d, mut e] = [0; 5];
    let mut left = bytes;
    for byte in [&mut a, &mut b, &mut c, &mut d, &mut e] {
        *byte = u8::try_from(left & 0x7f).unwrap_or(0) | 0x80;
        left >>= 7;
    }
    [a, b, c, d, e & 0x7f]
}

/// The beginning of a filler of so many bytes.
fn filler(bytes: u64) -> [u8; 6] {
    let [a, b, c, d, e] = length(bytes);
    [KEY, a, b, c, d, e]
}

/// Whether the length of a filler at this place of the message lies in two pages.
fn is_split(place: u64) -> bool {
    (wide(header::SIZE) + place + 1) % PAGE > PAGE - 5
}

/// Bytes that a part of a message takes, with what goes around it.
pub(super) fn takes(part: &NtffInfo) -> u64 {
    wide(part.encoded_len()) + FILLER + wide(SHIFT.len())
}

impl Growing {
    /// Begins in an empty file, with a message that has no blobs yet, in room for
    /// `room` bytes.
    ///
    /// # Errors
    ///
    /// A file that cannot be written; no room for the message itself.
    pub(super) fn begin(file: File, form: u8, first: &NtffInfo, room: u64) -> io::Result<Self> {
        let end = NtffInfo { neff_uuid_text: first.neff_uuid_text.clone(), ..NtffInfo::default() }
            .encode_to_vec();
        let mut front = NtffInfo { neff_uuid_text: Vec::new(), ..first.clone() }.encode_to_vec();
        if is_split(wide(front.len())) {
            front.extend(SHIFT);
        }
        let (front_size, end_size) = (wide(front.len()), wide(end.len()));
        let left = room.min(MOST).checked_sub(front_size + FILLER + end_size);
        let left = left.ok_or_else(|| io::Error::other("the message has no room"))?;
        let room = room.min(MOST);
        let start = Header { form, message_size: room };
        front.extend(filler(left));
        let at = wide(header::SIZE);
        file.write_all_at(&start.to_bytes(), 0)?;
        file.write_all_at(&front, at)?;
        file.write_all_at(&end, at + room - end_size)?;
        file.set_len(at + room)?;
        Ok(Self { file, room, front: front_size, end: end_size, done: 0, fresh: 0 })
    }

    /// The file.
    pub(super) const fn file(&self) -> &File {
        &self.file
    }

    /// Where the blob area begins in the file.
    pub(super) const fn blobs_start(&self) -> u64 {
        header::SIZE as u64 + self.room
    }

    /// Bytes of the blob area, with those of the step under way.
    pub(super) const fn blobs(&self) -> u64 {
        self.done + self.fresh
    }

    /// Whether a part of so many bytes has room in the message.
    pub(super) fn fits(&self, taken: u64) -> bool {
        let taken = self.front.saturating_add(taken).saturating_add(FILLER + self.end);
        taken <= self.room
    }

    /// Writes a blob of the step under way; gives its offset.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub(super) fn blob(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let offset = self.blobs();
        self.file.write_all_at(bytes, self.blobs_start() + offset)?;
        self.fresh += wide(bytes.len());
        Ok(offset)
    }

    /// Ends a step: its blobs and this part, of repeated fields alone, are in the
    /// file from now on.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, no room (see [`Self::fits`]); then
    /// [`Self::undo`] is to be called.
    pub(super) fn commit(&mut self, part: &NtffInfo) -> io::Result<()> {
        let mut bytes = part.encode_to_vec();
        let mut next = self.front + FILLER + wide(bytes.len());
        if is_split(next) {
            bytes.extend(SHIFT);
            next += wide(SHIFT.len());
        }
        let left = self.room.checked_sub(next + FILLER + self.end);
        let left = left.ok_or_else(|| io::Error::other("the message has no room left"))?;
        bytes.extend(filler(left));
        let at = wide(header::SIZE) + self.front;
        self.file.write_all_at(&bytes, at + FILLER)?;
        self.file.write_all_at(&length(0), at + 1)?;
        self.front = next;
        self.done += self.fresh;
        self.fresh = 0;
        Ok(())
    }

    /// Takes the blobs of the step under way away again.
    ///
    /// # Errors
    ///
    /// A file that cannot be shortened.
    pub(super) fn undo(&mut self) -> io::Result<()> {
        self.fresh = 0;
        self.file.set_len(self.blobs_start() + self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neuron_core::ntff::messages::{ExecutionInfo, TraceInfo};
    use neuron_core::ntff::{Mode, Options, Reader};

    fn read(bytes: &[u8]) -> (NtffInfo, Vec<u8>, usize) {
        let mut reader = Reader::new(bytes, Options::default()).unwrap();
        let mut all = Vec::new();
        while let Some(chunk) = reader.next_chunk().unwrap() {
            all.extend_from_slice(chunk.bytes);
        }
        let findings = reader.findings().list().0.len();
        (reader.info().clone(), all, findings)
    }

    fn step(at: u64, blobs: &[(u64, u64)]) -> NtffInfo {
        let trace = |(offset, size): &(u64, u64)| TraceInfo {
            offset: *offset,
            size: *size,
            ..TraceInfo::default()
        };
        NtffInfo {
            execution_timeline: vec![ExecutionInfo {
                neff_uuid: vec![9; 16],
                start: at * 10,
                end: at * 10 + 5,
            }],
            session_notifications: blobs.iter().map(trace).collect(),
            ..NtffInfo::default()
        }
    }

    /// Every write of a step, one after the other: the file has either what it had,
    /// or the step too.
    #[test]
    fn every_moment_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ntff");
        let open = || {
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap()
        };
        let first = NtffInfo {
            neff_name: "model".to_owned(),
            neff_uuid_text: vec![1; 16],
            arch: 2,
            ..NtffInfo::default()
        };
        let mut growing = Growing::begin(open(), 6, &first, 64 << 10).unwrap();
        let strict = |count: usize| {
            let bytes = std::fs::read(&path).unwrap();
            let options = Options { mode: Mode::Strict, ..Options::default() };
            let reader = Reader::new(bytes.as_slice(), options).unwrap();
            let info = reader.info();
            assert_eq!((info.neff_name.as_str(), info.arch), ("model", 2));
            assert_eq!(info.neff_uuid_text, [1; 16]);
            assert_eq!(info.execution_timeline.len(), count);
            let (_, blobs, findings) = read(&bytes);
            assert_eq!((blobs.len(), findings), (count * 64, 0));
            bytes
        };
        for at in 0..60 {
            let before = strict(usize::try_from(at).unwrap());
            let offset = growing.blob(&[7; 32]).unwrap();
            growing.blob(&[8; 32]).unwrap();
            // killed here, the new blobs are told and nothing else has changed
            let (info, _, findings) = read(&std::fs::read(&path).unwrap());
            assert_eq!((info, findings), (read(&before).0, 1));
            let part = step(at, &[(offset, 32), (offset + 32, 32)]);
            assert!(growing.fits(takes(&part)));
            let front = growing.front;
            growing.commit(&part).unwrap();
            // all but the last five bytes
            let mut after = std::fs::read(&path).unwrap();
            let place = usize::try_from(128 + front + 1).unwrap();
            after[place..place + 5].copy_from_slice(&before[place..place + 5]);
            assert_eq!(read(&after).0, read(&before).0);
        }
        let bytes = strict(60);
        let starts: Vec<u64> = read(&bytes).0.execution_timeline.iter().map(|w| w.start).collect();
        assert_eq!(starts, (0..60).map(|at| at * 10).collect::<Vec<_>>());
        // a step that is given up
        growing.blob(&[1; 48]).unwrap();
        growing.undo().unwrap();
        assert_eq!(strict(60), bytes);
    }

    #[test]
    fn a_message_has_its_room_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let create = |name: &str| File::create_new(dir.path().join(name)).unwrap();
        let first = NtffInfo { neff_uuid_text: vec![1; 16], arch: 1, ..NtffInfo::default() };
        assert!(Growing::begin(create("none"), 6, &first, 20).is_err());
        let mut growing = Growing::begin(create("some"), 6, &first, 400).unwrap();
        let part = step(1, &[]);
        let mut steps = 0;
        while growing.fits(takes(&part)) {
            growing.commit(&part).unwrap();
            steps += 1;
        }
        assert!((3..20).contains(&steps), "{steps}");
        while growing.commit(&part).is_ok() {
            steps += 1;
        }
        let (info, ..) = read(&std::fs::read(dir.path().join("some")).unwrap());
        assert_eq!(info.execution_timeline.len(), steps);
        assert_eq!(info.neff_uuid_text, [1; 16]);
    }

    #[test]
    fn no_length_lies_in_two_pages() {
        let dir = tempfile::tempdir().unwrap();
        let part = step(1, &[]);
        let mut shifted = 0;
        for name in 3700..4000 {
            let first = NtffInfo { neff_name: "n".repeat(name), ..NtffInfo::default() };
            let path = dir.path().join(name.to_string());
            let mut growing =
                Growing::begin(File::create_new(&path).unwrap(), 6, &first, 8 << 10).unwrap();
            let begun = growing.front;
            growing.commit(&part).unwrap();
            growing.commit(&part).unwrap();
            assert!(!is_split(begun) && !is_split(growing.front));
            let plain = 2 * (FILLER + wide(part.encoded_len()));
            shifted += u32::from(growing.front - begun > plain);
            assert_eq!(read(&std::fs::read(&path).unwrap()).0.execution_timeline.len(), 2);
        }
        assert!(shifted > 0);
    }

    #[test]
    fn lengths_take_five_bytes() {
        for bytes in [0_u64, 1, 127, 128, 16_384, MOST] {
            let field = [&filler(bytes)[1..], &[0; 5]].concat();
            let read = prost::encoding::decode_varint(&mut field.as_slice()).unwrap();
            assert_eq!(read, bytes);
        }
    }
}
