import { describe, expect, it } from "vitest";
import type { Lane } from "../api/types";
import { type RowSettings, type Series, allRows, moved, shownRows } from "./rows";

const settings: RowSettings = {
  hiddenRows: [],
  pinnedRows: [],
  rowOrder: [],
  rowHeights: {},
  groupBy: "kind",
  expandedDma: true,
  shownSeries: null,
  semaphores: [],
  layerRows: false,
};

let number = 0;
const lane = (name: string, core: number, kind = "engine"): Lane => ({
  number: number++,
  kind,
  core,
  name,
  table: kind === "dma" ? "DmaPacket" : "Instruction",
  first_row: 0,
  rows: 1,
  start_ns: 0,
  end_ns: 1,
});
const series = (id: string, name: string, more: Partial<Series> = {}): Series => ({
  id,
  name,
  unit: "",
  max: 1,
  group: "",
  core: null,
  stack: null,
  description: "",
  ...more,
});

// In the order of the store: by core, engines before DMA engines.
const engines = ["GpSimd", "Scalar", "Sync", "Tensor", "TensorMatrix", "Vector"];
const lanes = [0, 1].flatMap((core) => [
  ...engines.map((name) => lane(name, core)),
  ...["DMA-E9", "DMA-E10"].map((name) => lane(name, core, "dma")),
]);
const lines = [
  series("hfu_cumulative", "Estimated Cumulative HFU"),
  series("hfu", "Estimated Instant HFU"),
  series("mfu", "Estimated Instant MFU"),
  series("dma_throughput", "DMA Throughput"),
  series("dma_cumulative", "Cumulative DMA Throughput"),
  series("hbm_throughput", "HBM Throughput"),
  series("pending", "Pending DMA Count"),
  series("sem.0", "Semaphore"),
  series("throttle.nc1", "Throttling(nc1)"),
  series("throttle.nc0", "Throttling(nc0)"),
  series("psum", "PSUM Usage"),
  series("sbuf", "State Buffer Usage"),
];

describe("rows", () => {
  it("stand as in pictures 02 and 03", () => {
    const labels = shownRows(lanes, lines, settings).map((row) => row.label);
    expect(labels).toEqual([
      "DMA-E9(nc1)",
      "DMA-E10(nc1)",
      "DMA-E9(nc0)",
      "DMA-E10(nc0)",
      "Sync(nc1)",
      "Sync(nc0)",
      "Tensor(nc1)",
      "Tensor(nc0)",
      "TensorMatrix(nc1)",
      "TensorMatrix(nc0)",
      "Vector(nc1)",
      "Vector(nc0)",
      "Scalar(nc1)",
      "Scalar(nc0)",
      "GpSimd(nc1)",
      "GpSimd(nc0)",
      "State Buffer Usage",
      "PSUM Usage",
      "Throttling(nc1)",
      "Throttling(nc0)",
      "Semaphore",
      "Pending DMA Count",
      "HBM Throughput",
      "Cumulative DMA Throughput",
      "DMA Throughput",
      "Estimated Instant MFU",
      "Estimated Instant HFU",
      "Estimated Cumulative HFU",
    ]);
  });

  it("of one core have no core in their names", () => {
    const one = lanes.filter((lane) => lane.core === 0);
    expect(shownRows(one, [], settings)[0]!.label).toBe("DMA-E9");
  });

  it("of DMA engines are one for a core until they are unfolded", () => {
    const folded = shownRows(lanes, [], { ...settings, expandedDma: false });
    expect(folded.slice(0, 2).map((row) => row.label)).toEqual(["DMA ×2(nc1)", "DMA ×2(nc0)"]);
    expect(folded[1]!.lanes).toEqual(lanes.filter((l) => l.core === 0 && l.kind === "dma").map((l) => l.number));
    expect(folded.length).toBe(14);
  });

  it("of series that are stacked are one, as those of the semaphores that are chosen", () => {
    const of = (id: string, group: string, stack: string | null, core = 0) => series(id, id, { group, stack, core });
    const all = [
      of("sbuf.0.0", "sbuf", "sbuf.0"),
      of("sbuf.32.0", "sbuf", "sbuf.0"),
      of("sbuf.avg.0", "sbuf", null),
      of("semaphore.3.0", "semaphore", null),
      { ...of("semaphore.9.0", "semaphore", null), max: 0 },
      of("active_tensor.0", "active", null),
      of("mfu.0", "utilisation", null),
      of("tensor_matrix.0", "utilisation", null),
    ];
    const rows = shownRows([], all, settings);
    expect(rows.map((row) => [row.label, row.series.map((one) => one.id)])).toEqual([
      ["State Buffer Usage", ["sbuf.0.0", "sbuf.32.0"]],
      ["Semaphore semaphore.3.0", ["semaphore.3.0"]],
      ["tensor_matrix.0", ["tensor_matrix.0"]],
      ["mfu.0", ["mfu.0"]],
    ]);
    const two = shownRows([], all, { ...settings, semaphores: ["semaphore.9.0", "semaphore.3.0"] });
    expect(two[1]!.series.map((one) => one.id)).toEqual(["semaphore.3.0", "semaphore.9.0"]);
    const chosen = shownRows([], all, { ...settings, shownSeries: ["active_tensor.0"] });
    expect(chosen.map((row) => row.label)).toEqual(["active_tensor.0"]);
  });

  it("of errors and layers stand at the top, layers only if wished", () => {
    const extras = { errors: true, layers: [{ core: 0, depth: 1 }, { core: 0, depth: 0 }, { core: 1, depth: 0 }] };
    const labels = (layerRows: boolean) => shownRows(lanes, [], { ...settings, layerRows }, extras).map((row) => row.label);
    expect(labels(true).slice(0, 5)).toEqual(["Errors", "Layer 1(nc1)", "Layer 1(nc0)", "Layer 2(nc0)", "DMA-E9(nc1)"]);
    expect(labels(false).slice(0, 2)).toEqual(["Errors", "DMA-E9(nc1)"]);
  });

  it("keep a person's order, hiding, height and group", () => {
    const all = shownRows(lanes, [], settings);
    const order = moved(all, "lane:Vector/0", "lane:DMA-E9/1");
    const changed = shownRows(lanes, [], {
      ...settings,
      rowOrder: order,
      hiddenRows: ["lane:Sync/0"],
      rowHeights: { "lane:Vector/0": 60, "lane:Tensor/0": 1 },
    });
    expect(changed[0]!.key).toBe("lane:Vector/0");
    expect(changed[0]!.height).toBe(60);
    expect(changed.find((row) => row.key === "lane:Tensor/0")!.height).toBe(10);
    expect(changed.some((row) => row.key === "lane:Sync/0")).toBe(false);
    expect(changed.length).toBe(all.length - 1);
    const cores = shownRows(lanes, [], { ...settings, groupBy: "core" }).map((row) => row.core);
    expect(cores).toEqual([...Array(8).fill(1), ...Array(8).fill(0)]);
  });

  it("that a saved order does not know stay where they usually are", () => {
    const order = ["lane:GpSimd/0", "lane:Sync/1"];
    const keys = allRows(lanes, [], { ...settings, rowOrder: order }).map((row) => row.key);
    expect(keys.indexOf("lane:GpSimd/0")).toBe(4);
    expect(keys.indexOf("lane:Sync/1")).toBe(15);
    expect(keys.indexOf("lane:Sync/0")).toBe(5);
  });
});
