// Text and lines of a display list on a 2D canvas.

import type { DisplayList, LineItem } from "../display-list";

export const MONO = 'ui-monospace, "SF Mono", "DejaVu Sans Mono", "Liberation Mono", monospace';

/** The two sides of the head of an arrow, from its tip. */
export function head(points: readonly number[], length: number): [number, number, number, number, number, number] {
  const [x0, y0, x1, y1] = points.slice(-4) as [number, number, number, number];
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const side = (turn: number) => [x1 - length * Math.cos(angle + turn), y1 - length * Math.sin(angle + turn)] as const;
  return [...side(0.45), x1, y1, ...side(-0.45)];
}

function drawLine(context: CanvasRenderingContext2D, line: LineItem): void {
  context.strokeStyle = line.colour;
  context.lineWidth = line.width;
  context.setLineDash([...(line.dash ?? [])]);
  context.beginPath();
  for (let i = 0; i + 1 < line.points.length; i += 2) {
    if (i === 0) context.moveTo(line.points[0]!, line.points[1]!);
    else context.lineTo(line.points[i]!, line.points[i + 1]!);
  }
  context.stroke();
  if (!line.arrow) return;
  const [a, b, x, y, c, d] = head(line.points, 5 * line.width);
  context.fillStyle = line.colour;
  context.beginPath();
  context.moveTo(a, b);
  context.lineTo(x, y);
  context.lineTo(c, d);
  context.fill();
}

export function drawOverlay(context: CanvasRenderingContext2D, list: DisplayList): void {
  for (const line of list.lines) drawLine(context, line);
  context.textBaseline = "middle";
  let font = "";
  for (const { x, y, text, colour, size, align, bold } of list.texts) {
    const wanted = `${bold ? "bold " : ""}${size}px ${MONO}`;
    // Setting a font parses it, even if it is the same.
    if (wanted !== font) context.font = font = wanted;
    context.fillStyle = colour;
    context.textAlign = align;
    context.fillText(text, x, y);
  }
}
