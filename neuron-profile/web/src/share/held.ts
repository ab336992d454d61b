// The profile inside of a page: what was stored of it, unpacked as it is asked
// for, with the sums and steps that answers are made of.

import type { TableInfo } from "../api/types";
import { Archive, type Place } from "./archive";
import { type Columns, type LaneColumns, columnsOf, laneColumns, wider } from "./columns";
import { type LaneEvents, laneEvents } from "./events";
import { Flows } from "./flows";
import type { Index, StoredSeries } from "./index";
import { type Kind, Kinds } from "./kinds";
import { leftOut } from "./refusal";
import { type SeriesSource, type Step, integralOf, laneSteps, stepsIn } from "./series";
import { Stacks } from "./stacks";
import { type LaneSums, laneSums, sumsOf } from "./sums";
import { Table } from "./tables";
import { type By, Tree, type TreeLane } from "./tree";
import { decodeViewport } from "../api/wire";

interface StoredLaneInfo {
  first_row: number;
  rows: number;
  table: string;
}

export class Held implements SeriesSource {
  readonly tables: ReadonlyMap<string, Table>;
  readonly flows: Flows;
  readonly stacks: Stacks;
  private readonly events = new Map<number, Promise<LaneEvents>>();
  private readonly bytes = new Map<number, Promise<Float64Array | null>>();
  private readonly trees = new Map<By, Promise<Tree>>();
  private readonly steps_ = new Map<string, Promise<Step[]>>();
  private kinds_: Promise<Kinds> | null = null;
  private overview_: Promise<{ columns: Columns; lanes: LaneColumns[] }> | null = null;
  private lanes_: Promise<StoredLaneInfo[]> | null = null;
  private infos: Promise<Map<string, TableInfo>> | null = null;

  constructor(
    readonly index: Index,
    readonly archive: Archive,
  ) {
    this.tables = new Map(Object.entries(index.tables).map(([name, of]) => [name, new Table(name, archive, of)]));
    this.flows = new Flows(this.tables);
    this.stacks = new Stacks(this.tables);
  }

  get total(): number {
    return this.index.total_ns;
  }

  /** Whether all events of a range are here. */
  has(from: number, to: number): boolean {
    const { window } = this.index;
    return window.whole || (from >= window.from && to <= window.to);
  }

  recorded<T>(path: string): Promise<T> {
    const place = this.index.recorded[path];
    if (!place) throw leftOut(`/api/v1${path}`);
    return this.archive.json<T>(place);
  }

  kinds(): Promise<Kinds> {
    this.kinds_ ??= this.archive.json<{ names: string[]; kinds: { texts: string[]; kinds: Kind[] } }>(this.index.kinds).then(({ names, kinds }) => new Kinds(names, kinds));
    return this.kinds_;
  }

  lanes(): Promise<StoredLaneInfo[]> {
    this.lanes_ ??= this.recorded<{ lanes: StoredLaneInfo[] }>(`/profiles/${this.index.id}`).then((profile) => profile.lanes);
    return this.lanes_;
  }

  /** The tables that the profile has, with their columns. */
  tableInfos(): Promise<Map<string, TableInfo>> {
    this.infos ??= this.recorded<{ tables: TableInfo[] }>(`/profiles/${this.index.id}/tables`).then(({ tables }) => new Map(tables.map((one) => [one.name, one])));
    return this.infos;
  }

  lane(number: number): Promise<LaneEvents> {
    let known = this.events.get(number);
    if (!known) this.events.set(number, (known = laneEvents(this.archive, this.index.lanes[number]!)));
    return known;
  }

  /** Bytes of the packets of a lane, by event; null for other lanes. */
  private bytesOf(number: number): Promise<Float64Array | null> {
    let known = this.bytes.get(number);
    if (known) return known;
    known = (async () => {
      const table = this.tables.get("DmaPacket");
      if (this.index.lanes[number]?.kind !== "dma" || !table) return null;
      const [events, all] = await Promise.all([this.lane(number), table.numbers("transfer_bytes")]);
      const out = new Float64Array(events.count);
      for (let i = 0; i < events.count; i += 1) out[i] = all[await table.place(events.row[i]!)] || 0;
      return out;
    })();
    this.bytes.set(number, known);
    return known;
  }

  private overview() {
    const { overview } = this.index;
    if (!overview) return null;
    this.overview_ ??= this.archive.bytes(overview.viewport).then((bytes) => {
      const view = decodeViewport(bytes);
      const lanes = view.lanes.map((lane) => ({
        at: [...lane.columns],
        count: [...lane.events],
        busy: [...lane.busy],
        kind: [...lane.names],
        row: [...lane.rows],
      }));
      return { columns: { start: view.start, ns: view.columnNs, count: view.columns }, lanes };
    });
    return this.overview_;
  }

  /** What is seen of lanes: from events where they are here, else from the one picture of the whole. */
  async view(numbers: readonly number[], from: number, to: number, width: number): Promise<{ columns: Columns; lanes: [number, LaneColumns][] }> {
    const columns = columnsOf(from, to, width);
    const { window, overview } = this.index;
    const end = Math.min(columns.start + columns.count * columns.ns, this.total + 1);
    if (!this.has(columns.start, end)) {
      if (overview && columns.ns >= overview.column_ns) {
        const all = await this.overview()!;
        return { columns, lanes: numbers.map((lane) => [lane, wider(all.lanes[lane]!, all.columns, columns)]) };
      }
      // Nothing of the range is here: there is no finer picture of it.
      if (columns.start >= window.to || end <= window.from) throw leftOut(`A closer look at ${from} to ${to} ns`);
    }
    const infos = await this.lanes();
    const lanes = await Promise.all(
      numbers.map(async (lane): Promise<[number, LaneColumns]> => {
        const info = infos[lane]!;
        const of = laneColumns(await this.lane(lane), columns, info.first_row + info.rows);
        return [lane, window.whole ? of : inside(of, columns, window)];
      }),
    );
    return { columns, lanes };
  }

  /** Sums of lanes over a range. */
  async sums(numbers: readonly number[], from: number, to: number): Promise<LaneSums[]> {
    if (!this.has(from, Math.min(to, this.total))) {
      const { overview } = this.index;
      if (!overview || from > 0 || to < this.total) throw leftOut(`Sums of ${from} to ${to} ns`);
      const all = await this.archive.json<number[][][]>(overview.sums);
      return numbers.map((lane) => laneSums(lane, (all[lane] ?? []).map(([kind, count, time, busy, bytes]) => ({ kind: kind!, count: count!, time: time!, busy: busy!, bytes: bytes! }))));
    }
    return Promise.all(numbers.map(async (lane) => sumsOf(lane, await this.lane(lane), from, to, await this.bytesOf(lane))));
  }

  async treeLanes(): Promise<TreeLane[]> {
    const all = await Promise.all(this.index.lanes.map((_, number) => this.lane(number)));
    return this.index.lanes.map((lane, number) => ({ ...lane, kinds: all[number]!.kinds }));
  }

  /** A tree without sums: they are added to a new one each time, since it keeps them. */
  async tree(by: By): Promise<Tree> {
    const cores = ["layer"].includes(by) ? await this.cores() : [];
    const tree = new Tree(await this.kinds(), await this.treeLanes(), by, cores);
    if (by === "layer") await this.spans(tree);
    return tree;
  }

  /** A tree for looking up nodes alone. */
  shape(by: By): Promise<Tree> {
    let known = this.trees.get(by);
    if (!known) this.trees.set(by, (known = this.tree(by)));
    return known;
  }

  /** Names of the cores: of their subgraphs where known. */
  private async cores(): Promise<string[]> {
    const most = Math.max(0, ...this.index.lanes.map((lane) => lane.core));
    const names = Array.from({ length: most + 1 }, (_, core) => `core ${core}`);
    const table = this.tables.get("ModelInfo");
    if (!table) return names;
    const [cores, texts] = await Promise.all([table.values("pcore_idx"), table.values("sg_name")]);
    cores.forEach((core, i) => {
      const text = texts[i];
      if (typeof core === "number" && core in names && typeof text === "string") names[core] = text;
    });
    return names;
  }

  private async spans(tree: Tree) {
    const table = this.tables.get("LayerSummary");
    if (!table) return;
    const [names, starts, ends] = await Promise.all(["name", "start_ts", "end_ts"].map((name) => table.values(name)));
    const known = new Map<string, [number, number]>();
    names!.forEach((name, i) => {
      const [start, end] = [starts![i], ends![i]];
      if (typeof name === "string" && typeof start === "number" && typeof end === "number") known.set(name.replace(/^\/+/, ""), [start, end]);
    });
    tree.nodes.forEach((node, at) => {
      node.span = known.get(tree.path(at)) ?? null;
    });
  }

  /** Operations and bytes per second of the chip. */
  async peaks(): Promise<{ flops: number; memory: number; cores: number }> {
    const row = (await this.tables.get("Metadata")?.fields([0]))?.[0];
    if (!row) return { flops: 0, memory: 0, cores: 1 };
    const number = (name: string) => (typeof row[name] === "number" ? (row[name] as number) : 0);
    const clock = number("tensor_engine_clock_freq") * 1e9;
    return {
      flops: number("tensor_engine_num_rows") * number("tensor_engine_num_cols") * 2 * clock,
      memory: number("hbm_ddr_bandwidth"),
      cores: Math.max(1, number("num_physical_cores")),
    };
  }

  /** All steps of a series whose values stand in a table. */
  private tableSteps(series: StoredSeries): Promise<Step[]> {
    let known = this.steps_.get(series.id);
    if (known) return known;
    known = (async () => {
      if (!("table" in series.source)) return [];
      const { table: name, value, by, id } = series.source.table;
      const table = this.tables.get(name);
      if (!table) throw leftOut(`Table ${name}`);
      const [times, values, cores] = await Promise.all([table.numbers("timestamp"), table.numbers(value), table.numbers("pcore_idx")]);
      // Single-precision numbers are stored by their digits; a line is of the numbers themselves.
      const kind = (await this.tableInfos()).get(name)?.columns.find((column) => column.name === value)?.type;
      if (kind === "float") for (let i = 0; i < values!.length; i += 1) values![i] = Math.fround(values![i]!);
      const divisors = by === null ? null : await table.numbers(by);
      const ids = id === null ? null : await table.values("id");
      const out: [number, number][] = [];
      for (let i = 0; i < table.here; i += 1) {
        if ((Number.isNaN(cores[i]!) ? 0 : cores[i]!) !== (series.core ?? 0) || (ids && ids[i] !== id) || Number.isNaN(values[i]!)) continue;
        const time = Math.max(0, times[i]!);
        const number = divisors ? values[i]! / (Number.isNaN(divisors[i]!) ? 1 : divisors[i]!) : values[i]!;
        const last = out[out.length - 1];
        // Of several values of one nanosecond the last holds.
        if (last && last[0] === time) last[1] = number;
        else out.push([time, number]);
      }
      return out;
    })();
    this.steps_.set(series.id, known);
    return known;
  }

  async steps(series: StoredSeries, from: number, to: number): Promise<Step[]> {
    if ("table" in series.source) return stepsIn(await this.tableSteps(series), from, to);
    const { lanes, measure } = series.source.lanes;
    return laneSteps(await Promise.all(lanes.map((lane) => this.lane(lane))), await this.kinds(), measure, from, to);
  }

  async integral(series: StoredSeries, to: number): Promise<number> {
    const end = Math.min(to, this.total);
    if (end <= 0) return 0;
    const { window } = this.index;
    if (window.whole) return integralOf(await this.steps(series, 0, end), end);
    if (end === this.total && series.all !== undefined) return series.all;
    if (!this.has(window.from, end) || end < window.from) throw leftOut(`${series.id} at ${to} ns`);
    return (series.before ?? 0) + (end > window.from ? integralOf(await this.steps(series, window.from, end), end) : 0);
  }

  async places(of: Place): Promise<ArrayBuffer> {
    return this.archive.bytes(of);
  }
}

/** Columns that lie in the window: of the others nothing is known. */
function inside(of: LaneColumns, { start, ns }: Columns, window: { from: number; to: number }): LaneColumns {
  const keep = of.at.map((at) => start + at * ns >= window.from && start + (at + 1) * ns <= window.to);
  const kept = (list: number[]) => list.filter((_, i) => keep[i]);
  return { at: kept(of.at), count: kept(of.count), busy: kept(of.busy), kind: kept(of.kind), row: kept(of.row) };
}
