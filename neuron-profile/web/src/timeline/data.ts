// The data of the timeline of one profile: tiles of lanes, series and matches, loaded as the view asks for them, and
// what a frame reads of them.

import type { Lane } from "../api/types";
import { type Search, loadFaults, loadLanes, loadLayers, loadMatches, loadSeries } from "./fetch";
import type { Window } from "./geometry";
import { type Stacked, stack } from "./overlap";
import { fetches } from "./tile-asker";
import { type Piece, TileCache } from "./tile-cache";
import type { Fault, LaneTile, LayerTile, MatchTile, SeriesTile } from "./tile-data";
import { TileLoader } from "./tile-loader";
import { type Warning, loadLimits, ofFaults, outside } from "./warnings";
import { type TileKey, keyText, levelFor, rootLevel, tilesIn, wanted } from "./tile-key";

/** Lanes of one request (our choice: all of most profiles, and 1.5 MB for a dense tile). */
const LANES = 96;

/** Series of one request (our choice: rows that are seen together); the server takes 64. */
const SERIES = 12;

/** Bytes of tiles that are kept. */
const LANE_BYTES = 96 << 20;
const SERIES_BYTES = 32 << 20;
const MATCH_BYTES = 8 << 20;
const LAYER_BYTES = 16 << 20;

/** The name of the one set of layers. */
const LAYERS = "layers";

/** Times of loads that are kept for measurements. */
const TIMES = 2000;

interface Options {
  readonly id: string;
  readonly lanes: readonly Lane[];
  readonly total: number;
  changed(): void;
  failed(error: unknown): void;
}

export class TimelineData {
  /** Milliseconds until tiles were there for the page, for measurements. */
  readonly times: number[] = [];
  /** Those of them until the answer was there. */
  readonly fetches: readonly number[] = fetches;
  private readonly laneLoader: TileLoader<LaneTile>;
  private readonly seriesLoader: TileLoader<SeriesTile>;
  private readonly matchLoader: TileLoader<MatchTile>;
  private readonly layerLoader: TileLoader<LayerTile>;
  private layerPieces: readonly Piece<LayerTile>[] = [];
  /** Set once they are there. */
  faults: readonly Fault[] = [];
  warnings: readonly Warning[] = [];
  private readonly stop = new AbortController();
  private readonly lanePieces = new Map<string, readonly Piece<LaneTile>[]>();
  private readonly seriesPieces = new Map<string, readonly Piece<SeriesTile>[]>();
  private matchPieces: readonly Piece<MatchTile>[] = [];
  private readonly stacks = new Map<number, { text: string; all: Stacked }>();
  private seriesSets = new Map<string, readonly string[]>();
  private setOfSeries = new Map<string, string>();
  private search: Search = { table: "", query: "" };
  /** The search as the name of its set; empty for none. */
  private searched = "";
  private seenLevel = 0;

  constructor(private readonly options: Options) {
    const { id, total } = options;
    const isRoot = (key: TileKey) => key.level === rootLevel(total);
    const shared = {
      changed: () => {
        this.forget();
        options.changed();
      },
      failed: (error: unknown) => options.failed(error),
      isRoot,
      took: (ms: number) => {
        this.times.push(ms);
        if (this.times.length > TIMES) this.times.splice(0, TIMES / 2);
      },
    };
    this.laneLoader = new TileLoader(new TileCache<LaneTile>(LANE_BYTES), {
      ...shared,
      load: (key, signal, put) => loadLanes(id, this.lanesOf(key.set), key, signal, put),
    });
    this.seriesLoader = new TileLoader(new TileCache<SeriesTile>(SERIES_BYTES), {
      ...shared,
      atOnce: 2,
      load: (key, signal, put) => loadSeries(id, this.seriesSets.get(key.set) ?? [], key, signal, put),
    });
    this.layerLoader = new TileLoader(new TileCache<LayerTile>(LAYER_BYTES), {
      ...shared,
      atOnce: 2,
      load: async (key, signal, put) => put(await loadLayers(id, key, signal)),
    });
    this.matchLoader = new TileLoader(new TileCache<MatchTile>(MATCH_BYTES), {
      ...shared,
      atOnce: 2,
      load: async (key, signal, put) => put(await loadMatches(id, this.search, key, signal)),
    });
  }

  /** Loads faults and limits of the profile, and says when there are some. */
  async loadFaults(): Promise<boolean> {
    const { id, total } = this.options;
    const [faults, limits] = await Promise.all([
      loadFaults(id, this.stop.signal).catch(() => []),
      loadLimits(id, this.stop.signal).catch(() => []),
    ]);
    this.faults = faults;
    this.warnings = [...limits, ...ofFaults(faults), ...outside(total)];
    return this.warnings.length > 0;
  }

  /** The levels of layers that are known so far. */
  layerRows(): { core: number; depth: number }[] {
    const key = { set: LAYERS, level: rootLevel(this.options.total), index: 0 };
    return (this.layerLoader.cache.get(key)?.rows ?? []).map(({ core, depth }) => ({ core, depth }));
  }

  get level(): number {
    return this.seenLevel;
  }

  get settled(): boolean {
    if (!this.layerLoader.settled) return false;
    return this.laneLoader.settled && this.seriesLoader.settled && this.matchLoader.settled;
  }

  get bytes(): number {
    return this.laneLoader.cache.bytes + this.seriesLoader.cache.bytes + this.matchLoader.cache.bytes;
  }

  private setOf(lane: number): string {
    const at = this.options.lanes.findIndex((one) => one.number === lane);
    return `lanes${Math.floor(Math.max(at, 0) / LANES)}`;
  }

  private lanesOf(set: string): number[] {
    const first = Number(set.slice(5)) * LANES;
    return this.options.lanes.slice(first, first + LANES).map((lane) => lane.number);
  }

  /** Names the series that rows show: they are loaded together, in sets. */
  setSeries(ids: readonly string[]): void {
    this.seriesSets = new Map();
    this.setOfSeries = new Map();
    for (let first = 0; first < ids.length; first += SERIES) {
      const some = ids.slice(first, first + SERIES);
      const set = some.join(" ");
      this.seriesSets.set(set, some);
      for (const id of some) this.setOfSeries.set(id, set);
    }
    this.forget();
  }

  /** What is searched for; nothing where the query is empty, or the table has no lanes. */
  setSearch(search: Search): void {
    const any = search.query !== "" && this.options.lanes.some((lane) => lane.table === search.table);
    const set = any ? `${search.table}\n${search.query}` : "";
    if (set === this.searched) return;
    this.search = search;
    this.searched = set;
    this.matchLoader.reset();
    this.forget();
  }

  private forget(): void {
    this.lanePieces.clear();
    this.seriesPieces.clear();
  }

  /** Loads what a view of lanes and series needs, and makes ready what `pieces` answers. */
  see(window: Window, pixels: number, lanes: readonly number[], series: readonly string[], layers: boolean): void {
    this.seenLevel = levelFor(window.to - window.from, pixels);
    this.forget();
    const { total } = this.options;
    const laneSets = new Set(lanes.map((lane) => this.setOf(lane)));
    const seriesSets = new Set(series.flatMap((id) => this.setOfSeries.get(id) ?? []));
    // Lines cost the server more than bars, and coarser ones stand in for them well: only what a pan shows next is
    // loaded ahead.
    const ask = <T extends { bytes: number }>(loader: TileLoader<T>, sets: Iterable<string>, most = 2) => {
      const all = [...sets].map((set) => wanted(set, window, pixels, total));
      loader.want(
        all.flatMap((one) => one.seen),
        all.flatMap((one) => one.ahead.slice(0, most)),
      );
    };
    ask(this.laneLoader, laneSets, Number.POSITIVE_INFINITY);
    ask(this.seriesLoader, seriesSets);
    ask(this.layerLoader, layers ? [LAYERS] : []);
    ask(this.matchLoader, this.searched === "" ? [] : [this.searched]);
    const view = { window, level: this.seenLevel };
    const drawn = <T extends { bytes: number }>(loader: TileLoader<T>, set: string): Piece<T>[] =>
      tilesIn(set, view.level, view.window, total).flatMap((key) => loader.cache.pieces(key));
    for (const set of laneSets) this.lanePieces.set(set, drawn(this.laneLoader, set));
    for (const set of seriesSets) this.seriesPieces.set(set, drawn(this.seriesLoader, set));
    this.layerPieces = layers ? drawn(this.layerLoader, LAYERS) : [];
    this.matchPieces = this.searched === "" ? [] : drawn(this.matchLoader, this.searched);
  }

  pieces(lane: number): readonly Piece<LaneTile>[] {
    return this.lanePieces.get(this.setOf(lane)) ?? [];
  }

  piecesOfSeries(id: string): readonly Piece<SeriesTile>[] {
    const set = this.setOfSeries.get(id);
    return (set !== undefined && this.seriesPieces.get(set)) || [];
  }

  piecesOfLayers(): readonly Piece<LayerTile>[] {
    return this.layerPieces;
  }

  piecesOfMatches(): readonly Piece<MatchTile>[] {
    return this.matchPieces;
  }

  /** The events of a lane, where each tile that is seen has them (or has none); else null. */
  stacked(lane: number): Stacked | null {
    const pieces = this.pieces(lane);
    if (pieces.length === 0) return null;
    let text = "";
    for (const { key, tile } of pieces) {
      if (!tile.events.has(lane) && tile.columns.get(lane)?.count) return null;
      text += `${keyText(key)} `;
    }
    const known = this.stacks.get(lane);
    if (known?.text === text) return known.all;
    const all = stack(pieces.flatMap(({ tile }) => tile.events.get(lane) ?? []));
    this.stacks.set(lane, { text, all });
    return all;
  }

  dispose(): void {
    this.laneLoader.reset();
    this.seriesLoader.reset();
    this.matchLoader.reset();
    this.layerLoader.reset();
    this.stop.abort();
  }
}
