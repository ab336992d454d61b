// Bars of lanes: single events where they are few enough, else columns whose height is the busy share, in the colour
// of the kind that covers most of them.

import type { DisplayList } from "../display-list";
import { inkOn } from "../colour";
import type { Visible } from "../layout";
import { type Stacked } from "../overlap";
import { TILE_COLUMNS } from "../tile-key";
import { type LaneTile, lowerBound, mergeColumns } from "../tile-data";
import type { Piece } from "../tile-cache";
import { type Frame, inside } from "./frame";

/** A column with little in it is still this share of the bar high: small events must not vanish (our choice). */
export const LEAST_SHARE = 0.2;

/** Labels of events of a frame at most: text is the dearest thing to draw. */
const MOST_LABELS = 500;

/** Columns of a row, as they are stored. */
interface Columns {
  readonly count: number;
  readonly columns: Uint32Array;
  readonly kinds: Uint32Array;
  /** What is busy of each, and how much of it is the whole column. */
  readonly busy: ArrayLike<number>;
  readonly whole: number;
  /** The lane that gives each its colour, where that is not one for all. */
  readonly lanes: Uint32Array | null;
  readonly lane: number;
}

function columnsOf(tile: LaneTile, row: Visible["row"]): Columns | null {
  const lane = row.lanes[0];
  if (lane === undefined) return null;
  if (row.kind === "lanes") {
    let merged = tile.merged.get(row.key);
    if (!merged) {
      merged = mergeColumns(tile, row.lanes, TILE_COLUMNS);
      tile.merged.set(row.key, merged);
    }
    const { count, columns, kinds } = merged;
    return { count, columns, kinds, busy: merged.share, whole: 1, lanes: merged.lane, lane };
  }
  const of = tile.columns.get(lane);
  return of ? { count: of.count, columns: of.columns, kinds: of.names, busy: of.busy, whole: tile.columnNs, lanes: null, lane } : null;
}

function drawColumns(list: DisplayList, frame: Frame, row: Visible, piece: Piece<LaneTile>): void {
  const { tile } = piece;
  const all = columnsOf(tile, row.row);
  if (!all) return;
  const { columns, kinds, busy, whole, lanes } = all;
  const { start, columnNs } = tile;
  const { from, to } = frame.window;
  const perNs = frame.width / (to - from);
  const [begin, end] = [Math.max(piece.from, from), Math.min(piece.to, to)];
  const first = Math.floor((begin - start) / columnNs);
  const left = Math.round((begin - from) * perNs);
  const right = Math.round((end - from) * perNs);
  const { top, bottom } = inside(row, frame.scale);
  const height = bottom - top;
  const least = Math.max(Math.round(height * LEAST_SHARE), 2);
  let lastX = -1;
  // Most columns have the colour of the one before them.
  let [kind, lane, colour] = [-1, -1, 0];
  for (let i = lowerBound(columns, first, all.count); i < all.count; i += 1) {
    const time = start + columns[i]! * columnNs;
    if (time >= end) break;
    const x0 = Math.max(Math.round((time - from) * perNs), left);
    let x1 = Math.min(Math.round((time + columnNs - from) * perNs), right);
    if (x1 <= x0) {
      // Finer than pixels, as after zooming out: the first of a pixel is drawn.
      if (x0 === lastX) continue;
      x1 = x0 + 1;
    }
    lastX = x0;
    const share = busy[i]! / whole;
    const high = share >= 0.995 ? height : Math.max(Math.round(share * height), least);
    const of = lanes ? lanes[i]! : all.lane;
    if (kinds[i] !== kind || of !== lane) {
      kind = kinds[i]!;
      lane = of;
      colour = frame.colour(kind, lane);
    }
    list.run(x0, bottom - high, x1, bottom, colour);
  }
}

/** Place of the first event that may be seen: those before it end before the window. */
export function firstSeen(all: Stacked, from: number): number {
  // Latest ends never fall, so that they can be searched.
  return lowerBound(all.covered, from, all.count);
}

function drawEvents(list: DisplayList, frame: Frame, row: Visible, lane: number, all: Stacked): void {
  const { from, to } = frame.window;
  const perNs = frame.width / (to - from);
  const { top, bottom } = inside(row, frame.scale);
  const height = bottom - top;
  const gap = Math.max(1, Math.round(frame.scale));
  const size = Math.min(frame.fontSize, row.row.height - 6) * frame.scale;
  const letter = size * 0.602;
  const labels = frame.showLabels && size >= 7 * frame.scale;
  const lastX = new Int32Array(16).fill(-1);
  for (let i = firstSeen(all, from); i < all.count; i += 1) {
    const start = all.start[i]!;
    if (start >= to) break;
    const end = all.end[i]!;
    if (end < from) continue;
    const x0 = Math.round(Math.max(start - from, 0) * perNs);
    let x1 = Math.round(Math.min(end - from, to - from) * perNs);
    const [sub, of] = [all.sub[i]!, all.of[i]!];
    const wide = x1 - x0;
    if (wide < 1) {
      if (lastX[sub] === x0) continue;
      x1 = x0 + 1;
    }
    lastX[sub] = x0;
    // Neighbours of one colour stay apart once there is room.
    if (wide >= 4 * gap && end <= to) x1 -= gap;
    const y0 = top + Math.floor((sub * height) / of);
    const y1 = Math.max(y0 + 1, top + Math.floor(((sub + 1) * height) / of) - (of > 1 && height / of > 3 ? gap : 0));
    const colour = frame.colour(all.kinds[i]!, lane);
    list.rect(x0, y0, x1, y1, colour);
    if (labels && wide > letter * 3 && y1 - y0 >= size && list.texts.length < MOST_LABELS) {
      const room = Math.floor((wide - letter) / letter);
      const name = frame.name(all.kinds[i]!);
      if (room >= 2 && name !== "") {
        const text = name.length <= room ? name : `${name.slice(0, room - 1)}…`;
        list.texts.push({ x: x0 + letter / 2, y: (y0 + y1) / 2, text, colour: inkOn(colour), size, align: "left" });
      }
    }
  }
}

/** The bars of one row. */
export function drawLaneRow(list: DisplayList, frame: Frame, row: Visible): void {
  const lane = row.row.lanes[0];
  if (lane === undefined) return;
  const all = row.row.kind === "lane" ? frame.stacked(lane) : null;
  if (all) drawEvents(list, frame, row, lane, all);
  else for (const piece of frame.pieces(lane)) drawColumns(list, frame, row, piece);
}
