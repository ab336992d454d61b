// Single events: dependence chains, and how an event is referred to.

import type { EventRef } from "../state/view";
import { getJson, query } from "./client";
import type { Fields, Lane, Value } from "./types";

export interface ChainStep {
  table: string;
  row: number;
  lane: number;
  id: Value;
  engine: string | null;
  opcode: string | null;
  layer: string | null;
  pc: number | null;
  start_ts: number;
  end_ts: number;
  gap_ns: number | null;
  dependency_type: string | null;
}

export interface Chain {
  chain: ChainStep[];
  end: "first" | "depth" | "loop";
}

export const getChain = (id: string, table: string, row: number, depth: number, signal?: AbortSignal | null) =>
  getJson<Chain>(`/profiles/${encodeURIComponent(id)}/events/${encodeURIComponent(table)}/${row}/chain${query({ depth })}`, signal);

const number = (value: Value | undefined) => (typeof value === "number" ? value : null);
const text = (value: Value | undefined) => (typeof value === "string" && value !== "" ? value : null);

/** The lane that holds a row of a table, by the rows that lanes have. */
export function laneOf(lanes: readonly Lane[], table: string, row: number): number {
  const found = lanes.find((lane) => lane.table === table && row >= lane.first_row && row < lane.first_row + lane.rows);
  return found?.number ?? -1;
}

/** An event from the fields of its row. */
export function eventRef(lanes: readonly Lane[], table: string, row: number, fields: Fields): EventRef {
  const start = number(fields.start_ts) ?? number(fields.timestamp) ?? 0;
  const name =
    text(fields.opcode) ?? text(fields.queue_name) ?? text(fields.operation) ?? text(fields.description) ?? text(fields.name) ?? table;
  const lane = number(fields.lane) ?? laneOf(lanes, table, row);
  return { table, row, lane, start, end: number(fields.end_ts) ?? start, name };
}
