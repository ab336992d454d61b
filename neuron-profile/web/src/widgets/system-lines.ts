// Lines of a run: load of the processors, memories of host and devices, and the
// bandwidth of transfers.

import type { Transfer } from "../api/system";
import type { Row } from "../api/types";
import type { BarRow, StepLine } from "../parts/bars";
import { bytes, percent } from "../format/number";

const number = (row: Row, name: string) => (typeof row[name] === "number" ? (row[name] as number) : null);

/** Steps by the text of a key, in order of time. */
function stepsBy(rows: readonly Row[], key: (row: Row) => string, value: string): Map<string, { times: number[]; values: number[] }> {
  const found = new Map<string, { times: number[]; values: number[] }>();
  for (const row of rows) {
    const [time, one] = [number(row, "timestamp"), number(row, value)];
    if (time === null || one === null) continue;
    const steps = found.get(key(row)) ?? { times: [], values: [] };
    found.set(key(row), steps);
    steps.times.push(time);
    steps.values.push(one);
  }
  return found;
}

const natural = new Intl.Collator("en", { numeric: true });
const inOrder = <T>(map: ReadonlyMap<string, T>): [string, T][] => [...map].sort(([a], [b]) => natural.compare(a, b));
const most = (lines: readonly StepLine[]) => lines.reduce((max, line) => line.values.reduce((a, b) => Math.max(a, b), max), 0);

/** Load of the processors: all in one row, each a line, or the mean of all. */
export function processorRows(rows: readonly Row[], colour: string, single: boolean): BarRow[] {
  const by = stepsBy(rows, (row) => String(row.cpu_id ?? "?"), "util_percent");
  if (by.size === 0) return [];
  const show = (value: number) => percent(value / 100);
  if (single) return inOrder(by).map(([cpu, steps]) => ({ label: `CPU:${cpu}/host_cpu_util`, bars: [], lines: { of: [{ name: `CPU ${cpu}`, colour, ...steps }], max: 100, show } }));
  // Samples of all processors are of the same moments, or nearly: the mean of what each said last.
  const last = new Map<string, number>();
  const [times, values] = [[] as number[], [] as number[]];
  for (const row of rows) {
    const [time, load] = [number(row, "timestamp"), number(row, "util_percent")];
    if (time === null || load === null) continue;
    last.set(String(row.cpu_id ?? "?"), load);
    const mean = [...last.values()].reduce((sum, one) => sum + one, 0) / last.size;
    if (times[times.length - 1] === time) values[values.length - 1] = mean;
    else {
      times.push(time);
      values.push(mean);
    }
  }
  return [{ label: `host_cpu_util (${by.size} CPUs)`, bars: [], lines: { of: [{ name: "mean of all", colour, times, values }], max: 100, show } }];
}

export function hostMemoryRow(rows: readonly Row[], colour: string): BarRow[] {
  const steps = stepsBy(rows, () => "used", "used_bytes").get("used");
  if (!steps) return [];
  const line = { name: "in use", colour, ...steps };
  return [{ label: "host_memory", bars: [], lines: { of: [line], max: most([line]), show: bytes } }];
}

/** A row for each memory of each device. */
export function memoryRows(rows: readonly Row[], colour: string): BarRow[] {
  const by = stepsBy(rows, (row) => `ND:${row.device_idx ?? "?"}/HBM:${row.hbm_idx ?? "?"}`, "total_bytes");
  return inOrder(by).map(([label, steps]) => {
    const line = { name: "total", colour, ...steps };
    return { label: `${label}/neuron_hbm_usage`, bars: [], lines: { of: [line], max: most([line]), show: bytes } };
  });
}

/** Categories of a memory at a time, the largest first, out of the last row before it. */
export function categoriesAt(rows: readonly Row[], label: string, time: number): [name: string, bytes: number][] {
  const found = /^ND:(.+)\/HBM:(.+)\/neuron_hbm_usage$/.exec(label);
  let last: Row | null = null;
  for (const row of rows) {
    if (String(row.device_idx) !== found?.[1] || String(row.hbm_idx) !== found?.[2]) continue;
    if ((number(row, "timestamp") ?? 0) > time) break;
    last = row;
  }
  if (!last) return [];
  const named = Object.entries(last).flatMap(([name, value]): [string, number][] =>
    name.endsWith("_bytes") && name !== "total_bytes" && typeof value === "number" && value > 0 ? [[name.slice(0, -6), value]] : [],
  );
  return named.sort((a, b) => b[1] - a[1]);
}

/** Bytes per second: at each moment the sum of the rates of the transfers under way. */
export function bandwidth(transfers: readonly Transfer[]): { times: number[]; values: number[] } {
  const edges = transfers.flatMap((one): [number, number][] => {
    const rate = (one.bytes / Math.max(one.end_ns - one.start_ns, 1)) * 1e9;
    return [[one.start_ns, rate], [Math.max(one.end_ns, one.start_ns + 1), -rate]];
  });
  edges.sort((a, b) => a[0] - b[0]);
  const [times, values] = [[] as number[], [] as number[]];
  let [sum, open] = [0, 0];
  edges.forEach(([time, rate], i) => {
    sum += rate;
    open += rate > 0 ? 1 : -1;
    if (edges[i + 1]?.[0] === time) return;
    // What is left where nothing is under way is rounding.
    if (open === 0) sum = 0;
    times.push(time);
    values.push(sum);
  });
  return { times, values };
}

/** Of each direction and core the transfers as bars, and their bandwidth. */
export function transferRows(transfers: readonly Transfer[], byCore: boolean, colours: Readonly<Record<Transfer["direction"], string>>): BarRow[] {
  const groups = new Map<string, Transfer[]>();
  for (const one of transfers) {
    const key = `${byCore && one.core !== null ? `NC:${one.core}/` : ""}${one.direction}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return inOrder(groups).flatMap(([label, all]): BarRow[] => {
    const colour = colours[all[0]!.direction];
    const lanes: Transfer[][] = [];
    for (const one of [...all].sort((a, b) => a.start_ns - b.start_ns)) {
      const lane = lanes.find((list) => (list[list.length - 1]?.end_ns ?? 0) <= one.start_ns);
      if (lane) lane.push(one);
      else lanes.push([one]);
    }
    const line = { name: "bandwidth", colour, ...bandwidth(all) };
    return [
      ...lanes.map((list, i): BarRow => ({ label: i === 0 ? `${label}_transfers` : "", bars: list.map((one) => ({ from: one.start_ns, to: one.end_ns, name: bytes(one.bytes), colour, key: String(one.row) })) })),
      { label: `${label}/transfer_bandwidth`, bars: [], lines: { of: [line], max: most([line]), show: (value) => `${bytes(value)}/s` } },
    ];
  });
}
