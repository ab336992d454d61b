// Behind the bars: every other row a little lighter, lines between rows, the grid of the time axis, bands of regions.

import { type Packed, mix, pack, parse } from "../colour";
import type { Clip, DisplayList } from "../display-list";
import { xOf } from "../geometry";
import { type Tick } from "../ticks";
import { COLOURS, type Warning } from "../warnings";
import type { Frame, Theme } from "./frame";

export function drawBackdrop(list: DisplayList, frame: Frame, ticks: readonly Tick[], clip: Clip, pinned: boolean): void {
  const { theme, scale } = frame;
  const line = Math.max(1, Math.round(scale));
  const rows = frame.rows.filter((row) => row.pinned === pinned);
  const order = pinned ? frame.layout.pinned : frame.layout.free;
  const place = new Map(order.map((one, at) => [one.row.key, at]));
  for (const row of rows) {
    const y0 = Math.round(row.top * scale);
    const y1 = Math.round((row.top + row.row.height) * scale);
    if ((place.get(row.row.key) ?? 0) % 2 === 1) list.rect(0, y0, frame.width, y1, theme.rowAlternate);
    list.rect(0, y1 - line, frame.width, y1, theme.rowLine);
  }
  const bottom = Math.min(clip.y + clip.height, frame.height);
  drawWarnings(list, frame, clip.y, bottom);
  for (const band of frame.bands) {
    const x0 = Math.round(xOf(frame.window, frame.width, band.from));
    const x1 = Math.max(Math.round(xOf(frame.window, frame.width, band.to)), x0 + 1);
    if (x1 < 0 || x0 > frame.width) continue;
    list.rect(Math.max(x0, 0), clip.y, Math.min(x1, frame.width), bottom, mix(theme.background, band.colour, 0.2));
    for (const x of [x0, x1 - line]) {
      if (x >= 0 && x < frame.width) list.rect(x, clip.y, x + line, bottom, mix(theme.background, band.colour, 0.7));
    }
  }
  for (const tick of ticks) {
    const x = Math.round(xOf(frame.window, frame.width, tick.time));
    list.rect(x, clip.y, x + line, bottom, theme.grid);
  }
}

/** Share of the colour of a band that warns: it must not hide what it is about. */
const TINT = 0.14;

/** Moments in view up to which each is a line through all rows; more are marks at the upper edge. */
const LINES = 24;

/** Colours of a kind of warnings over a background. */
function coloursOf(kind: Warning["kind"], { shade, background }: Theme) {
  const colour = pack(parse(COLOURS[kind][shade === "dark" ? 0 : 1]));
  return { tint: mix(background, colour, TINT), line: mix(background, colour, 0.6), edge: mix(background, colour, 0.8) };
}

function drawWarnings(list: DisplayList, frame: Frame, top: number, bottom: number): void {
  const { theme, window, width } = frame;
  const high = Math.min(top + Math.max(2, Math.round(3 * frame.scale)), bottom);
  const least = Math.max(1, Math.round(frame.scale));
  const moments = frame.warnings.filter(({ from, to }) => to === from && from >= window.from && from <= window.to).length;
  const known = new Map<Warning["kind"], ReturnType<typeof coloursOf>>();
  let last: { left: number; right: number; edge: Packed } | null = null;
  for (const { from, to, kind } of frame.warnings) {
    const x0 = Math.round(xOf(window, width, from));
    const x1 = Math.max(Math.round(xOf(window, width, to)), x0 + least);
    if (x1 < 0 || x0 > width) continue;
    const { tint, line, edge } = known.get(kind) ?? coloursOf(kind, theme);
    if (!known.has(kind)) known.set(kind, { tint, line, edge });
    const [left, right] = [Math.max(x0, 0), Math.min(x1, width)];
    // A moment is a line; a stretch is a tint with a strong upper edge.
    if (to > from) list.rect(left, top, right, bottom, tint);
    else if (moments <= LINES) list.rect(left, top, right, bottom, line);
    // Of thousands of moments many are on one pixel.
    else if (last && last.left === left && last.right === right && last.edge === edge) continue;
    list.rect(left, top, right, high, edge);
    last = { left, right, edge };
  }
}
