// Operator Table: layers and operators (or sources, opcodes, queues) as a tree,
// with time, FLOPs and bytes of what is seen.

import { useMemo, useState } from "react";
import { type Condition, queryText } from "../api/search";
import { type TreeBy, getTree } from "../api/trees";
import { bytes, count, flops, percent, time } from "../format/number";
import { Check, Select } from "../parts/controls";
import { Asked } from "../parts/notice";
import { useSeen } from "../parts/range";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { type Branch, branches } from "../parts/tree";
import { find } from "../state/find";
import { useProfile } from "../state/profile";
import { useView } from "../state/view";

const ns = (value: number) => time(value);
const ENGINES = ["Tensor", "TensorMatrix", "Vector", "Scalar", "GpSimd", "Sync"];

/** Nodes of one answer; more are said to be there. */
const LIMIT = 5000;

const BY: { value: TreeBy; text: string }[] = [
  { value: "layer", text: "Layers and operators" },
  { value: "operator", text: "Operators" },
  { value: "source", text: "Sources" },
  { value: "opcode", text: "Engines and opcodes" },
  { value: "queue", text: "DMA queues" },
];

export function treeColumns(engines: readonly string[]): Col<Branch>[] {
  const each = engines.flatMap((name): Col<Branch>[] => [
    { id: `count_${name}`, title: `${name} #`, tip: `Instructions of ${name}`, value: (one) => one.engines[name]?.count ?? null, text: count, right: true, sum: true, width: 92, hidden: !["Tensor", "TensorMatrix", "Vector", "Scalar"].includes(name) },
    { id: `busy_${name}`, title: `${name} busy`, tip: `Time that ${name} worked on it`, value: (one) => one.engines[name]?.busy_ns ?? null, text: ns, right: true, sum: true, width: 96, hidden: !["TensorMatrix", "Vector", "Scalar"].includes(name) },
  ]);
  return [
    { id: "name", title: "Node name", value: (one) => (one.name === "" ? "(none)" : one.name), width: 330 },
    { id: "busy_ns", title: "Busy", tip: "Time that its events cover, and no event of the same lane before them", value: (one) => one.busy_ns, text: ns, right: true, sum: true },
    { id: "share", title: "Share", tip: "Of all busy time", value: (one) => one.share, text: percent, right: true, width: 78 },
    { id: "mfu", title: "MFU", tip: "Operations without transposes, by those that the array could do in the range", value: (one) => one.mfu, text: percent, right: true, sum: true, width: 78 },
    { id: "hfu", title: "HFU", tip: "Operations of the hardware, by those that the array could do in the range", value: (one) => one.hfu, text: percent, right: true, sum: true, width: 78 },
    { id: "count", title: "Events", value: (one) => one.count, text: count, right: true, sum: true, width: 80 },
    { id: "flops", title: "FLOPs", value: (one) => one.flops, text: flops, right: true, sum: true },
    { id: "transpose_flops", title: "Transposes", value: (one) => one.transpose_flops, text: flops, right: true, sum: true, hidden: true },
    { id: "time_ns", title: "Sum of lengths", value: (one) => one.time_ns, text: ns, right: true, sum: true, width: 104, hidden: true },
    { id: "wait_ns", title: "Waits", tip: "For semaphores", value: (one) => one.wait_ns, text: ns, right: true, sum: true, hidden: true },
    ...each,
    { id: "hbm_read_bytes", title: "HBM read", value: (one) => one.hbm_read_bytes, text: bytes, right: true, sum: true },
    { id: "hbm_write_bytes", title: "HBM write", value: (one) => one.hbm_write_bytes, text: bytes, right: true, sum: true },
    { id: "dma_bytes", title: "DMA", value: (one) => one.dma_bytes, text: bytes, right: true, sum: true },
    { id: "sbuf_read_bytes", title: "SBUF read", value: (one) => one.sbuf_read_bytes, text: bytes, right: true, sum: true, hidden: true },
    { id: "sbuf_write_bytes", title: "SBUF write", value: (one) => one.sbuf_write_bytes, text: bytes, right: true, sum: true, hidden: true },
    { id: "spill_save_bytes", title: "Spill save", value: (one) => one.spill_save_bytes, text: bytes, right: true, sum: true, hidden: true },
    { id: "spill_reload_bytes", title: "Spill reload", value: (one) => one.spill_reload_bytes, text: bytes, right: true, sum: true, hidden: true },
    { id: "start_ns", title: "First start", tip: "In the whole execution", value: (one) => one.start_ns ?? null, text: ns, right: true, hidden: true },
    { id: "end_ns", title: "Last end", tip: "In the whole execution", value: (one) => one.end_ns ?? null, text: ns, right: true, hidden: true },
  ];
}

/** The search that finds the events of a node; empty where there is none. */
export function nodeQuery(by: TreeBy, node: Branch): { table: string; query: string } {
  const one = (field: string, operator: Condition["operator"], value: string) => queryText([{ field, operator, value }], "AND");
  switch (by) {
    case "layer":
      return { table: "Instruction", query: one("layer", "~", node.path) };
    case "operator":
      return { table: "Instruction", query: one("hlo_name", "~", node.name) };
    case "source":
      return { table: "Instruction", query: one("nki_source_location", "~", node.path) };
    case "opcode":
      return { table: "Instruction", query: one(node.leaf ? "opcode" : "timeline_track", "=", node.name) };
    default:
      return { table: "DmaPacket", query: node.leaf ? one("queue_name", "=", node.name) : "" };
  }
}

export default function Operators() {
  const { id } = useProfile();
  const [by, setBy] = useState<TreeBy>("layer");
  const [follow, setFollow] = useState(true);
  const [picked, setPicked] = useState<string | null>(null);
  const seen = useSeen();
  const range = follow && !seen.whole ? { from: seen.from, to: seen.to } : null;
  const answer = useRequest(
    `${id}:${by}:${range ? `${range.from}-${range.to}` : "all"}`,
    (signal) => getTree(id ?? "", by, range, { limit: LIMIT }, signal),
    120,
  );
  const tree = useMemo(() => branches(answer.data?.nodes ?? []), [answer.data]);
  const columns = useMemo(() => {
    const found = new Set((answer.data?.nodes ?? []).flatMap((node) => Object.keys(node.engines)));
    return treeColumns(ENGINES.filter((name) => found.has(name)));
  }, [answer.data]);
  const tools = (
    <>
      <Select label="Tree of" value={by} options={BY} onChange={setBy} />
      <Check label="Visible range only" checked={follow} onChange={setFollow} />
      {answer.data?.cut && <span className="tag warn">the {count(answer.data.nodes.length)} largest of {count(answer.data.total)}</span>}
    </>
  );
  return (
    <Asked answer={answer} what="The operators">
      {() => (
        <DataTable
          key={by}
          name="Operator Table"
          columns={columns}
          rows={tree}
          rowId={(one) => String(one.node)}
          childRows={(one) => one.below}
          open={2}
          tools={tools}
          selected={picked}
          sort={{ id: "busy_ns", desc: true }}
          onPick={(one) => {
            setPicked(String(one.node));
            const { table, query } = nodeQuery(by, one);
            if (query) void find(table, query);
          }}
          onOpen={(one) => {
            const [start, end] = [one.start_ns, one.end_ns];
            if (typeof start === "number" && typeof end === "number") useView.getState().zoomTo(start, end, { record: true });
          }}
          cell={(column, one) =>
            column.id === "share" ? (
              <span className="share">
                <span className="share-bar" style={{ width: `${Math.min(100, one.share * 100)}%` }} />
                <span>{percent(one.share)}</span>
              </span>
            ) : undefined
          }
          empty="No event begins in this range."
        />
      )}
    </Asked>
  );
}
