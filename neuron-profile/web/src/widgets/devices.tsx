// The device profiles of a run as a list that opens them.

import type { DeviceEntry } from "../api/system";
import { count, percent, time } from "../format/number";
import { type Col, DataTable } from "../parts/table";
import { openDevice } from "./drill";

const metric = (one: DeviceEntry, name: string) => one.profile?.metrics?.[name] ?? null;

const columns: Col<DeviceEntry>[] = [
  { id: "name", title: "Profile", value: (one) => one.profile?.display_name ?? `${one.device_profile_name} (not stored any more)`, width: 260 },
  { id: "core", title: "Core", tip: "Counted within the process", value: (one) => one.nc_id, right: true, width: 60 },
  { id: "model", title: "Model", value: (one) => (one.model_id ?? one.session_id ?? null) as number | null, right: true, width: 150 },
  { id: "total", title: "Length", value: (one) => one.profile?.total_ns ?? null, text: (v) => time(v), right: true, width: 90 },
  { id: "events", title: "Events", value: (one) => one.profile?.events ?? null, text: count, right: true, width: 90 },
  { id: "mfu", title: "MFU", value: (one) => metric(one, "mfu_estimated_percent"), text: percent, right: true, width: 80 },
  { id: "hfu", title: "HFU", value: (one) => metric(one, "hfu_estimated_percent"), text: percent, right: true, width: 80 },
  { id: "mbu", title: "MBU", value: (one) => metric(one, "mbu_estimated_percent"), text: percent, right: true, width: 80 },
  { id: "dma", title: "DMA active", value: (one) => metric(one, "dma_active_time_percent"), text: percent, right: true, width: 90 },
  { id: "start", title: "Begins", tip: "On the clock of the run; a trace of a later time stands behind its end", value: (one) => one.start_ts ?? null, text: (v) => time(v), right: true, width: 100 },
];

export function DeviceList({ run, devices }: { run: string; devices: readonly DeviceEntry[] }) {
  return (
    <DataTable
      name="Device profiles"
      columns={columns}
      rows={devices}
      rowId={(one) => `${one.device_profile_name}/${one.nc_id}/${one.model_id ?? one.session_id ?? ""}`}
      onPick={(device) => openDevice({ device, range: null }, run, null)}
      empty="No device profile was stored with this run."
    />
  );
}
