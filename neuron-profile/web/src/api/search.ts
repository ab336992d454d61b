// Search by the grammar of HTTP.md.

import { getJson, query } from "./client";
import type { Fields } from "./types";

export interface Durations {
  sum: number;
  min: number;
  max: number;
  mean: number;
}

export interface Statistics {
  count: number;
  start_ns: number | null;
  end_ns: number | null;
  duration_ns: Durations | null;
  lanes: { lane: number; count: number; start_ns: number; end_ns: number; duration_ns: Durations }[];
}

export type Match = Fields & { table: string; row: number; lane: number };

export interface Found {
  total: number;
  complete: boolean;
  rows: Match[];
  next: number | null;
  statistics: Statistics;
}

export interface Asked {
  q: string;
  tables?: readonly string[];
  from?: number;
  to?: number;
  offset?: number;
  limit?: number;
}

export const search = (id: string, asked: Asked, signal?: AbortSignal | null) =>
  getJson<Found>(`/profiles/${encodeURIComponent(id)}/search${query({ ...asked })}`, signal);

/** A value as the grammar wants it: quoted where it has to be. */
export function quoted(text: string): string {
  return /^[\w.$[\]{}:;,+*@%&?#|-]+$/.test(text) ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

export type Operator = "=" | "!=" | "~" | "!~" | "regex" | ">" | ">=" | "<" | "<=" | "range";

export interface Condition {
  field: string;
  operator: Operator;
  value: string;
}

/** A condition of the form as text of the grammar; empty where it says nothing. */
export function conditionText({ field, operator, value }: Condition): string {
  if (value.trim() === "") return "";
  if (field === "") return operator === "regex" ? regex(value) : quoted(value);
  switch (operator) {
    case "regex":
      return `${field}=${regex(value)}`;
    case "range":
      return `${field}=${value.replace(/\s+/g, "")}`;
    case "=":
    case "!=":
    case "~":
    case "!~":
      return `${field}${operator}${quoted(value)}`;
    default:
      return `${field}${operator}${value.trim()}`;
  }
}

const regex = (text: string) => `/${text.replace(/(^|[^\\])\//g, "$1\\/")}/`;

/** Conditions joined by AND or OR. */
export function queryText(conditions: readonly Condition[], join: "AND" | "OR"): string {
  return conditions.map(conditionText).filter((text) => text !== "").join(` ${join} `);
}
