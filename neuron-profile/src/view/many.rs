//! Pairs of NEFF and trace into the store, several at once.
//!
//! An ingest has two threads and needs memory that its trace tells beforehand.
//! One begins when a place is free and the memory of all that run stays within
//! the budget; one that needs more than the budget runs alone.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use anyhow::{Context as _, bail};
use neuron_core::neff::{self, Neff, Options as NeffOptions, Report};
use neuron_core::sys::file_map::FileBytes;
use profile_engine::{Capture, Options};

use super::ingest::{self, Given, SAMPLED, share, store_pair};
use super::{Args, Processed, Trace};
use crate::output::{self, Exit};

/// How many at once, and in how much memory.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Together {
    /// Traces that are ingested at once; one for each processor if left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Memory of all ingests together: bytes, or with K, M or G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = crate::query::select::bytes)]
    memory_budget: usize,
}

impl Together {
    fn places(self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(processors, usize::from)
    }
}

/// A pair that is stored.
#[derive(Debug)]
pub(super) struct Done {
    /// The profile.
    pub(super) id: String,
    /// Begin of the execution on the device's clock, ns.
    pub(super) start: Option<u64>,
    /// Whether it is whole.
    pub(super) exit: Exit,
    /// Findings for people: about which file, and what.
    lines: Vec<(String, String)>,
}

/// Memory that is promised to those that run.
struct Budget {
    bytes: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// A promise; dropped, it is over.
struct Promise<'b>(&'b Budget, u64);

impl Budget {
    fn take(&self, bytes: u64) -> Promise<'_> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |used: &mut u64| *used > 0 && used.saturating_add(bytes) > self.bytes;
        let mut used = self.freed.wait_while(used, full).unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_add(bytes);
        Promise(self, bytes)
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        let mut used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(self.1);
        self.0.freed.notify_all();
    }
}

/// Memory of an ingest, by the size of its trace (our choice: what the store says that it keeps
/// waiting, and 16 bytes for each change of a memory where those are kept).
fn need(trace: u64, usage: bool) -> u64 {
    let rows = trace.saturating_mul(2).min(300 << 20);
    let samples = if usage && trace <= SAMPLED { trace } else { 0 };
    (24 << 20) + rows + samples
}

/// Stores all pairs; what became of each, in their order. Of several one that
/// fails is told and takes no other with it.
///
/// # Errors
///
/// That of the pair, where there is one alone.
pub(super) fn run(
    args: &Args,
    pairs: &[(PathBuf, PathBuf)],
    processed: &mut Processed,
) -> anyhow::Result<Vec<Option<Done>>> {
    let bytes = u64::try_from(args.together.memory_budget)?;
    let budget = Budget { bytes, used: Mutex::new(0), freed: Condvar::new() };
    let bar = output::progress("ingest", 100 * u64::try_from(pairs.len())?, false);
    let shares: Vec<AtomicU64> = pairs.iter().map(|_| AtomicU64::new(0)).collect();
    let results: Vec<Mutex<Option<anyhow::Result<Done>>>> =
        pairs.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some((neff, trace)), Some(result), Some(own)) =
                (pairs.get(at), results.get(at), shares.get(at))
            else {
                return;
            };
            let done = one(args, neff, trace, &budget, &mut |percent, events| {
                own.store(percent, Ordering::Relaxed);
                bar.set_position(shares.iter().map(|share| share.load(Ordering::Relaxed)).sum());
                if pairs.len() == 1 {
                    bar.set_message(format!("{events} events"));
                }
            });
            own.store(100, Ordering::Relaxed);
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..args.together.places().min(pairs.len()) {
            scope.spawn(work);
        }
        work();
    });
    bar.finish_and_clear();
    let mut all = Vec::new();
    for (result, (_, trace)) in results.into_iter().zip(pairs) {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        let done = result.transpose().and_then(|done| {
            let Some(mut done) = done else { return Ok(None) };
            // Not before, beside a bar that is being drawn.
            for (name, line) in std::mem::take(&mut done.lines) {
                output::tell(&name, [line]);
            }
            ingest::attach_sources(args, &done.id)?;
            Ok(Some(done))
        });
        all.push(match done {
            Err(error) if pairs.len() == 1 => return Err(error),
            Err(error) => {
                processed.fail(&trace.display().to_string(), &error);
                None
            }
            Ok(done) => done,
        });
    }
    Ok(all)
}

fn one(
    args: &Args,
    neff_path: &Path,
    session_file: &Path,
    budget: &Budget,
    progress: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<Done> {
    let trace = Trace::open(session_file)?;
    let size = trace.file.metadata().map_or(u64::MAX, |meta| meta.len());
    let _promise = budget.take(need(size, !args.without_usage()?));
    let bytes = FileBytes::open(neff_path)?;
    let name = neff_path.display().to_string();
    let options = NeffOptions::new(neff::Mode::Lenient).without_digest();
    let neff = Neff::open(&bytes, &options).with_context(|| name.clone())?;
    let execution = usize::try_from(args.execution)?.saturating_sub(1);
    let options = Options { execution, ..Options::default() };
    let capture = Capture::open(&neff, &trace.file, options, &mut Report::new(neff::Mode::Lenient));
    let start = capture.ok().map(|capture| capture.start / 1000);
    let given = Given {
        neff: name,
        trace: trace.name.clone(),
        size,
        execution: u32::try_from(execution)?,
        ..Given::of(args)?
    };
    let store = args.place.store()?;
    let pair = (&bytes[..], &neff);
    let done = store_pair(&store, &given, pair, &trace.file, options, &mut |at| {
        progress(share(at), at.events);
    })?;
    Ok(Done { id: done.id, start, exit: done.exit, lines: done.lines })
}

/// NEFFs and traces of the command line as pairs: each its own NEFF, or one for
/// all of them.
pub(super) fn paired(
    neffs: &[PathBuf],
    traces: &[PathBuf],
) -> anyhow::Result<Vec<(PathBuf, PathBuf)>> {
    match (neffs, traces) {
        (_, []) => bail!("the trace of the NEFF is missing: add -s FILE"),
        ([neff], traces) => Ok(traces.iter().map(|trace| (neff.clone(), trace.clone())).collect()),
        (neffs, traces) if neffs.len() == traces.len() => {
            Ok(neffs.iter().cloned().zip(traces.iter().cloned()).collect())
        }
        _ => bail!(
            "{} NEFFs and {} traces: name one NEFF for all traces, or one for each",
            neffs.len(),
            traces.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_the_command_line() {
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        let pair = |a: &str, b: &str| (PathBuf::from(a), PathBuf::from(b));
        let all = |a: &[&str], b: &[&str]| paired(&paths(a), &paths(b));
        assert_eq!(all(&["n"], &["s"]).unwrap(), [pair("n", "s")]);
        assert_eq!(all(&["n"], &["s", "t"]).unwrap(), [pair("n", "s"), pair("n", "t")]);
        assert_eq!(all(&["n", "m"], &["s", "t"]).unwrap(), [pair("n", "s"), pair("m", "t")]);
        assert!(all(&["n"], &[]).is_err());
        let error = all(&["n", "m"], &["s", "t", "u"]).unwrap_err().to_string();
        assert!(error.starts_with("2 NEFFs and 3 traces: "), "{error}");
    }

    #[test]
    fn a_budget_is_kept_and_one_may_always_run() {
        let budget = Budget { bytes: 10, used: Mutex::new(0), freed: Condvar::new() };
        let most = Mutex::new(0);
        std::thread::scope(|scope| {
            for need in [4, 4, 4, 25, 7, 1] {
                let (budget, most) = (&budget, &most);
                scope.spawn(move || {
                    let promise = budget.take(need);
                    let used = *budget.used.lock().unwrap();
                    assert!(used <= 10 || used == need, "{used}");
                    let mut most = most.lock().unwrap();
                    *most = used.max(*most);
                    drop(promise);
                });
            }
        });
        assert_eq!(*budget.used.lock().unwrap(), 0);
        assert!(*most.lock().unwrap() >= 25);
    }

    #[test]
    fn longer_traces_need_more_up_to_a_bound() {
        let mib = |trace: u64| need(trace << 20, true) >> 20;
        assert!(mib(0) < mib(10) && mib(10) < mib(100));
        assert_eq!(mib(5000), mib(50_000));
    }
}
