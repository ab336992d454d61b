// Over the bars: matches of a search, the focused event with what it depends on and what depends on it, and the
// arrows between them.

import { css, type Packed } from "../colour";
import type { DisplayList } from "../display-list";
import { xOf } from "../geometry";
import type { Visible } from "../layout";
import { lowerBound } from "../tile-data";
import { type Frame, type Mark, inside } from "./frame";
import { firstSeen } from "./lanes";

export function markColour(frame: Frame, role: Mark["role"]): Packed {
  const { theme } = frame;
  if (role === "predecessor") return theme.predecessor;
  if (role === "successor") return theme.successor;
  return theme.focus;
}

const rowsOfLane = (frame: Frame, lane: number): Visible[] =>
  frame.rows.filter((row) => row.row.lanes.includes(lane));

/** Columns of lanes in which a search has matches: a bright line along the foot of the bar. */
export function drawMatches(list: DisplayList, frame: Frame, pinned: boolean): void {
  const { from, to } = frame.window;
  const perNs = frame.width / (to - from);
  for (const piece of frame.matchPieces()) {
    const { tile } = piece;
    const [begin, end] = [Math.max(piece.from, from), Math.min(piece.to, to)];
    for (const row of frame.rows) {
      if (row.pinned !== pinned) continue;
      const { top, bottom } = inside(row, frame.scale);
      const high = Math.max(2, Math.round((bottom - top) * 0.25));
      for (const lane of row.row.lanes) {
        const columns = tile.lanes.get(lane);
        if (!columns) continue;
        let i = lowerBound(columns, Math.floor((begin - tile.start) / tile.columnNs));
        for (; i < columns.length; i += 1) {
          const time = tile.start + columns[i]! * tile.columnNs;
          if (time >= end) break;
          const x0 = Math.round((Math.max(time, begin) - from) * perNs);
          const x1 = Math.max(Math.round((time + tile.columnNs - from) * perNs), x0 + 2);
          list.run(x0, bottom - high, x1, bottom, frame.theme.hit);
        }
      }
    }
  }
}

/** Top and bottom of the bar of an event: its part of the row where it overlaps others. */
export function barOf(frame: Frame, row: Visible, mark: Mark): { top: number; bottom: number } {
  const whole = inside(row, frame.scale);
  const all = row.row.kind === "lane" ? frame.stacked(mark.lane) : null;
  if (!all) return whole;
  for (let i = firstSeen(all, mark.start); i < all.count && all.start[i]! <= mark.start; i += 1) {
    if (all.start[i] !== mark.start || all.end[i] !== mark.end) continue;
    const high = (whole.bottom - whole.top) / all.of[i]!;
    const top = whole.top + Math.floor(all.sub[i]! * high);
    return { top, bottom: Math.max(top + 2, whole.top + Math.floor((all.sub[i]! + 1) * high)) };
  }
  return whole;
}

/** A frame around single events; on those that are pixels wide a block, as in picture 06. */
export function drawMarks(list: DisplayList, frame: Frame, pinned: boolean): void {
  const thick = Math.max(1, Math.round(1.5 * frame.scale));
  for (const mark of frame.marks) {
    const colour = markColour(frame, mark.role);
    for (const row of rowsOfLane(frame, mark.lane)) {
      if (row.pinned !== pinned) continue;
      const x0 = Math.round(xOf(frame.window, frame.width, mark.start));
      const x1 = Math.max(Math.round(xOf(frame.window, frame.width, mark.end)), x0 + Math.round(3 * frame.scale));
      if (x1 < 0 || x0 > frame.width) continue;
      const { top, bottom } = barOf(frame, row, mark);
      const [y0, y1] = [top - thick, bottom + thick];
      if (x1 - x0 <= 8 * frame.scale) {
        list.rect(x0, y0, x1, y1, colour);
        continue;
      }
      const [a, b] = [Math.max(x0, -thick), Math.min(x1, frame.width + thick)];
      list.rect(a, y0, b, y0 + thick, colour);
      list.rect(a, y1 - thick, b, y1, colour);
      if (x0 >= 0) list.rect(x0, y0, x0 + thick, y1, colour);
      if (x1 <= frame.width) list.rect(x1 - thick, y0, x1, y1, colour);
    }
  }
}

/** Middle of the bar of an event, or null where its row is not seen. */
function middle(frame: Frame, mark: Mark): number | null {
  const row = rowsOfLane(frame, mark.lane)[0];
  if (!row) return null;
  const { top, bottom } = barOf(frame, row, mark);
  return (top + bottom) / 2;
}

/** From the end of what comes before to the begin of what comes after. */
export function drawArrows(list: DisplayList, frame: Frame): void {
  if (!frame.arrows) return;
  const focus = frame.marks.find((mark) => mark.role === "focus");
  if (!focus) return;
  const at = middle(frame, focus);
  if (at === null) return;
  const x = (time: number) => xOf(frame.window, frame.width, time);
  const far = 20 * frame.width;
  for (const mark of frame.marks) {
    if (mark.role !== "predecessor" && mark.role !== "successor") continue;
    const y = middle(frame, mark);
    if (y === null) continue;
    const before = mark.role === "predecessor";
    const [x0, y0, x1, y1] = before ? [x(mark.end), y, x(focus.start), at] : [x(focus.end), at, x(mark.start), y];
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > frame.width || Math.abs(x1 - x0) > far) continue;
    list.lines.push({
      points: [x0, y0, x1, y1],
      colour: css(markColour(frame, mark.role)),
      width: 1.25 * frame.scale,
      arrow: true,
    });
  }
}
