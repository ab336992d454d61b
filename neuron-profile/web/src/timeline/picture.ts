// What is seen as a picture: PNG and SVG from the display lists of the screen, with the row labels and the axis.

import { css, pack, parse } from "./colour";
import { DisplayList } from "./display-list";
import { drawOverlay } from "./render/overlay";
import { type Part, svg } from "./render/svg";
import { fill } from "./render/raster";
import { AXIS_HEIGHT } from "./scene/axis";
import type { Frame } from "./scene/frame";
import type { Stage } from "./stage";

/** CSS pixels of the row labels. */
export const GUTTER = 132;

/** Letters that fit beside a row. */
const LETTERS = 20;

/** The labels of the rows, as the gutter shows them. */
export function labelList(frame: Frame): DisplayList {
  const list = new DisplayList(64);
  const width = GUTTER * frame.scale;
  list.section({ x: 0, y: 0, width, height: frame.height });
  for (const { row, top, pinned } of frame.rows) {
    const y = (top + row.height / 2) * frame.scale;
    if (y < 0 || y > frame.height || (!pinned && top + row.height / 2 < frame.layout.pinnedHeight)) continue;
    const text = row.label.length > LETTERS ? `${row.label.slice(0, LETTERS - 1)}…` : row.label;
    list.texts.push({ x: width - 8 * frame.scale, y, text, colour: frame.theme.label, size: 10 * frame.scale, align: "right" });
  }
  return list;
}

interface Picture {
  readonly parts: readonly Part[];
  readonly width: number;
  readonly height: number;
  readonly frame: Frame;
}

function pictureOf(stage: Stage): Picture | null {
  const { frame } = stage;
  if (!frame) return null;
  const gutter = Math.round(GUTTER * frame.scale);
  return {
    parts: [
      { list: labelList(frame), x: 0, y: 0 },
      { list: stage.list, x: gutter, y: 0 },
      { list: stage.axis, x: gutter, y: frame.height },
    ],
    width: gutter + frame.width,
    height: frame.height + Math.round(AXIS_HEIGHT * frame.scale),
    frame,
  };
}

export function svgOf(stage: Stage, title: string): Blob | null {
  const picture = pictureOf(stage);
  if (!picture) return null;
  const text = svg(picture.parts, picture.width, picture.height, picture.frame.theme.background, title);
  return new Blob([text], { type: "image/svg+xml" });
}

export async function pngOf(stage: Stage): Promise<Blob | null> {
  const picture = pictureOf(stage);
  if (!picture) return null;
  const canvas = document.createElement("canvas");
  canvas.width = picture.width;
  canvas.height = picture.height;
  const context = canvas.getContext("2d", { alpha: false });
  if (!context) return null;
  context.fillStyle = css(picture.frame.theme.background);
  context.fillRect(0, 0, canvas.width, canvas.height);
  const background = pack(parse(css(picture.frame.theme.background)));
  for (const { list, x, y } of picture.parts) {
    const width = Math.max(...list.sections.map(({ clip }) => clip.x + clip.width), 1);
    const height = Math.max(...list.sections.map(({ clip }) => clip.y + clip.height), 1);
    if (list.count > 0) {
      const image = context.createImageData(width, height);
      fill({ width, height, words: new Uint32Array(image.data.buffer) }, list, background);
      context.putImageData(image, x, y);
    }
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.translate(x, y);
    drawOverlay(context, list);
    context.restore();
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Offers a file for download. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has to have begun reading it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
