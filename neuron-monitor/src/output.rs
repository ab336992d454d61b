//! Whole lines to a reader that may be slow.
//!
//! A thread writes; between it and the sampler are at most [`WAITING`] lines.
//! When they are full the new line is dropped whole and counted, and sampling
//! goes on at its pace.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::events::Event;

/// Lines that wait at most.
const WAITING: usize = 16;

/// How long the end waits for a reader to take what is being written.
const PATIENCE: Duration = Duration::from_secs(1);

/// The writing side.
#[derive(Debug)]
pub(crate) struct Lines {
    sender: Option<SyncSender<Vec<u8>>>,
    thread: JoinHandle<()>,
    dropped: Arc<AtomicU64>,
}

impl Lines {
    /// Starts the thread. Trouble with the output is told through `events`.
    ///
    /// # Errors
    ///
    /// When there is no thread to be had.
    pub(crate) fn to(
        output: impl Write + Send + 'static,
        dropped: Arc<AtomicU64>,
        events: Sender<Event>,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let thread = Builder::new()
            .name(String::from("output"))
            .spawn(move || write_all(output, &receiver, &events))?;
        Ok(Self { sender: Some(sender), thread, dropped })
    }

    /// Hands a line over. Returns whether it was taken.
    pub(crate) fn write(&self, line: Vec<u8>) -> bool {
        match self.sender.as_ref().map(|sender| sender.try_send(line)) {
            Some(Ok(())) => true,
            Some(Err(TrySendError::Full(_))) => {
                self.dropped.fetch_add(1, Relaxed);
                false
            }
            // The thread has said why it ended.
            Some(Err(TrySendError::Disconnected(_))) | None => false,
        }
    }

    /// Waits until everything is written, but for a reader that does not read.
    /// Returns what the output failed with since the loop ended: `events` is
    /// where the thread told it.
    pub(crate) fn finish(mut self, events: &Receiver<Event>) -> Option<io::Error> {
        self.sender = None;
        let end = Instant::now() + PATIENCE;
        while !self.thread.is_finished() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        events.try_iter().find_map(|event| match event {
            Event::OutputFailed(error) => Some(error),
            _ => None,
        })
    }
}

fn write_all(mut output: impl Write, lines: &Receiver<Vec<u8>>, events: &Sender<Event>) {
    for line in lines {
        if let Err(error) = output.write_all(&line).and_then(|()| output.flush()) {
            let event = match error.kind() {
                ErrorKind::BrokenPipe => Event::ReaderGone,
                _ => Event::OutputFailed(error),
            };
            // The loop may have ended already.
            let _ = events.send(event);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_slow_reader_loses_whole_lines() {
        let (mut reader, writer) = io::pipe().unwrap();
        let (events, told) = channel();
        let dropped = Arc::new(AtomicU64::new(0));
        let lines = Lines::to(writer, Arc::clone(&dropped), events).unwrap();
        let long = vec![b'x'; 200_000];
        let mut taken = 0;
        for number in 0..100 {
            let mut line = format!("{number} ").into_bytes();
            line.extend_from_slice(&long);
            line.push(b'\n');
            taken += usize::from(lines.write(line));
        }
        assert!((WAITING..=WAITING + 2).contains(&taken), "{taken}");
        assert_eq!(dropped.load(Relaxed), 100 - taken as u64);
        let collector = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        });
        assert!(lines.finish(&told).is_none());
        let text = collector.join().unwrap().unwrap();
        assert_eq!(text.lines().count(), taken);
        assert!(text.lines().all(|line| line.ends_with('x') && line.len() > 200_000));
    }

    #[test]
    fn every_line_arrives_at_once() {
        let (reader, writer) = io::pipe().unwrap();
        let (events, told) = channel();
        let lines = Lines::to(writer, Arc::default(), events).unwrap();
        let mut reader = BufReader::new(reader);
        for number in 0..3 {
            assert!(lines.write(format!("{number}\n").into_bytes()));
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            assert_eq!(line, format!("{number}\n"));
        }
        assert!(lines.finish(&told).is_none());
    }

    /// The last line fails after the loop has ended.
    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (events, told) = channel();
        let lines = Lines::to(full, Arc::default(), events).unwrap();
        lines.write(b"x\n".to_vec());
        assert_eq!(lines.finish(&told).unwrap().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn a_reader_that_has_gone_is_told_quietly() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let (events, told) = channel();
        let lines = Lines::to(writer, Arc::default(), events).unwrap();
        lines.write(b"x\n".to_vec());
        assert!(matches!(told.recv().unwrap(), Event::ReaderGone));
        assert!(lines.finish(&told).is_none());
    }
}
