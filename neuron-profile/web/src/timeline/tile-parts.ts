// The answers that tiles of lanes and series are made from. Asked in a worker where there is one (tile-worker.ts), else
// here: this file knows no page.

import { getViewport } from "../api/profiles";
import { type SeriesView, getSeries } from "../api/series";
import type { Viewport } from "../api/wire";
import { FEW_EVENTS } from "./tile-data";

/** What is asked of a range of `width` columns, ns. */
interface Range {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

export type Ask = Range & ({ readonly lanes: readonly number[] } | { readonly series: readonly string[] });

/** Of lanes the columns, with the events where they are few. */
export type Part = { readonly lanes: Viewport } | { readonly series: SeriesView };

/** Asks the server. */
export async function part({ id, from, to, width, ...of }: Ask, signal: AbortSignal): Promise<Part> {
  if ("series" in of) return { series: await getSeries(id, of.series, { from, to, width }, signal) };
  return { lanes: await getViewport(id, { from, to, width, lanes: of.lanes, events: FEW_EVENTS }, signal) };
}
