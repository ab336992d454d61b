// Rows of a timeline that others drew (a trace of host and device, operators of a
// profile): as they stand in it, under a heading for each process.

import type { Lane } from "../api/types";
import { type Row, type RowSettings, height } from "./rows";

const HEADING = 20;
const SLICES = 18;

/** Whether lanes are rows of such a timeline. */
export const isDrawn = (lanes: readonly Lane[]): boolean => typeof lanes[0]?.group === "string";

/** All rows, with their headings. */
export function traceRows(lanes: readonly Lane[], settings: RowSettings): Row[] {
  const pinned = new Set(settings.pinnedRows);
  const rows: Row[] = [];
  let last: string | null = null;
  const names = new Map<string, number>();
  for (const lane of lanes) {
    const group = lane.group ?? "";
    const plain = { series: [], core: null, rank: rows.length };
    if (group !== last) {
      const key = `process:${group}`;
      rows.push({ ...plain, key, kind: "lane", label: group, lanes: [], height: height(key, HEADING, settings), pinned: false, heading: true });
      last = group;
    }
    // Rows without a label are told apart by their place in the process.
    const name = `${group}/${lane.name}`;
    const nth = names.get(name) ?? 0;
    names.set(name, nth + 1);
    const key = `trace:${name}/${nth}`;
    rows.push({ ...plain, key, kind: "lane", label: lane.name, lanes: [lane.number], height: height(key, SLICES, settings), pinned: pinned.has(key) });
  }
  return rows;
}
