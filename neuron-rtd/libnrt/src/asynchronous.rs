//! Execution units: a queue and a thread for each core and kind of request.
//!
//! Requests of a unit are done one after the other, in the order in which they
//! came. The number of a request holds the unit (top 16 bits) and counts from 1
//! in it (low 48 bits); so a request is done when the last number done in its
//! unit is not below its own.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use neuron_core::uapi::nrt::{AsyncError, Status, StatusCallback, unit};
use rustix::event::{EventfdFlags, eventfd};

use crate::call::Fault;
use crate::handle::Table;

/// Requests of a unit that wait or are under way, at most (our choice).
const MOST: usize = 64;

/// Bits of a request's number that count.
const COUNT_BITS: u32 = 48;

pub(crate) static TRACKERS: Table<Tracker> = Table::new("error tracker", 4);

/// What the caller wants to be called when an execution has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callback {
    pub(crate) function: StatusCallback,
    pub(crate) parameters: crate::pointer::Address,
}

impl Callback {
    pub(crate) fn call(self, model: u32, core: u32, job: u64, status: Status) {
        let parameters: *mut c_void = self.parameters.get();
        (self.function)(parameters, model, core, job, status);
    }
}

/// Errors of the requests of a core.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    errors: Mutex<Errors>,
}

#[derive(Debug, Default)]
struct Errors {
    all: Vec<AsyncError>,
    /// Lists that the caller has got; they live as long as the tracker.
    lent: Vec<Box<[AsyncError]>>,
}

impl Tracker {
    fn add(&self, sequence: u64, status: Status) {
        let status = u64::from(status.0.unsigned_abs());
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.all.push(AsyncError { sequence, status });
    }

    /// The errors so far: where the list is, and how long it is.
    pub(crate) fn list(&self) -> (*const AsyncError, usize) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = &mut *errors;
        if errors.lent.last().is_none_or(|last| last.len() != errors.all.len()) {
            errors.lent.push(errors.all.clone().into_boxed_slice());
        }
        errors.lent.last().map_or((std::ptr::null(), 0), |last| (last.as_ptr(), last.len()))
    }
}

/// What a request does; it gets its number.
pub(crate) type Task = Box<dyn FnOnce(u64) -> Status + Send>;

struct Waiting {
    number: u64,
    task: Task,
    tracker: Option<Arc<Tracker>>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {:#x}", self.number)
    }
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    scheduled: u64,
    done: u64,
    watchers: Vec<(u64, OwnedFd)>,
    closed: bool,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Unit {
    /// Its number in the top bits.
    base: u64,
    state: Mutex<State>,
    changed: Condvar,
}

impl Unit {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(next) = state.waiting.pop_front() {
                let closed = state.closed;
                drop(state);
                let status = if closed { Status::CLOSED } else { (next.task)(next.number) };
                if let Some(tracker) = next.tracker.filter(|_| !status.is_success()) {
                    tracker.add(next.number, status);
                }
                state = self.state();
                state.done += 1;
                let done = state.done;
                let passed = state.watchers.extract_if(.., |(number, _)| *number <= done);
                for (_, fd) in passed {
                    ring(&fd);
                }
                self.changed.notify_all();
            } else if state.closed {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Makes a descriptor readable.
fn ring(fd: &OwnedFd) {
    // the caller may have closed its own one
    let _ = rustix::io::write(fd, &1_u64.to_ne_bytes());
}

/// How many requests of a unit may be there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// A full queue is told.
    Told,
    /// At most so many; a full queue is waited for.
    Waited(usize),
}

/// All units.
#[derive(Debug, Default)]
pub(crate) struct Units(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    units: HashMap<u16, Arc<Unit>>,
    closed: bool,
}

/// The number of a unit: core by core, in the order of the kinds.
fn number(core: u32, kind: u32) -> Result<u16, Fault> {
    let number = core.checked_mul(unit::COUNT).and_then(|first| first.checked_add(kind));
    let number = number.and_then(|number| u16::try_from(number).ok());
    number
        .filter(|_| kind < unit::COUNT)
        .ok_or_else(|| Fault::invalid(format!("no execution unit of kind {kind} at core {core}")))
}

/// A queue of a unit: only 0 exists.
pub(crate) fn check_queue(queue: i32) -> Result<(), Fault> {
    match queue {
        0 => Ok(()),
        other => Err(Fault::invalid(format!("no queue {other}; use 0"))),
    }
}

impl Units {
    fn existing(&self, number: u16) -> Option<Arc<Unit>> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.units.get(&number).map(Arc::clone)
    }

    fn unit(&self, core: u32, kind: u32) -> Result<Arc<Unit>, Fault> {
        let number = number(core, kind)?;
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.closed {
            return Err(Fault::new(Status::CLOSED, "the runtime was closed"));
        }
        if let Some(unit) = table.units.get(&number) {
            return Ok(Arc::clone(unit));
        }
        let unit = Arc::new(Unit { base: u64::from(number) << COUNT_BITS, ..Unit::default() });
        let own = Arc::clone(&unit);
        let thread = std::thread::Builder::new().name(format!("xu{number}"));
        let thread = thread.spawn(move || own.work()).map_err(|error| {
            Fault::new(Status::RESOURCE, format!("cannot make a thread: {error}"))
        })?;
        unit.state().thread = Some(thread);
        table.units.insert(number, Arc::clone(&unit));
        Ok(unit)
    }

    /// Puts a request into the queue of a unit; gives its number.
    pub(crate) fn schedule(
        &self,
        (core, kind): (u32, u32),
        limit: Limit,
        tracker: Option<Arc<Tracker>>,
        task: Task,
    ) -> Result<u64, Fault> {
        let unit = self.unit(core, kind)?;
        let mut state = unit.state();
        let most = match limit {
            Limit::Told => MOST,
            Limit::Waited(most) => most,
        };
        let room = |state: &State| {
            usize::try_from(state.scheduled - state.done).is_ok_and(|there| there < most)
        };
        while !room(&state) && !state.closed {
            if matches!(limit, Limit::Told) {
                let text = format!("{most} requests wait at core {core}");
                return Err(Fault::new(Status::QUEUE_FULL, text));
            }
            state = unit.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(Fault::new(Status::CLOSED, "the runtime was closed"));
        }
        state.scheduled += 1;
        let number = unit.base | state.scheduled;
        state.waiting.push_back(Waiting { number, task, tracker });
        drop(state);
        unit.changed.notify_all();
        Ok(number)
    }

    /// Unit and count of a request that there is.
    fn request(&self, sequence: u64) -> Result<(Arc<Unit>, u64), Fault> {
        let count = sequence & ((1 << COUNT_BITS) - 1);
        let unit = u16::try_from(sequence >> COUNT_BITS).ok().and_then(|unit| self.existing(unit));
        let unit = unit.filter(|unit| count > 0 && count <= unit.state().scheduled);
        let unit = unit.ok_or_else(|| Fault::invalid(format!("no request {sequence:#x}")))?;
        Ok((unit, count))
    }

    /// Whether a request is done.
    pub(crate) fn is_done(&self, sequence: u64) -> Result<bool, Fault> {
        let (unit, count) = self.request(sequence)?;
        let done = unit.state().done;
        Ok(count <= done)
    }

    /// The last request of a unit that is done; count 0 before the first.
    pub(crate) fn last_done(&self, core: u32, kind: u32) -> Result<u64, Fault> {
        let number = number(core, kind)?;
        let base = u64::from(number) << COUNT_BITS;
        Ok(self.existing(number).map_or(base, |unit| base | unit.state().done))
    }

    /// A descriptor that can be read once a request is done.
    pub(crate) fn handle(&self, sequence: u64) -> Result<OwnedFd, Fault> {
        let (unit, count) = self.request(sequence)?;
        let failed = |error: std::io::Error| {
            Fault::new(Status::RESOURCE, format!("cannot make a descriptor: {error}"))
        };
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let fd = fd.map_err(|errno| failed(errno.into()))?;
        let mut state = unit.state();
        if count <= state.done {
            ring(&fd);
        } else {
            state.watchers.push((count, fd.try_clone().map_err(failed)?));
        }
        Ok(fd)
    }

    /// Waits until everything that is in a unit's queue now is done.
    pub(crate) fn drain(&self, core: u32, kind: u32) -> Result<(), Fault> {
        let Some(unit) = self.existing(number(core, kind)?) else { return Ok(()) };
        let mut state = unit.state();
        let until = state.scheduled;
        while state.done < until {
            state = unit.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Ends every unit: what is under way ends, what waits is given up.
    pub(crate) fn close(&self) {
        let units: Vec<Arc<Unit>> = {
            let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            table.closed = true;
            table.units.values().cloned().collect()
        };
        for unit in &units {
            unit.state().closed = true;
            unit.changed.notify_all();
        }
        for unit in units {
            let thread = unit.state().thread.take();
            // a callback of the caller may close the runtime on a unit's thread
            if let Some(thread) =
                thread.filter(|thread| thread.thread().id() != std::thread::current().id())
            {
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(units: &Units, tracker: &Arc<Tracker>, status: Status) -> Result<u64, Fault> {
        let task: Task = Box::new(move |_| status);
        units.schedule((2, unit::COMPUTE), Limit::Told, Some(Arc::clone(tracker)), task)
    }

    #[test]
    fn requests_are_numbered_done_in_order_and_their_errors_kept() {
        let (units, tracker) = (Units::default(), Arc::new(Tracker::default()));
        let first = schedule(&units, &tracker, Status::SUCCESS).unwrap();
        assert_eq!(first, (13 << 48) | 1);
        let second = schedule(&units, &tracker, Status::TIMEOUT).unwrap();
        let fd = units.handle(second).unwrap();
        units.drain(2, unit::COMPUTE).unwrap();
        assert!(units.is_done(first).unwrap() && units.is_done(second).unwrap());
        assert_eq!(units.last_done(2, unit::COMPUTE).unwrap(), second);
        let mut bytes = [0; 8];
        assert_eq!(rustix::io::read(&fd, &mut bytes), Ok(8));
        assert_eq!(tracker.list().1, 1);
        assert_eq!(tracker.errors.lock().unwrap().all[0].sequence, second);
        assert_eq!(tracker.errors.lock().unwrap().all[0].status, 5);
        for unknown in [0, second + 1, 1 << 48, u64::MAX] {
            assert_eq!(units.is_done(unknown).unwrap_err().status, Status::INVALID);
        }
        units.close();
        let late = schedule(&units, &tracker, Status::SUCCESS).unwrap_err();
        assert_eq!(late.status, Status::CLOSED);
    }

    #[test]
    fn a_full_queue_is_told_and_given_up_at_the_end() {
        let (units, tracker) = (Units::default(), Arc::new(Tracker::default()));
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let own = Arc::clone(&gate);
        let task: Task = Box::new(move |_| {
            let mut open = own.0.lock().unwrap();
            while !*open {
                open = own.1.wait(open).unwrap();
            }
            Status::SUCCESS
        });
        let place = (2, unit::COMPUTE);
        units.schedule(place, Limit::Told, None, task).unwrap();
        for _ in 1..MOST {
            schedule(&units, &tracker, Status::SUCCESS).unwrap();
        }
        let full = schedule(&units, &tracker, Status::SUCCESS).unwrap_err();
        assert_eq!(full.status, Status::QUEUE_FULL);
        std::thread::scope(|scope| {
            let closing = scope.spawn(|| units.close());
            while units.unit(2, unit::COMPUTE).is_ok() {
                std::thread::yield_now();
            }
            let unit = units.existing(13).unwrap();
            while !unit.state().closed {
                std::thread::yield_now();
            }
            *gate.0.lock().unwrap() = true;
            gate.1.notify_all();
            closing.join().unwrap();
        });
        assert_eq!(tracker.list().1, MOST - 1, "all that waited");
    }
}
