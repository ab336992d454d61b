// Where the functions and loop iterations of kernels run, by one statement of SQL for each.

import { type SqlAnswer, askSql } from "../api/findings";
import type { Region } from "./region-rules";

/** All functions, or the iterations of the loops that have this variable. */
export type KernelPart = { of: "functions" } | { of: "loop"; variable: string };

const FUNCTIONS = { table: "KernelStackFrames", id: "stack_frame_id", parent: "parent_stack_frame_id", of: "stack_frame_id", name: (own: string) => `coalesce(${own}.fully_qualified_function_name, '?')` };
const LOOPS = {
  table: "KernelIterationVariables",
  id: "iteration_variable_id",
  parent: "parent_iteration_variable_id",
  of: "iteration_variables_id",
  name: (own: string) => `coalesce(${own}.variable_name, '?') || ' = ' || coalesce(CAST(${own}.variable_value AS VARCHAR), '?')`,
};

/**
 * Runs of the instructions that were made in each part, or in what is within it: those of one path are joined where no
 * more than `gap` ns lie between. A path goes from the outermost inwards.
 */
export function kernelSql(part: KernelPart, gap: number): string {
  const { table, id, parent, of, name } = part.of === "functions" ? FUNCTIONS : LOOPS;
  const wanted = part.of === "loop" ? ` WHERE variable = '${part.variable.replaceAll("'", "''")}'` : "";
  const variable = (own: string) => (part.of === "loop" ? `${own}.variable_name` : "''");
  const earlier = "PARTITION BY path ORDER BY start_ts, end_ts ROWS BETWEEN UNBOUNDED PRECEDING AND";
  return `WITH RECURSIVE paths AS (
  SELECT base.${id} AS id, ${variable("base")} AS variable, ${name("base")} AS path FROM ${table} base WHERE coalesce(base.${parent}, 0) = 0
  UNION ALL
  SELECT own.${id}, ${variable("own")}, paths.path || ' / ' || ${name("own")} FROM ${table} own JOIN paths ON own.${parent} = paths.id
), under AS (
  SELECT id, path FROM paths${wanted}
  UNION ALL
  SELECT own.${id}, under.path FROM ${table} own JOIN under ON own.${parent} = under.id
), events AS (
  SELECT DISTINCT under.path, i.start_ts, i.end_ts FROM Instruction i
  JOIN KernelInstructions k ON i.kernel_instruction_name = k.kernel_instruction_name
  JOIN under ON k.${of} = under.id
), known AS (
  SELECT *, max(end_ts) OVER (${earlier} 1 PRECEDING) AS covered FROM events
), runs AS (
  SELECT *, sum(CASE WHEN start_ts - covered <= ${Math.floor(gap)} THEN 0 ELSE 1 END) OVER (${earlier} CURRENT ROW) AS run FROM known
)
SELECT path, min(start_ts) AS begins, max(end_ts) AS ends FROM runs GROUP BY path, run ORDER BY begins, ends, path`;
}

/** Names of the variables of loops. */
export async function loopVariables(id: string, signal?: AbortSignal): Promise<string[]> {
  const { rows } = await askSql(id, "SELECT DISTINCT variable_name AS name FROM KernelIterationVariables WHERE variable_name <> '' ORDER BY name", 200, signal);
  return rows.map((row) => String(row.name));
}

const region = (row: SqlAnswer["rows"][number]): Region => {
  const path = String(row.path);
  return { name: path, path, from: Number(row.begins), to: Number(row.ends) };
};

/** The first `most` regions in order of time, and whether there are more. */
export async function kernelRegions(id: string, part: KernelPart, gap: number, most: number, signal?: AbortSignal): Promise<{ list: Region[]; more: boolean }> {
  const { rows, more } = await askSql(id, kernelSql(part, gap), most, signal);
  return { list: rows.map(region), more };
}
