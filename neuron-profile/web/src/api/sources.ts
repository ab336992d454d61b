// Source files of a profile, and what their lines cost.

import { getJson, getText, query, request } from "./client";
import type { EngineSum, Range } from "./trees";
import { wholeNs } from "./trees";

export interface SourceFile {
  name: string;
  stored: boolean;
  bytes: number;
  lines: number;
  count: number;
  busy_ns: number;
}

export interface SourceLine {
  line: number;
  count: number;
  time_ns: number;
  busy_ns: number;
  engines: Record<string, EngineSum>;
  flops: number;
}

const at = (id: string, file?: string) =>
  `/profiles/${encodeURIComponent(id)}/sources${file === undefined ? "" : `/${encodeURIComponent(file)}`}`;

export const listSources = async (id: string, signal?: AbortSignal | null) =>
  (await getJson<{ files: SourceFile[] }>(at(id), signal)).files;
export const readSource = (id: string, file: string, signal?: AbortSignal | null) => getText(at(id, file), signal);
export const sourceLines = async (id: string, file: string, range: Range | null, signal?: AbortSignal | null) =>
  (await getJson<{ lines: SourceLine[] }>(`${at(id, file)}/lines${query({ ...(range && wholeNs(range)) })}`, signal)).lines;
export const storeSource = (id: string, file: string, text: string) =>
  request(at(id, file), { method: "PUT", body: text, headers: { "content-type": "text/plain; charset=utf-8" } });

/** `dir/file.py:140` as its parts. */
export function location(text: string): { file: string; line: number } | null {
  const found = /^(.+):(\d+)$/.exec(text.trim());
  return found ? { file: found[1]!, line: Number(found[2]) } : null;
}

/** All places that a field of locations names. */
export function locations(value: unknown): { file: string; line: number }[] {
  if (typeof value !== "string") return [];
  return value.split(/[\n,;]/).flatMap((part) => location(part) ?? []);
}
