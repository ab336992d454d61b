// Runs of the log directory, and what tools ask of one (HTTP.md, "Runs").

import { getJson, query } from "../api/client";

export type Tool = "trace" | "operator-framework" | "operator-hlo" | "operator-timeline" | "device" | "overview" | "memory" | "roofline";

export interface Run {
  /** By which it is asked for. */
  run: string;
  name: string;
  tools: Tool[];
  /** Changes when its files do. */
  stamp: string;
}

export interface Runs {
  logdir: string;
  directories: number;
  patterns: string[];
  runs: Run[];
  notes: string[];
  version: string;
}

export interface Shown {
  id: string;
  name: string;
  system: boolean;
}

export type Made = { state: "working"; seconds: number } | { state: "ready"; profiles: Shown[] } | { state: "failed"; error: string };

export interface Op {
  name: string;
  occurrences: number;
  neuron_device: number;
  neuron_core: number;
  time_ns: number;
  fused?: string[];
}

export interface Ops {
  unit: string;
  total_time: number;
  ops: Op[];
}

const at = (run: string) => `/runs/${encodeURIComponent(run)}`;

export const getRuns = (signal?: AbortSignal | null) => getJson<Runs>("/runs", signal);
export const getMade = (run: string, tool: Tool, signal?: AbortSignal | null) => getJson<Made>(`${at(run)}${query({ tool })}`, signal);
export const getOperators = (run: string, of: "framework" | "hlo", profile: string | null, signal?: AbortSignal | null) =>
  getJson<Ops>(`${at(run)}/operators${query({ of, profile })}`, signal);
