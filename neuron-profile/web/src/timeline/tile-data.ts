// What a tile holds: columns of lanes, the events themselves where they are few, columns of series.

import type { SeriesColumns } from "../api/series";
import type { LaneColumns, LaneEvents } from "../api/wire";

export interface LaneTile {
  readonly bytes: number;
  readonly start: number;
  readonly columnNs: number;
  readonly columns: ReadonlyMap<number, LaneColumns>;
  /** Of the lanes that have few enough. */
  readonly events: ReadonlyMap<number, LaneEvents>;
  /** Columns of several lanes in one, made when first drawn. */
  readonly merged: Map<string, MergedColumns>;
}

/** Columns of several lanes as one. */
export interface MergedColumns {
  readonly count: number;
  readonly columns: Uint32Array;
  /** Mean busy share of the lanes. */
  readonly share: Float32Array;
  readonly events: Uint32Array;
  readonly kinds: Uint32Array;
  /** The lane that is busiest in the column, and its row there. */
  readonly lane: Uint32Array;
  readonly rows: Float64Array;
}

export interface SeriesTile {
  readonly bytes: number;
  readonly start: number;
  readonly columnNs: number;
  readonly series: ReadonlyMap<string, SeriesColumns>;
}

/** A stretch in which a layer covers more than any other of its level. */
export interface LayerBar {
  readonly name: string;
  readonly path: string;
  /** ns */
  readonly from: number;
  readonly to: number;
  readonly busy: number;
}

export interface LayerTile {
  readonly bytes: number;
  /** By core and depth, from left to right. */
  readonly rows: readonly { readonly core: number; readonly depth: number; readonly bars: readonly LayerBar[] }[];
}

/** A fault that the hardware told. */
export interface Fault {
  readonly time: number;
  readonly text: string;
  /** Records are lost about here, which is no fault of the program. */
  readonly loss?: boolean;
}

/** Columns of lanes in which a search has matches. */
export interface MatchTile {
  readonly bytes: number;
  readonly start: number;
  readonly columnNs: number;
  readonly lanes: ReadonlyMap<number, Uint32Array>;
}

/** Events of a lane in a tile up to which they are drawn one by one: one for every pixel or two. */
export const FEW_EVENTS = 512;

export function laneTile(
  start: number,
  columnNs: number,
  lanes: readonly LaneColumns[],
  events: readonly LaneEvents[] = [],
): LaneTile {
  let bytes = 400;
  for (const lane of lanes) bytes += 200 + 28 * lane.count;
  for (const lane of events) bytes += 200 + 28 * lane.count;
  return {
    bytes,
    start,
    columnNs,
    columns: new Map(lanes.map((lane) => [lane.lane, lane])),
    events: new Map(events.map((lane) => [lane.lane, lane])),
    merged: new Map(),
  };
}

/** The columns of several lanes of a tile as one: mean busy share, and the kind of the busiest lane. */
export function mergeColumns(tile: LaneTile, lanes: readonly number[], size: number): MergedColumns {
  const busy = new Float64Array(size);
  const most = new Float64Array(size).fill(-1);
  const events = new Uint32Array(size);
  const kind = new Uint32Array(size);
  const lane = new Uint32Array(size);
  const row = new Float64Array(size);
  for (const number of lanes) {
    const of = tile.columns.get(number);
    if (!of) continue;
    for (let i = 0; i < of.count; i += 1) {
      const at = of.columns[i]!;
      if (at >= size) continue;
      busy[at]! += of.busy[i]!;
      events[at]! += of.events[i]!;
      if (of.busy[i]! > most[at]!) {
        most[at] = of.busy[i]!;
        kind[at] = of.names[i]!;
        lane[at] = number;
        row[at] = of.rows[i]!;
      }
    }
  }
  const filled: number[] = [];
  for (let at = 0; at < size; at += 1) if (most[at]! >= 0) filled.push(at);
  const scale = 1 / (tile.columnNs * Math.max(lanes.length, 1));
  return {
    count: filled.length,
    columns: Uint32Array.from(filled),
    share: Float32Array.from(filled, (at) => busy[at]! * scale),
    events: Uint32Array.from(filled, (at) => events[at]!),
    kinds: Uint32Array.from(filled, (at) => kind[at]!),
    lane: Uint32Array.from(filled, (at) => lane[at]!),
    rows: Float64Array.from(filled, (at) => row[at]!),
  };
}

/** First place in ascending numbers whose value is at least `value`. */
export function lowerBound(values: ArrayLike<number>, value: number, count = values.length): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
