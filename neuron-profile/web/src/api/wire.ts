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

/** Events of a lane that are under way in a range, in the order of the table. Arrays have the same length. */
export interface LaneEvents {
  readonly lane: number;
  readonly count: number;
  readonly rows: Float64Array;
  /** ns; an event may begin before the range and end after it. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly kinds: Uint32Array;
}

export interface Viewport {
  start: number;
  columnNs: number;
  columns: number;
  lanes: LaneColumns[];
  /** Of lanes that have no more than was asked for; none where nothing was. */
  events: LaneEvents[];
}

export class WireError extends Error {}

const MAGIC = 0x3154564e; // "NVT1"
const EVENTS = 0x3145564e; // "NVE1"

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
  const events = at < bytes.byteLength ? decodeSpans(bytes, at) : [];
  return { start: times[0]!, columnNs: times[1]!, columns: head[2]!, lanes, events };
}

/** Reads events one by one, an answer of `spans` or what is behind a viewport (HTTP.md, "NVE1"). */
export function decodeSpans(bytes: ArrayBuffer, begin = 0): LaneEvents[] {
  let at = begin + 8;
  if (bytes.byteLength < at) throw new WireError("the answer is shorter than its head");
  const head = new Uint32Array(bytes, begin, 2);
  if (head[0] !== EVENTS) throw new WireError("the answer has no events of version 1");
  const out: LaneEvents[] = [];
  for (let i = 0; i < head[1]!; i++) {
    if (at + 8 > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    const [lane, count] = new Uint32Array(bytes, at, 2) as unknown as [number, number];
    at += 8;
    if (at + 28 * count > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    out.push({
      lane,
      count,
      rows: wide(bytes, at, count),
      start: wide(bytes, at + 8 * count, count),
      end: wide(bytes, at + 16 * count, count),
      kinds: new Uint32Array(bytes, at + 24 * count, count),
    });
    at += 28 * count + (count % 2 === 1 ? 4 : 0);
  }
  return out;
}
