// From an execution in the timeline of a run to its device profile, at the
// right place, and back.

import type { DeviceEntry } from "../api/system";
import type { Fields } from "../api/types";
import { go } from "../router";
import { shared } from "../state/shared";
import { toast } from "../state/goto";

const number = (value: unknown): number | null => {
  const found = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : null;
};

/** What an event told besides its columns. */
export function attributes(event: Fields): Fields {
  try {
    const told: unknown = JSON.parse(String(event.extra_attributes_json ?? "{}"));
    return told && typeof told === "object" ? (told as Fields) : {};
  } catch {
    return {};
  }
}

export interface Target {
  device: DeviceEntry;
  /** What of the device profile is shown, ns of its own clock; all where the trace is of another time. */
  range: { from: number; to: number } | null;
}

/** The device profile of an execution: of its model where that is told, of its core, of its time. */
export function targetOf(event: Fields, devices: readonly DeviceEntry[]): Target | null {
  const core = number(event.nc_idx);
  const model = number(attributes(event).model_id);
  const [start, end] = [number(event.start_ts) ?? 0, number(event.end_ts) ?? 0];
  const fits = devices.filter((one) => {
    if (one.model_id !== null && one.model_id !== undefined && model !== null) return one.model_id === model;
    return core === null || one.nc_id === core;
  });
  const within = (one: DeviceEntry): Target["range"] => {
    const [begin, total] = [number(one.start_ts), one.profile?.total_ns ?? 0];
    if (begin === null || end < begin || start > begin + total) return null;
    return { from: Math.max(0, start - begin), to: Math.min(total, Math.max(end, start + 1) - begin) };
  };
  const found = fits.map((device): Target => ({ device, range: within(device) }));
  // One that was taken at this time tells more than one of another run, one of this core more than one of another.
  const weight = ({ device, range }: Target) => (range ? 4 : 0) + (device.nc_id === core ? 2 : 0) + (device.profile ? 1 : 0);
  return found.sort((a, b) => weight(b) - weight(a))[0] ?? null;
}

/** The address of a device profile, which leads back to the run. */
export function deviceUrl(target: Target, run: string, event: number | null): string {
  const state = new URLSearchParams();
  if (target.range && target.range.to > target.range.from) state.set("t", `${target.range.from}-${target.range.to}`);
  state.set("s", event === null ? run : `${run}/${event}`);
  return `/profile/${target.device.device_profile_name}#${state}`;
}

export function openDevice(target: Target, run: string, event: number | null): void {
  if (shared()) return toast("The device profile is another file: export it as well", true);
  if (!target.device.profile) return toast(`The device profile ${target.device.device_profile_name} is not stored any more`, true);
  go(deviceUrl(target, run, event));
}
