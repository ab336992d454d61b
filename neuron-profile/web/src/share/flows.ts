// What events depend on, and what depends on them: table Flow from both ends.

import type { Fields } from "../api/types";
import type { Table } from "./tables";

/** An event at the other end of a dependence. */
export interface Other {
  table: string;
  id: number;
  kind: string | null;
  row: number | null;
  fields: Fields | null;
}

/** Dependences of one event at most, each way, as of the server. */
const MOST = 256;

const number = (value: unknown) => (typeof value === "number" ? value : null);

/** What of a dependence is kept: table and id of the other end, and its kind. */
type End = [table: string, id: number, kind: string | null];

export class Flows {
  private ends: Promise<{ needed: Map<string, End[]>; needing: Map<string, End[]> }> | null = null;
  private readonly ids = new Map<string, Promise<Map<number, number>>>();

  constructor(private readonly tables: ReadonlyMap<string, Table>) {}

  private async read() {
    const [needed, needing] = [new Map<string, End[]>(), new Map<string, End[]>()];
    const flow = this.tables.get("Flow");
    if (flow) {
      const names = ["in_id", "in_table", "out_id", "out_table", "dependency_type"] as const;
      const [inId, inTable, outId, outTable, kinds] = await Promise.all(names.map((name) => flow.values(name)));
      const put = (map: Map<string, End[]>, key: string, end: End) => {
        const list = map.get(key);
        if (!list) map.set(key, [end]);
        else if (list.length < MOST) list.push(end);
      };
      for (let i = 0; i < flow.here; i += 1) {
        const [a, b] = [number(inId![i]), number(outId![i])];
        const [from, to] = [inTable![i], outTable![i]];
        if (a === null || b === null || typeof from !== "string" || typeof to !== "string") continue;
        const kind = typeof kinds![i] === "string" ? (kinds![i] as string) : null;
        put(needed, `${to}/${b}`, [from, a, kind]);
        put(needing, `${from}/${a}`, [to, b, kind]);
      }
    }
    return { needed, needing };
  }

  private rowsOf(name: string): Promise<Map<number, number>> {
    let known = this.ids.get(name);
    if (!known) {
      known = (async () => {
        const out = new Map<number, number>();
        const ids = (await this.tables.get(name)?.numbers("id")) ?? new Float64Array(0);
        for (let place = 0; place < ids.length; place += 1) out.set(ids[place]!, place);
        return out;
      })();
      this.ids.set(name, known);
    }
    return known;
  }

  /** The events that an event needs, or that need it. */
  async others(table: string, id: number, which: "needed" | "needing"): Promise<Other[]> {
    this.ends ??= this.read();
    const ends = (await this.ends)[which].get(`${table}/${id}`) ?? [];
    return Promise.all(
      ends.map(async ([other, otherId, kind]) => {
        const place = (await this.rowsOf(other)).get(otherId);
        const of = this.tables.get(other);
        if (place === undefined || !of) return { table: other, id: otherId, kind, row: null, fields: null };
        const [fields] = await of.fields([place]);
        return { table: other, id: otherId, kind, row: await of.row(place), fields: fields! };
      }),
    );
  }
}
