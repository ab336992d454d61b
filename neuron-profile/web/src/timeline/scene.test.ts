import { describe, expect, it } from "vitest";
import { css, pack, parse } from "./colour";
import { DisplayList } from "./display-list";
import { fill } from "./render/raster";
import { escape, svg } from "./render/svg";
import { axisList } from "./scene/axis";
import { hit } from "./hit";
import { drawLaneRow } from "./scene/lanes";
import { drawFaults, drawLayerRow } from "./scene/layers";
import { drawPlot } from "./scene/plot";
import { axisTop, drawSeriesRow } from "./scene/series";
import { KIND_COLOURS, type World, columns, events, frameOf, row, series } from "./testing";
import { ticks } from "./ticks";

const everything = { x: 0, y: 0, width: 10_000, height: 10_000 };

/** The bars of the first row as [x0, y0, x1, y1, kind]. */
function bars(world: Omit<World, "rows">, more = {}) {
  const frame = frameOf({ rows: [row(more)], ...world });
  const list = new DisplayList();
  list.section(everything);
  drawLaneRow(list, frame, frame.rows[0]!);
  return [...list.rects()].map((one) => [one.x0, one.y0, one.x1, one.y1, KIND_COLOURS.indexOf(one.colour)]);
}

describe("bars of a lane", () => {
  // A row of 20 pixels has its bars from 4 to 16; 100 pixels show 1000 ns: a column of 10 ns is a pixel.
  it("are as high as the lane is busy, never lower than can be seen", () => {
    const all = columns(0, [
      [0, 10, 1, 0, 0],
      [1, 10, 0, 0, 1],
      [5, 5, 3, 1, 1],
      [9, 0.1, 1, 2, 4],
    ]);
    expect(bars({ columns: [all] })).toEqual([
      [0, 4, 2, 16, 0],
      [5, 10, 6, 16, 1],
      [9, 14, 10, 16, 2],
    ]);
  });

  it("are single events where they are few, those that overlap below each other", () => {
    const all = events(0, [
      [7, 100, 300, 0],
      [8, 200, 400, 1],
      [9, 500, 501, 2],
      [10, 700, 1200, 0],
    ]);
    expect(bars({ events: [all] })).toEqual([
      [10, 4, 29, 9, 0],
      [20, 10, 39, 15, 1],
      [50, 4, 51, 16, 2],
      // It goes on beyond the window: no gap at its end.
      [70, 4, 100, 16, 0],
    ]);
  });

  it("of thousands of events on a pixel are one", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => [i, i / 100, i / 100 + 0.005, 0] as const);
    expect(bars({ events: [events(0, many)] }).length).toBeLessThanOrEqual(7);
  });

  it("stand where they stand in time at any zoom, also those that began before the window", () => {
    const all = events(0, [
      [1, 0, 5_000, 0],
      [2, 5_000, 5_010, 1],
    ]);
    expect(bars({ events: [all], from: 4_000, to: 5_000 })).toEqual([[0, 4, 99, 16, 0]]);
    expect(bars({ events: [all], from: 4_990, to: 5_010 })).toEqual([
      [0, 4, 49, 16, 0],
      [50, 4, 99, 16, 1],
    ]);
  });

  it("of several lanes in one row are the mean of them", () => {
    const all = [columns(0, [[2, 10, 1, 0, 0]]), columns(1, [[4, 4, 1, 1, 0]])];
    const packed = { key: "lanes:DMA/0", kind: "lanes" as const, lanes: [0, 1] };
    expect(bars({ columns: all }, packed)).toEqual([
      [2, 10, 3, 16, 0],
      [4, 14, 5, 16, 1],
    ]);
  });

  it("carry labels where there is room, with cut names", () => {
    const all = events(0, [
      [1, 0, 600, 0],
      [2, 600, 850, 2],
      [3, 900, 910, 1],
    ]);
    const frame = frameOf({ rows: [row({ height: 24 })], events: [all], labels: true });
    const list = drawPlot(new DisplayList(), frame, []);
    expect(list.texts.map((text) => text.text)).toEqual(["MATMUL", "AC…"]);
  });
});

describe("rows of series", () => {
  const tile = (id: string, all: [number, number, number, number][]) => ({
    bytes: 0,
    start: 0,
    columnNs: 10,
    series: new Map([
      [
        id,
        {
          id,
          count: all.length,
          columns: Uint32Array.from(all, (c) => c[0]),
          min: Float64Array.from(all, (c) => c[1]),
          max: Float64Array.from(all, (c) => c[2]),
          mean: Float64Array.from(all, (c) => c[3]),
        },
      ],
    ]),
  });

  it("have a band from least to most and a line at the mean", () => {
    const one = series("mfu");
    const frame = frameOf({ rows: [row({ kind: "series", lanes: [], series: [one], height: 20 })], series: tile("mfu", [[3, 0.25, 0.75, 0.5]]) });
    const list = new DisplayList();
    list.section(everything);
    drawSeriesRow(list, frame, frame.rows[0]!);
    const rects = [...list.rects()].map((r) => [r.x0, r.y0, r.x1, r.y1]);
    // From 16 (0) up to 4 (1): half is at 10, a quarter at 13, three quarters at 7.
    expect(rects).toEqual([
      [3, 10, 4, 16],
      [3, 7, 4, 13],
      [3, 10, 4, 11],
    ]);
    expect(new Set([...list.rects()].map((r) => r.colour)).size).toBe(3);
  });

  it("stack those that belong together, and share one axis", () => {
    const parts = [series("sbuf.0", { stack: "s", group: "sbuf" }), series("sbuf.32", { stack: "s", group: "sbuf" })];
    const stacked = row({ kind: "series", lanes: [], series: parts, height: 20 });
    expect(axisTop(stacked)).toBe(1);
    expect(axisTop(row({ series: [series("mfu", { max: 0.0123 })] }))).toBeCloseTo(0.02, 9);
    expect(axisTop(row({ series: [series("dma", { unit: "B/s", max: 512e9 })] }))).toBe(1e12);
    const both = tile("sbuf.0", [[0, 1, 1, 1]]);
    both.series.set("sbuf.32", { ...both.series.get("sbuf.0")!, id: "sbuf.32", mean: Float64Array.of(0.5) });
    const frame = frameOf({ rows: [stacked], series: both });
    const list = new DisplayList();
    list.section(everything);
    drawSeriesRow(list, frame, frame.rows[0]!);
    expect([...list.rects()].map((r) => [r.y0, r.y1])).toEqual([
      [10, 16],
      [7, 10],
    ]);
  });
});

describe("rows of layers and errors", () => {
  const bar = (path: string, from: number, to: number) => ({ name: path, path, from, to, busy: 1 });
  const layers = { bytes: 0, rows: [{ core: 0, depth: 0, bars: [bar("a", 0, 100), bar("a", 100, 300), bar("b", 300, 310), bar("c", 900, 1_500)] }] };
  const rows = [row({ kind: "layers", key: "layers:0/0", lanes: [], depth: 0, height: 24 }), row({ kind: "errors", key: "errors", lanes: [] })];
  const frame = frameOf({ rows, layers, faults: [{ time: 500, text: "OOB" }, { time: 501, text: "OOB" }, { time: 5_000, text: "later" }], labels: true });

  it("are bars that tiles do not cut, and points", () => {
    const list = new DisplayList();
    list.section(everything);
    drawLayerRow(list, frame, frame.rows[0]!);
    // What goes on behind the tile ends with it.
    expect([...list.rects()].map((r) => [r.x0, r.x1])).toEqual([
      [0, 29],
      [30, 31],
      [90, 99],
    ]);
    list.clear();
    list.section(everything);
    drawFaults(list, frame, frame.rows[1]!);
    expect([...list.rects()].map((r) => [r.x0, r.x1])).toEqual([[48, 52]]);
  });

  it("are found under the pointer", () => {
    expect(hit(frame, 20, 10)).toMatchObject({ what: "layer", bar: { path: "a", from: 0, to: 300 } });
    expect(hit(frame, 60, 10)).toMatchObject({ what: "row" });
    expect(hit(frame, 51, 34)).toMatchObject({ what: "fault", fault: { text: "OOB" } });
    expect(hit(frame, 80, 34)).toMatchObject({ what: "row" });
  });
});

describe("plot", () => {
  const world: World = {
    rows: [row({ pinned: true, key: "lane:Vector/0", lanes: [1] }), row({})],
    events: [events(0, [[1, 100, 400, 0]]), events(1, [[2, 200, 500, 1]])],
    marks: [
      { lane: 0, start: 100, end: 400, role: "focus" },
      { lane: 1, start: 200, end: 500, role: "successor" },
    ],
  };

  it("never draws a scrolled row over a pinned one", () => {
    const frame = frameOf({ ...world, scroll: 10 });
    const list = drawPlot(new DisplayList(), frame, []);
    const image = { width: 100, height: 100, words: new Uint32Array(10_000) };
    fill(image, list, frame.theme.background);
    const seen = (x: number, y: number) => image.words[y * 100 + x];
    expect(seen(25, 12)).toBe(KIND_COLOURS[1]);
    // The row of Tensor is scrolled half behind: what is left of it is below 20.
    expect(seen(15, 22)).toBe(KIND_COLOURS[0]);
    expect(seen(15, 18)).not.toBe(KIND_COLOURS[0]);
  });

  it("marks the focus and draws arrows to what depends on it", () => {
    const list = drawPlot(new DisplayList(), frameOf(world), []);
    const [arrow] = list.lines;
    expect(arrow).toMatchObject({ points: [40, 30, 20, 10], arrow: true, colour: "#5b6cff" });
    expect([...list.rects()].some((rect) => css(rect.colour) === "#ffffff")).toBe(true);
  });

  it("is the same picture for the raster and for the SVG", () => {
    const frame = frameOf(world);
    const marks = ticks(frame.window, 100, "ns", 50);
    const list = drawPlot(new DisplayList(), frame, marks);
    const text = svg([{ list, x: 0, y: 0 }], 100, 100, frame.theme.background, `<b>"a" & 'b'</b>\u0001`);
    expect(text).toContain("<title>&lt;b&gt;&quot;a&quot; &amp; &apos;b&apos;&lt;/b&gt;\ufffd</title>");
    // Paints the paths of the document as the raster paints rectangles.
    const image = new Uint32Array(10_000).fill(frame.theme.background);
    const clips = new Map(
      [...text.matchAll(/<clipPath id="(.*?)"><rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"/g)].map((m) => [m[1]!, m.slice(2).map(Number)]),
    );
    let clip: number[] = [];
    for (const m of text.matchAll(/clip-path="url\(#(.*?)\)"|<path fill="(#......)" d="(.*?)"/g)) {
      if (m[1]) clip = clips.get(m[1])!;
      for (const part of (m[3] ?? "").matchAll(/M(\S+) (\S+)H(\S+)V(\S+)H\S+?z/g)) {
        const [x0, y0, x1, y1] = part.slice(1).map(Number) as [number, number, number, number];
        const [cx, cy, cw, ch] = clip as [number, number, number, number];
        for (let y = Math.max(y0, cy); y < Math.min(y1, cy + ch); y += 1) {
          for (let x = Math.max(x0, cx); x < Math.min(x1, cx + cw); x += 1) image[y * 100 + x] = pack(parse(m[2]!));
        }
      }
    }
    const raster = { width: 100, height: 100, words: new Uint32Array(10_000) };
    fill(raster, list, frame.theme.background);
    expect(Buffer.from(image.buffer).equals(Buffer.from(raster.words.buffer))).toBe(true);
    expect(new Set(raster.words).size).toBeGreaterThan(4);
  });

  it("has labels of the axis that stay inside", () => {
    const window = { from: 0, to: 2_067_998 };
    const list = axisList(window, ticks(window, 800, "ns"), 800, 1, "#ffffff");
    expect(list.texts[0]!.text).toBe("0");
    expect(list.texts.at(-1)!.text).toBe("2.068 ms");
    for (const { x, text, size } of list.texts) {
      const half = (text.length * size * 0.602) / 2;
      expect(x - half).toBeGreaterThanOrEqual(0);
      expect(x + half).toBeLessThanOrEqual(800);
    }
  });
});

describe("raster", () => {
  it("clips, blends where asked, and keeps within the image", () => {
    const list = new DisplayList(2);
    list.section({ x: 2, y: 2, width: 4, height: 4 });
    list.rect(-100, -100, 100, 100, pack(parse("#ff0000")));
    list.section({ x: 0, y: 0, width: 8, height: 8 }, true);
    list.rect(4, 4, 8, 8, pack(parse("#0000ff"), 128));
    // More than there was room for.
    list.rect(0, 0, 1, 1, pack(parse("#ffffff")));
    const image = { width: 8, height: 8, words: new Uint32Array(64) };
    fill(image, list, pack(parse("#000000")));
    const at = (x: number, y: number) => css(image.words[y * 8 + x]!);
    expect([at(1, 1), at(2, 2), at(3, 5), at(6, 3)]).toEqual(["#000000", "#ff0000", "#ff0000", "#000000"]);
    expect([at(5, 5), at(7, 7), at(0, 0)]).toEqual(["#7f0080", "#000080", "#ffffff"]);
  });

  it("escapes text of any kind", () => {
    expect(escape("a<b>&\"'")).toBe("a&lt;b&gt;&amp;&quot;&apos;");
  });
});
