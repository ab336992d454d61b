//! Metrics of a region: those of the summary (profiler.md §2.6) that make sense
//! for a window, by the same formulas.
//!
//! Counts, bytes, operations and sums of times are of the events that begin in
//! it; active times are integrals of series over it. Times are whole
//! nanoseconds, those of the summary picoseconds.

use profile_engine::summary::HFU_FACTOR;
use profile_store::kinds::Work;
use profile_store::read::{LaneSums, Line};
use profile_store::{Error, LaneKind, Profile};

/// A metric.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Metric {
    /// As in `Summary`.
    pub name: String,
    /// Group of the viewer's table.
    pub group: &'static str,
    /// Physical core; all if none.
    pub core: Option<u32>,
    /// `s`, `%` for a fraction from 0 to 1, `B`, `flop`, or empty.
    pub unit: &'static str,
    /// Value.
    pub value: f64,
}

/// Engines in the order of the groups: word, group, rows of the timeline.
const ENGINES: [(&str, &str, &[&str]); 5] = [
    ("tensor", "tensor_engine", &["Tensor", "TensorMatrix"]),
    ("vector", "vector_engine", &["Vector"]),
    ("scalar", "scalar_engine", &["Scalar"]),
    ("sync", "sync_engine", &["Sync"]),
    ("gpsimd", "gpsimd_engine", &["GpSimd"]),
];

/// What the formulas need of the chip.
#[derive(Debug, Clone, Copy)]
pub struct Peaks {
    /// Operations per second of a matrix unit.
    pub flops: f64,
    /// Bytes per second of device memory.
    pub memory: f64,
    /// Physical cores.
    pub cores: f64,
}

/// The peaks of a profile.
///
/// # Errors
///
/// A profile without metadata, or one that cannot be read.
pub fn peaks(profile: &Profile) -> Result<Peaks, Error> {
    if !profile.manifest().tables.contains_key("Metadata") {
        // A system profile has no one chip.
        return Ok(Peaks { flops: 0.0, memory: 0.0, cores: 1.0 });
    }
    for batch in profile.batches("Metadata")? {
        let path = || profile.dir().join("Metadata.parquet");
        let batch = batch.map_err(|error| Error::damaged(&path(), error))?;
        if let Some(line) = Line::all(&batch).next() {
            let long = |name| line.long(name).unwrap_or(0) as f64;
            let real = |name| line.real(name).unwrap_or(0.0);
            let clock = real("tensor_engine_clock_freq") * 1e9;
            let units = long("tensor_engine_num_rows") * long("tensor_engine_num_cols");
            let memory = real("hbm_ddr_bandwidth");
            let cores = long("num_physical_cores").max(1.0);
            return Ok(Peaks { flops: units * 2.0 * clock, memory, cores });
        }
    }
    Err(Error::damaged(&profile.dir().join("Metadata.parquet"), "it has no row"))
}

/// A quotient; 0 for nothing by nothing, so that no metric is not a number.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

struct List<'p> {
    profile: &'p Profile,
    from: u64,
    to: u64,
    out: Vec<Metric>,
}

/// Sums of instructions or packets.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    count: u64,
    time: u64,
    bytes: u64,
}

impl List<'_> {
    fn push(
        &mut self,
        group: &'static str,
        name: impl Into<String>,
        unit: &'static str,
        value: f64,
    ) {
        self.of(None, group, name, unit, value);
    }

    fn of(
        &mut self,
        core: Option<u32>,
        group: &'static str,
        name: impl Into<String>,
        unit: &'static str,
        value: f64,
    ) {
        self.out.push(Metric { name: name.into(), group, core, unit, value });
    }

    fn span(&self) -> f64 {
        (self.to - self.from) as f64 / 1e9
    }

    /// The integral of a series, in s times its unit; `None` where the profile
    /// has no such series.
    fn integral(&self, id: &str) -> Result<Option<f64>, Error> {
        let Some(series) = self.profile.series().iter().find(|series| series.id == id) else {
            return Ok(None);
        };
        let integral = self.profile.series_integral(series, self.from, self.to)?;
        Ok(Some(integral / 1e9))
    }

    /// An active time and its share: of the cores alone, and of all.
    fn active(
        &mut self,
        group: &'static str,
        name: &str,
        id: &str,
        cores: &[u32],
    ) -> Result<(), Error> {
        let all = self.integral(&format!("{id}.all"))?;
        let all = if let ([core], None) = (cores, all) {
            self.integral(&format!("{id}.{core}"))?
        } else {
            all
        };
        let mut told = vec![(None, all)];
        for core in cores.iter().filter(|_| cores.len() > 1) {
            told.push((Some(*core), self.integral(&format!("{id}.{core}"))?));
        }
        for (core, time) in told {
            if let Some(time) = time {
                self.of(core, group, name, "s", time);
                self.of(core, group, format!("{name}_percent"), "%", share(time, self.span()));
            }
        }
        Ok(())
    }
}

/// The metrics of a region, in the order of the summary.
///
/// # Errors
///
/// An empty region, and files that cannot be read.
pub fn metrics(profile: &Profile, from: u64, to: u64) -> Result<Vec<Metric>, Error> {
    let lanes: Vec<usize> = (0..profile.lanes().len()).collect();
    let sums = profile.selection(from, to, &lanes)?;
    let peaks = peaks(profile)?;
    let mut cores: Vec<u32> = profile.lanes().iter().map(|lane| lane.core).collect();
    cores.sort_unstable();
    cores.dedup();
    let mut list = List { profile, from, to, out: Vec::new() };
    let mut work = Work::default();
    for sum in sums.iter().flat_map(|lane| &lane.names) {
        work.add(&profile.kind(sum.name).work, sum.count);
    }
    overall(&mut list, &work, peaks, &cores)?;
    movement(&mut list, &work, &sums, peaks, &cores)?;
    engines(&mut list, &work, &sums, peaks, &cores)?;
    for core in cores {
        if let Some(limit) = list.integral(&format!("throttle.{core}"))? {
            let value = share(limit, list.span());
            list.of(Some(core), "throttling", "average_utilization_limit_percent", "%", value);
        }
    }
    Ok(list.out)
}

fn overall(list: &mut List<'_>, work: &Work, peaks: Peaks, cores: &[u32]) -> Result<(), Error> {
    const GROUP: &str = "overall_stats";
    let span = list.span();
    list.push(GROUP, "total_time", "s", span);
    list.active(GROUP, "total_active_time", "active", cores)?;
    list.push(GROUP, "hardware_flops", "flop", work.flops as f64);
    list.push(GROUP, "transpose_flops", "flop", work.transpose_flops as f64);
    let useful = work.flops.saturating_sub(work.transpose_flops) as f64;
    let bytes = (work.hbm_read + work.hbm_write) as f64;
    list.push(GROUP, "mm_arithmetic_intensity", "", share(useful, bytes));
    list.push(GROUP, "peak_flops_bandwidth_ratio", "", share(peaks.flops, peaks.memory));
    Ok(())
}

/// Sums of kinds in lanes for which `is` holds.
fn part(
    profile: &Profile,
    sums: &[LaneSums],
    is: impl Fn(&profile_store::Lane, u32) -> bool,
) -> Part {
    let mut out = Part::default();
    for lane in sums {
        let Some(of) = profile.lanes().get(lane.lane) else { continue };
        for sum in lane.names.iter().filter(|sum| is(of, sum.name)) {
            out.count += sum.count;
            out.bytes += sum.bytes;
            // Waits count as instructions, but take no time.
            out.time += if profile.kind(sum.name).waits { 0 } else { sum.time };
        }
    }
    out
}

fn movement(
    list: &mut List<'_>,
    work: &Work,
    sums: &[LaneSums],
    peaks: Peaks,
    cores: &[u32],
) -> Result<(), Error> {
    const GROUP: &str = "data_movement";
    let profile = list.profile;
    list.active(GROUP, "dma_active_time", "dma_active", cores)?;
    let all = part(profile, sums, |lane, _| lane.kind == LaneKind::Dma);
    list.push(GROUP, "dma_packet_time", "s", all.time as f64 / 1e9);
    list.push(GROUP, "dma_packet_count", "", all.count as f64);
    list.push(GROUP, "dma_packet_bytes", "B", all.bytes as f64);
    let span = list.span();
    let bytes = (work.hbm_read + work.hbm_write) as f64;
    list.push(GROUP, "mbu_estimated_percent", "%", share(share(bytes, span), peaks.memory));
    for (name, bytes) in [
        ("hbm_read_bytes", work.hbm_read),
        ("hbm_write_bytes", work.hbm_write),
        ("sbuf_read_bytes", work.sbuf_read),
        ("sbuf_write_bytes", work.sbuf_write),
        ("psum_read_bytes", work.psum_read),
        ("psum_write_bytes", work.psum_write),
        ("psum_read_sbuf_write_bytes", work.psum_read_sbuf_write),
        ("spill_save_bytes", work.spill_save),
        ("spill_reload_bytes", work.spill_reload),
    ] {
        list.push(GROUP, name, "B", bytes as f64);
    }
    // Who wrote the descriptors shows in the name of the ring, as for the
    // summary.
    let ring = |is: fn(&str) -> bool| {
        part(profile, sums, move |lane, kind| lane.kind == LaneKind::Dma && is(profile.name(kind)))
    };
    let software = ring(|name| name.ends_with("Dynamic"));
    let hardware = ring(|name| name.ends_with("DynamicHW"));
    let fixed = Part {
        count: all.count - software.count - hardware.count,
        bytes: all.bytes - software.bytes - hardware.bytes,
        ..Part::default()
    };
    for (name, part) in
        [("software_dynamic", software), ("hardware_dynamic", hardware), ("static", fixed)]
    {
        let of = |part: u64, whole: u64| share(part as f64, whole as f64);
        list.push(GROUP, format!("{name}_dma_packet_count"), "", part.count as f64);
        list.push(GROUP, format!("{name}_dma_packet_percent"), "%", of(part.count, all.count));
        list.push(GROUP, format!("{name}_dma_size"), "B", part.bytes as f64);
        list.push(GROUP, format!("{name}_dma_size_percent"), "%", of(part.bytes, all.bytes));
    }
    for core in cores.iter().filter(|_| cores.len() > 1) {
        let own = part(profile, sums, |lane, _| lane.kind == LaneKind::Dma && lane.core == *core);
        list.of(Some(*core), GROUP, "dma_packet_time", "s", own.time as f64 / 1e9);
        list.of(Some(*core), GROUP, "dma_packet_count", "", own.count as f64);
        list.of(Some(*core), GROUP, "dma_packet_bytes", "B", own.bytes as f64);
    }
    Ok(())
}

fn engines(
    list: &mut List<'_>,
    work: &Work,
    sums: &[LaneSums],
    peaks: Peaks,
    cores: &[u32],
) -> Result<(), Error> {
    let profile = list.profile;
    for (word, group, rows) in ENGINES {
        let several = cores.iter().filter(|_| cores.len() > 1).map(|core| Some(*core));
        for core in std::iter::once(None).chain(several) {
            let own = part(profile, sums, |lane, _| {
                rows.contains(&lane.name.as_str()) && core.is_none_or(|core| lane.core == core)
            });
            list.of(core, group, format!("{group}_instruction_time"), "s", own.time as f64 / 1e9);
            list.of(core, group, format!("{group}_instruction_count"), "", own.count as f64);
        }
        list.active(group, &format!("{group}_active_time"), &format!("active_{word}"), cores)?;
    }
    const GROUP: &str = "tensor_engine";
    let products = part(profile, sums, |_, kind| profile.kind(kind).product);
    list.push(GROUP, "matmul_instruction_count", "", products.count as f64);
    let (hardware, span) = (work.flops as f64, list.span());
    let useful = work.flops.saturating_sub(work.transpose_flops) as f64;
    let peak = peaks.flops * peaks.cores;
    let bytes = (work.hbm_read + work.hbm_write) as f64;
    let reachable = share(share(useful, bytes), share(peak, peaks.memory)).min(1.0);
    list.push(GROUP, "mfu_inst_estimated_percent", "%", share(share(useful, span), peak));
    list.push(GROUP, "mfu_inst_max_achievable_estimated_percent", "%", reachable);
    let hfu = share(share(hardware, span), peak) / HFU_FACTOR;
    list.push(GROUP, "hfu_estimated_percent", "%", hfu);
    let activates = part(profile, sums, |_, kind| {
        matches!(profile.name(kind), "ACTIVATE" | "ACTIVATE_QUANTIZE")
    });
    let group = "scalar_engine";
    list.push(group, "activate_instruction_time", "s", activates.time as f64 / 1e9);
    list.push(group, "activate_instruction_count", "", activates.count as f64);
    Ok(())
}
