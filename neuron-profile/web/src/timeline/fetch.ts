// Tiles from the server: columns first, then, of lanes with few events in them, the events themselves.

import { ApiError, getBytes, getJson, query } from "../api/client";
import { getRows, getViewport } from "../api/profiles";
import { getSeries } from "../api/series";
import { WireError } from "../api/wire";
import {
  FEW_EVENTS,
  type Fault,
  type LaneEvents,
  type LaneTile,
  type LayerTile,
  type MatchTile,
  type SeriesTile,
  laneTile,
  sparseLanes,
} from "./tile-data";
import { TILE_COLUMNS, type TileKey, columnNs, tileEnd, tileStart } from "./tile-key";

const EVENTS = 0x3145564e; // "NVE1"
const MATCHES = 0x314d564e; // "NVM1"

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

/** Reads an answer of `matches` (HTTP.md): columns with a match, by lane. */
export function decodeMatches(bytes: ArrayBuffer): Map<number, Uint32Array> {
  const view = new DataView(bytes);
  if (bytes.byteLength < 32) throw new WireError("the answer is shorter than its head");
  if (view.getUint32(0, true) !== MATCHES) throw new WireError("the answer has no matches of version 1");
  const out = new Map<number, Uint32Array>();
  let at = 32;
  for (let i = 0; i < view.getUint32(4, true); i += 1) {
    if (at + 8 > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    const [lane, count] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    at += 8;
    if (at + 8 * count > bytes.byteLength) throw new WireError(`lane ${i} is cut off`);
    out.set(lane, new Uint32Array(bytes.slice(at, at + 4 * count)));
    at += 8 * count;
  }
  return out;
}

const path = (id: string, what: string) => `/profiles/${encodeURIComponent(id)}/${what}`;

/** Profiles whose server has no single events; asked once. */
const withoutSpans = new Set<string>();

const missing = (error: unknown) => error instanceof ApiError && (error.status === 404 || error.status === 405);

export async function loadLanes(
  id: string,
  lanes: readonly number[],
  key: TileKey,
  signal: AbortSignal,
  put: (tile: LaneTile) => void,
): Promise<void> {
  const range = { from: tileStart(key), to: tileEnd(key) };
  const view = await getViewport(id, { ...range, width: TILE_COLUMNS, lanes }, signal);
  put(laneTile(view.start, view.columnNs, view.lanes));
  const few = sparseLanes(view.lanes);
  if (few.length === 0 || withoutSpans.has(id)) return;
  try {
    const asked = query({ ...range, limit: FEW_EVENTS, lanes: few });
    const events = decodeSpans(await getBytes(`${path(id, "spans")}${asked}`, signal));
    put(laneTile(view.start, view.columnNs, view.lanes, events));
  } catch (error) {
    if (!missing(error)) throw error;
    withoutSpans.add(id);
  }
}

export async function loadSeries(
  id: string,
  ids: readonly string[],
  key: TileKey,
  signal: AbortSignal,
): Promise<SeriesTile> {
  const range = { from: tileStart(key), to: tileEnd(key), width: TILE_COLUMNS };
  const view = await getSeries(id, ids, range, signal);
  const bytes = view.series.reduce((sum, one) => sum + 200 + 28 * one.count, 400);
  return { bytes, start: view.start, columnNs: view.columnNs, series: new Map(view.series.map((one) => [one.id, one])) };
}

/** A search: a table whose rows are events of lanes, and what is asked of them. */
export interface Search {
  readonly table: string;
  readonly query: string;
}

export async function loadMatches(
  id: string,
  search: Search,
  key: TileKey,
  signal: AbortSignal,
): Promise<MatchTile> {
  const asked = query({ q: search.query, tables: search.table, from: tileStart(key), to: tileEnd(key), width: TILE_COLUMNS });
  const lanes = decodeMatches(await getBytes(`${path(id, "matches")}${asked}`, signal));
  let bytes = 400;
  for (const columns of lanes.values()) bytes += 100 + columns.byteLength;
  return { bytes, start: tileStart(key), columnNs: columnNs(key.level), lanes };
}

interface Layers {
  rows: { core: number; depth: number; bars: { name: string; path: string; from: number; to: number; busy_ns: number }[] }[];
}

export async function loadLayers(id: string, key: TileKey, signal: AbortSignal): Promise<LayerTile> {
  const asked = query({ from: tileStart(key), to: tileEnd(key), width: TILE_COLUMNS });
  const { rows } = await getJson<Layers>(`${path(id, "layers")}${asked}`, signal);
  let bytes = 400;
  const all = rows.map(({ core, depth, bars }) => {
    bytes += 100 + 300 * bars.length;
    return { core, depth, bars: bars.map(({ busy_ns, ...bar }) => ({ ...bar, busy: busy_ns })) };
  });
  return { bytes, rows: all };
}

/** Faults at most: a thousand are a red line. */
const FAULTS = 2000;

/** What the hardware told of faults; none where the profile has no such table. */
export async function loadFaults(id: string, signal: AbortSignal): Promise<Fault[]> {
  try {
    const { rows } = await getRows(id, "Error", 0, FAULTS, signal);
    return rows.flatMap((row) => {
      const text = [row.type, row.description, row.metadata].filter((one) => typeof one === "string" && one !== "");
      return typeof row.timestamp === "number" ? [{ time: row.timestamp, text: text.join(": "), loss: row.type === "Warnings" }] : [];
    });
  } catch (error) {
    if (missing(error)) return [];
    throw error;
  }
}
