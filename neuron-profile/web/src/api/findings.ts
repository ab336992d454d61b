// What limits a profile, and questions in SQL.

import { getJson, query } from "./client";
import type { Fields, Value } from "./types";

export interface Finding {
  rule: string;
  severity: "high" | "medium" | "low";
  weight: number;
  sentence: string;
  figure: string;
  value: number;
  unit: string;
  side: "above" | "below";
  threshold: number;
  speedup?: number | null;
  advice: string;
  trade_off: string;
  metrics: Record<string, number>;
  table: string;
  sql: string;
  evidence: { table: string; row: number; fields: Fields }[];
}

const at = (id: string) => `/profiles/${encodeURIComponent(id)}`;

export const getFindings = async (id: string, signal?: AbortSignal | null) =>
  (await getJson<{ findings: Finding[] }>(`${at(id)}/findings`, signal)).findings;

export interface SqlAnswer {
  columns: { name: string; type: string }[];
  rows: Record<string, Value>[];
  more: boolean;
}

export const askSql = (id: string, sql: string, limit: number, signal?: AbortSignal | null) =>
  getJson<SqlAnswer>(`${at(id)}/query${query({ sql, limit })}`, signal);
