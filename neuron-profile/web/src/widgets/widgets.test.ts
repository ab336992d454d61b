// Widgets without a page: the pure parts.

import { describe, expect, it } from "vitest";
import type { Metric, TreeNode } from "../api/trees";
import { metricTree } from "../parts/cores";
import { branches } from "../parts/tree";
import { metricOf } from "./dashboard";
import { diffMetrics, diffTrees } from "./diff";
import { flameRows } from "./flame";
import { held } from "./lines";
import { nodeQuery } from "./operators";
import { peaks, points } from "./roofline";
import type { Transfer } from "../api/system";
import { targetOf, deviceUrl } from "./drill";
import { bandwidth, categoriesAt, processorRows } from "./system-lines";
import { rowOf, systemRows, withoutShared } from "./system-rows";

const metric = (name: string, value: number, core: number | null = null): Metric => ({ name, group: "", core, unit: null, value });
const node = (of: Partial<TreeNode> & { node: number; name: string }): TreeNode => ({
  parent: null, depth: 0, path: of.name, leaf: true, count: 1, time_ns: 0, busy_ns: 0, wait_ns: 0, share: 0, engines: {}, flops: 0, transpose_flops: 0, hfu: 0, mfu: 0,
  hbm_read_bytes: 0, hbm_write_bytes: 0, sbuf_read_bytes: 0, sbuf_write_bytes: 0, psum_read_bytes: 0, psum_write_bytes: 0, spill_save_bytes: 0, spill_reload_bytes: 0, dma_bytes: 0,
  ...of,
});

describe("metrics", () => {
  it("stand by group and core", () => {
    const tree = metricTree([metric("total_time", 0.001), metric("tensor_engine_active_time", 0.0005, 0), metric("tensor_engine_active_time", 0.0002, 1)], "auto");
    expect(tree.map((one) => [one.name, one.below.map((each) => each.name)])).toEqual([
      ["Overall", ["Total time"]],
      ["Tensor engine", ["NeuronCore 0", "NeuronCore 1"]],
    ]);
    expect(tree[1]?.below[1]?.below[0]).toMatchObject({ value: "200 µs", raw: 0.0002 });
  });

  it("of all cores are the common one, a sum, or a mean of fractions", () => {
    const all = [metric("hbm_read_bytes", 5, 0), metric("hbm_read_bytes", 7, 1), metric("hfu_estimated_percent", 0.2, 0), metric("hfu_estimated_percent", 0.4, 1), metric("x", 9), metric("x", 1, 0)];
    expect(metricOf(all, "hbm_read_bytes")).toBe(12);
    expect(metricOf(all, "hfu_estimated_percent")).toBeCloseTo(0.3);
    expect(metricOf(all, "x")).toBe(9);
    expect(metricOf(all, "y")).toBe(null);
  });

  it("of two profiles are paired by name and core", () => {
    const [group] = diffMetrics([metric("total_time", 2), metric("trace_count", 0)], [metric("total_time", 3), metric("event_count", 4)]);
    expect(group?.below.map((one) => [one.name, one.first, one.second, one.delta, one.ratio])).toEqual([
      ["Total time", 2, 3, 1, 1.5],
      ["Trace count", 0, null, null, null],
      ["Event count", null, 4, null, null],
    ]);
  });
});

describe("trees", () => {
  const nodes = [node({ node: 1, name: "model", busy_ns: 10, leaf: false }), node({ node: 2, parent: 1, name: "mlp", busy_ns: 4 }), node({ node: 3, parent: 1, name: "attn", busy_ns: 6 })];

  it("of two profiles are paired by name, one level after the other", () => {
    const [model] = diffTrees(nodes, [node({ node: 9, name: "model", busy_ns: 12 }), node({ node: 8, parent: 9, name: "attn", busy_ns: 1 }), node({ node: 7, parent: 9, name: "new", busy_ns: 2 })]);
    expect([model?.delta, model?.below.map((one) => [one.name, one.first, one.second])]).toEqual([2, [["mlp", 4, 0], ["attn", 6, 1], ["new", 0, 2]]]);
  });

  it("are flames with the widest first, under their parent", () => {
    const { rows, total, known } = flameRows(branches(nodes));
    expect(total).toBe(10);
    expect(rows.map((row) => row.bars.map((bar) => [bar.name, bar.from, bar.to]))).toEqual([[["model", 0, 10]], [["attn", 0, 6], ["mlp", 6, 10]]]);
    expect(known.get("2")?.path.map((one) => one.name)).toEqual(["model"]);
  });

  it("are found again by a search", () => {
    const [model] = branches(nodes);
    expect(nodeQuery("layer", { ...model!, path: "a b/c" })).toEqual({ table: "Instruction", query: 'layer~"a b/c"' });
    expect(nodeQuery("opcode", { ...model!, leaf: true, name: "MATMUL" }).query).toBe("opcode=MATMUL");
  });
});

describe("a roofline", () => {
  it("has peaks of the hardware, and points of what multiplies and moves", () => {
    const peak = peaks({ tensor_engine_num_rows: 128, tensor_engine_num_cols: 128, tensor_engine_clock_freq: 2.4, hbm_ddr_bandwidth: 716e9 });
    expect(peak).toEqual({ flops: 128 * 128 * 2 * 2.4e9, bytes: 716e9 });
    expect(peaks({})).toBe(null);
    const found = points([node({ node: 1, name: "a", flops: 300, transpose_flops: 100, hbm_read_bytes: 50, busy_ns: 10 }), node({ node: 2, name: "b", flops: 300, busy_ns: 10 }), node({ node: 3, name: "c", hbm_read_bytes: 9, busy_ns: 10 })], peak!);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ intensity: 4, reached: 2e10, roof: 4 * 716e9 });
  });
});

describe("lines and host events", () => {
  it("hold a value until the next", () => {
    const values = { id: "x", count: 2, min: new Float64Array(2), max: new Float64Array(2), mean: new Float64Array([3, 5]), columns: new Uint32Array([1, 4]) };
    expect([...held(values, 6)]).toEqual([0, 3, 3, 3, 5, 5]);
    expect([...held(null, 2)]).toEqual([0, 0]);
  });

  it("stand on rows by grouping, under each other where they overlap", () => {
    const event = (row: number, start: number, end: number, more = {}) => ({ row, start_ts: start, end_ts: end, name: `e${row}`, instance_id: "i", process_id: 1, thread_id: 2, nc_idx: 3, pcore_idx: 0, trace_event_source: "neuron_rt", ...more });
    expect(rowOf(event(0, 0, 1), "default")).toBe("i/PID:1/neuron_rt/NC:3");
    expect(rowOf(event(0, 0, 1, { trace_event_source: "framework" }), "default")).toBe("i/PID:1/framework/TID:2");
    expect(rowOf(event(0, 0, 1, { trace_event_source: "neuron_hw" }), "default")).toBe("i/PID:1/neuron_hw/NC3:0");
    const rows = systemRows([event(0, 0, 10), event(1, 2, 5), event(2, 10, 12)], "process", () => "red");
    expect(rows.map((row) => [row.label, row.bars.map((bar) => bar.key)])).toEqual([["i/PID:1", ["0", "2"]], ["", ["1"]]]);
  });
});

describe("a run", () => {
  it("names its rows by what tells them apart", () => {
    const rows = (labels: string[]) => withoutShared(labels.map((label) => ({ label, bars: [] }))).map((row) => row.label);
    expect(rows(["i/PID:1/neuron_hw/NC0:4", "", "i/PID:1/neuron_rt/NC:0"])).toEqual(["neuron_hw/NC0:4", "", "neuron_rt/NC:0"]);
    expect(rows(["i/PID:1", "j/PID:1"])).toEqual(["i/PID:1", "j/PID:1"]);
    expect(rows(["i"])).toEqual(["i"]);
  });

  it("has the bandwidth of the transfers under way", () => {
    const one = (start_ns: number, end_ns: number, bytes: number): Transfer => ({ direction: "host_to_device", core: 0, start_ns, end_ns, bytes, row: 0 });
    expect(bandwidth([one(0, 10, 100), one(5, 10, 50), one(20, 20, 8)])).toEqual({ times: [0, 5, 10, 20, 21], values: [10e9, 20e9, 0, 8e9, 0] });
    expect(bandwidth([])).toEqual({ times: [], values: [] });
  });

  it("has processors together or each, and the categories of a memory at a time", () => {
    const rows = [[0, "0", 10], [0, "1", 30], [5, "0", 50]].map(([timestamp, cpu_id, util_percent], row) => ({ row, timestamp: timestamp!, cpu_id: cpu_id!, util_percent: util_percent! }));
    expect(processorRows(rows, "red", false)[0]?.lines?.of[0]).toMatchObject({ times: [0, 5], values: [20, 40] });
    expect(processorRows(rows, "red", true).map((row) => row.label)).toEqual(["CPU:0/host_cpu_util", "CPU:1/host_cpu_util"]);
    const memory = [{ row: 0, timestamp: 3, device_idx: 0, hbm_idx: 1, total_bytes: 9, weights_bytes: 4, io_bytes: 5 }];
    expect(categoriesAt(memory, "ND:0/HBM:1/neuron_hbm_usage", 4)).toEqual([["io", 5], ["weights", 4]]);
    expect(categoriesAt(memory, "ND:0/HBM:1/neuron_hbm_usage", 2)).toEqual([]);
  });

  it("leads to the device profile of an execution: of its model, core and time", () => {
    const profile = { display_name: "p", total_ns: 100, events: 1, simulated: false, metrics: null };
    const device = (device_profile_name: string, nc_id: number, start_ts: number | null, model_id: number | null) => ({ device_profile_name, nc_id, start_ts, model_id, profile });
    const event = { nc_idx: 1, start_ts: 1020, end_ts: 1060, extra_attributes_json: '{"model_id":"7"}' };
    const found = targetOf(event, [device("a", 0, 1000, 7), device("b", 1, 5000, 7), device("c", 1, 1000, 8)]);
    expect(found).toMatchObject({ device: { device_profile_name: "a" }, range: { from: 20, to: 60 } });
    expect(deviceUrl(found!, "n_1", 5)).toBe("/profile/a#t=20-60&s=n_1%2F5");
    // A trace of another time is shown whole.
    expect(targetOf(event, [device("b", 1, 5000, 7)])?.range).toBe(null);
    expect(targetOf(event, [device("c", 1, 1000, 8)])).toBe(null);
    expect(targetOf({ ...event, extra_attributes_json: "no" }, [device("c", 1, 1000, 8)])?.device.device_profile_name).toBe("c");
  });
});
