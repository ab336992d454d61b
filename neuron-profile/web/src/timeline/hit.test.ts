import { describe, expect, it } from "vitest";
import type { Lane } from "../api/types";
import { colourOf, nameless, pack, parse } from "./colour";
import { hit, snap } from "./hit";
import { eventLines, hitLines } from "./hover-fields";
import type { Kinds } from "./kinds";
import { legendOf } from "./legend";
import { strips } from "./minimap-draw";
import { drawLaneRow } from "./scene/lanes";
import { DisplayList } from "./display-list";
import { Scheme, layerAt } from "./scheme";
import { columns, events, frameOf, row, series } from "./testing";

describe("what is under the pointer", () => {
  const few = events(0, [
    [7, 100, 300, 0],
    [8, 200, 400, 1],
    [9, 500, 500, 2],
  ]);
  const world = { rows: [row({}), row({ key: "lane:Vector/0", lanes: [1] })], events: [few], columns: [columns(1, [[50, 5, 3, 1, 70]])] };
  const frame = frameOf(world);

  it("is the event at this time and height", () => {
    expect(hit(frame, 15, 8)).toMatchObject({ what: "event", place: 7, start: 100, end: 300 });
    expect(hit(frame, 25, 6)).toMatchObject({ place: 7 });
    expect(hit(frame, 25, 13)).toMatchObject({ place: 8 });
    // Where only one of the two is, its height does not matter.
    expect(hit(frame, 35, 6)).toMatchObject({ place: 8 });
  });

  it("is a thin event nearby, also one of no length", () => {
    expect(hit(frame, 52, 10)).toMatchObject({ place: 9 });
    expect(hit(frame, 48, 10)).toMatchObject({ place: 9 });
    expect(hit(frame, 60, 10)).toMatchObject({ what: "row" });
  });

  it("is a column where events are many", () => {
    expect(hit(frame, 50.5, 30)).toMatchObject({ what: "column", lane: 1, events: 3, share: 0.5, place: 70, from: 500, to: 510 });
    expect(hit(frame, 53, 30)).toMatchObject({ what: "column" });
    expect(hit(frame, 70, 30)).toMatchObject({ what: "row" });
    expect(hit(frame, 70, 90)).toBeNull();
  });

  it("is the same after each bar that was drawn, at its middle", () => {
    const all = events(
      0,
      Array.from({ length: 60 }, (_, i) => [i, i * 16, i * 16 + 12 + (i % 3) * 9, i % 3] as const),
    );
    const one = frameOf({ rows: [row({ height: 60 })], events: [all], width: 2_000 });
    const list = new DisplayList();
    list.section({ x: 0, y: 0, width: 2_000, height: 100 });
    drawLaneRow(list, one, one.rows[0]!);
    let place = 0;
    for (const rect of list.rects()) {
      expect(hit(one, (rect.x0 + rect.x1) / 2, (rect.y0 + rect.y1) / 2)).toMatchObject({ what: "event", place });
      place += 1;
    }
    expect(place).toBe(60);
  });

  it("are the values of a series", () => {
    const tile = {
      bytes: 0,
      start: 0,
      columnNs: 10,
      series: new Map([["mfu", { id: "mfu", count: 1, columns: Uint32Array.of(3), min: Float64Array.of(0), max: Float64Array.of(1), mean: Float64Array.of(0.25) }]]),
    };
    const one = frameOf({ rows: [row({ kind: "series", lanes: [], series: [series("mfu")], label: "MFU" })], series: tile });
    const found = hit(one, 3.5, 10)!;
    expect(found).toMatchObject({ what: "series", values: [{ min: 0, max: 1, mean: 0.25 }] });
    expect(hitLines(found, () => "", "", null, "")).toEqual([
      ["Name", "MFU"],
      ["Time", "35 ns"],
      ["Average", "25 %"],
      ["Least", "0 %"],
      ["Most", "100 %"],
    ]);
    expect(hit(one, 80, 10)).toMatchObject({ what: "series", values: [] });
  });

  it("gives edges to stick to", () => {
    expect(snap(frame, 296, 1)).toBe(300);
    expect(snap(frame, 405, 1)).toBe(400);
    expect(snap(frame, 450, 1)).toBe(450);
  });
});

describe("hover box", () => {
  it("has the fields of picture 04 in its order", () => {
    const fields = {
      opcode: "MATMUL",
      operands: "S[5] (Tensor)++@complete 128*128",
      hlo_name: "custom-call.3",
      tensor_instruction_type: "TRANSPOSE",
      compiler_pc: 5394,
      stack_frame_ids: "33",
      nki_source_location: null,
    };
    expect(eventLines("Instruction", "MATMUL", 1_176_253, 1_176_697, fields)).toEqual([
      ["Name", "S[5] (Tensor)++@complete 128*128"],
      ["Time", "1,176,253 ns − 1,176,697 ns"],
      ["Duration", "444 ns"],
      ["Opcode", "MATMUL"],
      ["Hierarchy", "custom-call.3"],
      ["Instruction Type", "TRANSPOSE"],
      ["Compiler PC", "5394"],
      ["Stack Frame ID(s)", "33"],
    ]);
  });

  it("says at once what is in hand", () => {
    expect(eventLines("DmaPacket", "qSyncIO0", 0, 2_000, null)).toEqual([
      ["Name", "qSyncIO0"],
      ["Time", "0 ns − 2,000 ns"],
      ["Duration", "2 µs"],
      ["Queue", "qSyncIO0"],
    ]);
    const long = eventLines("Instruction", "X", 0, 1, { operands: "y".repeat(1_000_000), opcode: "X" });
    expect(long[0]![1].length).toBe(300);
  });
});

describe("colours of events", () => {
  const lane = (number: number, name: string, kind = "engine"): Lane => ({
    number,
    kind,
    core: 0,
    name,
    table: "Instruction",
    first_row: 0,
    rows: 1,
    start_ns: 0,
    end_ns: 1,
  });
  const lanes = [lane(0, "Tensor"), lane(1, "DMA-E64", "dma"), lane(2, "Vector")];
  const kinds = {
    version: 1,
    name: (kind: number) => ["MATMUL", "COPY", "EVENT_SEMAPHORE"][kind] ?? "",
    layer: (kind: number) => ["model/block1/attn/dot", "model/block1/mlp", null][kind] ?? null,
    operator: (kind: number) => ["dot.4", null, null][kind] ?? null,
  } as unknown as Kinds;
  const background = pack(parse("#141a21"));
  const scheme = (more: object) =>
    new Scheme({ colourBy: "name", dmaColourBy: "queue", rules: [], layerDepth: 0, ...more }, kinds, lanes, "dark", background);

  it("follow the scheme", () => {
    expect(scheme({}).entry(0, 0)).toEqual({ label: "MATMUL", colour: colourOf("MATMUL", "dark") });
    expect(scheme({}).colour(2, 0)).toBe(nameless("dark"));
    expect(scheme({ colourBy: "layer" }).entry(0, 0).label).toBe("model/block1/attn/dot");
    expect(scheme({ colourBy: "layer", layerDepth: 2 }).entry(0, 0)).toEqual(scheme({ colourBy: "layer", layerDepth: 2 }).entry(1, 0));
    expect(scheme({ colourBy: "layer" }).entry(2, 0).colour).toBe(nameless("dark"));
    expect(scheme({ colourBy: "operator" }).entry(1, 0).label).toBe("model/block1/mlp");
    expect(scheme({ colourBy: "engine" }).entry(0, 2).label).toBe("Vector");
    expect(scheme({ colourBy: "engine" }).entry(0, 1).label).toBe("MATMUL");
    expect(scheme({ dmaColourBy: "engine" }).entry(0, 1).label).toBe("DMA-E64");
    expect(layerAt("/a/b/c", 2)).toBe("a/b");
  });

  it("follow the rules of a person, the first that fits", () => {
    const rules = [
      { text: "attn", regex: false, colour: "#ff0000" },
      { text: "^(MAT|CO)", regex: true, colour: "#00ff00" },
      { text: "(", regex: true, colour: "#0000ff" },
    ];
    const own = scheme({ colourBy: "rules", rules });
    expect([own.colour(0, 0), own.colour(1, 0), own.colour(2, 0)]).toEqual([
      pack(parse("#ff0000")),
      pack(parse("#00ff00")),
      nameless("dark"),
    ]);
  });

  it("are dimmed but for the one that is pointed at in the legend", () => {
    const one = scheme({});
    one.choose("COPY");
    expect(one.colour(1, 0)).toBe(colourOf("COPY", "dark"));
    expect(one.colour(0, 0)).not.toBe(colourOf("MATMUL", "dark"));
  });

  it("have a legend with shares of what is seen", () => {
    const frame = frameOf({
      rows: [row({})],
      columns: [
        columns(0, [
          [0, 10, 1, 0, 0],
          [1, 10, 0, 0, 0],
          [9, 5, 1, 1, 1],
          [90, 10, 1, 2, 2],
        ]),
      ],
      to: 100,
    });
    const entries = legendOf(frame, scheme({}));
    expect(entries.map((entry) => [entry.label, entry.share])).toEqual([
      ["MATMUL", 0.8],
      ["COPY", 0.2],
    ]);
  });

  it("of the minimap are of kinds of rows, in their order", () => {
    const more = [...lanes, { ...lane(3, "DMA-E65", "dma"), core: 1 }, { ...lane(4, "Tensor"), core: 1 }];
    expect(strips(more)).toEqual([
      { name: "DMA", lanes: [1, 3] },
      { name: "Tensor", lanes: [0, 4] },
      { name: "Vector", lanes: [2] },
    ]);
  });
});
