//! Counters and metrics as messages (neuron-rtd.md §1.3, §3.9).

use std::time::{SystemTime, UNIX_EPOCH};

use neuron_core::uapi::nds::core_counter;
use rtd_api::{
    Aggregate, HwCounters, InferErrorSubtypeCount, InferStatusCounts, MemoryCounters, Metric,
    MetricData, NcCounters, NcTimeInUse, NmgrCounters, ReadAllCountersResponse, SystemCounters,
    get_hw_counters_request, metric_data,
};
use rtd_runtime::{Code, Failure, Level, Subtype};

use super::Service;
use super::reply::ok;

/// Counters of the messages have 32 bits.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Service {
    fn core(&self, index: u32) -> Result<rtd_runtime::CoreSnapshot, Failure> {
        let runtime = self.runtime()?;
        runtime.core_snapshot(index).ok_or_else(|| {
            let text = format!("no NC {index}; there are {}", runtime.cores().count());
            Failure::new(Code::Invalid, "NMGR:read_nc_counters", text)
        })
    }

    /// What is not counted by the software NeuronCore stays zero: cycles, and
    /// instructions of a kind.
    pub(super) fn nc_counters(&self, index: u32) -> Result<NcCounters, Failure> {
        let core = self.core(index)?;
        let [pe, act, pool, ..] = core.instructions;
        Ok(NcCounters {
            virtual_nc_id: index,
            macs_count: core.counter(core_counter::MAC_COUNT),
            pe_num_executed_instr: pe,
            act_num_executed_instr: act,
            pool_num_executed_instr: pool,
            ..NcCounters::default()
        })
    }

    pub(super) fn time_in_use(&self, index: u32) -> Result<NcTimeInUse, Failure> {
        let time_in_use = self.core(index)?.counter(core_counter::TIME_IN_USE);
        Ok(NcTimeInUse { virtual_nc_id: index, time_in_use })
    }

    /// All zero where there is no runtime: this answer has no status.
    pub(super) fn nmgr_counters(&self) -> NmgrCounters {
        let Ok(runtime) = self.runtime() else { return NmgrCounters::default() };
        let counts = runtime.snapshot();
        let subtype = |(subtype, count): (Subtype, u64)| InferErrorSubtypeCount {
            error_subtype: subtype.number(),
            count: narrow(count),
        };
        // the numbers of infer_status are those of the outcomes' order
        let outcome = |(status, count): (i32, u64)| InferStatusCounts {
            infer_status: status,
            count: narrow(count),
        };
        NmgrCounters {
            infer_error_subtype_count: Subtype::ALL
                .into_iter()
                .zip(counts.subtypes)
                .map(subtype)
                .collect(),
            infer_status_counts: (0..).zip(counts.outcomes).map(outcome).collect(),
            infer_queue_drop_count: counts.drops,
            infer_count: counts.inferences,
            model_start_count: counts.starts,
            model_stop_count: counts.stops,
            model_load_count: counts.loads,
            model_unload_count: counts.unloads,
            neff_version_max_major: counts.neff_max.0,
            neff_version_max_minor: counts.neff_max.1,
            neff_version_min_major: counts.neff_min.0,
            neff_version_min_minor: counts.neff_min.1,
            neff_size_bytes_max: counts.neff_size_max,
            neff_num_ncs_max: counts.neff_cores_max,
        }
    }

    pub(super) fn all_counters(&self) -> Result<ReadAllCountersResponse, Failure> {
        let runtime = self.runtime()?;
        let cores = 0..runtime.cores().count();
        let positions = 0..u32::try_from(runtime.cores().devices().len()).unwrap_or(0);
        let memory = |(position, device): (u32, &u32)| MemoryCounters {
            infa_id: *device,
            mem_used_host: 0,
            // which channel holds what is not modelled: all counts for the first
            mem_used_infa_0: runtime.device_memory(position),
            mem_used_infa_1: 0,
        };
        Ok(ReadAllCountersResponse {
            nc_counters: cores.map(|core| self.nc_counters(core)).collect::<Result<_, _>>()?,
            nmgr_counters: Some(self.nmgr_counters()),
            system_counters: Some(SystemCounters {
                num_logs_error: self.0.log.count(Level::Error),
                num_logs_warning: self.0.log.count(Level::Warning),
                memory_counters: positions.zip(runtime.cores().devices()).map(memory).collect(),
            }),
            status: ok(),
        })
    }

    /// One aggregate for each metric, since the start; times in seconds.
    pub(super) fn metrics(&self) -> Result<Vec<Metric>, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let metric = |(kind, values): (rtd_runtime::Metric, rtd_runtime::Aggregate)| Metric {
            metric_type: kind as i32,
            data: vec![MetricData {
                ts_nanos_since_epoch: now,
                value: Some(metric_data::Value::ValueAgg(Aggregate {
                    min: values.min,
                    max: values.max,
                    #[allow(clippy::cast_precision_loss, reason = "the message says double")]
                    count: values.count as f64,
                    sum: values.sum,
                    values: Vec::new(),
                    counts: Vec::new(),
                })),
            }],
            overflow: false,
        };
        let metrics = self.runtime()?.metrics();
        Ok(metrics.into_iter().filter(|(_, values)| values.count > 0).map(metric).collect())
    }

    /// ECC counters of the devices.
    pub(super) fn hw_counters(&self) -> Result<Vec<HwCounters>, Failure> {
        const PLACE: &str = "TDRV:get_hw_counters";
        let runtime = self.runtime()?;
        let sim = self.0.sim.as_ref();
        let sim = sim.ok_or_else(|| Failure::new(Code::Fail, PLACE, "there is no device"))?;
        let state = sim.snapshot().map_err(|error| Failure::new(Code::HwError, PLACE, error))?;
        let kind = runtime.cores().kind();
        let counters = |device: &u32| {
            let entry = usize::try_from(*device).ok().and_then(|at| state.devices.get(at));
            let ecc = entry.map(|entry| entry.ecc).unwrap_or_default();
            HwCounters {
                bdf: kind.pci(*device).map(|pci| pci.bdf.to_string()).unwrap_or_default(),
                device_index: *device,
                // corrected errors are not reported by the driver
                mem_ecc_corr: 0,
                mem_ecc_uncorr: narrow(ecc.mem_uncorrected),
                sram_ecc_corr: 0,
                sram_ecc_uncorr: narrow(ecc.sram_uncorrected),
                transfer_adjustment_cnt: 0,
            }
        };
        Ok(runtime.cores().devices().iter().map(counters).collect())
    }

    pub(super) fn hw_counters_of(
        &self,
        device: Option<get_hw_counters_request::Device>,
    ) -> Result<HwCounters, Failure> {
        use get_hw_counters_request::Device;
        let all = self.hw_counters()?;
        let wanted = |counters: &HwCounters| match &device {
            Some(Device::Bdf(bdf)) => counters.bdf == *bdf,
            Some(Device::DeviceId(id)) => counters.device_index == *id,
            None => false,
        };
        all.into_iter().find(wanted).ok_or_else(|| {
            let text = "no such device is served; name a BDF or an index";
            Failure::new(Code::Invalid, "TDRV:get_hw_counters", text)
        })
    }
}
