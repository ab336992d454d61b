// Sums of a range by kind: how many events begin in it, how long they are, and
// how long they keep their lane busy.

import { type LaneEvents, placesIn } from "./events";

export interface KindSum {
  kind: number;
  count: number;
  /** Lengths of those that begin, ns. */
  time: number;
  /** Time that they cover and no event of the lane before them, ns. */
  busy: number;
  bytes: number;
}

export interface LaneSums {
  lane: number;
  kinds: KindSum[];
  count: number;
  busy: number;
}

/** Sums of kinds, busiest first, with those of the lane. */
export function laneSums(lane: number, kinds: KindSum[]): LaneSums {
  kinds.sort((a, b) => b.busy - a.busy || a.kind - b.kind);
  return { lane, kinds, count: kinds.reduce((sum, one) => sum + one.count, 0), busy: kinds.reduce((sum, one) => sum + one.busy, 0) };
}

export function sumsOf(lane: number, of: LaneEvents, from: number, to: number, bytes: Float64Array | null): LaneSums {
  const found = new Map<number, KindSum>();
  const [first, behind] = placesIn(of, from, to);
  for (let i = first; i < behind; i += 1) {
    const start = of.start[i]!;
    const begins = start >= from && start < to;
    const covers = Math.max(0, Math.min(of.end[i]!, to) - Math.max(of.fresh[i]!, from));
    if (!begins && covers === 0) continue;
    const kind = of.kind[i]!;
    let sum = found.get(kind);
    if (!sum) found.set(kind, (sum = { kind, count: 0, time: 0, busy: 0, bytes: 0 }));
    sum.busy += covers;
    if (!begins) continue;
    sum.count += 1;
    sum.time += of.end[i]! - start;
    sum.bytes += bytes?.[i] ?? 0;
  }
  return laneSums(lane, [...found.values()]);
}
