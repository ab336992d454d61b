import { describe, expect, it } from "vitest";
import type { Lane } from "../api/types";
import { allRows } from "../timeline/rows";
import type { Op, Run } from "./api";
import { chosen } from "./choice";
import { byCore, coresOf } from "./operators";
import { pageNumbers, sorted } from "./paged";
import { drawn, labelled, shareText } from "./pie";
import { argumentLines } from "./trace";

const op = (name: string, time_ns: number, neuron_core = 0): Op => ({ name, occurrences: 1, neuron_device: 0, neuron_core, time_ns });

describe("pies", () => {
  it("begin with the largest, and tell shares with one decimal at most", () => {
    const slices = drawn([op("tanh", 159), op("dot", 279), op("maximum", 276)].map((one) => ({ name: one.name, value: one.time_ns })));
    expect(slices.map((one) => [one.name, shareText(one.to - one.from)])).toEqual([["dot", "39.1%"], ["maximum", "38.7%"], ["tanh", "22.3%"]]);
    expect([slices[0]!.from, slices[2]!.to]).toEqual([0, 1]);
    expect(shareText(1)).toBe("100%");
  });

  it("join what is small, and leave out nothing", () => {
    const slices = drawn(Array.from({ length: 14 }, (_, i) => ({ name: `op${i}`, value: 100 - i })));
    expect(slices.length).toBe(10);
    expect(slices[9]!.name).toBe("5 others");
    expect(slices.reduce((sum, one) => sum + one.value, 0)).toBe(14 * 100 - 91);
    expect(drawn([{ name: "none", value: 0 }])).toEqual([]);
    // A thin slice has room for words where it lies on its side, and none where it stands.
    expect(labelled({ from: 0.23, to: 0.272 })).toBe(true);
    expect(labelled({ from: 0.958, to: 1 })).toBe(false);
    expect(labelled({ from: 0.94, to: 1 })).toBe(true);
  });

  it("sum by core, in the order of cores", () => {
    const ops = [op("a", 3, 10), op("b", 4, 2), op("c", 5, 10)];
    expect(coresOf(ops)).toEqual(["NeuronDevice 0 NeuronCore 2", "NeuronDevice 0 NeuronCore 10"]);
    expect(byCore(ops)).toEqual([{ name: "NeuronDevice 0 NeuronCore 10", value: 8 }, { name: "NeuronDevice 0 NeuronCore 2", value: 4 }]);
  });
});

describe("the table", () => {
  it("sorts numbers as numbers, names with their numbers, and keeps what has no value last", () => {
    const rows = [{ n: "op10", v: 2 }, { n: "op9", v: null }, { n: "op2", v: 10 }];
    const of = (id: "n" | "v") => ({ id, title: id, value: (row: (typeof rows)[number]) => row[id] });
    expect(sorted(rows, of("n"), false).map((row) => row.n)).toEqual(["op2", "op9", "op10"]);
    expect(sorted(rows, of("v"), false).map((row) => row.v)).toEqual([2, 10, null]);
    expect(sorted(rows, of("v"), true).map((row) => row.v)).toEqual([10, 2, null]);
  });

  it("has buttons for the ends and what is around", () => {
    expect(pageNumbers(0, 1)).toEqual([0]);
    expect(pageNumbers(5, 10)).toEqual([0, null, 4, 5, 6, null, 9]);
    expect(pageNumbers(1, 4)).toEqual([0, 1, 2, 3]);
  });
});

describe("the choice", () => {
  const runs = [{ run: "1", name: "a", tools: ["trace"], stamp: "" }, { run: "2", name: "b", tools: ["operator-hlo", "device"], stamp: "" }] as Run[];
  it("is what was chosen as far as it is there", () => {
    expect(chosen(runs, "b", "device")).toEqual({ run: runs[1], tool: "device" });
    expect(chosen(runs, "b", "trace")).toEqual({ run: runs[1], tool: "operator-hlo" });
    expect(chosen(runs, "gone", "device")).toEqual({ run: runs[0], tool: "trace" });
    expect(chosen([], null, null)).toBeNull();
  });
});

describe("a slice", () => {
  it("tells the members of a fused one line by line", () => {
    expect(argumentLines('{"fused":"m/a,\\nm/b"}')).toEqual([["fused", ["m/a", "m/b"]]]);
    expect(argumentLines('{"n":1,"o":{"p":2}}')).toEqual([["n", ["1"]], ["o", ['{"p":2}']]]);
    expect(argumentLines("broken")).toEqual([["args", ["broken"]]]);
    expect([argumentLines(null), argumentLines(""), argumentLines("[1]")]).toEqual([[], [], []]);
  });
});

describe("rows of a timeline that others drew", () => {
  const lane = (number: number, group: string, name: string): Lane => ({ number, kind: "system", core: 0, name, group, table: "SystemProfileEvents", first_row: 0, rows: 1, start_ns: 0, end_ns: 1 });
  const settings = { hiddenRows: [], pinnedRows: [], rowOrder: [], rowHeights: {}, groupBy: "kind", expandedDma: false, shownSeries: null, semaphores: [], layerRows: false } as const;
  it("stand as they are, under the names of their processes", () => {
    const rows = allRows([lane(0, "Process Overview", "DMA Busy"), lane(1, "Process Control", ""), lane(2, "Process Control", ""), lane(3, "Process Control", "HLO Ops")], [], settings);
    expect(rows.map((row) => [row.label, row.lanes, row.heading === true])).toEqual([
      ["Process Overview", [], true],
      ["DMA Busy", [0], false],
      ["Process Control", [], true],
      ["", [1], false],
      ["", [2], false],
      ["HLO Ops", [3], false],
    ]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });
});
