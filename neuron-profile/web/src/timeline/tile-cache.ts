// What was loaded, by key, up to a number of bytes; what was not used for longest goes first. Roots never go: they
// are what is drawn while everything else loads.

import { type TileKey, keyText, parent, tileEnd, tileStart } from "./tile-key";

export interface Sized {
  /** Bytes that it takes, about. */
  readonly bytes: number;
}

/** A tile, and the part of time of it that is to be drawn. */
export interface Piece<T> {
  readonly key: TileKey;
  readonly tile: T;
  readonly from: number;
  readonly to: number;
}

export class TileCache<T extends Sized> {
  private readonly entries = new Map<string, { key: TileKey; tile: T; pinned: boolean }>();
  private held = 0;

  constructor(private readonly most: number) {}

  get bytes(): number {
    return this.held;
  }

  get size(): number {
    return this.entries.size;
  }

  has(key: TileKey): boolean {
    return this.entries.has(keyText(key));
  }

  /** The tile, which counts as used now. */
  get(key: TileKey): T | undefined {
    const text = keyText(key);
    const found = this.entries.get(text);
    if (!found) return undefined;
    // A map keeps the order in which keys were put in.
    this.entries.delete(text);
    this.entries.set(text, found);
    return found.tile;
  }

  put(key: TileKey, tile: T, pinned = false): void {
    const text = keyText(key);
    const old = this.entries.get(text);
    if (old) this.held -= old.tile.bytes;
    this.entries.delete(text);
    this.entries.set(text, { key, tile, pinned: pinned || (old?.pinned ?? false) });
    this.held += tile.bytes;
    for (const [other, entry] of this.entries) {
      if (this.held <= this.most) break;
      if (entry.pinned || other === text) continue;
      this.entries.delete(other);
      this.held -= entry.tile.bytes;
    }
  }

  clear(): void {
    this.entries.clear();
    this.held = 0;
  }

  /**
   * What to draw for a tile: itself; else its two halves as far as they are there, and for what is missing the
   * nearest coarser tile. `depth` bounds how many finer levels are tried. Pieces are from left to right.
   */
  pieces(key: TileKey, depth = 2): Piece<T>[] {
    const own = this.get(key);
    const [from, to] = [tileStart(key), tileEnd(key)];
    if (own) return [{ key, tile: own, from, to }];
    const coarse = this.above(key, from, to);
    if (depth === 0 || key.level === 0) return coarse;
    const fine = this.below(key, depth);
    if (fine.length === 0) return coarse;
    const out: Piece<T>[] = [];
    let at = from;
    for (const piece of fine) {
      if (piece.from > at) out.push(...this.above(key, at, piece.from));
      out.push(piece);
      at = piece.to;
    }
    if (at < to) out.push(...this.above(key, at, to));
    return out;
  }

  private above(key: TileKey, from: number, to: number): Piece<T>[] {
    let up = parent(key);
    for (let step = 0; step < 40; step += 1) {
      const tile = this.get(up);
      if (tile) return [{ key: up, tile, from, to }];
      if (up.index === 0 && up.level > 37) break;
      up = parent(up);
    }
    return [];
  }

  private below(key: TileKey, depth: number): Piece<T>[] {
    const halves = [0, 1].map((half) => ({ set: key.set, level: key.level - 1, index: 2 * key.index + half }));
    return halves.flatMap((half) => {
      const tile = this.get(half);
      if (tile) return [{ key: half, tile, from: tileStart(half), to: tileEnd(half) }];
      return depth > 1 && half.level > 0 ? this.below(half, depth - 1) : [];
    });
  }
}
