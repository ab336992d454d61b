// The picture of the minimap: strips that are painted once, and over them the window of the view, which moves with
// each frame of a pan. It is drawn and not an element that moves: the browser composes the page anew for that one.

import { colourOf, css, mix } from "./colour";
import { type Window, xOf } from "./geometry";
import { rankOf } from "./rows";
import type { Subject } from "./stage";
import { readTheme } from "./theme";
import { type LaneTile, mergeColumns } from "./tile-data";
import { TILE_COLUMNS } from "./tile-key";

/** Share of the background over what is not seen. */
const VEIL = 0.6;

/** CSS pixels of the narrowest window. */
const LEAST = 3;

/** Strips: lanes of a kind in one, named as in the rows. */
export function strips(lanes: Subject["lanes"]): { name: string; lanes: number[] }[] {
  const byName = new Map<string, { rank: number; lanes: number[] }>();
  for (const lane of lanes) {
    const name = lane.kind === "dma" ? "DMA" : lane.name;
    const known = byName.get(name) ?? { rank: lane.kind === "dma" ? 3 : rankOf(lane.name), lanes: [] };
    known.lanes.push(lane.number);
    byName.set(name, known);
  }
  return [...byName].sort((a, b) => a[1].rank - b[1].rank).map(([name, { lanes }]) => ({ name, lanes }));
}

/** Left edge and width of the window of a view in a map of `width` pixels. */
export function windowIn(total: number, width: number, view: Window, scale = 1): { x: number; width: number } {
  const whole = { from: 0, to: total };
  const x = xOf(whole, width, view.from);
  return { x: Math.round(x), width: Math.max(Math.round(xOf(whole, width, view.to) - x), LEAST * scale) };
}

export class MapPicture {
  private readonly context: CanvasRenderingContext2D | null;
  private readonly strips = document.createElement("canvas");
  private background = "";
  private edge = "";
  /** The window that is drawn. */
  private shown = "";

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly subject: Subject,
  ) {
    this.context = canvas.getContext("2d", { alpha: false });
  }

  /** Paints the strips of the whole profile; only the background before they are there. */
  paint(tile: LaneTile | null, view: Window): void {
    const { canvas, strips: area, subject } = this;
    const scale = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    const context = area.getContext("2d", { alpha: false });
    if (width === 0 || height === 0 || !context) return;
    for (const one of [canvas, area]) {
      one.width = width;
      one.height = height;
    }
    const style = getComputedStyle(canvas);
    const theme = readTheme((name) => style.getPropertyValue(name));
    this.background = css(theme.background);
    this.edge = css(theme.selection);
    context.fillStyle = this.background;
    context.fillRect(0, 0, width, height);
    const all = tile ? strips(subject.lanes) : [];
    const perNs = width / subject.total;
    all.forEach(({ name, lanes }, at) => {
      const y0 = Math.round((at * height) / all.length);
      const high = Math.max(1, Math.round(((at + 1) * height) / all.length) - y0 - 1);
      const merged = mergeColumns(tile!, lanes, TILE_COLUMNS);
      const colour = colourOf(name, theme.shade);
      for (let i = 0; i < merged.count; i += 1) {
        const time = tile!.start + merged.columns[i]! * tile!.columnNs;
        const x0 = Math.round(time * perNs);
        const x1 = Math.max(Math.round((time + tile!.columnNs) * perNs), x0 + 1);
        // How busy by how bright: the strips are too low for heights.
        context.fillStyle = css(mix(theme.background, colour, 0.25 + 0.75 * Math.min(merged.share[i]!, 1)));
        context.fillRect(x0, y0, x1 - x0, high);
      }
    });
    this.shown = "";
    this.show(view);
  }

  /** Draws the window where it is now. */
  show(view: Window): void {
    const { context, canvas } = this;
    if (!context || this.edge === "") return;
    const { width, height } = canvas;
    const scale = window.devicePixelRatio || 1;
    const line = Math.max(1, Math.round(scale));
    const seen = windowIn(this.subject.total, width, view, scale);
    // Deep in a profile a pan moves it by less than a pixel.
    const text = `${seen.x} ${seen.width}`;
    if (text === this.shown) return;
    this.shown = text;
    const end = seen.x + seen.width;
    context.drawImage(this.strips, 0, 0);
    context.fillStyle = this.background;
    context.globalAlpha = VEIL;
    context.fillRect(0, 0, seen.x, height);
    context.fillRect(end, 0, width - end, height);
    context.globalAlpha = 1;
    context.fillStyle = this.edge;
    context.fillRect(seen.x, 0, seen.width, line);
    context.fillRect(seen.x, height - line, seen.width, line);
    context.fillRect(seen.x, 0, line, height);
    context.fillRect(end - line, 0, line, height);
  }
}
