// Rectangles without a graphics card: written into the pixels of an image, which a 2D canvas shows. All of them are
// whole pixels and opaque, so that this is filling memory, and faster than a card that is emulated.

import type { Packed } from "../colour";
import { type DisplayList, STRIDE } from "../display-list";
import type { Renderer } from "./renderer";

/** Pixels as words, row by row. */
export interface Image {
  readonly width: number;
  readonly height: number;
  readonly words: Uint32Array;
}

function blendRun(words: Uint32Array, from: number, to: number, colour: Packed): void {
  const alpha = colour >>> 24;
  const keep = 255 - alpha;
  const red = (colour & 255) * alpha;
  const green = ((colour >>> 8) & 255) * alpha;
  const blue = ((colour >>> 16) & 255) * alpha;
  for (let i = from; i < to; i += 1) {
    const old = words[i]!;
    const r = ((old & 255) * keep + red) / 255;
    const g = (((old >>> 8) & 255) * keep + green) / 255;
    const b = (((old >>> 16) & 255) * keep + blue) / 255;
    words[i] = 0xff000000 | (b << 16) | (g << 8) | r;
  }
}

/** Draws a list into an image. */
export function fill(image: Image, list: DisplayList, background: Packed): void {
  const { width, height, words } = image;
  words.fill(background);
  const { floats } = list;
  const colours = list.words;
  for (const { clip, blend, first, count } of list.sections) {
    const left = Math.max(clip.x, 0);
    const right = Math.min(clip.x + clip.width, width);
    const top = Math.max(clip.y, 0);
    const bottom = Math.min(clip.y + clip.height, height);
    for (let i = first; i < first + count; i += 1) {
      const at = i * STRIDE;
      const x0 = Math.max(floats[at]!, left) | 0;
      const x1 = Math.min(floats[at + 2]!, right) | 0;
      const y0 = Math.max(floats[at + 1]!, top) | 0;
      const y1 = Math.min(floats[at + 3]!, bottom) | 0;
      if (x1 <= x0 || y1 <= y0) continue;
      const colour = colours[at + 4]!;
      const end = y1 * width;
      if (blend) {
        for (let line = y0 * width; line < end; line += width) blendRun(words, line + x0, line + x1, colour);
      } else if (x1 - x0 < 16) {
        // Most are a few pixels wide: a loop is faster than a call for each line.
        for (let line = y0 * width; line < end; line += width) {
          for (let x = line + x0; x < line + x1; x += 1) words[x] = colour;
        }
      } else {
        for (let line = y0 * width; line < end; line += width) words.fill(colour, line + x0, line + x1);
      }
    }
  }
}

/** Null where the browser gives no 2D context. */
export function raster(canvas: HTMLCanvasElement): Renderer | null {
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  if (!context) return null;
  let data = context.createImageData(1, 1);
  let words = new Uint32Array(data.data.buffer);
  return {
    kind: "raster",
    device: "2D canvas",
    over: context,
    resize(width, height) {
      if (canvas.width === width && canvas.height === height) return;
      canvas.width = width;
      canvas.height = height;
      data = context.createImageData(width, height);
      words = new Uint32Array(data.data.buffer);
    },
    draw(list, background) {
      fill({ width: data.width, height: data.height, words }, list, background);
      context.putImageData(data, 0, 0);
    },
    dispose() {},
  };
}
