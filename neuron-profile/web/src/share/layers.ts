// Layers as bars (HTTP.md, layers), by the rules of the server
// (src/analysis/layers.rs).

import type { Columns, LaneColumns } from "./columns";
import { type Kinds, cut } from "./kinds";
import type { Tree, TreeLane } from "./tree";

/** Bars of an answer at most. */
const MOST = 20_000;

interface Bar {
  node: number;
  from: number;
  to: number;
  busy: number;
  kind: number;
}

type Cell = { leaf: number; busy: number; kind: number }[];

function level(tree: Tree, cells: readonly Cell[], depth: number, columns: Columns): Bar[] {
  const bars: Bar[] = [];
  let open = false;
  cells.forEach((cell, at) => {
    const sums: Bar[] = [];
    for (const { leaf, busy, kind } of cell) {
      const node = tree.above(leaf, depth);
      if (node === null) continue;
      const known = sums.find((one) => one.node === node);
      if (known) known.busy += busy;
      else sums.push({ node, from: columns.start + at * columns.ns, to: columns.start + (at + 1) * columns.ns, busy, kind });
    }
    const best = sums.reduce<Bar | null>((most, one) => (!most || one.busy > most.busy || (one.busy === most.busy && one.node < most.node) ? one : most), null);
    if (!best) {
      open &&= cell.length === 0;
      return;
    }
    const last = bars[bars.length - 1];
    if (last && open && last.node === best.node) {
      last.to = best.to;
      last.busy += best.busy;
    } else bars.push(best);
    open = true;
  });
  return bars;
}

export function layersAnswer(tree: Tree, kinds: Kinds, lanes: readonly TreeLane[], columns: Columns, view: readonly (readonly [number, LaneColumns])[]) {
  const cores = [...new Set(view.map(([lane]) => lanes[lane]!.core))].sort((a, b) => a - b);
  let left = MOST;
  let more = false;
  const rows = cores.flatMap((core) => {
    const cells: Cell[] = Array.from({ length: columns.count }, () => []);
    for (const [lane, of] of view) {
      if (lanes[lane]!.core !== core) continue;
      of.at.forEach((at, i) => {
        const [kind, busy] = [of.kind[i]!, of.busy[i]!];
        const leaf = tree.leaf(lane, kind);
        if (leaf !== null && busy > 0 && !kinds.kind(kind).waits) cells[at]?.push({ leaf, busy, kind });
      });
    }
    let deepest = 0;
    for (const cell of cells) for (const { leaf } of cell) deepest = Math.max(deepest, tree.nodes[leaf]!.depth);
    return Array.from({ length: deepest }, (_, depth) => ({ core, depth, bars: level(tree, cells, depth + 1, columns) }));
  });
  const out = rows.map(({ core, depth, bars }) => {
    more ||= bars.length > left;
    const kept = bars.slice(0, left);
    left -= kept.length;
    return {
      core,
      depth,
      bars: kept.map((bar) => ({ name: cut(tree.nodes[bar.node]!.name), path: cut(tree.path(bar.node)), node: bar.node, from: bar.from, to: bar.to, busy_ns: bar.busy, kind: bar.kind })),
    };
  });
  return { start: columns.start, column_ns: columns.ns, rows: out, cut: more };
}
