// The focused event: its row, what it depends on and what depends on it, as marks of the plot; the steps to the events
// beside it; and which event is meant where several are under the pointer.

import { getBytes, isAbort, query } from "../api/client";
import { laneOf } from "../api/events";
import { getEvent } from "../api/profiles";
import type { Dependence, EventDetail, Lane } from "../api/types";
import { decodeSpans } from "../api/wire";
import type { EventRef } from "../state/view";
import type { Hit } from "./hit";
import type { Mark } from "./scene/frame";
import { duration, moment } from "./ticks";

/** Rows that are kept: hovering over the same events asks once. */
const KEPT = 500;

export class Events {
  private readonly known = new Map<string, Promise<EventDetail>>();

  constructor(
    private readonly id: string,
    private readonly lanes: readonly Lane[],
  ) {}

  lane(number: number): Lane | undefined {
    return this.lanes.find((lane) => lane.number === number);
  }

  /** The row of an event with its dependences. */
  detail(table: string, row: number): Promise<EventDetail> {
    const key = `${table}/${row}`;
    let found = this.known.get(key);
    if (!found) {
      found = getEvent(this.id, table, row);
      this.known.set(key, found);
      found.catch(() => this.known.delete(key));
      const oldest = this.known.keys().next().value;
      if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
    }
    return found;
  }

  /** An event by its place in the table. */
  async at(lane: Lane, row: number): Promise<EventRef> {
    const { fields } = await this.detail(lane.table, row);
    const number = (value: unknown) => (typeof value === "number" ? value : 0);
    const name = [fields.opcode, fields.queue_name, lane.name].find((one) => typeof one === "string" && one !== "");
    return {
      table: lane.table,
      row,
      lane: lane.number,
      start: number(fields.start_ts),
      end: number(fields.end_ts),
      name: String(name),
    };
  }

  /** The event before or after another one in its lane; null at the ends. */
  async beside(event: EventRef, step: 1 | -1): Promise<EventRef | null> {
    const lane = this.lane(event.lane);
    const row = event.row + step;
    if (!lane || row < lane.first_row || row >= lane.first_row + lane.rows) return null;
    return this.at(lane, row);
  }

  /** The event that is meant by a click, where the data in hand do not say it. */
  async pick(hit: Hit, time: number): Promise<EventRef | null> {
    if (hit.what === "event") {
      const lane = this.lane(hit.lane);
      return lane ? this.at(lane, hit.place) : null;
    }
    if (hit.what !== "column") return null;
    return (await this.nearest(hit.lane, time, hit.from, hit.to)) ?? this.first(hit.lane, hit.place);
  }

  private async first(number: number, place: number): Promise<EventRef | null> {
    const lane = this.lane(number);
    return lane && place < lane.first_row + lane.rows ? this.at(lane, place) : null;
  }

  /** The event of a lane that is under way at a moment or nearest to it, of those in a range, if they are few. */
  async nearest(number: number, time: number, from: number, to: number): Promise<EventRef | null> {
    const lane = this.lane(number);
    if (!lane) return null;
    const range = { from: Math.floor(Math.max(from, 0)), to: Math.ceil(Math.max(to, from + 1)) };
    try {
      const path = `/profiles/${encodeURIComponent(this.id)}/spans${query({ ...range, lanes: [number], limit: 16_384 })}`;
      const all = decodeSpans(await getBytes(path))[0];
      if (!all) return null;
      let best = -1;
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < all.count; i += 1) {
        const far = Math.max(all.start[i]! - time, time - all.end[i]!, 0);
        if (far < least) [best, least] = [i, far];
      }
      return best < 0 ? null : this.at(lane, all.rows[best]!);
    } catch (error) {
      if (isAbort(error)) throw error;
      return null;
    }
  }

  private mark(other: Dependence, role: Mark["role"]): Mark | null {
    const number = (value: unknown) => (typeof value === "number" ? value : null);
    const start = number(other.start_ts);
    const row = number(other.row);
    const lane = number(other.lane) ?? (row === null ? null : laneOf(this.lanes, other.table, row));
    if (start === null || lane === null || lane < 0) return null;
    return { lane, start, end: number(other.end_ts) ?? start, role };
  }

  /** The marks of a focused event. */
  async marks(event: EventRef): Promise<Mark[]> {
    const detail = await this.detail(event.table, event.row);
    const others = [
      ...detail.predecessors.map((other) => this.mark(other, "predecessor")),
      ...detail.successors.map((other) => this.mark(other, "successor")),
    ];
    return [focusMark(event), ...others.filter((one) => one !== null)];
  }
}

export const focusMark = (event: EventRef): Mark => ({
  lane: event.lane,
  start: event.start,
  end: event.end,
  role: "focus",
});

/** What is said of an event to those who do not see it. */
export function described(event: EventRef, lane: string, marks: readonly Mark[]): string {
  const count = (role: Mark["role"]) => marks.filter((mark) => mark.role === role).length;
  const before = count("predecessor");
  const after = count("successor");
  const flows = before + after > 0 ? `, ${before} predecessors, ${after} successors` : "";
  return `${event.name} on ${lane}, from ${moment(event.start)} to ${moment(event.end)}, ${duration(event.end - event.start)}${flows}`;
}
