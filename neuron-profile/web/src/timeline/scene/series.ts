// Rows of series: the band between smallest and largest value of each column, the area below the mean, and the mean
// as a line; stacked series as areas on top of each other. Every row has its own y axis.

import { type Packed, type Shade, css, mix, oklch, pack } from "../colour";
import type { DisplayList } from "../display-list";
import type { Visible } from "../layout";
import type { Row, Series } from "../rows";
import { quantity, valueTicks } from "../ticks";
import { lowerBound, type SeriesTile } from "../tile-data";
import type { Piece } from "../tile-cache";
import { type Frame, inside } from "./frame";

/** Hues of groups, after the pictures: lilac semaphores, mint pending DMA, mauve throughput, rose utilisation. */
const HUES: Readonly<Record<string, number>> = {
  throttling: 245,
  semaphore: 305,
  pending_dma: 165,
  hbm_throughput: 145,
  dma_throughput: 330,
  utilisation: 15,
  active: 95,
};

/** Hues of the parts of a stack, from the bottom. */
const STACK = [20, 150, 310, 70, 255, 110, 200, 350];

export function seriesColour(series: Series, place: number, stacked: boolean, shade: Shade): Packed {
  const hue = stacked ? STACK[place % STACK.length]! : ((HUES[series.group] ?? 220) + place * 47) % 360;
  return pack(shade === "dark" ? oklch(0.8, 0.085, hue) : oklch(0.58, 0.13, hue));
}

/** Whether the series of a row stand on each other rather than behind each other. */
export const isStacked = (row: Row): boolean => row.series.length > 1 && Boolean(row.series[0]!.stack);

/** The next of 1, 2, 5 times a power of ten; shares end at 1. */
function roundUp(value: number, share: boolean): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const up = [1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10;
  return share && value <= 1 ? Math.min(up * power, 1) : up * power;
}

/** The top of the y axis of a row, in the unit of one of its series; of a stack, which shows the mean of its parts, too. */
export function axisTop(row: Row): number {
  const tops = row.series.map((one) => one.max ?? 1);
  const most = isStacked(row) ? tops.reduce((sum, one) => sum + one, 0) / tops.length : Math.max(...tops);
  return roundUp(most, row.series[0]?.unit === "%");
}

/** Unit for `quantity`: the interface says `%` for a fraction. */
export const unitOf = (series: Series): string => (series.unit === "%" ? "share" : series.unit);

/** Calls `each` for the columns of a series that are seen, with their pixels. */
export function eachColumn(
  frame: Frame,
  id: string,
  each: (x0: number, x1: number, min: number, max: number, mean: number) => void,
): void {
  const { from, to } = frame.window;
  const perNs = frame.width / (to - from);
  for (const piece of frame.seriesPieces(id)) eachOfPiece(piece, id, from, to, perNs, each);
}

function eachOfPiece(
  piece: Piece<SeriesTile>,
  id: string,
  from: number,
  to: number,
  perNs: number,
  each: (x0: number, x1: number, min: number, max: number, mean: number) => void,
): void {
  const all = piece.tile.series.get(id);
  if (!all) return;
  const { start, columnNs } = piece.tile;
  const [begin, end] = [Math.max(piece.from, from), Math.min(piece.to, to)];
  let edge = Math.round((begin - from) * perNs);
  const right = Math.round((end - from) * perNs);
  for (let i = lowerBound(all.columns, Math.floor((begin - start) / columnNs), all.count); i < all.count; i += 1) {
    const time = start + all.columns[i]! * columnNs;
    if (time >= end) break;
    const x0 = Math.max(Math.round((time - from) * perNs), edge);
    const x1 = Math.min(Math.round((time + columnNs - from) * perNs), right);
    if (x1 <= x0) continue;
    each(x0, x1, all.min[i]!, all.max[i]!, all.mean[i]!);
    edge = x1;
  }
}

function drawLine(list: DisplayList, frame: Frame, row: Visible, series: Series, colour: Packed, top: number): void {
  const { top: y0, bottom: y1 } = inside(row, frame.scale);
  const height = y1 - y0;
  const y = (value: number) => Math.round(y1 - Math.min(Math.max(value / top, 0), 1) * height);
  const area = mix(frame.theme.background, colour, 0.22);
  const band = mix(frame.theme.background, colour, 0.5);
  const thick = Math.max(1, Math.round(frame.scale));
  let last = Number.NaN;
  eachColumn(frame, series.id, (x0, x1, min, max, mean) => {
    const [low, high, middle] = [y(min), y(max), Math.min(y(mean), y1 - thick)];
    if (row.row.series.length === 1 && middle < y1 - thick) list.run(x0, middle, x1, y1, area);
    if (low - high > thick) list.run(x0, high, x1, low, band);
    // The riser of a step joins the two levels.
    if (!Number.isNaN(last) && Math.abs(last - middle) > thick) {
      list.rect(x0, Math.min(last, middle), x0 + thick, Math.max(last, middle) + thick, colour);
    }
    list.rect(x0, middle, x1, middle + thick, colour);
    last = middle;
  });
}

function drawStack(list: DisplayList, frame: Frame, row: Visible, colours: readonly Packed[], top: number): void {
  const { top: y0, bottom: y1 } = inside(row, frame.scale);
  const height = y1 - y0;
  const base = new Float64Array(frame.width + 1);
  // Of parts of one memory the mean is what is in use.
  const parts = row.row.series.length;
  row.row.series.forEach((series, place) => {
    const colour = mix(frame.theme.background, colours[place]!, 0.8);
    eachColumn(frame, series.id, (x0, x1, _min, _max, mean) => {
      const from = base[x0]!;
      const until = from + mean / parts;
      for (let x = x0; x < x1; x += 1) base[x] = until;
      const low = Math.round(y1 - (from / top) * height);
      const high = Math.round(y1 - Math.min(until / top, 1) * height);
      if (high < low) list.run(x0, high, x1, low, colour);
    });
  });
}

export function rowColours(row: Row, shade: Shade): Packed[] {
  const stacked = isStacked(row);
  return row.series.map((series, place) => seriesColour(series, place, stacked, shade));
}

/** One row of series. */
export function drawSeriesRow(list: DisplayList, frame: Frame, row: Visible): void {
  const colours = rowColours(row.row, frame.theme.shade);
  const top = axisTop(row.row);
  if (isStacked(row.row)) drawStack(list, frame, row, colours, top);
  else row.row.series.forEach((series, place) => drawLine(list, frame, row, series, colours[place]!, top));
  const first = row.row.series[0];
  if (first && row.row.height >= 30) drawScale(list, frame, row, first, top, css(colours[0]!));
}

/** The y axis: the value at the top of the row, small, at its right end. */
function drawScale(list: DisplayList, frame: Frame, row: Visible, series: Series, top: number, colour: string): void {
  const { top: y0, bottom: y1 } = inside(row, frame.scale);
  const values = row.row.height >= 70 ? valueTicks(top).filter((value) => value > 0) : [top];
  const size = 9 * frame.scale;
  for (const value of values) {
    const y = Math.round(y1 - (value / top) * (y1 - y0));
    const label = quantity(value, unitOf(series));
    list.texts.push({
      x: frame.width - 4 * frame.scale,
      y: Math.max(y + size * 0.6, y0 + size * 0.6),
      text: label,
      colour,
      size,
      align: "right",
    });
  }
}
