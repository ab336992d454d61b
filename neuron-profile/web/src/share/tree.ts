// Sums of a range as a tree (HTTP.md, Trees), by the rules of the server
// (src/analysis/tree.rs): numbers of nodes are the same.

import { type Kinds, type WorkSum, addWork, cut, noWork, workFields } from "./kinds";
import { Refusal } from "./refusal";
import type { LaneSums } from "./sums";

export type By = "layer" | "operator" | "source" | "opcode" | "queue";

export interface TreeLane {
  name: string;
  core: number;
  kind: string;
  kinds: readonly number[];
}

interface Sums {
  count: number;
  time: number;
  busy: number;
}

export interface Node {
  parent: number | null;
  depth: number;
  name: string;
  sums: Sums;
  engines: Map<string, Sums>;
  wait: number;
  work: WorkSum;
  dma: number;
  children: number[];
  span: [number, number] | null;
}

/** The kind of a row outside of every program. */
const NO_KIND = 4294967295;

const add = (to: Sums, count: number, time: number, busy: number) => {
  to.count += count;
  to.time += time;
  to.busy += busy;
};

export class Tree {
  readonly nodes: Node[] = [];
  private readonly leaves = new Map<string, number>();

  constructor(
    private readonly kinds: Kinds,
    private readonly lanes: readonly TreeLane[],
    readonly by: By,
    cores: readonly string[],
  ) {
    const known = new Map<string, number>();
    lanes.forEach((lane, at) => {
      if ((lane.kind === "dma") !== (by === "queue")) return;
      const core = cores[lane.core] ?? "core";
      for (const kind of by === "layer" ? [...lane.kinds, NO_KIND] : lane.kinds) {
        if (this.leaves.has(`${at}/${kind}`)) continue;
        let node: number | null = null;
        for (const name of this.components(lane.name, core, kind)) node = this.below(known, node, name);
        if (node !== null) this.leaves.set(`${at}/${kind}`, node);
      }
    });
  }

  private below(known: Map<string, number>, above: number | null, name: string): number {
    const key = `${above ?? ""}/${name}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const depth = above === null ? 0 : this.nodes[above]!.depth + 1;
    const fresh = this.nodes.push({ parent: above, depth, name, sums: { count: 0, time: 0, busy: 0 }, engines: new Map(), wait: 0, work: noWork(), dma: 0, children: [], span: null }) - 1;
    if (above !== null) this.nodes[above]!.children.push(fresh);
    known.set(key, fresh);
    return fresh;
  }

  private components(engine: string, core: string, place: number): string[] {
    const kind = this.kinds.kind(place);
    const operator = this.kinds.text(kind.operator);
    const source = this.kinds.text(kind.source);
    switch (this.by) {
      case "layer": {
        const parts = (this.kinds.text(kind.layer) ?? "").split("/").filter((part) => part !== "");
        return [core, ...parts, ...(operator === null ? [] : [operator])];
      }
      case "operator":
        return [operator ?? "(no operator)"];
      case "source": {
        if (source === null) return ["(no source)"];
        const colon = source.lastIndexOf(":");
        return colon < 0 ? [source] : [source.slice(0, colon), source.slice(colon + 1)];
      }
      default:
        return [engine, this.kinds.name(place)];
    }
  }

  leaf(lane: number, kind: number): number | null {
    return this.leaves.get(`${lane}/${kind}`) ?? this.leaves.get(`${lane}/${NO_KIND}`) ?? null;
  }

  fill(all: readonly LaneSums[]) {
    for (const lane of all) {
      const engine = this.lanes[lane.lane]?.name ?? "";
      for (const sum of lane.kinds) {
        const kind = this.kinds.kind(sum.kind);
        const [time, busy, wait] = kind.waits ? [0, 0, sum.time] : [sum.time, sum.busy, 0];
        for (let at = this.leaf(lane.lane, sum.kind); at !== null; at = this.nodes[at]!.parent) {
          const node = this.nodes[at]!;
          add(node.sums, sum.count, time, busy);
          let own = node.engines.get(engine);
          if (!own) node.engines.set(engine, (own = { count: 0, time: 0, busy: 0 }));
          add(own, sum.count, time, busy);
          node.wait += wait;
          addWork(node.work, kind.work, sum.count);
          node.dma += sum.bytes;
        }
      }
    }
  }

  path(node: number): string {
    const names: string[] = [];
    for (let at: number | null = node; at !== null; at = this.nodes[at]!.parent) names.push(this.nodes[at]!.name);
    return names.reverse().join("/");
  }

  /** The node at this depth above a node, or itself. */
  above(node: number, depth: number): number | null {
    let at: number | null = node;
    while (at !== null && this.nodes[at]!.depth > depth) at = this.nodes[at]!.parent;
    return at !== null && this.nodes[at]!.depth === depth ? at : null;
  }
}

export const enginesOf = (engines: ReadonlyMap<string, Sums>) =>
  Object.fromEntries([...engines].map(([name, sums]) => [name, { count: sums.count, time_ns: sums.time, busy_ns: sums.busy }]));

const WEIGHTS: Record<string, (node: Node) => number> = {
  busy: (node) => node.sums.busy,
  time: (node) => node.sums.time,
  count: (node) => node.sums.count,
  flops: (node) => node.work.flops,
  bytes: (node) => node.work.hbm_read + node.work.hbm_write + node.dma,
  name: () => 0,
};

export interface TreeAsked {
  from: number;
  to: number;
  limit: number;
  sort: string;
  under: number | null;
  depth: number | null;
  /** Operations per second of all cores. */
  peak: number;
}

const before = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The answer of `operators`. */
export function treeAnswer(tree: Tree, asked: TreeAsked) {
  const { nodes } = tree;
  const { under, from, to } = asked;
  const weight = WEIGHTS[asked.sort];
  if (!weight) throw new Refusal(400, "sort is busy, time, count, flops, bytes or name");
  if (under !== null && !nodes[under]) throw new Refusal(404, `the tree has ${nodes.length} nodes`);
  const base = under === null ? 0 : nodes[under]!.depth;
  const deepest = asked.depth === null ? Number.POSITIVE_INFINITY : base + asked.depth;
  const found: number[] = [];
  let total = 0;
  nodes.forEach((node, at) => {
    const inside = under === null || tree.above(at, base) === under;
    if (!inside || (node.sums.count === 0 && node.sums.busy === 0)) return;
    total += 1;
    if (node.depth <= deepest) found.push(at);
  });
  found.sort((a, b) => weight(nodes[b]!) - weight(nodes[a]!) || nodes[a]!.depth - nodes[b]!.depth || before(nodes[a]!.name, nodes[b]!.name) || a - b);
  const kept = new Set<number>();
  for (const first of found.slice(0, asked.limit)) {
    for (let at: number | null = first; at !== null && !kept.has(at); at = at === under ? null : nodes[at]!.parent) kept.add(at);
  }
  const rank = new Map(found.map((at, place) => [at, place]));
  const ranked = (list: readonly number[]) =>
    list.filter((at) => kept.has(at)).sort((a, b) => (rank.get(b) ?? Number.MAX_SAFE_INTEGER) - (rank.get(a) ?? Number.MAX_SAFE_INTEGER) || b - a);
  const whole = nodes.reduce((sum, node) => (node.parent === null ? sum + node.sums.busy : sum), 0);
  const peak = (asked.peak * (to - from)) / 1e9;
  const share = (part: number, all: number) => (all > 0 ? part / all : 0);
  const next = ranked(under === null ? nodes.flatMap((node, at) => (node.parent === null ? [at] : [])) : [under]);
  const out: unknown[] = [];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    const node = nodes[at]!;
    const text = (one: string) => (at === under ? one : cut(one));
    out.push({
      ...workFields(node.work),
      node: at,
      parent: at === under ? null : node.parent,
      depth: node.depth,
      name: text(node.name),
      path: text(tree.path(at)),
      leaf: node.children.length === 0,
      count: node.sums.count,
      time_ns: node.sums.time,
      busy_ns: node.sums.busy,
      wait_ns: node.wait,
      share: share(node.sums.busy, whole),
      hfu: share(node.work.flops, peak),
      mfu: share(Math.max(0, node.work.flops - node.work.transpose_flops), peak),
      dma_bytes: node.dma,
      engines: enginesOf(node.engines),
      ...(node.span && { start_ns: node.span[0], end_ns: node.span[1] }),
    });
    next.push(...ranked(node.children));
  }
  return { by: tree.by, from, to, nodes: out, total, cut: found.length > asked.limit || total > kept.size };
}
