// Searches over the events of a page: pages of rows, sums, and the columns that
// have a match.

import type { Value } from "../api/types";
import { Refusal } from "./refusal";
import { type Expression, conditionsOf, holds, parse } from "./query";
import type { Table } from "./tables";

export interface Hit {
  table: Table;
  lane: number;
  place: number;
  start: number;
  end: number;
  length: number;
}

/** What a search needs of the profile. */
export interface Searched {
  /** Columns of a table and whether they have texts; null where there is no such table. */
  columns(table: string): Map<string, boolean> | null;
  laneOf(table: string, row: number): number | null;
}

/** Rows of tables that meet a query and begin in a range, by table, lane and time. */
export async function find(searched: Searched, tables: readonly Table[], q: string, from: number, to: number): Promise<Hit[]> {
  const query = parse(q);
  const named = [...new Set(conditionsOf(query).flatMap((one) => one.column ?? []))];
  const known = tables.map((table) => searched.columns(table.name));
  for (const name of named) {
    if (!known.some((columns) => columns?.has(name))) throw new Refusal(400, `table ${tables.map((one) => one.name).join(" and ")} has no column ${name}`);
  }
  const anywhere = conditionsOf(query).some((one) => one.column === null);
  const out: Hit[] = [];
  for (const [at, table] of tables.entries()) {
    const columns = known[at];
    if (!columns) continue;
    for (const one of conditionsOf(query)) {
      if (one.column !== null) check(one, columns.get(one.column));
    }
    const texts = anywhere ? [...columns].filter(([, text]) => text).map(([name]) => name) : [];
    const wanted = [...new Set([...named, ...texts])].filter((name) => columns.has(name));
    const values = new Map<string, Value[]>();
    for (const name of wanted) values.set(name, await table.values(name));
    const [starts, ends, lengths] = await Promise.all(["start_ts", "end_ts", "duration_ns"].map((name) => table.numbers(name)));
    for (let place = 0; place < table.here; place += 1) {
      const start = starts![place]!;
      if (!(start >= from && start < to)) continue;
      // A column that a table does not have is met by no row of it.
      const value = (column: string) => values.get(column)?.[place] ?? null;
      const all = () => texts.map((name) => values.get(name)?.[place] ?? null);
      if (!holds(within(query, columns), value, all)) continue;
      const lane = searched.laneOf(table.name, await table.row(place)) ?? -1;
      out.push({ table, lane, place, start, end: ends![place]!, length: lengths![place]! });
    }
  }
  return out;
}

/** The query with conditions on columns that a table has not as never met, `!=` too. */
function within(query: Expression, columns: ReadonlyMap<string, boolean>): Expression {
  if (conditionsOf(query).every((one) => one.column === null || columns.has(one.column))) return query;
  if (query.what === "not") return { what: "not", one: within(query.one, columns) };
  if (query.what !== "one") return { what: query.what, list: query.list.map((one) => within(one, columns)) };
  return { what: "or", list: [] };
}

function check(one: Extract<Expression, { what: "one" }>, text: boolean | undefined) {
  if (text === undefined) return;
  const { test } = one;
  if (!text && (test.what === "has" || test.what === "matches")) throw new Refusal(400, `column ${one.column} has numbers: compare it with one`);
  if (text && test.what === "between") throw new Refusal(400, `column ${one.column} has texts, not numbers`);
}

export function statistics(hits: readonly Hit[]) {
  let [start, end, sum, min, max] = [Number.POSITIVE_INFINITY, 0, 0, Number.POSITIVE_INFINITY, 0];
  for (const hit of hits) {
    start = Math.min(start, hit.start);
    end = Math.max(end, hit.end);
    sum += hit.length;
    min = Math.min(min, hit.length);
    max = Math.max(max, hit.length);
  }
  const some = hits.length > 0;
  const told = (value: number) => (some ? value : null);
  return { count: hits.length, start_ns: told(start), end_ns: told(end), duration_ns: { sum, min: told(min), max: told(max), mean: told(sum / hits.length) } };
}
