// What is under the pointer, from the data in hand: an answer within the frame. What is not in hand (operands, bytes)
// is fetched afterwards by hover.ts.

import { type Frame, inside } from "./scene/frame";
import { firstSeen } from "./scene/lanes";
import { type Visible, rowAt } from "./layout";
import type { Series } from "./rows";
import { FAULT, layerBars } from "./scene/layers";
import { type Fault, type LayerBar, lowerBound } from "./tile-data";
import { timeAt } from "./geometry";
import type { Warning } from "./warnings";

/** CSS pixels around thin events that count as on them. */
export const NEAR = 3;

export interface EventHit {
  readonly what: "event";
  readonly row: Visible;
  readonly lane: number;
  /** Row in the lane's table. */
  readonly place: number;
  readonly start: number;
  readonly end: number;
  readonly kind: number;
  /** Its place among those that it overlaps, and how many share the height. */
  readonly sub: number;
  readonly of: number;
}

/** Several events that are too narrow to be told apart. */
export interface ColumnHit {
  readonly what: "column";
  readonly row: Visible;
  readonly lane: number;
  /** Row of the first event that begins in it (the event, if it is one). */
  readonly place: number;
  readonly from: number;
  readonly to: number;
  readonly events: number;
  /** Busy share. */
  readonly share: number;
  readonly kind: number;
}

export interface SeriesHit {
  readonly what: "series";
  readonly row: Visible;
  readonly time: number;
  readonly values: readonly { series: Series; min: number; max: number; mean: number }[];
}

export interface RowHit {
  readonly what: "row";
  readonly row: Visible;
}

export interface LayerHit {
  readonly what: "layer";
  readonly row: Visible;
  readonly bar: LayerBar;
}

export interface FaultHit {
  readonly what: "fault";
  readonly row: Visible;
  readonly fault: Fault;
}

/** A band that warns, where nothing else is under the pointer. */
export interface WarningHit {
  readonly what: "warning";
  readonly warning: Warning;
}

export type Hit = WarningHit | EventHit | ColumnHit | SeriesHit | LayerHit | FaultHit | RowHit;

function hitEvent(frame: Frame, row: Visible, lane: number, time: number, y: number): EventHit | null {
  const all = frame.stacked(lane);
  if (!all) return null;
  const near = (NEAR * frame.scale * (frame.window.to - frame.window.from)) / frame.width;
  const { top, bottom } = inside(row, frame.scale);
  const depth = Math.min(Math.max((y * frame.scale - top) / (bottom - top), 0), 0.999);
  let best: EventHit | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let i = firstSeen(all, time - near); i < all.count; i += 1) {
    const start = all.start[i]!;
    if (start > time + near) break;
    const end = all.end[i]!;
    const far = time < start ? start - time : time >= end && end > start ? time - end : 0;
    if (far > near) continue;
    // Of those at this time the one at this height; a little beside it in time is nearer than beside it in height.
    const beside = all.sub[i] === Math.floor(depth * all.of[i]!) ? 0 : 2 * near;
    if (far + beside < least) {
      least = far + beside;
      best = { what: "event", row, lane, place: all.rows[i]!, start, end, kind: all.kinds[i]!, sub: all.sub[i]!, of: all.of[i]! };
    }
  }
  return best;
}

function hitColumn(frame: Frame, row: Visible, time: number): ColumnHit | null {
  const first = row.row.lanes[0];
  if (first === undefined) return null;
  const near = (NEAR * frame.scale * (frame.window.to - frame.window.from)) / frame.width;
  const piece = frame.pieces(first).find((one) => time >= one.from && time < one.to);
  if (!piece) return null;
  const { tile } = piece;
  const merged = row.row.kind === "lanes" ? tile.merged.get(row.row.key) : undefined;
  const own = row.row.kind === "lane" ? tile.columns.get(first) : undefined;
  const columns = merged?.columns ?? own?.columns;
  if (!columns || columns.length === 0) return null;
  const wanted = (time - tile.start) / tile.columnNs;
  const after = lowerBound(columns, Math.floor(wanted));
  let best = -1;
  let least = near / tile.columnNs;
  for (const at of [after, after - 1]) {
    const column = columns[at];
    if (column === undefined) continue;
    const far = wanted < column ? column - wanted : Math.max(wanted - column - 1, 0);
    if (far <= least) [best, least] = [at, far];
  }
  if (best < 0) return null;
  const from = tile.start + columns[best]! * tile.columnNs;
  const shared = { what: "column", row, from, to: from + tile.columnNs } as const;
  if (merged) {
    return {
      ...shared,
      lane: merged.lane[best]!,
      place: merged.rows[best]!,
      events: merged.events[best]!,
      share: merged.share[best]!,
      kind: merged.kinds[best]!,
    };
  }
  return {
    ...shared,
    lane: first,
    place: own!.rows[best]!,
    events: own!.events[best]!,
    share: own!.busy[best]! / tile.columnNs,
    kind: own!.names[best]!,
  };
}

function hitSeries(frame: Frame, row: Visible, time: number): SeriesHit {
  const values = row.row.series.flatMap((series) => {
    const piece = frame.seriesPieces(series.id).find((one) => time >= one.from && time < one.to);
    const all = piece?.tile.series.get(series.id);
    if (!piece || !all) return [];
    const column = Math.floor((time - piece.tile.start) / piece.tile.columnNs);
    const at = lowerBound(all.columns, column);
    if (all.columns[at] !== column) return [];
    return [{ series, min: all.min[at]!, max: all.max[at]!, mean: all.mean[at]! }];
  });
  return { what: "series", row, time, values };
}

/** x and y in CSS pixels of the plot. */
export function hit(frame: Frame, x: number, y: number): Hit | null {
  const row = rowAt(frame.rows, frame.layout, y);
  if (!row) return null;
  const time = timeAt(frame.window, frame.width / frame.scale, x);
  if (row.row.kind === "series") return hitSeries(frame, row, time);
  if (row.row.kind === "layers") {
    const bar = layerBars(frame, row).find((one) => time >= one.from && time < one.to);
    return bar ? { what: "layer", row, bar } : { what: "row", row };
  }
  if (row.row.kind === "errors") {
    const near = (FAULT * frame.scale * (frame.window.to - frame.window.from)) / frame.width;
    const fault = frame.faults.find((one) => Math.abs(one.time - time) <= near);
    return fault ? { what: "fault", row, fault } : { what: "row", row };
  }
  const lane = row.row.lanes[0];
  if (row.row.kind === "lane" && lane !== undefined && frame.stacked(lane)) {
    return hitEvent(frame, row, lane, time, y) ?? { what: "row", row };
  }
  return hitColumn(frame, row, time) ?? { what: "row", row };
}

/** The band that warns at a place: the shortest of several, since longer ones are seen beside it. */
export function hitWarning(frame: Frame, x: number): WarningHit | null {
  const time = timeAt(frame.window, frame.width / frame.scale, x);
  const near = (NEAR * frame.scale * (frame.window.to - frame.window.from)) / frame.width;
  const here = frame.warnings.filter(({ from, to }) => time >= from - (to > from ? 0 : near) && time <= to + (to > from ? 0 : near));
  const [first, ...others] = here;
  if (!first) return null;
  return { what: "warning", warning: others.reduce((best, one) => (one.to - one.from < best.to - best.from ? one : best), first) };
}

/** The nearest begin or end of an event to a moment in the visible rows, within `near` CSS pixels; else the moment. */
export function snap(frame: Frame, time: number, near: number): number {
  const most = (near * frame.scale * (frame.window.to - frame.window.from)) / frame.width;
  let best = time;
  let least = most;
  for (const row of frame.rows) {
    const lane = row.row.lanes[0];
    const all = row.row.kind === "lane" && lane !== undefined ? frame.stacked(lane) : null;
    if (!all) continue;
    for (let i = firstSeen(all, time - most); i < all.count && all.start[i]! <= time + most; i += 1) {
      for (const edge of [all.start[i]!, all.end[i]!]) {
        const far = Math.abs(edge - time);
        if (far < least) [best, least] = [edge, far];
      }
    }
  }
  return best;
}
