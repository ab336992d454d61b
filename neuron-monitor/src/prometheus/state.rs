//! What the exporter knows: the newest figures of each group, and sums.
//!
//! Records hold only the groups that are due, so the newest figures of each
//! group are kept. Counters are sums of the records' counts, as in the
//! original. An application that is in no record any more is forgotten.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::wire::{
    Application, CoreCounters, EccTotals, ErrorSummary, ExecutionSummary, HardwareInfo,
    InstanceInfo, K8sInfo, LatencyStats, MemoryInfo, MemoryUsed, MonitorInfo, Power, Record,
    SelfStats, VcpuShare, VcpuUsage,
};

/// The newest figures.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) instance: InstanceInfo,
    pub(super) hardware: HardwareInfo,
    pub(super) monitor: Option<MonitorInfo>,
    pub(super) memory: Option<MemoryInfo>,
    pub(super) vcpu: Option<VcpuUsage>,
    pub(super) context_switches: u64,
    pub(super) devices: BTreeMap<u32, Device>,
    pub(super) own: Option<SelfStats>,
    /// The newest that the kubelet told; kept while it is away.
    pub(super) pods: Option<K8sInfo>,
    pub(super) applications: BTreeMap<u32, App>,
    /// Seconds that the newest figures of each group are of.
    pub(super) periods: BTreeMap<&'static str, f64>,
    /// Errors among the newest figures of each group.
    pub(super) errors: BTreeMap<&'static str, u64>,
    pub(super) records: u64,
    pub(super) bad_records: u64,
    /// When the first record came, Unix time.
    pub(super) began: f64,
    /// When the newest one was read, Unix time.
    pub(super) newest: f64,
    /// When the newest one arrived.
    pub(super) arrived: Option<Instant>,
}

/// ECC events of a device, and its power.
#[derive(Debug, Clone, Default)]
pub(super) struct Device {
    /// Sums by event type: memory corrected, uncorrected, SRAM alike.
    pub(super) events: [u64; 4],
    pub(super) totals: Option<EccTotals>,
    pub(super) power: Option<Power>,
    pub(super) unhealthy: Vec<String>,
    /// When the first event count came, Unix time.
    pub(super) created: f64,
}

/// The newest figures of one application.
#[derive(Debug, Clone)]
pub(super) struct App {
    pub(super) tag: String,
    pub(super) version: String,
    pub(super) errors: Option<ErrorSummary>,
    pub(super) status: ExecutionSummary,
    /// When the sums began, Unix time.
    pub(super) created: f64,
    pub(super) latency: LatencyStats,
    pub(super) memory: Option<MemoryUsed>,
    pub(super) vcpu: Option<VcpuShare>,
    pub(super) cores: Option<CoreCounters>,
    seen: Instant,
    /// The longest period of its groups.
    period: f64,
}

/// An application is forgotten when it was in no record for this many of its
/// periods, and a little longer.
const PERIODS: f64 = 2.5;
const GRACE: f64 = 2.0;

/// A group and its error text, for messages.
pub(super) type Complaint = String;

impl State {
    /// Takes in a record that arrived now. Returns what to complain about, in
    /// the words of the original (sys-tools.md §5.1).
    pub(super) fn take(&mut self, record: Record, now: Instant) -> Vec<Complaint> {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let wall = wall.unwrap_or_default().as_secs_f64();
        let mut complaints = Vec::new();
        if self.records == 0 {
            self.began = wall;
        }
        self.records += 1;
        self.arrived = Some(now);
        self.newest = record.neuron_monitor.as_ref().map_or(wall, |monitor| monitor.timestamp);
        self.instance = record.instance_info;
        self.hardware = record.neuron_hardware_info;
        self.monitor = record.neuron_monitor;
        self.errors.clear();
        if let Some(pods) = record.neuron_k8s_info {
            let told =
                !pods.neuroncores_k8s_info.is_empty() || !pods.neurondevices_k8s_info.is_empty();
            if pods.error.is_empty() || told {
                self.periods.insert("neuron_k8s_info", pods.period);
            }
            if !pods.error.is_empty() {
                *self.errors.entry("neuron_k8s_info").or_default() += 1;
                complaints.push(format!("Error getting neuron_k8s_info: {}", pods.error));
            }
            if pods.error.is_empty() || told {
                self.pods = Some(pods);
            }
        }
        self.take_system(record.system_data, wall, &mut complaints);
        for application in record.neuron_runtime_data {
            self.take_application(application, now, wall, &mut complaints);
        }
        self.applications.retain(|_, app| {
            let patience = Duration::from_secs_f64(app.period * PERIODS + GRACE);
            now.duration_since(app.seen) <= patience
        });
        complaints
    }

    fn take_system(
        &mut self,
        data: crate::wire::SystemData,
        wall: f64,
        complaints: &mut Vec<Complaint>,
    ) {
        let mut fine =
            |group: &'static str, period: f64, error: &str, errors: &mut BTreeMap<_, u64>| {
                if error.is_empty() {
                    self.periods.insert(group, period);
                } else {
                    *errors.entry(group).or_default() += 1;
                    complaints.push(format!("Error getting {group}: {error}"));
                }
                error.is_empty()
            };
        let mut errors = BTreeMap::new();
        if let Some(memory) = data.memory_info
            && fine("memory_info", memory.period, &memory.error, &mut errors)
        {
            self.memory = Some(memory);
        }
        if let Some(vcpu) = data.vcpu_usage
            && fine("vcpu_usage", vcpu.period, &vcpu.error, &mut errors)
        {
            self.context_switches = self.context_switches.wrapping_add(vcpu.context_switch_count);
            self.vcpu = Some(vcpu);
        }
        if let Some(counters) = data.neuron_hw_counters
            && fine("neuron_hw_counters", counters.period, &counters.error, &mut errors)
        {
            let devices = counters.neuron_devices.unwrap_or_default();
            self.devices.retain(|index, _| devices.iter().any(|d| d.neuron_device_index == *index));
            for device in devices {
                let known = self
                    .devices
                    .entry(device.neuron_device_index)
                    .or_insert_with(|| Device { created: wall, ..Device::default() });
                let events = [
                    device.mem_ecc_corrected,
                    device.mem_ecc_uncorrected,
                    device.sram_ecc_corrected,
                    device.sram_ecc_uncorrected,
                ];
                for (sum, new) in known.events.iter_mut().zip(events) {
                    *sum = sum.wrapping_add(new);
                }
                known.totals = device.totals;
                known.power = device.power;
                known.unhealthy = device.unhealthy_components.unwrap_or_default();
            }
        }
        if let Some(own) = data.self_stats {
            self.own = Some(own);
        }
        self.errors.append(&mut errors);
    }

    fn take_application(
        &mut self,
        application: Application,
        now: Instant,
        wall: f64,
        complaints: &mut Vec<Complaint>,
    ) {
        let tag = application.neuron_runtime_tag;
        if !application.error.is_empty() {
            complaints.push(format!("Runtime {tag} error: {}", application.error));
        }
        let (periods, errors) = (&mut self.periods, &mut self.errors);
        let app = self.applications.entry(application.pid).or_insert_with(|| App {
            tag: tag.clone(),
            version: String::new(),
            errors: None,
            status: ExecutionSummary::default(),
            created: wall,
            latency: LatencyStats::default(),
            memory: None,
            vcpu: None,
            cores: None,
            seen: now,
            period: 0.0,
        });
        app.tag.clone_from(&tag);
        app.version = application.neuron_runtime_version;
        app.seen = now;
        let longest = &mut app.period;
        let mut fine = |group: &'static str, period: f64, error: &str| {
            *longest = longest.max(period);
            if error.is_empty() {
                periods.insert(group, period);
            } else {
                *errors.entry(group).or_default() += 1;
                complaints.push(format!("Error getting {group} for runtime tag {tag}: {error}"));
            }
            error.is_empty()
        };
        let report = application.report;
        if let Some(stats) = report.execution_stats
            && fine("execution_stats", stats.period, &stats.error)
        {
            add_errors(app.errors.get_or_insert_default(), stats.error_summary);
            add_status(&mut app.status, stats.execution_summary);
            app.latency = stats.latency_stats;
        }
        if let Some(memory) = report.memory_used
            && fine("memory_used", memory.period, &memory.error)
        {
            app.memory = Some(memory);
        }
        if let Some(vcpu) = report.neuron_runtime_vcpu_usage
            && fine("neuron_runtime_vcpu_usage", vcpu.period, &vcpu.error)
        {
            app.vcpu = Some(vcpu.vcpu_usage);
        }
        if let Some(cores) = report.neuroncore_counters
            && fine("neuroncore_counters", cores.period, &cores.error)
        {
            app.cores = Some(cores);
        }
    }
}

pub(super) fn add_errors(sum: &mut ErrorSummary, new: ErrorSummary) {
    if let Some(generic) = new.generic {
        *sum.generic.get_or_insert_default() += generic;
    }
    sum.hardware += new.hardware;
    sum.model += new.model;
    sum.numerical += new.numerical;
    sum.runtime += new.runtime;
    sum.transient += new.transient;
}

pub(super) fn add_status(sum: &mut ExecutionSummary, new: ExecutionSummary) {
    sum.completed += new.completed;
    sum.completed_with_err += new.completed_with_err;
    sum.completed_with_num_err += new.completed_with_num_err;
    sum.failed_to_queue += new.failed_to_queue;
    sum.incorrect_input += new.incorrect_input;
    sum.timed_out += new.timed_out;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Record {
        serde_json::from_str(text).unwrap()
    }

    const APP: &str = r#"{"neuron_runtime_data":[{"pid":7,"neuron_runtime_tag":"a","report":{
        "execution_stats":{"period":5.0,"execution_summary":{"completed":3},"error_summary":{"model":1}},
        "memory_used":{"period":5.0,"neuron_runtime_used_bytes":{"host":1}}}}]}"#;

    #[test]
    fn counts_add_up_and_groups_that_are_not_due_stay() {
        let mut state = State::default();
        let begin = Instant::now();
        assert!(state.take(record(APP), begin).is_empty());
        let without = r#"{"neuron_runtime_data":[{"pid":7,"neuron_runtime_tag":"a","report":{
            "execution_stats":{"period":1,"execution_summary":{"completed":4}}}}]}"#;
        state.take(record(without), begin);
        let app = &state.applications[&7];
        assert_eq!((app.status.completed, app.errors.unwrap().model), (7, 1));
        assert_eq!(app.memory.as_ref().unwrap().neuron_runtime_used_bytes.host, 1);
        assert_eq!((state.records, state.periods["execution_stats"]), (2, 1.0));
    }

    #[test]
    fn applications_that_are_gone_are_forgotten_in_time() {
        let mut state = State::default();
        let begin = Instant::now();
        state.take(record(APP), begin);
        // A record of another group says nothing about applications.
        state.take(record("{}"), begin + Duration::from_secs(14));
        assert_eq!(state.applications.len(), 1);
        state.take(record("{}"), begin + Duration::from_secs(15));
        assert!(state.applications.is_empty());
    }

    #[test]
    fn a_group_with_an_error_is_told_and_not_taken() {
        let mut state = State::default();
        state.take(record(APP), Instant::now());
        let complaints = state.take(
            record(
                r#"{"neuron_runtime_data":[{"pid":7,"neuron_runtime_tag":"a","error":"gone","report":{
                "memory_used":{"error":"torn","neuron_runtime_used_bytes":{"host":9}}}}],
                "system_data":{"memory_info":{"error":"no /proc"}}}"#,
            ),
            Instant::now(),
        );
        assert_eq!(
            complaints,
            [
                "Error getting memory_info: no /proc",
                "Runtime a error: gone",
                "Error getting memory_used for runtime tag a: torn"
            ]
        );
        let app = &state.applications[&7];
        assert_eq!(app.memory.as_ref().unwrap().neuron_runtime_used_bytes.host, 1);
        assert_eq!((state.errors["memory_used"], state.memory.is_none()), (1, true));
    }

    #[test]
    fn ecc_events_add_up_by_device() {
        let mut state = State::default();
        for _ in 0..2 {
            state.take(
                record(
                    r#"{"system_data":{"neuron_hw_counters":{"neuron_devices":[
                    {"neuron_device_index":3,"mem_ecc_uncorrected":2,"sram_ecc_corrected":1}]}}}"#,
                ),
                Instant::now(),
            );
        }
        assert_eq!(state.devices[&3].events, [0, 4, 2, 0]);
        state.take(
            record(r#"{"system_data":{"neuron_hw_counters":{"neuron_devices":null}}}"#),
            Instant::now(),
        );
        assert!(state.devices.is_empty());
    }
}
