// What the colours that are seen mean, the most of the visible time first.

import { lowerBound } from "./tile-data";
import type { Frame } from "./scene/frame";
import type { Scheme } from "./scheme";
import type { LegendEntry } from "./ui";

/** Entries at most. */
const MOST = 14;

/** Sums the busy time of what is seen by colour. From the columns in hand: no request. */
export function legendOf(frame: Frame, scheme: Scheme): LegendEntry[] {
  const sums = new Map<string, { colour: number; busy: number }>();
  let total = 0;
  for (const { row } of frame.rows) {
    for (const lane of row.lanes) {
      for (const { tile, from, to } of frame.pieces(lane)) {
        const columns = tile.columns.get(lane);
        if (!columns) continue;
        const end = (Math.min(to, frame.window.to) - tile.start) / tile.columnNs;
        let i = lowerBound(columns.columns, Math.floor((Math.max(from, frame.window.from) - tile.start) / tile.columnNs), columns.count);
        for (; i < columns.count && columns.columns[i]! < end; i += 1) {
          const { label, colour } = scheme.entry(columns.names[i]!, lane);
          const sum = sums.get(label);
          const busy = columns.busy[i]!;
          total += busy;
          if (sum) sum.busy += busy;
          else sums.set(label, { colour, busy });
        }
      }
    }
  }
  return [...sums]
    .sort((a, b) => b[1].busy - a[1].busy || (a[0] < b[0] ? -1 : 1))
    .slice(0, MOST)
    .map(([label, { colour, busy }]) => ({ label, colour, share: total > 0 ? busy / total : 0 }));
}
