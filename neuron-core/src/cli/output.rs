//! A writer to which a closed pipe is not an error.
//!
//! Rust ignores SIGPIPE, so that a write to a closed pipe returns `EPIPE`.
//! `neuron-ls | head -1` has done its work all the same.

use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Writes until the reader goes away, and then pretends to.
#[derive(Debug)]
pub struct Output<W> {
    inner: W,
    closed: bool,
}

impl Output<io::StdoutLock<'static>> {
    /// The program's stdout.
    pub fn stdout() -> Self {
        Self::to(io::stdout().lock())
    }
}

/// Whether nobody reads any more what is written there: the other end of a
/// pipe or socket is closed, or the terminal is gone. Does not wait.
pub fn reader_gone(stream: &impl AsFd) -> bool {
    // Errors and hang-ups are reported whatever is asked for.
    let mut asked = [PollFd::new(stream, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&at_once)).is_ok_and(|count| count > 0)
        && asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

impl<W: Write> Output<W> {
    /// Wraps a writer.
    pub fn to(inner: W) -> Self {
        Self { inner, closed: false }
    }

    /// Whether the reader has gone away: a loop should end.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn settle<T>(&mut self, result: io::Result<T>, done: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(done)
            }
            other => other,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let result = self.inner.write(bytes);
        self.settle(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.flush();
        self.settle(result, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Refuses(ErrorKind);

    impl Write for Refuses {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_pipe_is_quiet_and_known() {
        let mut out = Output::to(Refuses(ErrorKind::BrokenPipe));
        assert!(out.write_all(b"text").is_ok());
        assert!(out.is_closed());
        assert!(out.flush().is_ok());
    }

    #[test]
    fn other_errors_stay_errors() {
        let mut out = Output::to(Refuses(ErrorKind::StorageFull));
        assert_eq!(out.write_all(b"text").unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(!out.is_closed());
    }

    #[test]
    fn a_reader_that_is_gone_shows_without_a_write() {
        let (reader, writer) = io::pipe().unwrap();
        assert!(!reader_gone(&writer));
        drop(reader);
        assert!(reader_gone(&writer));
        assert!(!reader_gone(&tempfile::tempfile().unwrap()));
    }

    #[test]
    fn text_passes_through() {
        let mut buffer = Vec::new();
        Output::to(&mut buffer).write_all(b"text").unwrap();
        assert_eq!(buffer, b"text");
    }
}
