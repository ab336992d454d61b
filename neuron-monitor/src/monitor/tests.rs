//! A day of operation with a clock that is hurried: what is told adds up to
//! what was done, and nothing grows.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;

use neuron_core::instance::InstanceType;
use neuron_core::record::{RecordFile, Rotation};
use neuron_core::sample::{Sample, Wanted};
use neuron_core::sim::{Attachment, DatastoreWriter, Places, Sim, SimSource, SimSpec};
use neuron_core::source::Source;
use neuron_core::uapi::nds::core_counter as id;
use neuron_core::units::Timestamp;

use super::*;
use crate::own::resident_memory;
use crate::prometheus::Board;

/// A simulated instance whose time is ahead as the clock's is.
#[derive(Debug)]
struct Hurried {
    source: SimSource,
    ahead: Arc<AtomicU64>,
}

impl Source for Hurried {
    fn sample(&mut self, wanted: Wanted) -> neuron_core::Result<Sample> {
        let mut sample = self.source.sample(wanted)?;
        let ahead = self.ahead.load(Relaxed);
        sample.taken = Timestamp::from_unix_nanos(sample.taken.unix_nanos() + ahead);
        sample.uptime = sample.uptime.map(|uptime| uptime + ahead);
        Ok(sample)
    }
}

/// What may not grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    resident: u64,
    descriptors: usize,
    files: usize,
    state: u64,
    recordings: u64,
}

fn held(dir: &Path) -> Held {
    let list = |dir: &Path| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let instance = dir.join("lab");
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    Held {
        resident: resident_memory().unwrap(),
        descriptors: list(Path::new("/proc/self/fd")).count(),
        files: list(&instance).count() + list(&instance.join("nds")).count(),
        state: size(&instance.join("state.json")),
        recordings: list(&dir.join("rec")).map(|path| size(&path)).sum(),
    }
}

/// An application that works 40 % of the time.
struct Application {
    store: DatastoreWriter,
    _attachment: Attachment,
    completed: u64,
}

impl Application {
    fn begin(sim: &Sim) -> Self {
        let attachment = sim.attach(0).unwrap();
        let store = attachment.datastore().unwrap();
        attachment.allocate(1 << 20, false, 0, 9).unwrap();
        Self { store, _attachment: attachment, completed: 0 }
    }

    fn work(&mut self, nanos: u64) {
        self.completed += 3;
        let set = |counter, value| self.store.set_core(0, counter, value).unwrap();
        set(id::COMPLETED, self.completed);
        set(id::TIME_IN_USE, self.completed / 3 * nanos * 2 / 5);
        set(id::CORE_TIME, self.completed / 3 * nanos);
    }
}

fn work(hours: u64) {
    const PERIOD: Duration = Duration::from_secs(5);
    const AN_HOUR: u64 = 720;
    let dir = tempfile::tempdir().unwrap();
    let places = Places::only(dir.path());
    let kind = InstanceType::find("trn1.2xlarge").unwrap();
    let sim = Sim::open_or_create(&places, "lab", kind).unwrap();
    let spec = SimSpec { kind, name: String::from("lab") };
    let ahead: Arc<AtomicU64> = Arc::default();
    let hurried = || {
        let source = SimSource::open_in(&places, &spec, None).unwrap();
        Hurried { source, ahead: Arc::clone(&ahead) }
    };
    let reading = Reading::of(Box::new(hurried()));
    let mut monitor = Monitor::new(reading, Config::everything(PERIOD), None, Log::new(0));
    monitor.clock.ahead = Some(Arc::clone(&ahead));
    monitor.always_own = true;
    let mut recorder = Reading::of(Box::new(hurried()));
    std::fs::create_dir(dir.path().join("rec")).unwrap();
    let rotation = Rotation { size: 256 << 10, keep: 2 };
    let mut recording = RecordFile::open(&dir.path().join("rec/day"), rotation).unwrap();
    let board = Board::default();
    let mut application = Some(Application::begin(&sim));
    let nanos = u64::try_from(PERIOD.as_nanos()).unwrap();
    let (mut done, mut told, mut records, mut busy) = (0, 0, 0, 0.0);
    let mut held_before = None;
    let (_sender, events) = channel();
    monitor.run(Limit::Count(hours * AN_HOUR), &events, |record| {
        records += 1;
        let report = record.neuron_runtime_data.first().map(|application| &application.report);
        if let Some(stats) = report.and_then(|report| report.execution_stats.as_ref()) {
            told += stats.execution_summary.completed;
        }
        if let Some(cores) = report.and_then(|report| report.neuroncore_counters.as_ref()) {
            busy += cores.neuroncores_in_use[&0].neuroncore_utilization;
        }
        assert!(record.to_line(false).unwrap().len() < 20_000);
        board.take_at(record, Instant::now() + Duration::from_nanos(ahead.load(Relaxed)));
        if records % 12 == 0 {
            assert!(board.shown().contains("neuroncore_utilization_ratio{"));
            assert_eq!(recorder.record(&mut recording).unwrap(), [""; 0]);
        }
        if records % AN_HOUR == 1 && records > 1 {
            // It ends, and another takes its place.
            done += application.take().map_or(0, |application| application.completed);
            application = Some(Application::begin(&sim));
        }
        // After the first has ended: its counts are among the totals then.
        if records == AN_HOUR * 3 / 2 {
            held_before = Some(held(dir.path()));
        }
        application.as_mut().unwrap().work(nanos);
        ControlFlow::Continue(())
    });
    let after = held(dir.path());
    assert_eq!(records, hours * AN_HOUR);
    // What was done after the last reading is not told yet.
    done += application.map_or(0, |application| application.completed - 3);
    assert_eq!(told, done);
    let share = busy / records as f64;
    assert!((share - 40.0).abs() < 1.0, "{share}");
    let before = held_before.unwrap();
    // A descriptor more or less: what a reading keeps open depends on the moment.
    assert!(after.descriptors <= before.descriptors + 2, "{before:?} {after:?}");
    assert!(after.files <= before.files, "{before:?} {after:?}");
    assert!(after.resident < before.resident + (1 << 20), "{before:?} {after:?}");
    assert!(after.state < before.state + 200, "{before:?} {after:?}");
    assert!(after.recordings < 3 * (300 << 10), "{after:?}");
}

/// `cargo xtask test --full` asks for 24.
#[test]
fn hours_of_operation() {
    let hours = std::env::var("NEURON_TESTS_HOURS").ok();
    work(hours.map_or(2, |hours| hours.parse().unwrap()));
}
