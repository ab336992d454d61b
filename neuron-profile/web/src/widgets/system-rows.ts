// Host events as rows, by the groupings of profiler.md §4.3; events of one row
// that overlap stand under each other, like a flame.

import type { Row } from "../api/types";
import type { Bar, BarRow } from "../parts/bars";

export type Grouping = "default" | "device" | "core" | "thread" | "process" | "instance";

const text = (row: Row, name: string) => (row[name] === null || row[name] === undefined ? "?" : String(row[name]));

/** The row that an event stands on. */
export function rowOf(row: Row, grouping: Grouping): string {
  const [instance, pid, source] = [text(row, "instance_id"), text(row, "process_id"), text(row, "trace_event_source")];
  switch (grouping) {
    case "device":
      return source === "neuron_hw" ? `${instance}/PID:${pid}/Worker:${row.worker_gid ?? text(row, "nc_idx")}/neuron_hw` : `${instance}/PID:${pid}/TID:${text(row, "thread_id")}/${source}`;
    case "core":
      return `${instance}/NC:${text(row, "nc_idx")}`;
    case "thread":
      return `${instance}/PID:${pid}/TID:${text(row, "thread_id")}`;
    case "process":
      return `${instance}/PID:${pid}`;
    case "instance":
      return instance;
    default:
      if (source === "neuron_hw") return `${instance}/PID:${pid}/neuron_hw/NC${text(row, "nc_idx")}:${text(row, "pcore_idx")}`;
      if (source === "neuron_rt") return `${instance}/PID:${pid}/neuron_rt/NC:${text(row, "nc_idx")}`;
      return row.framework_stream_id ? `${instance}/PID:${pid}/framework/Stream:${row.framework_stream_id}` : `${instance}/PID:${pid}/framework/TID:${text(row, "thread_id")}`;
  }
}

/** Rows by name, each as many lines as its events overlap. */
export function systemRows(rows: readonly Row[], grouping: Grouping, colour: (name: string) => string): BarRow[] {
  const groups = new Map<string, Bar[]>();
  for (const row of rows) {
    const [from, to] = [row.start_ts, row.end_ts];
    if (typeof from !== "number" || typeof to !== "number") continue;
    const key = rowOf(row, grouping);
    const name = String(row.name ?? "");
    const bars = groups.get(key) ?? [];
    groups.set(key, bars);
    bars.push({ from, to, name, colour: colour(name), key: String(row.row) });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([label, bars]) => {
    const lines: Bar[][] = [];
    for (const bar of bars.sort((a, b) => a.from - b.from || b.to - a.to)) {
      const line = lines.find((one) => (one[one.length - 1]?.to ?? Number.NEGATIVE_INFINITY) <= bar.from);
      if (line) line.push(bar);
      else lines.push([bar]);
    }
    return lines.map((line, i) => ({ label: i === 0 ? label : "", bars: line }));
  });
}

/** Rows whose labels leave out the parts that all of them begin with: instance and process of a run that has one. */
export function withoutShared(rows: readonly BarRow[]): BarRow[] {
  const labels = rows.flatMap(({ label }) => (label === "" ? [] : [label.split("/")]));
  const [first] = labels;
  if (!first) return [...rows];
  let shared = 0;
  while (shared < first.length - 1 && labels.every((parts) => parts.length > shared + 1 && parts[shared] === first[shared])) shared += 1;
  return rows.map((row) => (row.label === "" ? row : { ...row, label: row.label.split("/").slice(shared).join("/") }));
}
