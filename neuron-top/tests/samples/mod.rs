//! Samples made by hand, and the readings of a recording of them.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;

use neuron_core::instance::Chip;
use neuron_core::record::Recorder;
use neuron_core::sample::{
    CpuTimes, Cpus, Datastore, DatastoreCore, Device, Host, LoadedModel, ModelMemory, Origin,
    Process, Ram, Sample, System, Usage,
};
use neuron_core::source::{self, Spec};
use neuron_core::units::Timestamp;
use neuron_top::app::App;
use neuron_top::frame::Frame;
use neuron_top::keys::Keymap;
use neuron_top::reading::Reading;

pub const MB: u64 = 1 << 20;
pub const KB: u64 = 1 << 10;

/// Bytes of so many hundredths of a MB.
pub const fn mb(hundredths: u64) -> u64 {
    hundredths * MB / 100
}

/// An idle machine, `seconds` after boot.
pub fn machine(kind: &str, id: &str, chip: Chip, devices: u32, cpus: u32, seconds: u64) -> Sample {
    let device = |index| Device {
        index,
        host_index: index,
        chip: Some(chip),
        arch: Some(chip.arch()),
        core_count: Some(chip.core_count()),
        processes: Some(Vec::new()),
        ..Device::default()
    };
    let each = (0..cpus).map(|number| (number, CpuTimes::default())).collect();
    Sample {
        taken: Timestamp::from_unix_nanos((1_700_000_000 + seconds) * 1_000_000_000),
        uptime: Some(seconds * 1_000_000_000),
        origin: Origin::Kernel,
        host: Host {
            instance_type: Some(kind.to_owned()),
            instance_id: Some(id.to_owned()),
            driver_version: Some(String::from("2.24.7.0")),
            logical_nc_config: None,
        },
        system: Some(System {
            cpus: Some(Cpus { each, ..Cpus::default() }),
            ram: Some(Ram {
                total: 512 << 30,
                available: Some(500 << 30),
                free: 400 << 30,
                ..Ram::default()
            }),
            ..System::default()
        }),
        devices: (0..devices).map(device).collect(),
        ..Sample::default()
    }
}

/// CPU times of the host: user, system and idle ticks.
pub fn set_cpu(sample: &mut Sample, user: u64, system: u64, idle: u64) {
    let cpus = sample.system.as_mut().unwrap().cpus.as_mut().unwrap();
    cpus.all = CpuTimes { user, system, idle, ..CpuTimes::default() };
}

/// The process on a device, made if it is not there.
pub fn process(sample: &mut Sample, device: usize, pid: u32) -> &mut Process {
    let list = sample.devices[device].processes.as_mut().unwrap();
    let at = list.iter().position(|process| process.pid == pid).unwrap_or_else(|| {
        list.push(Process {
            pid,
            command: Some(format!("python serve.py --port {pid}")),
            usage: Some(Usage { user: 0, system: 0, started: u64::from(pid) }),
            datastore: Some(Datastore::default()),
            ..Process::default()
        });
        list.sort_by_key(|process| process.pid);
        list.iter().position(|process| process.pid == pid).unwrap()
    });
    &mut list[at]
}

/// Counters of a process on a physical core of a device.
pub fn count(sample: &mut Sample, device: usize, pid: u32, core: u32, counters: &[(u32, u64)]) {
    let store = process(sample, device, pid).datastore.as_mut().unwrap();
    match store.cores.iter_mut().find(|known| known.index == core) {
        Some(known) => known.counters.extend(counters.iter().copied()),
        None => store
            .cores
            .push(DatastoreCore { index: core, counters: counters.iter().copied().collect() }),
    }
}

/// A model of a process on the first node of a core.
pub fn model(sample: &mut Sample, device: usize, pid: u32, loaded: LoadedModel) {
    let store = process(sample, device, pid).datastore.as_mut().unwrap();
    store.models.get_or_insert_default().push(loaded);
}

/// A model that is not started.
pub fn loaded(
    id: u32,
    core: u32,
    name: &str,
    host: ModelMemory,
    device: ModelMemory,
) -> LoadedModel {
    LoadedModel {
        id,
        node: 0,
        core,
        name: name.to_owned(),
        uuid: format!("{id:032x}"),
        host,
        device,
        ..LoadedModel::default()
    }
}

/// The recording of the samples, in a file.
pub fn record(samples: &[Sample]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut recorder = Recorder::new(file.reopen().unwrap()).unwrap();
    samples.iter().for_each(|sample| recorder.write(sample).unwrap());
    file
}

/// The frames of a recording of the samples.
pub fn frames(samples: &[Sample]) -> Vec<Arc<Frame>> {
    let file = record(samples);
    let spec = Spec::Replay { file: file.path().to_owned(), speed: None };
    let mut reading = Reading::of(source::open(&spec).unwrap());
    samples.iter().map(|_| Arc::new(reading.frame().unwrap())).collect()
}

/// The screen's state after the recording.
pub fn app(samples: &[Sample]) -> App {
    let mut app = App::new(Keymap::default(), false, false);
    for frame in frames(samples) {
        app.on_frame(frame);
    }
    app
}

/// Percent by device and core, read off top-nt-1.png; their mean is the 71.19
/// of its heading.
#[rustfmt::skip]
pub const PICTURE: [[u64; 2]; 16] = [
    [6989, 7172], [7115, 7088], [6914, 7084], [7015, 7027], [7017, 7247], [7138, 7178],
    [7129, 7193], [7010, 7052], [7146, 7257], [7214, 7254], [7158, 7234], [7137, 7197],
    [7129, 7157], [7067, 7125], [7073, 7084], [7078, 7136],
];

/// GFLOPS by device and core, read off top-nt-flops.png; their sum is the
/// 318.278 TF of its heading.
#[rustfmt::skip]
pub const FLOPS: [[u64; 2]; 16] = [
    [10_004, 10_105], [9_848, 9_984], [9_823, 9_969], [9_712, 9_772], [10_155, 10_175],
    [9_979, 10_085], [9_803, 9_833], [9_722, 9_767], [10_135, 10_165], [9_883, 10_170],
    [10_009, 10_085], [9_868, 9_924], [9_838, 10_019], [9_984, 9_974], [9_813, 9_959],
    [9_913, 9_803],
];

/// The machine of top-nt-1.png with its process, in figures that the driver
/// would give: counters, ticks and bytes.
pub fn picture() -> Vec<Sample> {
    let machine = |seconds| {
        machine("trn1.32xlarge", "i-0b8fa095c67d3e653", Chip::Trainium1, 16, 128, seconds)
    };
    let (mut before, mut now) = (machine(1000), machine(1001));
    // 12800 ticks of 128 CPUs in a second: 2.69 % and 3.97 % of 100000, as the
    // picture's samples of the host need not be of one second.
    set_cpu(&mut before, 0, 0, 0);
    set_cpu(&mut now, 2690, 3970, 93_340);
    for (device, cores) in PICTURE.iter().enumerate() {
        for (core, hundredths) in (0..).zip(cores) {
            count(&mut before, device, 7286, core, &[(0, 1), (15, 1)]);
            let busy = hundredths * 100_000;
            let giga = FLOPS[device][usize::try_from(core).unwrap()];
            let memory =
                [(22, mb(9644)), (23, 512 * KB + 512), (24, mb(3734)), (25, 512 * MB), (26, 1088)];
            count(
                &mut now,
                device,
                7286,
                core,
                &[(0, 1 + busy), (15, 1_000_000_001), (29, giga * 500_000_000)],
            );
            count(&mut now, device, 7286, core, &memory);
            // 10006, 10009, 10032: the ids of the picture.
            let id = match (device, core) {
                (0, 0) => 10_006,
                (0, 1) => 10_009,
                (1, 0) => 10_032,
                _ => 10_100 + u32::try_from(device).unwrap() * 2 + core,
            };
            let host = ModelMemory { misc: 20 * KB + 102, ..ModelMemory::default() };
            let constants = ModelMemory { constants: mb(3734), ..ModelMemory::default() };
            model(&mut now, device, 7286, loaded(id, core, "file.neff", host, constants));
        }
        let process = process(&mut now, device, 7286);
        // 3.33 % and 4.92 % of 12800 ticks.
        process.usage = Some(Usage { user: 426, system: 630, started: 7286 });
        process.datastore.as_mut().unwrap().device = [(6, 8 * MB), (10, mb(88_040))].into();
    }
    vec![before, now]
}

/// One device without a process.
pub fn idle() -> Vec<Sample> {
    let machine =
        |seconds| machine("trn1.2xlarge", "i-0123456789abcdef0", Chip::Trainium1, 1, 8, seconds);
    let (mut before, mut now) = (machine(1000), machine(1001));
    set_cpu(&mut before, 0, 0, 0);
    set_cpu(&mut now, 8, 4, 788);
    vec![before, now]
}

/// The same with a process on its first core.
pub fn one() -> Vec<Sample> {
    let mut samples = idle();
    count(&mut samples[0], 0, 42, 0, &[(0, 5), (15, 10)]);
    let now = &mut samples[1];
    count(now, 0, 42, 0, &[(0, 250_000_005), (15, 1_000_000_010), (29, 1_500_000_000_000)]);
    count(now, 0, 42, 0, &[(22, 3 * MB), (23, 64 * KB), (24, 100 * MB), (25, 2 * MB), (26, KB)]);
    let host = ModelMemory { tensors: 4 * KB, ..ModelMemory::default() };
    let device = ModelMemory { constants: 100 * MB, code: MB, ..ModelMemory::default() };
    let mut bert = loaded(10_001, 0, "bert-large.neff", host, device);
    bert.running = true;
    model(now, 0, 42, bert);
    let process = process(now, 0, 42);
    process.tag = Some(String::from("serving"));
    process.usage = Some(Usage { user: 100, system: 20, started: 42 });
    process.datastore.as_mut().unwrap().device = [(6, MB), (7, 4 * KB), (10, 30 * MB)].into();
    samples
}

/// Sixteen devices of trn2.48xlarge; process n of 8 keeps the logical cores of
/// devices 2n and 2n+1 busy for n + 1 tenths.
pub fn many() -> Vec<Sample> {
    let machine = |seconds| {
        machine("trn2.48xlarge", "i-00d43e71ad09bbe0e", Chip::Trainium2, 16, 192, seconds)
    };
    let (mut before, mut now) = (machine(1000), machine(1001));
    set_cpu(&mut before, 0, 0, 0);
    set_cpu(&mut now, 1920, 960, 16_320);
    for number in 0..8_u32 {
        let pid = 5000 + number;
        for device in [2 * number, 2 * number + 1] {
            let device = usize::try_from(device).unwrap();
            for core in 0..8 {
                count(&mut before, device, pid, core, &[(0, 1), (15, 1)]);
                let busy = u64::from(number + 1) * 100_000_000;
                let work = [(0, busy + 1), (15, 1_000_000_001), (29, busy * 100)];
                count(&mut now, device, pid, core, &work);
                count(&mut now, device, pid, core, &[(22, 100 * MB), (24, 400 * MB)]);
                if core % 2 == 0 {
                    let id = 10_000 + number * 100 + u32::try_from(device).unwrap() * 4 + core / 2;
                    let constants = ModelMemory { constants: 800 * MB, ..ModelMemory::default() };
                    let name = format!("llama-{number}.neff");
                    model(
                        &mut now,
                        device,
                        pid,
                        loaded(id, core, &name, ModelMemory::default(), constants),
                    );
                }
            }
            let process = process(&mut now, device, pid);
            process.tag = Some(format!("worker-{number}"));
            process.usage = Some(Usage { user: 192, system: 96, started: u64::from(pid) });
            process.datastore.as_mut().unwrap().device = [(10, 100 * MB)].into();
        }
    }
    vec![before, now]
}

/// The same with device 3 gone and device 5 in reset.
pub fn lost() -> Vec<Sample> {
    use neuron_core::sample::{DeviceState, Problem};
    let mut samples = many();
    let now = &mut samples[1];
    now.devices.remove(3);
    now.devices[4].state = Some(DeviceState::Reset);
    now.devices[4].processes = None;
    let text = String::from("is in reset: it can be used again when that has ended");
    now.problems.push(Problem { device: Some(5), text });
    samples
}
