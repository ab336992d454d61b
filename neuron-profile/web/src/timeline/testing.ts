// A small made-up profile for the tests of what is drawn and hit.

import type { LaneColumns, LaneEvents } from "../api/wire";
import { type Packed, pack, parse } from "./colour";
import { type Layout, place, visible } from "./layout";
import { type Stacked, stack } from "./overlap";
import type { Row, Series } from "./rows";
import type { Frame, Mark } from "./scene/frame";
import { readTheme } from "./theme";
import type { Piece } from "./tile-cache";
import { type Fault, type LaneTile, type LayerTile, type SeriesTile, laneTile } from "./tile-data";
import type { Warning } from "./warnings";

export const KIND_COLOURS: readonly Packed[] = ["#c04040", "#40c040", "#4040c0"].map((text) => pack(parse(text)));

export const row = (more: Partial<Row>): Row => ({
  key: "lane:Tensor/0",
  kind: "lane",
  label: "Tensor",
  lanes: [0],
  series: [],
  core: 0,
  rank: 5,
  height: 20,
  pinned: false,
  ...more,
});

export const series = (id: string, more: Partial<Series> = {}): Series => ({
  id,
  name: id,
  group: "utilisation",
  core: 0,
  unit: "%",
  max: 1,
  stack: null,
  description: "",
  ...more,
});

/** Columns as [column, busy, events, kind, row]. */
export const columns = (lane: number, all: readonly (readonly [number, number, number, number, number])[]): LaneColumns => ({
  lane,
  count: all.length,
  columns: Uint32Array.from(all, (c) => c[0]),
  busy: Float64Array.from(all, (c) => c[1]),
  events: Uint32Array.from(all, (c) => c[2]),
  names: Uint32Array.from(all, (c) => c[3]),
  rows: Float64Array.from(all, (c) => c[4]),
});

/** Events as [row, start, end, kind]. */
export const events = (lane: number, all: readonly (readonly [number, number, number, number])[]): LaneEvents => ({
  lane,
  count: all.length,
  rows: Float64Array.from(all, (e) => e[0]),
  start: Float64Array.from(all, (e) => e[1]),
  end: Float64Array.from(all, (e) => e[2]),
  kinds: Uint32Array.from(all, (e) => e[3]),
});

export interface World {
  rows: readonly Row[];
  columns?: readonly LaneColumns[];
  events?: readonly LaneEvents[];
  series?: SeriesTile;
  layers?: LayerTile;
  faults?: readonly Fault[];
  warnings?: readonly Warning[];
  marks?: readonly Mark[];
  columnNs?: number;
  from?: number;
  to?: number;
  width?: number;
  height?: number;
  scroll?: number;
  labels?: boolean;
}

/** A frame of a world: one tile that begins with 0. */
export function frameOf(world: World): Frame {
  const [width, height] = [world.width ?? 100, world.height ?? 100];
  const tile: LaneTile = laneTile(0, world.columnNs ?? 10, world.columns ?? [], world.events ?? []);
  const window = { from: world.from ?? 0, to: world.to ?? 1000 };
  const layout: Layout = place(world.rows);
  const piece: Piece<LaneTile> = { key: { set: "", level: 0, index: 0 }, tile, from: 0, to: 512 * tile.columnNs };
  const stacks = new Map<number, Stacked>((world.events ?? []).map((one) => [one.lane, stack([one])]));
  const ofSeries = world.series && { key: piece.key, tile: world.series, from: 0, to: 512 * world.series.columnNs };
  return {
    window,
    total: 1000,
    width,
    height,
    scale: 1,
    layout,
    rows: visible(layout, height, world.scroll ?? 0),
    theme: readTheme(() => ""),
    showLabels: world.labels ?? false,
    fontSize: 10,
    pieces: () => [piece],
    stacked: (lane) => stacks.get(lane) ?? null,
    seriesPieces: () => (ofSeries ? [ofSeries] : []),
    matchPieces: () => [],
    layerPieces: () => (world.layers ? [{ key: piece.key, tile: world.layers, from: 0, to: 1000 }] : []),
    faults: world.faults ?? [],
    warnings: world.warnings ?? [],
    colour: (kind) => KIND_COLOURS[kind]!,
    name: (kind) => ["MATMUL", "COPY", "ACTIVATE"][kind]!,
    bands: [],
    marks: world.marks ?? [],
    arrows: true,
  };
}
