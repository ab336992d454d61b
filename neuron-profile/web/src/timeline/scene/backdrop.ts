// Behind the bars: every other row a little lighter, lines between rows, the grid of the time axis, bands of regions.

import { mix } from "../colour";
import type { Clip, DisplayList } from "../display-list";
import { xOf } from "../geometry";
import { type Tick } from "../ticks";
import type { Frame } from "./frame";

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
