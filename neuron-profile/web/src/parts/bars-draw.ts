// Draws rows of bars on a canvas.

import type { Bar, BarRow } from "./bars";

export interface Scene {
  rows: readonly BarRow[];
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

export function drawBars(canvas: HTMLCanvasElement, scene: Scene) {
  const { rows, from, to, gutter, height, width, total, marks, drag } = scene;
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
    const top = i * height;
    if (i % 2 === 1) {
      context.fillStyle = colour("--tl-row-alt");
      context.globalAlpha = 0.6;
      context.fillRect(0, top, width, height);
      context.globalAlpha = 1;
    }
    context.fillStyle = colour("--tl-label");
    context.textAlign = "right";
    context.fillText(fitted(context, row.label, gutter - 12), gutter - 8, top + height / 2);
  });

  context.save();
  context.beginPath();
  context.rect(gutter, 0, plot, foot);
  context.clip();
  context.textAlign = "left";
  rows.forEach((row, i) => {
    const top = i * height + 2;
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
