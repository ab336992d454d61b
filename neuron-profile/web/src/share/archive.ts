// The pieces of a page with a profile inside: gzip in base64, unpacked when
// they are asked for, and columns of tables in them (src/export/page of the
// program writes them).

import type { Value } from "../api/types";

/** First letter and letters of a piece. */
export type Place = [number, number];

/** A column of some rows as it is stored: steps of whole numbers, values, one value for all, or texts by place. */
export type Stored = { d: number[] } | { v: Value[] } | { c: Value } | { t: string[]; k: number[] };

export class Archive {
  private readonly known = new Map<number, Promise<unknown>>();

  constructor(private readonly text: string) {}

  async bytes([at, length]: Place): Promise<ArrayBuffer> {
    const packed = atob(this.text.slice(at, at + length));
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(plain).arrayBuffer();
  }

  async text_of(place: Place): Promise<string> {
    return new TextDecoder().decode(await this.bytes(place));
  }

  /** A piece of JSON; unpacked once. */
  json<T>(place: Place): Promise<T> {
    const known = this.known.get(place[0]);
    if (known) return known as Promise<T>;
    const read = this.text_of(place).then((text) => JSON.parse(text) as T);
    this.known.set(place[0], read);
    return read;
  }
}

/** Whole numbers of a stored column. */
export function numbers(of: Stored, count = 0): Float64Array {
  if ("d" in of) {
    const out = new Float64Array(of.d.length);
    let last = 0;
    for (let i = 0; i < out.length; i += 1) out[i] = last += of.d[i]!;
    return out;
  }
  if ("v" in of) return Float64Array.from(of.v, (value) => (typeof value === "number" ? value : Number.NaN));
  if ("c" in of) return new Float64Array(count).fill(typeof of.c === "number" ? of.c : Number.NaN);
  return new Float64Array(0);
}

/** A column of a piece of a table, unpacked. */
export class Column {
  private readonly steps: Float64Array | null;

  constructor(private readonly of: Stored) {
    this.steps = "d" in of ? numbers(of) : null;
  }

  /** Texts, where it has texts. */
  get texts(): { list: readonly string[]; place: (row: number) => number } | null {
    const { of } = this;
    if ("t" in of) return { list: of.t, place: (row) => of.k[row]! };
    if ("c" in of && typeof of.c === "string") return { list: [of.c], place: () => 0 };
    return null;
  }

  at(row: number): Value {
    if (this.steps) return this.steps[row] ?? null;
    const { of } = this;
    if ("v" in of) return of.v[row] ?? null;
    if ("c" in of) return of.c;
    if ("t" in of) return of.t[of.k[row]!] ?? null;
    return null;
  }
}
