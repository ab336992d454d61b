// Lines over time that are not events: which there are, and their values in
// columns (HTTP.md, "NVS1").

import { ApiError, getBytes, getJson, query } from "./client";
import { WireError } from "./wire";

export interface SeriesInfo {
  id: string;
  name: string;
  group: string;
  core: number | null;
  /** `%` is a fraction from 0 to 1, `B/s`, or empty for a count. */
  unit: string;
  max: number;
  /** Series with the same one are drawn stacked. */
  stack: string | null;
  description: string;
}

/** The columns of a series that have a value. */
export interface SeriesColumns {
  id: string;
  count: number;
  min: Float64Array;
  max: Float64Array;
  mean: Float64Array;
  columns: Uint32Array;
}

export interface SeriesView {
  start: number;
  columnNs: number;
  columns: number;
  series: SeriesColumns[];
}

const at = (id: string) => `/profiles/${encodeURIComponent(id)}/series`;

/** The series of a profile; none where the server does not know of series. */
export async function listSeries(id: string, signal?: AbortSignal | null): Promise<SeriesInfo[]> {
  try {
    return (await getJson<{ series: SeriesInfo[] }>(at(id), signal)).series;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

const MAGIC = 0x3153564e; // "NVS1"

/** Reads an answer of `series/data`; `ids` are those that were asked for. */
export function decodeSeries(bytes: ArrayBuffer, ids: readonly string[]): SeriesView {
  if (bytes.byteLength < 32) throw new WireError("the answer is shorter than its head");
  const view = new DataView(bytes);
  if (view.getUint32(0, true) !== MAGIC) throw new WireError("the answer is not a series of version 1");
  const series: SeriesColumns[] = [];
  let place = 32;
  for (let i = 0; i < view.getUint32(4, true); i++) {
    if (place + 8 > bytes.byteLength) throw new WireError(`series ${i} is cut off`);
    const [which, count] = [view.getUint32(place, true), view.getUint32(place + 4, true)];
    place += 8;
    if (place + 28 * count > bytes.byteLength) throw new WireError(`series ${i} is cut off`);
    const id = ids[which];
    if (id === undefined) throw new WireError(`series ${which} was not asked for`);
    const wide = (n: number) => new Float64Array(bytes, place + 8 * count * n, count);
    const columns = new Uint32Array(bytes, place + 24 * count, count);
    series.push({ id, count, min: wide(0), max: wide(1), mean: wide(2), columns });
    place += 28 * count + (count % 2 === 1 ? 4 : 0);
  }
  return {
    start: Number(view.getBigUint64(16, true)),
    columnNs: Number(view.getBigUint64(24, true)),
    columns: view.getUint32(8, true),
    series,
  };
}

export async function getSeries(
  id: string,
  ids: readonly string[],
  range: { from: number; to: number; width: number },
  signal?: AbortSignal | null,
): Promise<SeriesView> {
  return decodeSeries(await getBytes(`${at(id)}/data${query({ ids, ...range })}`, signal), ids);
}
