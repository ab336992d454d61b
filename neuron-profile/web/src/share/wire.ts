// Binary answers as the server writes them (HTTP.md): little-endian, every
// number at a multiple of its size.

import type { Columns, LaneColumns } from "./columns";

class Writer {
  private readonly view: DataView;
  private at = 0;

  constructor(size: number) {
    this.view = new DataView(new ArrayBuffer(size));
  }

  u32(value: number) {
    this.view.setUint32(this.at, value >>> 0, true);
    this.at += 4;
  }

  u64(value: number) {
    this.u32(value % 4294967296);
    this.u32(Math.floor(value / 4294967296));
  }

  f64(value: number) {
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** Four bytes after an odd number of them. */
  even(count: number) {
    if (count % 2 === 1) this.u32(0);
  }

  get bytes(): ArrayBuffer {
    return this.view.buffer as ArrayBuffer;
  }
}

const MAGIC = { tiles: 0x3154564e, spans: 0x3145564e, series: 0x3153564e, matches: 0x314d564e };

function head(out: Writer, magic: number, parts: number, { start, ns, count }: Columns) {
  out.u32(magic);
  out.u32(parts);
  out.u32(count);
  out.u32(0);
  out.u64(start);
  out.u64(ns);
}

const padded = (count: number, each: number) => 8 + each * count + (count % 2) * 4;

export function viewportBytes(columns: Columns, lanes: readonly (readonly [number, LaneColumns])[]): ArrayBuffer {
  const out = new Writer(32 + lanes.reduce((sum, [, lane]) => sum + padded(lane.at.length, 28), 0));
  head(out, MAGIC.tiles, lanes.length, columns);
  for (const [number, lane] of lanes) {
    out.u32(number);
    out.u32(lane.at.length);
    for (const row of lane.row) out.u64(row);
    for (const busy of lane.busy) out.u64(busy);
    for (const at of lane.at) out.u32(at);
    for (const count of lane.count) out.u32(count);
    for (const kind of lane.kind) out.u32(kind);
    out.even(lane.at.length);
  }
  return out.bytes;
}

export interface Span {
  row: number;
  start: number;
  end: number;
  kind: number;
}

export function spansBytes(lanes: readonly (readonly [number, readonly Span[]])[]): ArrayBuffer {
  const out = new Writer(8 + lanes.reduce((sum, [, spans]) => sum + padded(spans.length, 28), 0));
  out.u32(MAGIC.spans);
  out.u32(lanes.length);
  for (const [number, spans] of lanes) {
    out.u32(number);
    out.u32(spans.length);
    for (const span of spans) out.u64(span.row);
    for (const span of spans) out.u64(span.start);
    for (const span of spans) out.u64(span.end);
    for (const span of spans) out.u32(span.kind);
    out.even(spans.length);
  }
  return out.bytes;
}

export interface SeriesColumn {
  at: number;
  min: number;
  max: number;
  mean: number;
}

export function seriesBytes(columns: Columns, all: readonly (readonly SeriesColumn[])[]): ArrayBuffer {
  const out = new Writer(32 + all.reduce((sum, one) => sum + padded(one.length, 28), 0));
  head(out, MAGIC.series, all.length, columns);
  all.forEach((one, place) => {
    out.u32(place);
    out.u32(one.length);
    for (const column of one) out.f64(column.min);
    for (const column of one) out.f64(column.max);
    for (const column of one) out.f64(column.mean);
    for (const column of one) out.u32(column.at);
    out.even(one.length);
  });
  return out.bytes;
}

export function matchesBytes(columns: Columns, lanes: readonly (readonly [number, ReadonlyMap<number, number>])[]): ArrayBuffer {
  const out = new Writer(32 + lanes.reduce((sum, [, found]) => sum + 8 + 8 * found.size, 0));
  head(out, MAGIC.matches, lanes.length, columns);
  for (const [number, found] of lanes) {
    const places = [...found.keys()].sort((a, b) => a - b);
    out.u32(number);
    out.u32(places.length);
    for (const at of places) out.u32(at);
    for (const at of places) out.u32(found.get(at)!);
  }
  return out.bytes;
}
