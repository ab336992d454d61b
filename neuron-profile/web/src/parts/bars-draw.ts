// Draws rows of bars on a canvas.

import type { Bar, BarRow } from "./bars";

export interface Scene {
  rows: readonly BarRow[];
  /** Tops of the rows, and the bottom of the last. */
  tops: readonly number[];
  from: number;
  to: number;
  gutter: number;
  height: number;
  width: number;
  total: number;
  marks: readonly number[];
  axis: (value: number) => string;
  hover: Bar | null;
  held: Bar | null;
  drag: { start: number; now: number } | null;
}

/** A text that fits in so many px, with an ellipsis; empty where nothing does. */
function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 18) return "";
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? `${text.slice(0, low)}…` : "";
}

/** Steps from 0 to the most: the first line filled, the others alone. */
function drawLines(context: CanvasRenderingContext2D, lines: NonNullable<BarRow["lines"]>, top: number, bottom: number, x: (value: number) => number, from: number, to: number) {
  lines.of.forEach((line, place) => {
    const y = (value: number) => bottom - (Math.min(Math.max(value / Math.max(lines.max, Number.MIN_VALUE), 0), 1) * (bottom - top));
    let first = line.times.findIndex((time) => time > from);
    first = Math.max(0, (first < 0 ? line.times.length : first) - 1);
    if (line.times[first] === undefined) return;
    context.beginPath();
    const begin = x(Math.max(from, line.times[first]!));
    context.moveTo(begin, y(line.values[first]!));
    let last = y(line.values[first]!);
    for (let i = first + 1; i < line.times.length && line.times[i]! <= to; i += 1) {
      const at = x(line.times[i]!);
      context.lineTo(at, last);
      last = y(line.values[i]!);
      context.lineTo(at, last);
    }
    context.lineTo(x(to), last);
    context.strokeStyle = line.colour;
    context.lineWidth = 1.2;
    context.stroke();
    if (place > 0) return;
    context.lineTo(x(to), bottom);
    context.lineTo(begin, bottom);
    context.closePath();
    context.globalAlpha = 0.25;
    context.fillStyle = line.colour;
    context.fill();
    context.globalAlpha = 1;
  });
}

export function drawBars(canvas: HTMLCanvasElement, scene: Scene) {
  const { rows, tops, from, to, gutter, height, width, total, marks, drag } = scene;
  const scale = window.devicePixelRatio || 1;
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(total * scale);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  context.fillStyle = colour("--tl-bg");
  context.fillRect(0, 0, width, total);
  const plot = width - gutter;
  const x = (value: number) => gutter + ((value - from) / (to - from)) * plot;
  const foot = total - 22;

  context.strokeStyle = colour("--tl-grid");
  context.lineWidth = 1;
  context.beginPath();
  for (const mark of marks) {
    const at = Math.round(x(mark)) + 0.5;
    context.moveTo(at, 0);
    context.lineTo(at, foot);
  }
  context.moveTo(gutter, foot + 0.5);
  context.lineTo(width, foot + 0.5);
  context.stroke();

  context.font = `11px ${colour("--mono")}`;
  context.textBaseline = "middle";
  rows.forEach((row, i) => {
    const top = tops[i]!;
    const high = tops[i + 1]! - top;
    if (i % 2 === 1) {
      context.fillStyle = colour("--tl-row-alt");
      context.globalAlpha = 0.6;
      context.fillRect(0, top, width, high);
      context.globalAlpha = 1;
    }
    context.fillStyle = colour("--tl-label");
    context.textAlign = "right";
    context.fillText(fitted(context, row.label, gutter - 12), gutter - 8, top + height / 2);
    if (!row.lines) return;
    context.fillStyle = colour("--dim");
    context.fillText(fitted(context, row.lines.show(row.lines.max), gutter - 12), gutter - 8, top + (height * 3) / 2);
  });

  context.save();
  context.beginPath();
  context.rect(gutter, 0, plot, foot);
  context.clip();
  context.textAlign = "left";
  rows.forEach((row, i) => {
    const top = tops[i]! + 2;
    if (row.lines) drawLines(context, row.lines, top, tops[i + 1]! - 3, x, from, to);
    for (const bar of row.bars) {
      if (bar.to < from || bar.from > to) continue;
      const left = Math.max(gutter - 2, x(bar.from));
      const right = Math.min(width + 2, x(bar.to));
      const wide = Math.max(1, right - left);
      context.fillStyle = bar.colour;
      context.fillRect(left, top, wide > 3 ? wide - 1 : wide, height - 4);
      if (bar === scene.hover || bar === scene.held || bar.marked) {
        context.strokeStyle = bar.marked ? colour("--tl-hit") : colour("--text");
        context.lineWidth = 2;
        context.strokeRect(left + 1, top + 1, Math.max(2, wide - 2), height - 6);
      }
      if (wide > 24) {
        context.fillStyle = colour("--tl-text");
        context.fillText(fitted(context, bar.name, wide - 10), left + 5, top + (height - 4) / 2);
      }
    }
  });
  if (drag) {
    context.fillStyle = colour("--tl-selection");
    context.globalAlpha = 0.25;
    context.fillRect(Math.min(drag.start, drag.now), 0, Math.abs(drag.now - drag.start), foot);
    context.globalAlpha = 1;
  }
  context.restore();

  context.fillStyle = colour("--tl-axis");
  context.textAlign = "center";
  for (const mark of marks) {
    const text = scene.axis(mark);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(x(mark), gutter + half), width - half - 2), foot + 12);
  }
}
