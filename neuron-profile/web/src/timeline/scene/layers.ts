// Rows that are neither lanes nor series: layers of the framework as bars, faults of the hardware as points.

import { colourOf, inkOn, pack, parse } from "../colour";
import type { DisplayList } from "../display-list";
import { xOf } from "../geometry";
import type { Visible } from "../layout";
import type { LayerBar } from "../tile-data";
import { COLOURS } from "../warnings";
import { type Frame, inside } from "./frame";

/** CSS pixels of a fault. */
export const FAULT = 4;

/** Bars of the level of a row that are seen, joined where tiles cut them. */
export function layerBars(frame: Frame, row: Visible): LayerBar[] {
  const out: LayerBar[] = [];
  for (const { tile, from, to } of frame.layerPieces()) {
    const [begin, end] = [Math.max(from, frame.window.from), Math.min(to, frame.window.to)];
    const level = tile.rows.find((one) => one.core === row.row.core && one.depth === row.row.depth);
    for (const bar of level?.bars ?? []) {
      if (bar.to <= begin || bar.from >= end) continue;
      const cut = { ...bar, from: Math.max(bar.from, from), to: Math.min(bar.to, to) };
      const last = out[out.length - 1];
      if (last && last.path === cut.path && last.to === cut.from) out[out.length - 1] = { ...last, to: cut.to, busy: last.busy + cut.busy };
      else out.push(cut);
    }
  }
  return out;
}

export function drawLayerRow(list: DisplayList, frame: Frame, row: Visible): void {
  const { top, bottom } = inside(row, frame.scale);
  const size = Math.min(frame.fontSize, row.row.height - 6) * frame.scale;
  const letter = size * 0.602;
  const gap = Math.max(1, Math.round(frame.scale));
  for (const bar of layerBars(frame, row)) {
    const x0 = Math.max(Math.round(xOf(frame.window, frame.width, bar.from)), 0);
    let x1 = Math.max(Math.min(Math.round(xOf(frame.window, frame.width, bar.to)), frame.width), x0 + 1);
    if (x1 - x0 >= 4 * gap) x1 -= gap;
    const colour = colourOf(bar.path, frame.theme.shade);
    list.rect(x0, top, x1, bottom, colour);
    const room = Math.floor((x1 - x0 - letter) / letter);
    if (!frame.showLabels || room < 3 || size < 7 * frame.scale) continue;
    const text = bar.name.length <= room ? bar.name : `${bar.name.slice(0, room - 1)}…`;
    list.texts.push({ x: x0 + letter / 2, y: (top + bottom) / 2, text, colour: inkOn(colour), size, align: "left" });
  }
}

export function drawFaults(list: DisplayList, frame: Frame, row: Visible): void {
  const { top, bottom } = inside(row, frame.scale);
  const half = Math.round((FAULT * frame.scale) / 2);
  const colours = (["error", "loss"] as const).map((kind) => pack(parse(COLOURS[kind][frame.theme.shade === "dark" ? 0 : 1])));
  for (const { time, loss } of frame.faults) {
    const colour = colours[loss ? 1 : 0]!;
    const x = Math.round(xOf(frame.window, frame.width, time));
    if (x >= -half && x <= frame.width + half) list.run(x - half, top, x + half, bottom, colour);
  }
}
