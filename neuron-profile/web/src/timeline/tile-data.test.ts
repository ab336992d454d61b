import { describe, expect, it } from "vitest";
import type { LaneColumns, LaneEvents } from "../api/wire";
import { laneTile, lowerBound, mergeColumns } from "./tile-data";
import { MOST_SUB_ROWS, stack } from "./overlap";

/** Columns as [column, busy, events, kind, row]. */
const columns = (lane: number, all: [number, number, number, number, number][]): LaneColumns => ({
  lane,
  count: all.length,
  columns: Uint32Array.from(all, (c) => c[0]),
  busy: Float64Array.from(all, (c) => c[1]),
  events: Uint32Array.from(all, (c) => c[2]),
  names: Uint32Array.from(all, (c) => c[3]),
  rows: Float64Array.from(all, (c) => c[4]),
});

/** Events as [row, start, end]. */
const events = (all: [number, number, number][]): LaneEvents => ({
  lane: 0,
  count: all.length,
  rows: Float64Array.from(all, (e) => e[0]),
  start: Float64Array.from(all, (e) => e[1]),
  end: Float64Array.from(all, (e) => e[2]),
  kinds: new Uint32Array(all.length),
});

describe("columns of several lanes", () => {
  it("are the mean of all lanes, with the kind of the busiest", () => {
    const lanes = [
      columns(3, [
        [0, 64, 1, 7, 10],
        [4, 16, 2, 7, 11],
      ]),
      columns(4, [[4, 48, 1, 9, 90]]),
    ];
    const merged = mergeColumns(laneTile(0, 64, lanes), [3, 4, 5, 6], 8);
    expect([...merged.columns]).toEqual([0, 4]);
    // Lanes without events in the tile count as idle.
    expect([...merged.share]).toEqual([0.25, 0.25]);
    expect([...merged.events]).toEqual([1, 3]);
    expect([...merged.kinds]).toEqual([7, 9]);
    expect([...merged.lane]).toEqual([3, 4]);
    expect([...merged.rows]).toEqual([10, 90]);
  });

  it("are found by binary search", () => {
    expect([0, 1, 2, 3, 9].map((value) => lowerBound([1, 3, 3, 8], value))).toEqual([0, 0, 1, 1, 4]);
  });
});

describe("overlap", () => {
  it("gives an event that overlaps none the whole height", () => {
    const all = stack([
      events([
        [1, 0, 10],
        [2, 10, 20],
        [3, 25, 30],
      ]),
    ]);
    expect([...all.sub]).toEqual([0, 0, 0]);
    expect([...all.of]).toEqual([1, 1, 1]);
  });

  it("puts overlapping ones below each other, by cluster", () => {
    const all = stack([
      events([
        [1, 0, 10],
        [2, 5, 15],
        [3, 12, 20],
        [4, 30, 40],
        [5, 31, 35],
        [6, 32, 39],
      ]),
    ]);
    expect([...all.sub]).toEqual([0, 1, 0, 0, 1, 2]);
    expect([...all.of]).toEqual([2, 2, 2, 3, 3, 3]);
    expect([...all.covered]).toEqual([10, 15, 20, 40, 40, 40]);
  });

  it("never draws two events at the same place, whatever comes", () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed / 2147483648;
    };
    let start = 0;
    const all = stack([
      events(
        Array.from({ length: 400 }, (_, i) => {
          start += Math.floor(random() * 10);
          return [i, start, start + Math.floor(random() * 25)];
        }),
      ),
    ]);
    let deepest = 0;
    for (let i = 0; i < all.count; i += 1) {
      expect(all.sub[i]!).toBeLessThan(all.of[i]!);
      deepest = Math.max(deepest, all.of[i]!);
      for (let j = i + 1; j < all.count && all.start[j]! < all.end[i]!; j += 1) {
        if (all.sub[i]! < MOST_SUB_ROWS - 1) expect(all.sub[j]).not.toBe(all.sub[i]);
        expect(all.of[j]).toBe(all.of[i]);
      }
    }
    expect(deepest).toBeGreaterThan(2);
  });

  it("counts an event that crosses tiles once", () => {
    const all = stack([
      events([
        [1, 0, 10],
        [2, 8, 30],
      ]),
      events([
        [2, 8, 30],
        [3, 20, 40],
      ]),
    ]);
    expect([...all.rows]).toEqual([1, 2, 3]);
    expect([...all.sub]).toEqual([0, 1, 0]);
  });
});
