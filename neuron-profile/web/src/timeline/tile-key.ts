// Which tiles a view needs. A tile is TILE_COLUMNS columns of 2^level ns at a multiple of its own length, so that
// every tile of a level is the parent of two of the level below, and a viewport request for it is exact.

import type { Window } from "./geometry";

export const TILE_COLUMNS = 512;

/** 2^37 ns are 137 s: one tile of this level holds 19 hours. */
const COARSEST = 37;

export interface TileKey {
  /** What it is of: a set of lanes, of series, a search. */
  readonly set: string;
  readonly level: number;
  readonly index: number;
}

export const columnNs = (level: number): number => 2 ** level;
export const tileNs = (level: number): number => TILE_COLUMNS * 2 ** level;
export const tileStart = (key: TileKey): number => key.index * tileNs(key.level);
export const tileEnd = (key: TileKey): number => (key.index + 1) * tileNs(key.level);
export const keyText = (key: TileKey): string => `${key.set}@${key.level}/${key.index}`;

/** The finest level whose columns are not narrower than a device pixel. */
export function levelFor(length: number, pixels: number): number {
  const wanted = Math.ceil(Math.log2(Math.max(length, 1) / Math.max(pixels, 1)) - 1e-9);
  return Math.min(Math.max(wanted, 0), COARSEST);
}

/** The level at which one tile holds the whole profile. */
export function rootLevel(total: number): number {
  return levelFor(total, TILE_COLUMNS);
}

/** Tiles of a level that a window touches, from left to right. */
export function tilesIn(set: string, level: number, window: Window, total: number): TileKey[] {
  const length = tileNs(level);
  const first = Math.floor(Math.max(window.from, 0) / length);
  const end = Math.min(window.to, total);
  const out: TileKey[] = [];
  for (let index = first; index * length < end; index += 1) out.push({ set, level, index });
  return out;
}

export const parent = (key: TileKey): TileKey => ({
  set: key.set,
  level: key.level + 1,
  index: Math.floor(key.index / 2),
});

/**
 * What to load for a set, most urgent first: the root tile, so that there is always something to draw; what is seen
 * at the level of the view; then what a pan or a zoom shows next: the neighbours, the tile below the middle's two
 * finer ones, and the coarser ones around. `seen` says how many of them the view cannot do without.
 */
export function wanted(
  set: string,
  window: Window,
  pixels: number,
  total: number,
): { seen: TileKey[]; ahead: TileKey[] } {
  const level = levelFor(window.to - window.from, pixels);
  const root: TileKey = { set, level: rootLevel(total), index: 0 };
  const seen = [root, ...tilesIn(set, level, window, total).filter((key) => keyText(key) !== keyText(root))];
  const known = new Set(seen.map(keyText));
  const ahead: TileKey[] = [];
  const add = (keys: TileKey[]) => {
    for (const key of keys) {
      const text = keyText(key);
      if (known.has(text) || tileEnd(key) <= 0 || tileStart(key) >= total) continue;
      known.add(text);
      ahead.push(key);
    }
  };
  const here = tilesIn(set, level, window, total);
  const first = here[0];
  const last = here[here.length - 1];
  if (first && last) add([{ ...last, index: last.index + 1 }, { ...first, index: first.index - 1 }].filter((k) => k.index >= 0));
  const middle = (window.from + window.to) / 2;
  const quarter = (window.to - window.from) / 4;
  if (level > 0) add(tilesIn(set, level - 1, { from: middle - quarter, to: middle + quarter }, total));
  if (level < rootLevel(total)) {
    const out = { from: window.from - 2 * quarter, to: window.to + 2 * quarter };
    add(tilesIn(set, level + 1, out, total));
  }
  return { seen, ahead };
}
