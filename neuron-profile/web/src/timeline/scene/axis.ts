// The time axis below the rows: ticks with their moments, and the visible span under its middle, as in the pictures.

import { DisplayList } from "../display-list";
import { pack, parse } from "../colour";
import { type Window, xOf } from "../geometry";
import { type Tick, duration } from "../ticks";

/** CSS pixels. */
export const AXIS_HEIGHT = 34;

export function axisList(
  window: Window,
  ticks: readonly Tick[],
  width: number,
  scale: number,
  colour: string,
  list = new DisplayList(128),
): DisplayList {
  list.clear();
  const height = AXIS_HEIGHT * scale;
  list.section({ x: 0, y: 0, width, height });
  const line = Math.max(1, Math.round(scale));
  const ink = pack(parse(colour));
  list.rect(0, 0, width, line, ink);
  const size = 10 * scale;
  for (const tick of ticks) {
    const x = Math.round(xOf(window, width, tick.time));
    list.rect(x, 0, x + line, 6 * scale, ink);
    const half = (tick.label.length * size * 0.602) / 2;
    // Labels at the ends stay inside.
    const at = Math.min(Math.max(x, half + 2), width - half - 2);
    list.texts.push({ x: at, y: 13 * scale, text: tick.label, colour, size, align: "center" });
  }
  list.texts.push({
    x: width / 2,
    y: 26 * scale,
    text: duration(window.to - window.from),
    colour,
    size,
    align: "center",
    bold: true,
  });
  return list;
}
