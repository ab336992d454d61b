// The answers that tiles of lanes and series are made from. Asked in a worker where there is one (tile-worker.ts), else
// here: this file knows no page.

import { ApiError, getBytes, query } from "../api/client";
import { getViewport } from "../api/profiles";
import { type SeriesView, getSeries } from "../api/series";
import type { Viewport } from "../api/wire";
import { WireError } from "../api/wire";
import { FEW_EVENTS, type LaneEvents, sparseLanes } from "./tile-data";

const EVENTS = 0x3145564e; // "NVE1"

/** What is asked of a range of `width` columns, ns. */
interface Range {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

export type Ask = Range & ({ readonly lanes: readonly number[] } | { readonly series: readonly string[] });

/** Of lanes first the columns; then the events, where they are few. Of series all at once. */
export type Part = { readonly columns: Viewport } | { readonly events: LaneEvents[] } | { readonly series: SeriesView };

function wide(view: DataView, at: number, count: number): Float64Array {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    out[i] = view.getUint32(at + 8 * i, true) + view.getUint32(at + 8 * i + 4, true) * 4294967296;
  }
  return out;
}

/** Reads an answer of `spans` (HTTP.md). */
export function decodeSpans(bytes: ArrayBuffer): LaneEvents[] {
  const view = new DataView(bytes);
  if (bytes.byteLength < 8) throw new WireError("the answer is shorter than its head");
  if (view.getUint32(0, true) !== EVENTS) throw new WireError("the answer has no events of version 1");
  const out: LaneEvents[] = [];
  let at = 8;
  for (let i = 0; i < view.getUint32(4, true); i += 1) {
    if (at + 8 > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    const [lane, count] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    at += 8;
    if (at + 28 * count > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    const kinds = new Uint32Array(count);
    for (let n = 0; n < count; n += 1) kinds[n] = view.getUint32(at + 24 * count + 4 * n, true);
    out.push({
      lane,
      count,
      rows: wide(view, at, count),
      start: wide(view, at + 8 * count, count),
      end: wide(view, at + 16 * count, count),
      kinds,
    });
    at += 28 * count + (count % 2 === 1 ? 4 : 0);
  }
  return out;
}

/** Profiles whose server has no single events; asked once. */
const withoutSpans = new Set<string>();

export const missing = (error: unknown) => error instanceof ApiError && (error.status === 404 || error.status === 405);

/** Asks the server, and calls `part` for each answer as it comes. */
export async function parts(ask: Ask, signal: AbortSignal, part: (part: Part) => void): Promise<void> {
  const { id, from, to, width } = ask;
  if ("series" in ask) return part({ series: await getSeries(id, ask.series, { from, to, width }, signal) });
  const columns = await getViewport(id, { from, to, width, lanes: ask.lanes }, signal);
  // Before the columns are given away.
  const few = sparseLanes(columns.lanes);
  part({ columns });
  if (few.length === 0 || withoutSpans.has(id)) return;
  try {
    const asked = query({ from, to, limit: FEW_EVENTS, lanes: few });
    part({ events: decodeSpans(await getBytes(`/profiles/${encodeURIComponent(id)}/spans${asked}`, signal)) });
  } catch (error) {
    if (!missing(error)) throw error;
    withoutSpans.add(id);
  }
}
