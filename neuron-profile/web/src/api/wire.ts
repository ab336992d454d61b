// The binary answer of `viewport` (HTTP.md, "NVT1"): typed arrays over the
// answer itself, nothing is copied but the two of 64 bits.

/** The columns of a lane that have events. Arrays have the same length. */
export interface LaneColumns {
  lane: number;
  count: number;
  /** Row of the first event that begins in the column; the event where `events` is 1. */
  rows: Float64Array;
  busy: Float64Array;
  columns: Uint32Array;
  events: Uint32Array;
  /** Place in the profile's names. */
  names: Uint32Array;
}

export interface Viewport {
  start: number;
  columnNs: number;
  columns: number;
  lanes: LaneColumns[];
}

export class WireError extends Error {}

const MAGIC = 0x3154564e; // "NVT1"

/** 64-bit numbers as doubles: exact below 2^53, which is 104 days of nanoseconds. */
function wide(bytes: ArrayBuffer, at: number, count: number): Float64Array {
  const words = new Uint32Array(bytes, at, 2 * count);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = words[2 * i]! + words[2 * i + 1]! * 4294967296;
  return out;
}

/** Reads an answer of `viewport`. Throws a WireError where it is not whole. */
export function decodeViewport(bytes: ArrayBuffer): Viewport {
  if (bytes.byteLength < 32) throw new WireError("the answer is shorter than its head");
  const head = new Uint32Array(bytes, 0, 4);
  if (head[0] !== MAGIC) throw new WireError("the answer is not a timeline of version 1");
  const times = wide(bytes, 16, 2);
  const lanes: LaneColumns[] = [];
  let at = 32;
  for (let i = 0; i < head[1]!; i++) {
    if (at + 8 > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    const [lane, count] = new Uint32Array(bytes, at, 2) as unknown as [number, number];
    at += 8;
    if (at + 28 * count > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    const words = (offset: number) => new Uint32Array(bytes, at + offset * count, count);
    lanes.push({
      lane,
      count,
      rows: wide(bytes, at, count),
      busy: wide(bytes, at + 8 * count, count),
      columns: words(16),
      events: words(20),
      names: words(24),
    });
    at += 28 * count + (count % 2 === 1 ? 4 : 0);
  }
  return { start: times[0]!, columnNs: times[1]!, columns: head[2]!, lanes };
}
