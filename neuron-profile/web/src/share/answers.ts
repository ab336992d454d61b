// Answers the viewer's requests from the profile inside of the page, as the
// server would (HTTP.md). What the file has not is said with status 410, what
// needs a server with 501.

import type { Fields } from "../api/types";
import { decodeSeries } from "../api/series";
import type { Answerer } from "../api/client";
import { columnsOf } from "./columns";
import { placesIn } from "./events";
import { find, statistics } from "./find";
import type { Other } from "./flows";
import type { Held } from "./held";
import { cut } from "./kinds";
import { layersAnswer } from "./layers";
import { regionMetrics } from "./metrics";
import { Refusal, leftOut } from "./refusal";
import { seriesColumns, widerSeries } from "./series";
import { type Is, range } from "./tables";
import { type By, enginesOf, treeAnswer } from "./tree";
import { type SeriesColumn, type Span, matchesBytes, seriesBytes, spansBytes, viewportBytes } from "./wire";

/** The factor of profile-engine's HFU (summary.rs). */
const HFU_FACTOR = 1 + 1 / 40_960_000;

type Answer = unknown;

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

export class Answers {
  /** Documents that were changed in this page: they live as long as it. */
  private readonly documents = new Map<string, unknown>();

  constructor(private readonly held: Held) {}

  /** Stands in for `fetch`. */
  readonly answer: Answerer = async (path, init) => {
    try {
      const [place, query] = path.split("?");
      const parts = (place ?? "").split("/").slice(1).map(decodeURIComponent);
      const answer = await this.route(init.method ?? "GET", parts, new URLSearchParams(query), init.body);
      if (init.signal?.aborted) throw init.signal.reason;
      if (answer === undefined) return new Response(null, { status: 204 });
      if (answer instanceof ArrayBuffer || answer instanceof Blob) return new Response(answer);
      return typeof answer === "string" ? new Response(answer) : json(answer);
    } catch (error) {
      if (error instanceof Refusal) return json({ error: error.message }, error.status);
      throw error;
    }
  };

  private async route(method: string, parts: string[], query: URLSearchParams, body: unknown): Promise<Answer> {
    const { held } = this;
    const path = `/${parts.map(encodeURIComponent).join("/")}`;
    const [first, id, ...rest] = parts;
    if (first === "documents") return this.document(method, path, parts, body);
    if (method !== "GET") throw new Refusal(405, "This page is a file: nothing of the profile can be changed in it");
    if (first === "profiles" && id === undefined) return { profiles: [await held.recorded(`/profiles/${held.index.id}`)], damaged: [] };
    if (first !== "profiles" || id !== held.index.id) throw leftOut("Another profile");
    switch (rest[0]) {
      case undefined:
      case "tables":
        if (rest.length < 2) return held.recorded(path);
        return this.rows(rest[1]!, query);
      case "findings":
      case "system":
        if (!held.index.recorded[path]) throw new Refusal(404, `the file has no ${rest[0]}`);
        return held.recorded(path);
      case "series":
        return rest[1] === "data" ? this.seriesData(query) : held.recorded(path);
      case "summary":
        return query.has("from") || query.has("to") ? this.metrics(query) : held.recorded(path);
      case "kinds": {
        const kinds = await held.kinds();
        if (rest[1] !== undefined) return kinds.one(Number(rest[1]));
        return kinds.list(Number(query.get("from") ?? 0), Math.min(Number(query.get("limit") ?? 10_000), 50_000));
      }
      case "viewport":
        return this.viewport(query);
      case "spans":
        return this.spans(query);
      case "selection":
        return this.selection(query);
      case "operators":
        return this.operators(query);
      case "layers": {
        const [from, to] = this.ends(query);
        const engines = this.lanes(query).filter((lane) => held.index.lanes[lane]!.kind === "engine");
        const { columns, lanes } = await held.view(engines, from, to, this.width(query));
        return layersAnswer(await held.shape("layer"), await held.kinds(), await held.treeLanes(), columns, lanes);
      }
      case "search":
        return rest[1] === undefined ? this.search(query) : this.rows(rest[1], query);
      case "matches":
        return this.matches(query);
      case "events":
        return rest[3] === "chain" ? this.chain(rest[1]!, Number(rest[2]), query) : this.event(rest[1]!, Number(rest[2]));
      case "sources":
        if (rest[2] === "lines") return this.lines(rest[1]!, query);
        if (rest.length < 2) return held.recorded(path);
        return this.source(path);
      case "query":
        throw new Refusal(501, "SQL needs the server: open the profile with neuron-profile view, or ask it with neuron-profile query");
      default:
        throw new Refusal(404, `this page knows nothing of ${path}`);
    }
  }

  private async document(method: string, path: string, parts: string[], body: unknown): Promise<Answer> {
    const kept = this.documents;
    const stored = this.held.index.recorded;
    if (parts.length < 3) {
      const names = stored[path] ? (await this.held.recorded<{ names: string[] }>(path)).names : [];
      const all = new Set(names);
      for (const [key, value] of kept) {
        if (!key.startsWith(`${path}/`)) continue;
        const name = decodeURIComponent(key.slice(path.length + 1));
        if (value === null) all.delete(name);
        else all.add(name);
      }
      return { names: [...all].sort() };
    }
    if (method === "PUT") return void kept.set(path, JSON.parse(String(body)));
    if (method === "DELETE") return void kept.set(path, null);
    const own = kept.get(path);
    if (own === null || (own === undefined && !stored[path])) throw new Refusal(404, "there is no such document");
    return own ?? this.held.recorded(path);
  }

  private ends(query: URLSearchParams): [number, number] {
    const [from, to] = [Number(query.get("from") ?? 0), Number(query.get("to") ?? this.held.total)];
    if (!(from < to)) throw new Refusal(400, `nothing can be shown of ${from}..${to} ns`);
    return [from, to];
  }

  private width(query: URLSearchParams): number {
    return Number(query.get("width") ?? 1000);
  }

  private lanes(query: URLSearchParams): number[] {
    const count = this.held.index.lanes.length;
    const text = query.get("lanes");
    if (text === null) return Array.from({ length: count }, (_, lane) => lane);
    const wanted = [...new Set(text.split(",").map(Number))].sort((a, b) => a - b);
    if (wanted.some((lane) => !(lane >= 0 && lane < count))) throw new Refusal(400, `lanes=${text}: numbers below ${count}, commas between`);
    return wanted;
  }

  private async viewport(query: URLSearchParams): Promise<ArrayBuffer | Blob> {
    const [from, to] = this.ends(query);
    const { columns, lanes } = await this.held.view(this.lanes(query), from, to, this.width(query));
    const bytes = viewportBytes(columns, lanes);
    const most = query.get("events");
    if (most === null) return bytes;
    const some = lanes.filter(([, lane]) => lane.at.length > 0).map(([number]) => number);
    return new Blob([bytes, spansBytes(await this.few(some, from, to, Number(most)))]);
  }

  private async spans(query: URLSearchParams): Promise<ArrayBuffer> {
    const [from, to] = this.ends(query);
    return spansBytes(await this.few(this.lanes(query), from, to, Number(query.get("limit") ?? 256)));
  }

  /** Events of those lanes that have no more than `limit` in a range. */
  private async few(lanes: readonly number[], from: number, to: number, limit: number): Promise<[number, Span[]][]> {
    const out: [number, Span[]][] = [];
    // Where not all events are here, none are said to be all.
    if (!this.held.has(from, Math.min(to, this.held.total))) return out;
    for (const lane of lanes) {
      const of = await this.held.lane(lane);
      const [first, behind] = placesIn(of, from, to);
      const spans: Span[] = [];
      for (let i = first; i < behind && spans.length <= limit; i += 1) {
        const [start, end] = [of.start[i]!, of.end[i]!];
        if (start < to && (end > from || start >= from)) spans.push({ row: of.row[i]!, start, end, kind: of.kind[i]! });
      }
      if (spans.length <= limit) out.push([lane, spans]);
    }
    return out;
  }

  private async selection(query: URLSearchParams): Promise<Answer> {
    const [from, to] = this.ends(query);
    const kinds = await this.held.kinds();
    const sums = await this.held.sums(this.lanes(query), from, to);
    const lanes = sums.map((lane) => {
      const names = new Map<string, { count: number; time_ns: number; busy_ns: number; bytes: number }>();
      for (const one of lane.kinds) {
        const name = kinds.name(one.kind);
        const sum = names.get(name) ?? { count: 0, time_ns: 0, busy_ns: 0, bytes: 0 };
        names.set(name, { count: sum.count + one.count, time_ns: sum.time_ns + one.time, busy_ns: sum.busy_ns + one.busy, bytes: sum.bytes + one.bytes });
      }
      const sorted = [...names].sort(([a, x], [b, y]) => y.busy_ns - x.busy_ns || (a < b ? -1 : 1));
      return { lane: lane.lane, count: lane.count, busy_ns: lane.busy, names: sorted.map(([name, sum]) => ({ name: cut(name), ...sum, bytes: sum.bytes > 0 ? sum.bytes : null })) };
    });
    return { from, to, lanes };
  }

  private async filled(by: By, from: number, to: number) {
    const tree = await this.held.tree(by);
    tree.fill(await this.held.sums(this.lanes(new URLSearchParams()), from, to));
    return tree;
  }

  private async operators(query: URLSearchParams): Promise<Answer> {
    const by = query.get("by") ?? "layer";
    if (!["layer", "operator", "source", "opcode", "queue"].includes(by)) throw new Refusal(400, "by is layer, operator, source, opcode or queue");
    const [from, to] = this.ends(query);
    const number = (name: string) => (query.has(name) ? Number(query.get(name)) : null);
    const peaks = await this.held.peaks();
    return treeAnswer(await this.filled(by as By, from, to), {
      from,
      to,
      limit: Math.min(Math.max(number("limit") ?? 1000, 1), 10_000),
      sort: query.get("sort") ?? "busy",
      under: number("under"),
      depth: number("depth"),
      peak: peaks.flops * peaks.cores,
    });
  }

  private async lines(file: string, query: URLSearchParams): Promise<Answer> {
    const [from, to] = this.ends(query);
    const tree = await this.filled("source", from, to);
    const own = tree.nodes.find((node) => node.parent === null && node.name === file);
    const lines = (own?.children ?? []).flatMap((at) => {
      const node = tree.nodes[at]!;
      if (!/^\d+$/.test(node.name)) return [];
      return [{ line: Number(node.name), count: node.sums.count, time_ns: node.sums.time, busy_ns: node.sums.busy, wait_ns: node.wait, flops: node.work.flops, engines: enginesOf(node.engines) }];
    });
    return { file: cut(file), from, to, lines: lines.sort((a, b) => a.line - b.line) };
  }

  private async source(path: string): Promise<string> {
    const place = this.held.index.recorded[path];
    if (!place) throw new Refusal(404, "the source is not in this file");
    return this.held.archive.text_of(place);
  }

  private async metrics(query: URLSearchParams): Promise<Answer> {
    const { held } = this;
    const [from, to] = this.ends(query);
    const lanes = await held.treeLanes();
    const metrics = await regionMetrics(
      {
        kinds: await held.kinds(),
        lanes,
        sums: await held.sums(this.lanes(new URLSearchParams()), from, to),
        peaks: await held.peaks(),
        from,
        to,
        integral: async (id) => {
          const series = held.index.series.find((one) => one.id === id);
          if (!series) return null;
          return (await held.integral(series, to)) - (await held.integral(series, from));
        },
      },
      HFU_FACTOR,
    );
    return { from, to, metrics };
  }

  private async seriesData(query: URLSearchParams): Promise<ArrayBuffer> {
    const { held } = this;
    const [from, to] = this.ends(query);
    const columns = columnsOf(from, to, this.width(query));
    const { overview, series, window } = held.index;
    const end = Math.min(columns.start + columns.count * columns.ns, held.total + 1);
    const wanted = (query.get("ids") ?? "").split(",").map((id) => {
      const at = series.findIndex((one) => one.id === id);
      if (at < 0) throw new Refusal(404, `the profile has no series "${id}"`);
      return at;
    });
    if (!held.has(columns.start, end)) {
      if (overview && columns.ns >= overview.column_ns) {
        const whole = decodeSeries(await held.places(overview.series), series.map((one) => one.id));
        const of = { start: whole.start, ns: whole.columnNs, count: whole.columns };
        const all = wanted.map((at): SeriesColumn[] => {
          const one = whole.series[at]!;
          return [...one.columns].map((column, i) => ({ at: column, min: one.min[i]!, max: one.max[i]!, mean: one.mean[i]! }));
        });
        return seriesBytes(columns, all.map((one) => widerSeries(one, of, columns, held.total)));
      }
      if (columns.start >= window.to || end <= window.from) throw leftOut(`A closer look at ${from} to ${to} ns`);
    }
    const all = await Promise.all(
      wanted.map(async (at) => {
        const found = await seriesColumns(held, series, series[at]!, columns).catch((error: unknown) => {
          if (error instanceof Refusal && error.status === 410) return [];
          throw error;
        });
        if (window.whole) return found;
        return found.filter((one) => columns.start + one.at * columns.ns >= window.from && columns.start + (one.at + 1) * columns.ns <= window.to);
      }),
    );
    return seriesBytes(columns, all);
  }

  private async table(name: string) {
    const table = this.held.tables.get(name);
    if (table) return table;
    if ((await this.held.tableInfos()).has(name)) throw leftOut(`Table ${name}`);
    throw new Refusal(404, `the profile has no table ${name}`);
  }

  private async rows(name: string, query: URLSearchParams): Promise<Answer> {
    const table = await this.table(name);
    const columns = (await this.held.tableInfos()).get(name)?.columns ?? [];
    const conditions = [...query].flatMap(([key, text]): [string, Is][] => {
      if (key === "from" || key === "limit") return [];
      const column = key.replace(/~$/, "");
      if (!columns.some((one) => one.name === column)) throw new Refusal(400, `table ${name} has no column ${column}`);
      if (key.endsWith("~")) return [[column, { has: text }]];
      return [[column, range(text) ?? { is: text }]];
    });
    return table.search(Number(query.get("from") ?? 0), Math.min(Number(query.get("limit") ?? 100), 10_000), conditions);
  }

  /** The lane of a row of a table. */
  private async laneOf(): Promise<(table: string, row: number) => number | null> {
    const lanes = await this.held.lanes();
    return (table, row) => {
      const at = lanes.findIndex((lane) => lane.table === table && row >= lane.first_row && row < lane.first_row + lane.rows);
      return at < 0 ? null : at;
    };
  }

  private async short(table: string, row: number, fields: Fields): Promise<Fields> {
    const out: Fields = {};
    for (const name of ["id", "engine", "opcode", "layer", "pc", "start_ts", "end_ts", "queue_name"]) {
      if (fields[name] !== undefined) out[name] = fields[name]!;
    }
    return { ...out, table, row, lane: (await this.laneOf())(table, row) };
  }

  private async event(name: string, row: number): Promise<Answer> {
    const table = await this.table(name);
    const fields = await table.one(row);
    const ends = async (which: "needed" | "needing") => {
      if (typeof fields.id !== "number") return [];
      const others = await this.held.flows.others(name, fields.id, which);
      return Promise.all(
        others.map(async (other: Other) => {
          const short = other.fields ? await this.short(other.table, other.row!, other.fields) : {};
          const [first, second] = which === "needed" ? [other.fields, fields] : [fields, other.fields];
          const [begin, end] = [second?.start_ts, first?.end_ts];
          const gap = typeof begin === "number" && typeof end === "number" ? begin - end : null;
          return { ...short, id: other.id, table: other.table, dependency_type: other.kind, gap_time: gap };
        }),
      );
    };
    return {
      table: name,
      row,
      lane: (await this.laneOf())(name, row),
      fields,
      columns: (await this.held.tableInfos()).get(name)?.columns ?? [],
      predecessors: await ends("needed"),
      successors: await ends("needing"),
      call_stacks: name === "Instruction" ? await this.held.stacks.of(fields) : [],
    };
  }

  private async chain(name: string, first: number, query: URLSearchParams): Promise<Answer> {
    const depth = Math.min(Number(query.get("depth") ?? 32), 1000);
    let [table, row, fields] = [name, first, await (await this.table(name)).one(first)];
    const steps: unknown[] = [{ ...(await this.short(table, row, fields)), gap_ns: null, dependency_type: null }];
    const seen = new Set([`${table}/${row}`]);
    for (;;) {
      if (steps.length > depth) return { chain: steps, end: "depth" };
      if (typeof fields.id !== "number") return { chain: steps, end: "first" };
      const others = (await this.held.flows.others(table, fields.id, "needed")).filter((other) => other.fields);
      const end = (other: Other) => (typeof other.fields?.end_ts === "number" ? other.fields.end_ts : Number.NEGATIVE_INFINITY);
      // Of equal ones the last, as the server takes it.
      const next = others.reduce<Other | null>((most, one) => (!most || end(one) > end(most) || (end(one) === end(most) && one.id >= most.id) ? one : most), null);
      if (!next) return { chain: steps, end: "first" };
      const start = fields.start_ts;
      const gap = typeof start === "number" && typeof next.fields?.end_ts === "number" ? start - next.fields.end_ts : null;
      [table, row, fields] = [next.table, next.row!, next.fields!];
      if (seen.has(`${table}/${row}`)) return { chain: steps, end: "loop" };
      seen.add(`${table}/${row}`);
      steps.push({ ...(await this.short(table, row, fields)), gap_ns: gap, dependency_type: next.kind });
    }
  }

  private async hits(query: URLSearchParams, from: number, to: number) {
    const known = ["Instruction", "DmaPacket", "SystemProfileEvents"];
    const named = query.get("tables")?.split(",") ?? known;
    if (named.some((name) => !known.includes(name))) throw new Refusal(400, "tables are Instruction, DmaPacket and SystemProfileEvents");
    const infos = await this.held.tableInfos();
    const laneOf = await this.laneOf();
    const tables = [...new Set(named)].flatMap((name) => this.held.tables.get(name) ?? []);
    const columns = (name: string) => {
      const info = infos.get(name);
      return info ? new Map(info.columns.map((column) => [column.name, /str|text|utf/i.test(column.type)])) : null;
    };
    return find({ columns, laneOf }, tables, query.get("q") ?? "", from, to);
  }

  private async search(query: URLSearchParams): Promise<Answer> {
    const [from, to] = [Number(query.get("from") ?? 0), Number(query.get("to") ?? Number.MAX_SAFE_INTEGER)];
    const hits = await this.hits(query, from, to);
    const offset = Math.min(Number(query.get("offset") ?? 0), hits.length);
    const limit = Math.min(Math.max(Number(query.get("limit") ?? 50), 1), 1000);
    const page = hits.slice(offset, offset + limit);
    const rows = await Promise.all(
      page.map(async (hit) => {
        const [fields] = await hit.table.fields([hit.place]);
        return { ...fields, table: hit.table.name, row: await hit.table.row(hit.place), lane: hit.lane };
      }),
    );
    const lanes = [...new Set(hits.map((hit) => hit.lane))].sort((a, b) => a - b);
    const next = offset + page.length;
    const { window } = this.held.index;
    return {
      total: hits.length,
      complete: window.whole,
      rows,
      offset,
      next: next < hits.length ? next : null,
      statistics: { ...statistics(hits), lanes: lanes.map((lane) => ({ ...statistics(hits.filter((hit) => hit.lane === lane)), lane })) },
    };
  }

  private async matches(query: URLSearchParams): Promise<ArrayBuffer> {
    const [from, to] = this.ends(query);
    const columns = columnsOf(from, to, this.width(query));
    const found = new Map<number, Map<number, number>>();
    for (const hit of await this.hits(query, 0, Number.MAX_SAFE_INTEGER)) {
      const at = Math.floor((hit.start - columns.start) / columns.ns);
      if (at < 0 || at >= columns.count || hit.lane < 0) continue;
      const lane = found.get(hit.lane) ?? new Map<number, number>();
      found.set(hit.lane, lane);
      lane.set(at, (lane.get(at) ?? 0) + 1);
    }
    return matchesBytes(columns, [...found].sort(([a], [b]) => a - b));
  }
}
