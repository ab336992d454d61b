// Lines over time that are not events: steps out of tables and events, their
// columns and integrals, by the rules of the server (profile-store, series).

import type { Columns } from "./columns";
import { type LaneEvents, placesIn } from "./events";
import type { Measure, StoredSeries } from "./index";
import type { Kinds } from "./kinds";
import type { SeriesColumn } from "./wire";

/** A value from a moment on. */
export type Step = readonly [time: number, value: number];

/** Steps of what happens on lanes in a range. */
export function laneSteps(lanes: readonly LaneEvents[], kinds: Kinds, measure: Measure, from: number, to: number): Step[] {
  const edges: [number, number, number][] = [];
  for (const of of lanes) {
    const [first, behind] = placesIn(of, from, to);
    for (let i = first; i < behind; i += 1) {
      const kind = kinds.kind(of.kind[i]!);
      const start = of.start[i]!;
      let end = of.end[i]!;
      let amount = 1;
      if (measure === "active" && kind.waits) continue;
      if (typeof measure === "object") {
        const flops = kind.work.flops ?? 0;
        if (flops === 0) continue;
        end = Math.max(end, start + 1);
        const counted = measure.flops.useful ? Math.max(0, flops - (kind.work.transpose_flops ?? 0)) : flops;
        amount = counted / (end - start) / measure.flops.peak;
      }
      if (end <= from || start >= to || end <= start) continue;
      edges.push([Math.max(start, from), amount, 1]);
      if (end < to) edges.push([end, -amount, -1]);
    }
  }
  edges.sort((a, b) => a[0] - b[0]);
  const steps: [number, number][] = [[from, 0]];
  let [sum, open] = [0, 0];
  for (let i = 0; i < edges.length; i += 1) {
    const [time, amount, count] = edges[i]!;
    sum += amount;
    open += count;
    if (edges[i + 1]?.[0] === time) continue;
    // What is left where nothing is under way is rounding.
    if (open === 0) sum = 0;
    const value = measure === "active" ? (open > 0 ? 1 : 0) : sum;
    const last = steps[steps.length - 1]!;
    if (last[0] === time) last[1] = value;
    else if (last[1] !== value) steps.push([time, value]);
  }
  return steps;
}

/** Steps of a range out of all of a table: the first stands at its begin. */
export function stepsIn(all: readonly Step[], from: number, to: number): Step[] {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]![0] > from) high = middle;
    else low = middle + 1;
  }
  const out: Step[] = low > 0 ? [[from, all[low - 1]![1]]] : [];
  for (let i = low; i < all.length && all[i]![0] < to; i += 1) out.push(all[i]!);
  return out;
}

export function integralOf(steps: readonly Step[], to: number): number {
  let sum = 0;
  steps.forEach(([time, value], i) => {
    sum += value * ((steps[i + 1]?.[0] ?? to) - time);
  });
  return sum;
}

/** What series are made of. */
export interface SeriesSource {
  readonly total: number;
  /** Steps in a range, of a series that is no mean. */
  steps(series: StoredSeries, from: number, to: number): Promise<Step[]>;
  /** The integral from the start to a moment. */
  integral(series: StoredSeries, to: number): Promise<number>;
}

async function plainColumns(source: SeriesSource, series: StoredSeries, columns: Columns): Promise<SeriesColumn[]> {
  const end = Math.min(columns.start + columns.count * columns.ns, source.total);
  if (columns.start >= end) return [];
  const steps = await source.steps(series, columns.start, end);
  const sums: ([number, number, number] | undefined)[] = new Array(columns.count);
  steps.forEach(([from, value], i) => {
    const to = steps[i + 1]?.[0] ?? end;
    for (let time = from; time < to; ) {
      const at = Math.floor((time - columns.start) / columns.ns);
      const edge = Math.min(columns.start + (at + 1) * columns.ns, to);
      const sum = (sums[at] ??= [value, value, 0]);
      sum[0] = Math.min(sum[0], value);
      sum[1] = Math.max(sum[1], value);
      sum[2] += value * (edge - time);
      time = edge;
    }
  });
  const out: SeriesColumn[] = [];
  for (let at = 0; at < columns.count; at += 1) {
    const sum = sums[at];
    if (!sum) continue;
    const begin = Math.max(columns.start + at * columns.ns, series.first);
    const length = Math.max(1, Math.min(columns.start + (at + 1) * columns.ns, source.total) - begin);
    out.push({ at, min: sum[0], max: sum[1], mean: sum[2] / length });
  }
  return out;
}

/** The columns of a series in a range. */
export async function seriesColumns(source: SeriesSource, all: readonly StoredSeries[], series: StoredSeries, columns: Columns): Promise<SeriesColumn[]> {
  const base = series.mean_of === null ? undefined : all[series.mean_of];
  if (!base) return plainColumns(source, series, columns);
  const end = Math.min(columns.start + columns.count * columns.ns, source.total);
  let sum = await source.integral(base, columns.start);
  let before = columns.start > 0 ? sum / columns.start : 0;
  const out: SeriesColumn[] = [];
  for (const column of await plainColumns(source, base, columns)) {
    const begin = Math.max(columns.start + column.at * columns.ns, base.first);
    const to = Math.min(columns.start + (column.at + 1) * columns.ns, end);
    if (to <= begin) continue;
    sum += column.mean * (to - begin);
    const mean = sum / to;
    out.push({ at: column.at, min: Math.min(before, mean), max: Math.max(before, mean), mean });
    before = mean;
  }
  return out;
}

/** Columns of an overview joined to wider ones; `total` ends the last. */
export function widerSeries(of: readonly SeriesColumn[], from: Columns, to: Columns, total: number): SeriesColumn[] {
  const out: SeriesColumn[] = [];
  let weight = 0;
  for (const column of of) {
    const time = from.start + column.at * from.ns;
    const at = Math.floor((time - to.start) / to.ns);
    if (at < 0 || at >= to.count) continue;
    const length = Math.max(1, Math.min(time + from.ns, total) - time);
    const last = out[out.length - 1];
    if (last?.at === at) {
      last.min = Math.min(last.min, column.min);
      last.max = Math.max(last.max, column.max);
      last.mean = (last.mean * weight + column.mean * length) / (weight + length);
      weight += length;
    } else {
      out.push({ ...column, at });
      weight = length;
    }
  }
  return out;
}

