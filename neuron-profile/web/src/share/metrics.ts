// Metrics of a region (HTTP.md), by the formulas of the server
// (src/analysis/region.rs).

import { type Kinds, type WorkSum, addWork, noWork } from "./kinds";
import type { LaneSums } from "./sums";
import type { TreeLane } from "./tree";

export interface Metric {
  name: string;
  group: string;
  core: number | null;
  unit: string;
  value: number;
}

export interface Peaks {
  /** Operations per second of a matrix unit. */
  flops: number;
  /** Bytes per second of device memory. */
  memory: number;
  cores: number;
}

export interface Region {
  kinds: Kinds;
  lanes: readonly TreeLane[];
  sums: readonly LaneSums[];
  peaks: Peaks;
  /** ns */
  from: number;
  to: number;
  /** The integral of a series over the region, ns times its unit; null where there is none. */
  integral(id: string): Promise<number | null>;
}

const ENGINES: readonly (readonly [word: string, group: string, rows: readonly string[]])[] = [
  ["tensor", "tensor_engine", ["Tensor", "TensorMatrix"]],
  ["vector", "vector_engine", ["Vector"]],
  ["scalar", "scalar_engine", ["Scalar"]],
  ["sync", "sync_engine", ["Sync"]],
  ["gpsimd", "gpsimd_engine", ["GpSimd"]],
];

const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

export async function regionMetrics(region: Region, hfuFactor: number): Promise<Metric[]> {
  const { kinds, lanes, sums, peaks } = region;
  const out: Metric[] = [];
  const span = (region.to - region.from) / 1e9;
  const cores = [...new Set(lanes.map((lane) => lane.core))].sort((a, b) => a - b);
  const several = cores.length > 1 ? cores : [];
  const of = (core: number | null, group: string, name: string, unit: string, value: number) => out.push({ name, group, core, unit, value });
  const push = (group: string, name: string, unit: string, value: number) => of(null, group, name, unit, value);

  const active = async (group: string, name: string, id: string) => {
    const all = await region.integral(`${id}.all`);
    const told: [number | null, number | null][] = [[null, cores.length === 1 && all === null ? await region.integral(`${id}.${cores[0]}`) : all]];
    for (const core of several) told.push([core, await region.integral(`${id}.${core}`)]);
    for (const [core, ns] of told) {
      if (ns === null) continue;
      of(core, group, name, "s", ns / 1e9);
      of(core, group, `${name}_percent`, "%", share(ns / 1e9, span));
    }
  };
  const part = (is: (lane: TreeLane, kind: number) => boolean) => {
    const total = { count: 0, time: 0, bytes: 0 };
    for (const lane of sums) {
      const line = lanes[lane.lane];
      for (const sum of lane.kinds) {
        if (!line || !is(line, sum.kind)) continue;
        total.count += sum.count;
        total.bytes += sum.bytes;
        if (!kinds.kind(sum.kind).waits) total.time += sum.time;
      }
    }
    return total;
  };

  const work: WorkSum = noWork();
  for (const lane of sums) for (const sum of lane.kinds) addWork(work, kinds.kind(sum.kind).work, sum.count);
  const useful = Math.max(0, work.flops - work.transpose_flops);
  const moved = work.hbm_read + work.hbm_write;

  push("overall_stats", "total_time", "s", span);
  await active("overall_stats", "total_active_time", "active");
  push("overall_stats", "hardware_flops", "flop", work.flops);
  push("overall_stats", "transpose_flops", "flop", work.transpose_flops);
  push("overall_stats", "mm_arithmetic_intensity", "", share(useful, moved));
  push("overall_stats", "peak_flops_bandwidth_ratio", "", share(peaks.flops, peaks.memory));

  const movement = "data_movement";
  const dma = (lane: TreeLane) => lane.kind === "dma";
  await active(movement, "dma_active_time", "dma_active");
  const all = part(dma);
  push(movement, "dma_packet_time", "s", all.time / 1e9);
  push(movement, "dma_packet_count", "", all.count);
  push(movement, "dma_packet_bytes", "B", all.bytes);
  push(movement, "mbu_estimated_percent", "%", share(share(moved, span), peaks.memory));
  for (const name of ["hbm_read", "hbm_write", "sbuf_read", "sbuf_write", "psum_read", "psum_write", "psum_read_sbuf_write", "spill_save", "spill_reload"] as const)
    push(movement, `${name}_bytes`, "B", work[name]);
  const software = part((lane, kind) => dma(lane) && kinds.name(kind).endsWith("Dynamic"));
  const hardware = part((lane, kind) => dma(lane) && kinds.name(kind).endsWith("DynamicHW"));
  const fixed = { count: all.count - software.count - hardware.count, bytes: all.bytes - software.bytes - hardware.bytes };
  for (const [name, one] of [["software_dynamic", software], ["hardware_dynamic", hardware], ["static", fixed]] as const) {
    push(movement, `${name}_dma_packet_count`, "", one.count);
    push(movement, `${name}_dma_packet_percent`, "%", share(one.count, all.count));
    push(movement, `${name}_dma_size`, "B", one.bytes);
    push(movement, `${name}_dma_size_percent`, "%", share(one.bytes, all.bytes));
  }
  for (const core of several) {
    const own = part((lane) => dma(lane) && lane.core === core);
    of(core, movement, "dma_packet_time", "s", own.time / 1e9);
    of(core, movement, "dma_packet_count", "", own.count);
    of(core, movement, "dma_packet_bytes", "B", own.bytes);
  }

  for (const [word, group, rows] of ENGINES) {
    for (const core of [null, ...several]) {
      const own = part((lane) => rows.includes(lane.name) && (core === null || lane.core === core));
      of(core, group, `${group}_instruction_time`, "s", own.time / 1e9);
      of(core, group, `${group}_instruction_count`, "", own.count);
    }
    await active(group, `${group}_active_time`, `active_${word}`);
  }
  const tensor = "tensor_engine";
  push(tensor, "matmul_instruction_count", "", part((_, kind) => kinds.kind(kind).product).count);
  const peak = peaks.flops * peaks.cores;
  push(tensor, "mfu_inst_estimated_percent", "%", share(share(useful, span), peak));
  push(tensor, "mfu_inst_max_achievable_estimated_percent", "%", Math.min(1, share(share(useful, moved), share(peak, peaks.memory))));
  push(tensor, "hfu_estimated_percent", "%", share(share(work.flops, span), peak) / hfuFactor);
  const activates = part((_, kind) => /^ACTIVATE(_QUANTIZE)?$/.test(kinds.name(kind)));
  push("scalar_engine", "activate_instruction_time", "s", activates.time / 1e9);
  push("scalar_engine", "activate_instruction_count", "", activates.count);

  for (const core of cores) {
    const limit = await region.integral(`throttle.${core}`);
    if (limit !== null) of(core, "throttling", "average_utilization_limit_percent", "%", share(limit / 1e9, span));
  }
  return out;
}
