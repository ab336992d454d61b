// A run of inspect: what it was about (HTTP.md, Runs).

import { getJson } from "./client";
import type { Fields } from "./types";

export interface SystemEvents {
  source: string;
  name: string;
  core: number | null;
  count: number;
  time_ns: number;
  min_ns: number;
  max_ns: number;
}

export interface Transfer {
  direction: "host_to_device" | "device_to_host";
  core: number | null;
  start_ns: number;
  end_ns: number;
  bytes: number;
  row: number;
}

/** A device profile of the run: `start_ts` is when its time 0 is on the run's clock. */
export interface DeviceEntry {
  device_profile_name: string;
  nc_id: number;
  model_id?: number | null;
  session_id?: number | null;
  start_ts?: number | null;
  /** What is stored of it; null where it was deleted. */
  profile: { display_name: string; total_ns: number; events: number; simulated: boolean; metrics: Record<string, number> | null } | null;
}

export interface SystemSummary {
  total_ns: number;
  instances: number;
  processes: number;
  events: SystemEvents[];
  transfers: Transfer[];
  transfers_cut: boolean;
  /** Moments on both clocks; `drift_ns` is how far they went apart since the first. */
  syncs: { core: number | null; physical: number | null; start_ns: number; drift_ns: number }[];
  memories: { device: number; memory: number; max_bytes: number; max_at_ns: number; last_bytes: number }[];
  processors: { name: string; samples: number; mean_percent: number; max_percent: number }[];
  host_memory: { max_bytes: number; max_percent: number };
  metadata: Fields | null;
  devices: DeviceEntry[];
}

export const getSystem = (id: string, signal?: AbortSignal | null) => getJson<SystemSummary>(`/profiles/${encodeURIComponent(id)}/system`, signal);
