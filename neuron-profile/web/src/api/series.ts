// Lines over time that are not events: which there are, and their values in
// columns.

import { ApiError, getJson } from "./client";

export interface SeriesInfo {
  id: string;
  name: string;
  unit: string;
  /** The largest value, or null where it is not known. */
  max: number | null;
  group: string;
  description: string;
}

/** The series of a profile; none where the server does not know of series. */
export async function listSeries(id: string, signal?: AbortSignal | null): Promise<SeriesInfo[]> {
  try {
    const path = `/profiles/${encodeURIComponent(id)}/series`;
    return (await getJson<{ series: SeriesInfo[] }>(path, signal)).series;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}
