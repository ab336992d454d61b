// The events of lanes as arrays, and what of them lies in a range.

import { type Archive, type Stored, numbers } from "./archive";
import type { StoredLane } from "./index";

export interface LaneEvents {
  readonly count: number;
  readonly row: Float64Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly kind: Uint32Array;
  /** Begin of what no event before covers; the end or later for nothing. */
  readonly fresh: Float64Array;
  /** Latest end so far, which never falls. */
  readonly covered: Float64Array;
  /** Starts never fall; late rows may break that. */
  readonly sorted: boolean;
  /** Kinds of the lane in the order of their keys, which numbers nodes of trees. */
  readonly kinds: readonly number[];
}

interface Raw {
  row: Stored;
  start: Stored;
  length: Stored;
  kind: Stored;
  kinds: number[];
}

export async function laneEvents(archive: Archive, lane: StoredLane): Promise<LaneEvents> {
  const raw = await archive.json<Raw>(lane.events);
  const [row, start, length] = [numbers(raw.row), numbers(raw.start), numbers(raw.length)];
  const count = row.length;
  const kind = Uint32Array.from(numbers(raw.kind));
  const [end, fresh, covered] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  let last = 0;
  let sorted = true;
  for (let i = 0; i < count; i += 1) {
    end[i] = start[i]! + length[i]!;
    fresh[i] = Math.max(start[i]!, last);
    last = Math.max(last, end[i]!);
    covered[i] = last;
    if (i > 0 && start[i]! < start[i - 1]!) sorted = false;
  }
  return { count, row, start, end, kind, fresh, covered, sorted, kinds: raw.kinds };
}

/** The first place whose value is above a limit; the values never fall. */
function firstAbove(values: Float64Array, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Places of events that begin in `from..to`, or are under way there: first, and behind the last. */
export function placesIn(of: LaneEvents, from: number, to: number): [number, number] {
  if (!of.sorted) return [0, of.count];
  // An event of no length at `from` begins there.
  const first = Math.min(firstAbove(of.covered, from), firstAbove(of.start, from - 0.5));
  return [first, firstAbove(of.start, to - 0.5)];
}
