// Columns of a range, and answers made of them: as the server cuts them
// (HTTP.md, The timeline), 2^k ns wide, at multiples of that.

import { type LaneEvents, placesIn } from "./events";
import { Refusal } from "./refusal";

/** Columns of an answer at most, as of the server. */
const MOST = 16_384;

export interface Columns {
  readonly start: number;
  readonly ns: number;
  readonly count: number;
}

export function columnsOf(from: number, to: number, width: number): Columns {
  if (!(from < to) || !(width >= 1 && width <= MOST)) throw new Refusal(400, `nothing can be shown of ${from}..${to} ns in ${width} columns`);
  const most = Math.floor((to - from) / width);
  let ns = 1;
  while (ns * 2 <= most) ns *= 2;
  const first = Math.floor(from / ns);
  return { start: first * ns, ns, count: Math.floor((to - 1) / ns) - first + 1 };
}

/** What is seen of a lane, column by column; those with nothing are left out. */
export interface LaneColumns {
  at: number[];
  count: number[];
  busy: number[];
  kind: number[];
  row: number[];
}

/** Time by kind of one column: few kinds, so a list. */
class Kinds {
  readonly kinds: number[] = [];
  readonly times: number[] = [];

  add(kind: number, time: number) {
    const at = this.kinds.indexOf(kind);
    if (at >= 0) this.times[at]! += time;
    else {
      this.kinds.push(kind);
      this.times.push(time);
    }
  }

  /** The one with the most time; of equal ones the first kind. */
  get most(): number {
    let best = 0;
    for (let i = 1; i < this.kinds.length; i += 1) {
      if (this.times[i]! > this.times[best]! || (this.times[i] === this.times[best] && this.kinds[i]! < this.kinds[best]!)) best = i;
    }
    return this.kinds[best]!;
  }
}

/** The columns of a lane; `last` is the row behind the lane's. */
export function laneColumns(of: LaneEvents, { start, ns, count }: Columns, last: number): LaneColumns {
  const end = start + count * ns;
  const kinds: (Kinds | undefined)[] = new Array<Kinds | undefined>(count);
  const [counts, busy] = [new Uint32Array(count), new Float64Array(count)];
  const rows = new Float64Array(count).fill(-1);
  const add = (at: number, kind: number, time: number) => {
    (kinds[at] ??= new Kinds()).add(kind, time);
    busy[at]! += time;
  };
  const [first, behind] = placesIn(of, start, end);
  for (let i = first; i < behind; i += 1) {
    const begin = of.start[i]!;
    const kind = of.kind[i]!;
    if (begin >= start && begin < end) {
      const at = Math.floor((begin - start) / ns);
      counts[at]! += 1;
      if (rows[at] === -1) rows[at] = of.row[i]!;
      add(at, kind, 0);
    }
    let time = Math.max(of.fresh[i]!, start);
    const until = Math.min(of.end[i]!, end);
    while (time < until) {
      const at = Math.floor((time - start) / ns);
      const edge = Math.min(start + (at + 1) * ns, until);
      add(at, kind, edge - time);
      time = edge;
    }
  }
  let row = last;
  for (let i = behind; i < of.count; i += 1) {
    if (of.start[i]! >= end) {
      row = of.row[i]!;
      break;
    }
  }
  const out: LaneColumns = { at: [], count: [], busy: [], kind: [], row: [] };
  for (let at = count - 1; at >= 0; at -= 1) {
    const own = kinds[at];
    if (!own) continue;
    if (rows[at] !== -1) row = rows[at]!;
    out.at.push(at);
    out.count.push(counts[at]!);
    out.busy.push(busy[at]!);
    out.kind.push(own.most);
    out.row.push(row);
  }
  for (const list of Object.values(out) as number[][]) list.reverse();
  return out;
}

/** Columns of an overview joined to wider ones. Of the kinds of those that are joined the one with the most time stands
 * for all, which the events might tell otherwise. */
export function wider(of: LaneColumns, from: Columns, to: Columns): LaneColumns {
  const out: LaneColumns = { at: [], count: [], busy: [], kind: [], row: [] };
  let kinds = new Kinds();
  for (let i = 0; i < of.at.length; i += 1) {
    const time = from.start + of.at[i]! * from.ns;
    const at = Math.floor((time - to.start) / to.ns);
    if (at < 0 || at >= to.count) continue;
    const last = out.at.length - 1;
    if (out.at[last] === at) {
      // Of a column without an event that begins, the row is that of the next one.
      if (out.count[last] === 0) out.row[last] = of.row[i]!;
      out.count[last]! += of.count[i]!;
      out.busy[last]! += of.busy[i]!;
      kinds.add(of.kind[i]!, of.busy[i]!);
      out.kind[last] = kinds.most;
      continue;
    }
    kinds = new Kinds();
    kinds.add(of.kind[i]!, of.busy[i]!);
    out.at.push(at);
    out.count.push(of.count[i]!);
    out.busy.push(of.busy[i]!);
    out.kind.push(of.kind[i]!);
    out.row.push(of.row[i]!);
  }
  return out;
}
