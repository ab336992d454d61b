// Flame view: where time goes, by layer, source or opcode. Width is busy time;
// a click goes into a node, the crumbs lead out again.

import { useMemo, useState } from "react";
import { type TreeBy, getTree } from "../api/trees";
import { colourOf } from "../format/colour";
import { count, flops, percent, time } from "../format/number";
import { short } from "../format/words";
import { type Bar, type BarRow, Bars } from "../parts/bars";
import { Check, Select } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useSeen } from "../parts/range";
import { useRequest } from "../parts/request";
import { type Branch, branches } from "../parts/tree";
import { find } from "../state/find";
import { useProfile } from "../state/profile";
import { nodeQuery } from "./operators";

/** Rows of a flame: children stand under their parent, the widest first. */
export function flameRows(tops: readonly Branch[]): { rows: BarRow[]; total: number; known: Map<string, { node: Branch; path: Branch[] }> } {
  const rows: Bar[][] = [];
  const known = new Map<string, { node: Branch; path: Branch[] }>();
  const put = (nodes: readonly Branch[], depth: number, start: number, path: Branch[]) => {
    let at = start;
    for (const node of [...nodes].sort((a, b) => b.busy_ns - a.busy_ns)) {
      if (node.busy_ns <= 0) continue;
      const key = String(node.node);
      known.set(key, { node, path });
      const row = rows[depth] ?? [];
      rows[depth] = row;
      row.push({ from: at, to: at + node.busy_ns, name: node.name || "(none)", colour: colourOf(node.path || node.name), key });
      put(node.below, depth + 1, at, [...path, node]);
      at += node.busy_ns;
    }
    return at;
  };
  const total = put(tops, 0, 0, []);
  return { rows: rows.map((bars, depth) => ({ label: depth === 0 ? "all" : String(depth), bars })), total, known };
}

export default function Flame() {
  const { id } = useProfile();
  const seen = useSeen();
  const [by, setBy] = useState<TreeBy>("layer");
  const [follow, setFollow] = useState(true);
  const [into, setInto] = useState<string | null>(null);
  const range = follow && !seen.whole ? { from: seen.from, to: seen.to } : null;
  const answer = useRequest(
    `${id}:${by}:${range ? `${range.from}-${range.to}` : "all"}`,
    (signal) => getTree(id ?? "", by, range, { limit: 3000 }, signal),
    150,
  );
  const flame = useMemo(() => flameRows(branches(answer.data?.nodes ?? [])), [answer.data]);
  const chosen = into === null ? undefined : flame.known.get(into);
  const bar = chosen && flame.rows.flatMap((row) => row.bars).find((one) => one.key === into);
  const [from, to] = bar ? [bar.from, bar.to] : [0, Math.max(1, flame.total)];
  return (
    <>
      <div className="toolbar">
        <Select
          label="Flame of"
          value={by}
          options={[
            { value: "layer", text: "Layers" },
            { value: "source", text: "Sources" },
            { value: "opcode", text: "Engines and opcodes" },
            { value: "queue", text: "DMA queues" },
          ]}
          onChange={(next) => (setInto(null), setBy(next))}
        />
        <Check label="Visible range only" checked={follow} onChange={setFollow} />
        <nav className="crumbs" aria-label="Path">
          <button type="button" className="link" onClick={() => setInto(null)} disabled={!chosen}>
            all ({time(flame.total)})
          </button>
          {chosen &&
            [...chosen.path, chosen.node].map((node) => (
              <button key={node.node} type="button" className="link" onClick={() => setInto(String(node.node))}>
                / {short(node.name || "(none)", 40)}
              </button>
            ))}
        </nav>
      </div>
      <Asked answer={answer} what="The flame">
        {() =>
          flame.total === 0 ? (
            <Notice>No engine is busy in this range.</Notice>
          ) : (
            <Bars
              label="Flame"
              rows={flame.rows}
              from={from}
              to={to}
              gutter={34}
              axis={(value) => time(value)}
              onPick={(one) => {
                setInto(one.key === into ? null : one.key);
                const node = flame.known.get(one.key)?.node;
                const asked = node && nodeQuery(by, node);
                if (asked?.query) void find(asked.table, asked.query);
              }}
              tell={(one) => {
                const node = flame.known.get(one.key)?.node;
                return (
                  <dl>
                    <div><dt>Name</dt><dd>{short(node?.path || one.name, 300)}</dd></div>
                    <div><dt>Busy</dt><dd>{time(node?.busy_ns)} ({percent(node?.share)})</dd></div>
                    <div><dt>Events</dt><dd>{count(node?.count)}</dd></div>
                    <div><dt>FLOPs</dt><dd>{flops(node?.flops)}</dd></div>
                    <div><dt>HFU</dt><dd>{percent(node?.hfu)}</dd></div>
                  </dl>
                );
              }}
            />
          )
        }
      </Asked>
    </>
  );
}
