import { describe, expect, it, vi } from "vitest";
import { TileCache } from "./tile-cache";
import { TileLoader } from "./tile-loader";
import {
  type TileKey,
  TILE_COLUMNS,
  columnNs,
  keyText,
  levelFor,
  parent,
  rootLevel,
  tileEnd,
  tileNs,
  tileStart,
  tilesIn,
  wanted,
} from "./tile-key";

const key = (level: number, index: number): TileKey => ({ set: "s", level, index });

describe("tiles of a view", () => {
  it("have columns of one to two pixels", () => {
    for (const length of [16, 999, 1_000_000, 3.6e12]) {
      for (const pixels of [300, 1_600, 3_840]) {
        const level = levelFor(length, pixels);
        const perPixel = length / pixels;
        if (level > 0) {
          expect(columnNs(level)).toBeGreaterThanOrEqual(perPixel * (1 - 1e-9));
          expect(columnNs(level)).toBeLessThan(2 * perPixel * (1 + 1e-9));
        } else expect(perPixel).toBeLessThanOrEqual(1);
      }
    }
  });

  it("are aligned, and two make one of the level above", () => {
    const one = key(5, 7);
    expect(tileStart(one) % tileNs(5)).toBe(0);
    const up = parent(one);
    expect(tileStart(up)).toBeLessThanOrEqual(tileStart(one));
    expect(tileEnd(up)).toBeGreaterThanOrEqual(tileEnd(one));
    expect(tileNs(6)).toBe(2 * tileNs(5));
    expect(tileNs(0)).toBe(TILE_COLUMNS);
  });

  it("cover the window without gaps and end with the profile", () => {
    const window = { from: 123_456, to: 987_654 };
    const all = tilesIn("s", 8, window, 1_000_000);
    expect(tileStart(all[0]!)).toBeLessThanOrEqual(window.from);
    expect(tileEnd(all.at(-1)!)).toBeGreaterThanOrEqual(window.to);
    for (let i = 1; i < all.length; i += 1) expect(tileStart(all[i]!)).toBe(tileEnd(all[i - 1]!));
    expect(tilesIn("s", 8, { from: 0, to: 5e6 }, 200_000).length).toBe(2);
    expect(tileEnd(key(rootLevel(123_456_789), 0))).toBeGreaterThanOrEqual(123_456_789);
  });

  it("come with the root first, and neighbours and levels beside after them, each once", () => {
    const { seen, ahead } = wanted("s", { from: 400_000, to: 500_000 }, 1_600, 1_000_000);
    expect(seen[0]).toEqual(key(rootLevel(1_000_000), 0));
    const texts = [...seen, ...ahead].map(keyText);
    expect(new Set(texts).size).toBe(texts.length);
    const level = levelFor(100_000, 1_600);
    expect(new Set(ahead.map((one) => one.level))).toEqual(new Set([level - 1, level, level + 1]));
    expect(ahead.filter((one) => one.level === level).length).toBe(2);
  });
});

const tile = (bytes: number) => ({ bytes });

describe("cache", () => {
  it("forgets what was not used for longest, by bytes, and never a root", () => {
    const cache = new TileCache<{ bytes: number }>(100);
    cache.put(key(9, 0), tile(40), true);
    cache.put(key(3, 1), tile(30));
    cache.put(key(3, 2), tile(30));
    cache.get(key(3, 1));
    cache.put(key(3, 3), tile(30));
    expect([cache.has(key(9, 0)), cache.has(key(3, 1)), cache.has(key(3, 2)), cache.has(key(3, 3))]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(cache.bytes).toBe(100);
    cache.put(key(3, 3), tile(10));
    expect(cache.bytes).toBe(80);
  });

  it("draws coarser tiles where finer ones are missing, and never leaves a gap", () => {
    const cache = new TileCache<{ bytes: number }>(1_000);
    const want = key(4, 5);
    expect(cache.pieces(want)).toEqual([]);
    cache.put(key(7, 0), tile(1), true);
    expect(cache.pieces(want).map((p) => [p.key.level, p.from, p.to])).toEqual([[7, tileStart(want), tileEnd(want)]]);
    // One of the two halves is there, as after zooming out.
    cache.put(key(3, 11), tile(1));
    const pieces = cache.pieces(want);
    expect(pieces.map((p) => p.key.level)).toEqual([7, 3]);
    expect(pieces[0]!.to).toBe(pieces[1]!.from);
    expect(pieces[1]!.to).toBe(tileEnd(want));
    cache.put(want, tile(1));
    expect(cache.pieces(want).map((p) => p.key.level)).toEqual([4]);
  });
});

/** A server of which the test answers each request itself. */
function server() {
  const asked = new Map<string, { answer(): void; fail(): void; signal: AbortSignal }>();
  const order: string[] = [];
  const load = (one: TileKey, signal: AbortSignal, put: (t: { bytes: number }) => void) =>
    new Promise<void>((done, stop) => {
      order.push(keyText(one));
      signal.addEventListener("abort", () => stop(new Error("aborted")));
      asked.set(keyText(one), {
        signal,
        answer: () => {
          put(tile(1));
          done();
        },
        fail: () => stop(new Error("away")),
      });
    });
  return { asked, order, load };
}
const soon = () => new Promise((done) => setTimeout(done, 0));

describe("loader", () => {
  it("asks for the most urgent first, a few at a time", async () => {
    const { asked, order, load } = server();
    let changed = 0;
    const loader = new TileLoader(new TileCache(100), { load, changed: () => (changed += 1), atOnce: 2 });
    loader.want([key(3, 0), key(3, 1), key(3, 2)], [key(3, 3)]);
    expect(order).toEqual(["s@3/0", "s@3/1"]);
    asked.get("s@3/0")!.answer();
    await soon();
    expect(order).toEqual(["s@3/0", "s@3/1", "s@3/2"]);
    for (const text of ["s@3/1", "s@3/2"]) asked.get(text)!.answer();
    await soon();
    expect(order.at(-1)).toBe("s@3/3");
    asked.get("s@3/3")!.answer();
    await soon();
    expect(loader.settled).toBe(true);
    expect(changed).toBe(4);
    loader.want([key(3, 0)], []);
    expect(order.length).toBe(4);
  });

  it("loads what may be needed soon once all that is seen is there, two at a time", async () => {
    const { asked, order, load } = server();
    const loader = new TileLoader(new TileCache(100), { load, changed: () => {} });
    loader.want([key(3, 0), key(3, 1)], [key(3, 2), key(3, 3), key(3, 4)]);
    expect(order).toEqual(["s@3/0", "s@3/1"]);
    asked.get("s@3/0")!.answer();
    await soon();
    expect(order.length).toBe(2);
    asked.get("s@3/1")!.answer();
    await soon();
    expect(order.slice(2)).toEqual(["s@3/2", "s@3/3"]);
    // What comes into sight meanwhile does not wait for them.
    loader.want([key(4, 7)], [key(3, 2), key(3, 3), key(3, 4)]);
    expect(order.at(-1)).toBe("s@4/7");
    asked.get("s@3/2")!.answer();
    await soon();
    expect(order.length).toBe(5);
    asked.get("s@4/7")!.answer();
    await soon();
    expect(order.at(-1)).toBe("s@3/4");
    loader.reset();
  });

  it("keeps a place free for what comes into sight where there are but two", async () => {
    const { order, load } = server();
    const loader = new TileLoader(new TileCache(100), { load, changed: () => {}, atOnce: 2 });
    loader.want([], [key(3, 0), key(3, 1)]);
    expect(order).toEqual(["s@3/0"]);
    loader.want([key(4, 7)], [key(3, 0), key(3, 1)]);
    expect(order).toEqual(["s@3/0", "s@4/7"]);
    loader.reset();
  });

  it("tries what is seen again while what may be needed hangs", async () => {
    vi.useFakeTimers();
    const { asked, order, load } = server();
    const loader = new TileLoader(new TileCache(100), { load, changed: () => {}, now: () => Date.now() });
    loader.want([key(3, 0)], [key(3, 1), key(3, 2), key(3, 3)]);
    asked.get("s@3/0")!.fail();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["s@3/0", "s@3/1", "s@3/2"]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(order).toEqual(["s@3/0", "s@3/1", "s@3/2", "s@3/0"]);
    loader.reset();
    vi.useRealTimers();
  });

  it("gives up what nobody waits for any more, and asks again if it is wanted later", async () => {
    const { asked, order, load } = server();
    const loader = new TileLoader(new TileCache(100), { load, changed: () => {}, atOnce: 2 });
    loader.want([key(3, 0)], []);
    const first = asked.get("s@3/0")!;
    loader.want([key(5, 0)], []);
    expect(first.signal.aborted).toBe(true);
    await soon();
    asked.get("s@5/0")!.answer();
    await soon();
    loader.want([key(3, 0)], []);
    expect(order).toEqual(["s@3/0", "s@5/0", "s@3/0"]);
  });

  it("tries again after a failure, not at once", async () => {
    const { asked, order, load } = server();
    let now = 0;
    let failures = 0;
    const loader = new TileLoader(new TileCache(100), {
      load,
      changed: () => {},
      failed: () => (failures += 1),
      now: () => now,
    });
    loader.want([key(3, 0)], []);
    asked.get("s@3/0")!.fail();
    await soon();
    expect([failures, order.length]).toEqual([1, 1]);
    now = 2_000;
    loader.want([key(3, 0)], []);
    expect(order.length).toBe(2);
    asked.get("s@3/0")!.answer();
    await soon();
    expect(loader.cache.has(key(3, 0))).toBe(true);
    loader.reset();
  });
});
