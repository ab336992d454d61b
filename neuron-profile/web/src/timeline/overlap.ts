// Events of a lane that are under way at the same time stand one below the other, as in picture 08. An event that
// overlaps none has the whole height; those that do share it with their cluster only, so that a busy place does not
// shrink the rest of the row.

import type { LaneEvents } from "../api/wire";

/** Events of a lane in order of time, each with its place among those that it overlaps. */
export interface Stacked {
  readonly count: number;
  readonly rows: Float64Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly kinds: Uint32Array;
  /** Sub-row, from 0. */
  readonly sub: Uint8Array;
  /** Sub-rows of its cluster. */
  readonly of: Uint8Array;
  /** Latest end of this event and all before it: where to stop looking to the left. */
  readonly covered: Float64Array;
}

/** Sub-rows at most; deeper ones share the last (our choice: a row of 24 px has no room for more). */
export const MOST_SUB_ROWS = 8;

/** Events of several tiles as one list; an event that crosses tiles is in it once. */
export function joined(parts: readonly LaneEvents[]): Omit<Stacked, "sub" | "of" | "covered"> {
  const only = parts[0];
  if (parts.length === 1 && only) {
    return { count: only.count, rows: only.rows, start: only.start, end: only.end, kinds: only.kinds };
  }
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const order: [number, number][] = [];
  for (const [p, part] of parts.entries()) for (let i = 0; i < part.count; i += 1) order.push([p, i]);
  const row = ([p, i]: [number, number]) => parts[p]!.rows[i]!;
  order.sort((a, b) => row(a) - row(b));
  const out = {
    rows: new Float64Array(total),
    start: new Float64Array(total),
    end: new Float64Array(total),
    kinds: new Uint32Array(total),
  };
  let count = 0;
  for (const [p, i] of order) {
    const part = parts[p]!;
    if (count > 0 && out.rows[count - 1] === part.rows[i]) continue;
    out.rows[count] = part.rows[i]!;
    out.start[count] = part.start[i]!;
    out.end[count] = part.end[i]!;
    out.kinds[count] = part.kinds[i]!;
    count += 1;
  }
  return {
    count,
    rows: out.rows.subarray(0, count),
    start: out.start.subarray(0, count),
    end: out.end.subarray(0, count),
    kinds: out.kinds.subarray(0, count),
  };
}

export function stack(parts: readonly LaneEvents[]): Stacked {
  const all = joined(parts);
  const sub = new Uint8Array(all.count);
  const of = new Uint8Array(all.count);
  const covered = new Float64Array(all.count);
  // Ends of the last event of each sub-row of the cluster.
  let ends: number[] = [];
  let first = 0;
  let until = Number.NEGATIVE_INFINITY;
  const close = (end: number) => {
    of.fill(Math.max(ends.length, 1), first, end);
    first = end;
    ends = [];
  };
  for (let i = 0; i < all.count; i += 1) {
    const [start, end] = [all.start[i]!, all.end[i]!];
    // Events that touch do not overlap.
    if (start >= until) close(i);
    let place = ends.findIndex((free) => free <= start);
    if (place < 0) {
      place = Math.min(ends.length, MOST_SUB_ROWS - 1);
      if (ends.length < MOST_SUB_ROWS) ends.push(end);
    }
    ends[place] = Math.max(ends[place] ?? end, end);
    sub[i] = place;
    until = Math.max(until, end);
    covered[i] = until;
  }
  close(all.count);
  return { ...all, sub, of, covered };
}
