import { describe, expect, it } from "vitest";
import { DisplayList } from "./display-list";
import { hitWarning } from "./hit";
import { hitLines } from "./hover-fields";
import { drawBackdrop } from "./scene/backdrop";
import { frameOf, row } from "./testing";
import { type Warning, limits, ofFaults, outside } from "./warnings";

const limit = (timestamp: number, duration: number, k: number, pcore_idx = 0) => ({ timestamp, duration, k, n: 4, pcore_idx });

describe("warnings", () => {
  it("are limits below all cycles, joined where they say the same", () => {
    const found = limits([limit(0, 10, 2), limit(10, 5, 4), limit(15, 5, 2), limit(21, 5, 2), limit(26, 4, 1), limit(0, 50, 3, 1)]);
    expect(found.map(({ from, to, text }) => [from, to, text])).toEqual([
      [0, 10, "NeuronCore 0: 50 % of the cycles may be used (2 of 4)"],
      [15, 26, "NeuronCore 0: 50 % of the cycles may be used (2 of 4)"],
      [26, 30, "NeuronCore 0: 25 % of the cycles may be used (1 of 4)"],
      [0, 50, "NeuronCore 1: 75 % of the cycles may be used (3 of 4)"],
    ]);
    expect(limits([{ k: "2", n: 4, timestamp: 0, duration: 1 }, {}])).toEqual([]);
  });

  it("are told apart: errors, and records that were lost", () => {
    const faults = [{ time: 5, text: "OOB" }, { time: 9, text: "lost", loss: true }];
    expect(ofFaults(faults).map(({ kind, from, to }) => [kind, from, to])).toEqual([["error", 5, 5], ["loss", 9, 9]]);
    // A page of a server has all events.
    expect(outside(1000)).toEqual([]);
  });

  const band = (from: number, to: number, kind: Warning["kind"], text = kind): Warning => ({ from, to, kind, text });
  const frame = frameOf({ rows: [row({})], warnings: [band(100, 900, "throttling"), band(400, 600, "outside"), band(500, 500, "error")] });

  it("are drawn behind everything, cut at the edges", () => {
    const list = new DisplayList();
    list.section({ x: 0, y: 0, width: 100, height: 100 });
    drawBackdrop(list, frameOf({ rows: [], warnings: [band(-100, 500, "throttling"), band(2000, 3000, "loss")] }), [], { x: 0, y: 0, width: 100, height: 100 }, false);
    expect([...list.rects()].map((r) => [r.x0, r.x1, r.y0, r.y1])).toEqual([
      [0, 50, 0, 100],
      [0, 50, 0, 3],
    ]);
  });

  it("speak where nothing else is: the shortest of several, moments from a little way off", () => {
    const at = (x: number) => hitWarning(frame, x)?.warning.kind ?? null;
    expect([at(5), at(20), at(45), at(51), at(95)]).toEqual([null, "throttling", "outside", "error", null]);
    const lines = hitLines(hitWarning(frame, 20)!, () => "", "", null, "");
    expect(lines.map(([label]) => label)).toEqual(["Warning", "Time", "Duration", "What"]);
  });
});

describe("moments that warn", () => {
  it("are drawn once for each pixel, however many they are", () => {
    const warnings = Array.from({ length: 5_000 }, (_, i) => ({ from: i / 5, to: i / 5, kind: "error" as const, text: "" }));
    const frame = frameOf({ rows: [row({})], warnings });
    const list = new DisplayList();
    const clip = { x: 0, y: 0, width: frame.width, height: frame.height };
    list.section(clip);
    drawBackdrop(list, { ...frame, warnings: [] }, [], clip, false);
    const others = list.count;
    list.clear();
    list.section(clip);
    drawBackdrop(list, frame, [], clip, false);
    expect(new Set([...list.rects()].map(({ x0 }) => x0)).size).toBeGreaterThanOrEqual(frame.width);
    expect(list.count - others).toBeLessThanOrEqual(frame.width + 1);
  });
});
