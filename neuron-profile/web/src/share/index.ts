// The index of a page with a profile inside.

import type { Shared } from "../state/shared";
import type { Place } from "./archive";

export interface StoredTable {
  /** Rows of the profile's table, and of those that are here. */
  rows: number;
  here: number;
  /** Rows of a piece. */
  piece: number;
  /** Which rows are here; all where null. */
  places: Place | null;
  /** Columns of each piece; one that is not there is null in all rows. */
  pieces: Record<string, Place>[];
}

export interface StoredLane {
  core: number;
  name: string;
  kind: "engine" | "dma" | "system";
  count: number;
  events: Place;
}

export type Measure = "active" | "depth" | { flops: { peak: number; useful: boolean } };

export interface StoredSeries {
  id: string;
  core: number | null;
  source: { table: { table: string; value: string; by: string | null; id: string | null } } | { lanes: { lanes: number[]; measure: Measure } };
  /** The one whose mean from the start on it shows. */
  mean_of: number | null;
  /** When the first value begins, ns. */
  first: number;
  /** Integrals to the begin of the window and of the whole, value times ns, where the window is not the whole. */
  before?: number;
  all?: number;
}

export interface Index extends Shared {
  version: number;
  total_ns: number;
  lanes: StoredLane[];
  tables: Record<string, StoredTable>;
  overview: { column_ns: number; viewport: Place; series: Place; sums: Place } | null;
  recorded: Record<string, Place>;
  series: StoredSeries[];
  kinds: Place;
}
