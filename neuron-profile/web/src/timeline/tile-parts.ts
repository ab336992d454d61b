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

/** A part, and the milliseconds from its question until it was there, decoded. */
export interface Timed {
  readonly part: Part;
  readonly took: number;
}

/** Asks the server, and measures. */
export async function part(ask: Ask, signal: AbortSignal): Promise<Timed> {
  const begun = performance.now();
  const asked = await answer(ask, signal);
  return { part: asked, took: performance.now() - begun };
}

async function answer({ id, from, to, width, ...of }: Ask, signal: AbortSignal): Promise<Part> {
  if ("series" in of) return { series: await getSeries(id, of.series, { from, to, width }, signal) };
  return { lanes: await getViewport(id, { from, to, width, lanes: of.lanes, events: FEW_EVENTS }, signal) };
}
