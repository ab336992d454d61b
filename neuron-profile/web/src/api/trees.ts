// Sums of a range: trees of operators, sources, opcodes and queues, bars of
// layers, and the metrics of a region.

import { getJson, query } from "./client";

export type TreeBy = "layer" | "operator" | "source" | "opcode" | "queue";

export interface EngineSum {
  count: number;
  time_ns: number;
  busy_ns: number;
}

/** A node of a tree, over a range. */
export interface TreeNode {
  node: number;
  parent: number | null;
  depth: number;
  name: string;
  path: string;
  leaf: boolean;
  count: number;
  time_ns: number;
  busy_ns: number;
  wait_ns: number;
  share: number;
  engines: Record<string, EngineSum>;
  flops: number;
  transpose_flops: number;
  hfu: number;
  mfu: number;
  hbm_read_bytes: number;
  hbm_write_bytes: number;
  sbuf_read_bytes: number;
  sbuf_write_bytes: number;
  psum_read_bytes: number;
  psum_write_bytes: number;
  spill_save_bytes: number;
  spill_reload_bytes: number;
  dma_bytes: number;
  start_ns?: number | null;
  end_ns?: number | null;
}

export interface Tree {
  by: TreeBy;
  from: number;
  to: number;
  nodes: TreeNode[];
  total: number;
  cut: boolean;
}

export interface Range {
  from: number;
  to: number;
}

/** Whole nanoseconds that hold a range; the server wants `from` below `to`. */
export function wholeNs(range: Range): Range {
  const from = Math.max(0, Math.floor(range.from));
  return { from, to: Math.max(from + 1, Math.ceil(range.to)) };
}

const at = (id: string) => `/profiles/${encodeURIComponent(id)}`;

export const getTree = (
  id: string,
  by: TreeBy,
  range: Range | null,
  more: { limit?: number; sort?: string; under?: number; depth?: number } = {},
  signal?: AbortSignal | null,
) => getJson<Tree>(`${at(id)}/operators${query({ by, ...(range && wholeNs(range)), ...more })}`, signal);

/** A metric of a region; `core` is null for all cores together. */
export interface Metric {
  name: string;
  group: string;
  core: number | null;
  unit: string | null;
  value: number;
}

export const getMetrics = (id: string, range: Range, signal?: AbortSignal | null) =>
  getJson<{ from: number; to: number; metrics: Metric[] }>(
    `${at(id)}/summary${query({ ...wholeNs(range) })}`,
    signal,
  );

export interface LayerBar {
  name: string;
  path: string;
  from: number;
  to: number;
  busy_ns: number;
  kind: number;
}

export interface LayerRows {
  start: number;
  column_ns: number;
  rows: { core: number; depth: number; bars: LayerBar[] }[];
  cut: boolean;
}

export const getLayers = (
  id: string,
  range: Range,
  width: number,
  lanes?: readonly number[],
  signal?: AbortSignal | null,
) => getJson<LayerRows>(`${at(id)}/layers${query({ ...wholeNs(range), width, lanes })}`, signal);
