// What is to be drawn, once for all who draw: WebGL, the raster of the fallback, the PNG and the SVG. Device pixels,
// y downwards. Rectangles are words in one buffer that goes to the card as it is.

import type { Packed } from "./colour";

export interface Clip {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Rectangles that are drawn with one clip. Only `blend` looks at alpha. */
export interface Section {
  readonly clip: Clip;
  readonly blend: boolean;
  readonly first: number;
  count: number;
}

export interface TextItem {
  readonly x: number;
  /** y of the middle. */
  readonly y: number;
  readonly text: string;
  readonly colour: string;
  /** Pixels. */
  readonly size: number;
  readonly align: "left" | "center" | "right";
  readonly bold?: boolean;
}

/** A line through points (x, y, x, y, ...), with a head at its end where `arrow`. */
export interface LineItem {
  readonly points: readonly number[];
  readonly colour: string;
  readonly width: number;
  readonly arrow?: boolean;
  readonly dash?: readonly number[];
}

/** Words of a rectangle: x0, y0, x1, y1 as floats, colour. */
export const STRIDE = 5;

export class DisplayList {
  floats: Float32Array;
  words: Uint32Array;
  count = 0;
  readonly sections: Section[] = [];
  readonly texts: TextItem[] = [];
  readonly lines: LineItem[] = [];

  constructor(room = 4096) {
    const buffer = new ArrayBuffer(room * STRIDE * 4);
    this.floats = new Float32Array(buffer);
    this.words = new Uint32Array(buffer);
  }

  /** Empties it; the memory is used again. */
  clear(): void {
    this.count = 0;
    this.sections.length = 0;
    this.texts.length = 0;
    this.lines.length = 0;
  }

  /** Rectangles that follow are drawn in this clip. */
  section(clip: Clip, blend = false): void {
    const last = this.sections[this.sections.length - 1];
    if (last && last.count === 0) this.sections.pop();
    this.sections.push({ clip, blend, first: this.count, count: 0 });
  }

  rect(x0: number, y0: number, x1: number, y1: number, colour: Packed): void {
    if (this.count * STRIDE === this.words.length) this.grow();
    const at = this.count * STRIDE;
    this.floats[at] = x0;
    this.floats[at + 1] = y0;
    this.floats[at + 2] = x1;
    this.floats[at + 3] = y1;
    this.words[at + 4] = colour;
    this.count += 1;
    const section = this.sections[this.sections.length - 1];
    if (section) section.count += 1;
  }

  /** As `rect`, but makes the last one longer where this one continues it: fewer to draw. */
  run(x0: number, y0: number, x1: number, y1: number, colour: Packed): void {
    const at = (this.count - 1) * STRIDE;
    const section = this.sections[this.sections.length - 1];
    if (
      section &&
      section.count > 0 &&
      this.words[at + 4] === colour &&
      this.floats[at + 2]! >= x0 &&
      this.floats[at]! <= x0 &&
      this.floats[at + 1] === y0 &&
      this.floats[at + 3] === y1
    ) {
      if (x1 > this.floats[at + 2]!) this.floats[at + 2] = x1;
    } else this.rect(x0, y0, x1, y1, colour);
  }

  /** Rectangles as numbers, for tests and for those who draw one by one. */
  *rects(section?: Section): Generator<{ x0: number; y0: number; x1: number; y1: number; colour: Packed }> {
    const first = section?.first ?? 0;
    const count = section?.count ?? this.count;
    for (let i = first; i < first + count; i += 1) {
      const at = i * STRIDE;
      yield {
        x0: this.floats[at]!,
        y0: this.floats[at + 1]!,
        x1: this.floats[at + 2]!,
        y1: this.floats[at + 3]!,
        colour: this.words[at + 4]!,
      };
    }
  }

  private grow(): void {
    const buffer = new ArrayBuffer(this.words.byteLength * 2);
    const words = new Uint32Array(buffer);
    words.set(this.words);
    this.words = words;
    this.floats = new Float32Array(buffer);
  }
}
