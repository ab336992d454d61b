// Tiles from the server: columns, and of lanes with few events in them the events themselves.

import { ApiError, getBytes, getJson, query } from "../api/client";
import { getRows } from "../api/profiles";
import { WireError } from "../api/wire";
import { askPart } from "./tile-asker";
import { type Fault, type LaneTile, type LayerTile, type MatchTile, type SeriesTile, laneTile } from "./tile-data";
import { TILE_COLUMNS, type TileKey, columnNs, tileEnd, tileStart } from "./tile-key";

const MATCHES = 0x314d564e; // "NVM1"

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

const rangeOf = (key: TileKey) => ({ from: tileStart(key), to: tileEnd(key), width: TILE_COLUMNS });

const path = (id: string, what: string) => `/profiles/${encodeURIComponent(id)}/${what}`;

export async function loadLanes(
  id: string,
  lanes: readonly number[],
  key: TileKey,
  signal: AbortSignal,
  put: (tile: LaneTile) => void,
): Promise<void> {
  const part = await askPart({ id, ...rangeOf(key), lanes }, signal);
  if ("lanes" in part) put(laneTile(part.lanes.start, part.lanes.columnNs, part.lanes.lanes, part.lanes.events));
}

export async function loadSeries(
  id: string,
  ids: readonly string[],
  key: TileKey,
  signal: AbortSignal,
  put: (tile: SeriesTile) => void,
): Promise<void> {
  const part = await askPart({ id, ...rangeOf(key), series: ids }, signal);
  if (!("series" in part)) return;
  const { start, columnNs, series } = part.series;
  const bytes = series.reduce((sum, one) => sum + 200 + 28 * one.count, 400);
  put({ bytes, start, columnNs, series: new Map(series.map((one) => [one.id, one])) });
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

const missing = (error: unknown) => error instanceof ApiError && (error.status === 404 || error.status === 405);

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
