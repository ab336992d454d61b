// The rows of the timeline: which there are, in the order of the guide (profiler.md 3.3, top to bottom), with a
// person's order, hiding, pinning, grouping and heights laid over it. Pure.

import type { SeriesInfo } from "../api/series";
import type { Lane } from "../api/types";
import { isDrawn, traceRows } from "./trace-rows";

/** What of the settings rows depend on. */
export interface RowSettings {
  readonly hiddenRows: readonly string[];
  readonly pinnedRows: readonly string[];
  readonly rowOrder: readonly string[];
  readonly rowHeights: Readonly<Record<string, number>>;
  readonly groupBy: "kind" | "core" | "none";
  readonly expandedDma: boolean;
  readonly shownSeries: readonly string[] | null;
  readonly semaphores: readonly string[];
  readonly layerRows: boolean;
}

export type Series = SeriesInfo;

export interface Row {
  /** `lane:NAME/CORE`, `lanes:NAME/CORE` for several in one, `series:ID`: the same in all profiles. */
  readonly key: string;
  readonly kind: "lane" | "lanes" | "series" | "layers" | "errors";
  readonly label: string;
  /** Numbers of the lanes that are drawn in it. */
  readonly lanes: readonly number[];
  /** Series that are drawn in it, from the bottom of the stack. */
  readonly series: readonly Series[];
  readonly core: number | null;
  /** Level of the tree of layers, from 0. */
  readonly depth?: number;
  /** Place of its kind in the guide's order. */
  readonly rank: number;
  /** CSS pixels. */
  readonly height: number;
  readonly pinned: boolean;
  /** It has nothing of its own: a name for the rows below it. */
  readonly heading?: boolean;
}

export const LANE_HEIGHT = 24;
export const SERIES_HEIGHT = 36;
export const LEAST_HEIGHT = 10;
export const MOST_HEIGHT = 300;

/** Kinds of lanes and series from top to bottom; the first one that fits counts. */
const ORDER: readonly (readonly [number, RegExp])[] = [
  [0, /^errors?$/i],
  [3, /^dma-e\d+/i],
  [2, /^q[A-Z]|queue/],
  [4, /^sync/i],
  [6, /^tensor ?matrix( ?engine)?$/i],
  [5, /^tensor( ?engine)?$/i],
  [7, /^vector/i],
  [8, /^scalar/i],
  [9, /^gp ?simd|^pool/i],
  [10, /^cc[-_ ]?core|^collective/i],
  [11, /state ?buffer|sbuf/i],
  [12, /psum/i],
  [13, /hbm.*(usage|occup|alloc)|scratchpad|memory (usage|occup)/i],
  [14, /throttl/i],
  [15, /semaphore/i],
  [16, /pending/i],
  [17, /hbm/i],
  [18, /dma.*(through|bandwidth|bytes)|through|bandwidth/i],
  [19, /matrix.*util|pe.*util|util/i],
  [20, /mfu/i],
  [21, /hfu/i],
];

/** Place of a name in the guide's order; what is not known stands between CC cores and usage. */
export function rankOf(name: string): number {
  const found = ORDER.find(([, pattern]) => pattern.test(name));
  const rank = found ? found[0] : 10.5;
  // `Cumulative ... Throughput` stands above the instant one, instant MFU above cumulative MFU.
  const cumulative = /cumulative/i.test(name);
  if (rank === 17 || rank === 18) return rank + (cumulative ? 0 : 0.25);
  if (rank === 20 || rank === 21) return rank + (cumulative ? 0.25 : 0);
  return rank;
}

export const laneKey = (lane: Lane): string => `lane:${lane.name}/${lane.core}`;
export const seriesKey = (series: Series): string => `series:${rowName(series)}`;

/** Series of one row: those of a stack, the semaphores of a core, else one alone. */
function rowName(series: Series): string {
  if (series.stack) return series.stack;
  const core = coreOf(series);
  if (series.group === "semaphore") return core === null ? "semaphore" : `semaphore.${core}`;
  return series.id;
}

const isDma = (lane: Lane): boolean => lane.kind === "dma";

/** `DMA-E9` comes before `DMA-E10`. */
const natural = new Intl.Collator("en", { numeric: true });

export function height(key: string, usual: number, settings: RowSettings): number {
  const wanted = settings.rowHeights[key] ?? usual;
  return Math.min(Math.max(Math.round(wanted), LEAST_HEIGHT), MOST_HEIGHT);
}

/** The core that a series belongs to, where the server, its id or its name says so. */
function coreOf(series: Series): number | null {
  if (typeof series.core === "number") return series.core;
  const found = /\(nc(\d+)\)|core[ _-]?(\d+)/i.exec(series.name) ?? /(?:nc|core)[-_.]?(\d+)/i.exec(series.id);
  return found ? Number(found[1] ?? found[2]) : null;
}

/** Places of groups in the guide's order, and what a row of several series is called. */
const GROUPS: Readonly<Record<string, readonly [number, string]>> = {
  sbuf: [11, "State Buffer Usage"],
  psum: [12, "PSUM Usage"],
  throttling: [14, "Throttling"],
  semaphore: [15, "Semaphore"],
  pending_dma: [16, "Pending DMA Count"],
  dma_throughput: [18, "DMA Throughput"],
  active: [18.6, "Active"],
};

function seriesRank(series: Series): number {
  const group = GROUPS[series.group]?.[0];
  if (group !== undefined) return group + (/cumulative/i.test(series.id) ? 0 : 0.25);
  if (/^tensor_matrix/.test(series.id)) return 19;
  const own = rankOf(series.id.replace(/_/g, " "));
  return own === 10.5 ? rankOf(series.name) : own;
}

/** Series that say again what a stack says, or what the lanes show: drawn only when asked for by name. */
const quiet = (series: Series): boolean => series.group === "active" || /\bavg\b/.test(series.id);

/** The semaphores that are drawn: those that were chosen, else of each core the one that counts furthest. */
function wantedSemaphores(all: readonly Series[], chosen: readonly string[]): ReadonlySet<string> {
  const own = all.filter((one) => one.group === "semaphore");
  const named = own.filter((one) => chosen.includes(one.id) || chosen.includes(one.name));
  if (named.length > 0) return new Set(named.map((one) => one.id));
  const most = new Map<number | null, Series>();
  for (const one of own) {
    const known = most.get(coreOf(one));
    if ((one.max ?? 0) > (known?.max ?? 0)) most.set(coreOf(one), one);
  }
  return new Set([...most.values()].map((one) => one.id));
}

/** What there is to draw besides lanes and series. */
export interface Extras {
  /** Levels of the trees of layers. */
  readonly layers: readonly { readonly core: number; readonly depth: number }[];
  readonly errors: boolean;
}

const NO_EXTRAS: Extras = { layers: [], errors: false };

function extraRows(extras: Extras, suffix: (core: number) => string, settings: RowSettings): Row[] {
  const pinned = new Set(settings.pinnedRows);
  const plain = { lanes: [], series: [] };
  const layers = extras.layers.map(({ core, depth }): Row => {
    const key = `layers:${depth}/${core}`;
    const label = `Layer ${depth + 1}${suffix(core)}`;
    return { ...plain, key, kind: "layers", label, core, depth, rank: 1 + depth / 100, height: height(key, LANE_HEIGHT, settings), pinned: pinned.has(key) };
  });
  if (!extras.errors) return layers;
  const key = "errors";
  return [{ ...plain, key, kind: "errors", label: "Errors", core: null, rank: 0, height: height(key, LANE_HEIGHT, settings), pinned: pinned.has(key) }, ...layers];
}

/** All rows of a profile, hidden ones too, as they stand. */
export function allRows(
  lanes: readonly Lane[],
  series: readonly Series[],
  settings: RowSettings,
  extras: Extras = NO_EXTRAS,
): Row[] {
  if (isDrawn(lanes)) return traceRows(lanes, settings);
  const several = new Set(lanes.map((lane) => lane.core)).size > 1;
  const suffix = (core: number) => (several ? `(nc${core})` : "");
  const pinned = new Set(settings.pinnedRows);
  const rows: Row[] = extraRows(extras, suffix, settings);
  const packed = new Map<number, Lane[]>();
  for (const lane of lanes) {
    if (isDma(lane) && !settings.expandedDma) {
      packed.set(lane.core, [...(packed.get(lane.core) ?? []), lane]);
      continue;
    }
    const key = laneKey(lane);
    rows.push({
      key,
      kind: "lane",
      label: lane.name.includes("(nc") ? lane.name : `${lane.name}${suffix(lane.core)}`,
      lanes: [lane.number],
      series: [],
      core: lane.core,
      rank: rankOf(lane.name),
      height: height(key, LANE_HEIGHT, settings),
      pinned: pinned.has(key),
    });
  }
  for (const [core, all] of packed) {
    const key = `lanes:DMA/${core}`;
    rows.push({
      key,
      kind: "lanes",
      label: `DMA ×${all.length}${suffix(core)}`,
      lanes: all.map((lane) => lane.number),
      series: [],
      core,
      rank: 3,
      height: height(key, LANE_HEIGHT + 6, settings),
      pinned: pinned.has(key),
    });
  }
  const semaphores = wantedSemaphores(series, settings.semaphores);
  const wanted = settings.shownSeries && new Set(settings.shownSeries);
  const together = new Map<string, Series[]>();
  for (const one of series) {
    if (wanted ? !wanted.has(one.id) : quiet(one)) continue;
    if (one.group === "semaphore" && !wanted && !semaphores.has(one.id)) continue;
    const key = seriesKey(one);
    together.set(key, [...(together.get(key) ?? []), one]);
  }
  for (const [key, all] of together) {
    const one = all[0]!;
    const core = coreOf(one);
    const own = one.group === "semaphore" ? `Semaphore ${one.name}` : one.name;
    const name = (all.length > 1 ? (GROUPS[one.group]?.[1] ?? own) : own).replace(/ \((nc\d+)\)$/, "($1)");
    const told = core === null || !several || /nc ?\d|core ?\d/i.test(name);
    rows.push({
      key,
      kind: "series",
      label: told ? name : `${name}${suffix(core)}`,
      lanes: [],
      series: all,
      core,
      rank: seriesRank(one),
      height: height(key, SERIES_HEIGHT, settings),
      pinned: pinned.has(key),
    });
  }
  return inOrder(rows, settings);
}

function usualOrder(settings: RowSettings): (a: Row, b: Row) => number {
  const core = (row: Row) => row.core ?? -1;
  const name = (a: Row, b: Row) => natural.compare(a.label, b.label);
  const first = (row: Row) => row.lanes[0] ?? Number.MAX_SAFE_INTEGER;
  // Upper cores stand above lower ones, as `Tensor(nc1)` above `Tensor(nc0)` in picture 03.
  if (settings.groupBy === "core") return (a, b) => core(b) - core(a) || a.rank - b.rank || name(a, b);
  if (settings.groupBy === "none") return (a, b) => first(a) - first(b) || a.rank - b.rank || name(a, b);
  const dma = (a: Row, b: Row) => (a.rank === 2 || a.rank === 3 ? core(b) - core(a) : 0);
  const plain = (a: Row, b: Row) =>
    natural.compare(a.label.replace(/\(nc\d+\)/, ""), b.label.replace(/\(nc\d+\)/, ""));
  return (a, b) => a.rank - b.rank || dma(a, b) || plain(a, b) || core(b) - core(a);
}

/** A person's order first: rows that it names keep it among themselves, others stay where they usually are. */
function inOrder(rows: Row[], settings: RowSettings): Row[] {
  const usual = [...rows].sort(usualOrder(settings));
  const place = new Map(settings.rowOrder.map((key, at) => [key, at]));
  const named = usual.filter((row) => place.has(row.key)).sort((a, b) => place.get(a.key)! - place.get(b.key)!);
  let next = 0;
  return usual.map((row) => (place.has(row.key) ? named[next++]! : row));
}

/** The rows that are drawn, from top to bottom. */
export function shownRows(
  lanes: readonly Lane[],
  series: readonly Series[],
  settings: RowSettings,
  extras: Extras = NO_EXTRAS,
): Row[] {
  const hidden = new Set(settings.hiddenRows);
  return allRows(lanes, series, settings, extras).filter(
    (row) => !hidden.has(row.key) && (row.kind !== "layers" || settings.layerRows),
  );
}

/** The order with one row moved before another (or to the end), for `rowOrder`. */
export function moved(rows: readonly Row[], key: string, before: string | null): string[] {
  const keys = rows.map((row) => row.key).filter((one) => one !== key);
  const at = before === null ? keys.length : keys.indexOf(before);
  keys.splice(at < 0 ? keys.length : at, 0, key);
  return keys;
}
