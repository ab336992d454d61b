// Dependency Chain: from the focused event back, at each step the predecessor
// that ended last; and the table of its steps with the gaps between.

import { useMemo, useState } from "react";
import { type ChainStep, getChain } from "../api/events";
import { moment, time } from "../format/number";
import { short } from "../format/words";
import { Button, Select } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { goTo } from "../state/goto";
import { useProfile } from "../state/profile";
import { useView } from "../state/view";

const columns: Col<ChainStep & { step: number }>[] = [
  { id: "step", title: "Step", value: (one) => one.step, right: true, width: 56 },
  { id: "engine", title: "Engine", value: (one) => one.engine ?? one.table, width: 100 },
  { id: "opcode", title: "Opcode", value: (one) => one.opcode, width: 170 },
  { id: "pc", title: "PC", value: (one) => one.pc, right: true, width: 70 },
  { id: "start_ts", title: "Start", value: (one) => one.start_ts, text: moment, right: true, width: 110 },
  { id: "length", title: "Length", value: (one) => one.end_ts - one.start_ts, text: (v) => time(v), right: true, sum: true },
  { id: "gap_ns", title: "Gap to the next", tip: "From its end to the start of the event that waited for it", value: (one) => one.gap_ns, text: (v) => time(v), right: true, sum: true, width: 110 },
  { id: "dependency_type", title: "Kind", value: (one) => one.dependency_type, width: 130 },
  { id: "layer", title: "Layer", value: (one) => one.layer, width: 260 },
];

const ENDS = { first: "Nothing came before the first step.", depth: "There is more before the first step.", loop: "The chain meets itself." };

/** What the chain's time was spent on. */
function Bar({ steps }: { steps: readonly ChainStep[] }) {
  const length = steps.reduce((sum, one) => sum + Math.max(0, one.end_ts - one.start_ts), 0);
  const gaps = steps.reduce((sum, one) => sum + Math.max(0, one.gap_ns ?? 0), 0);
  const all = length + gaps || 1;
  return (
    <div className="stack" role="img" aria-label={`${time(length)} in events, ${time(gaps)} in gaps`} title={`${time(length)} in events, ${time(gaps)} in gaps`}>
      <span style={{ flexGrow: length / all, background: "var(--info)" }} />
      <span style={{ flexGrow: gaps / all, background: "var(--unused)" }} />
    </div>
  );
}

export default function DependencyChain() {
  const { id } = useProfile();
  const focused = useView((s) => s.focused);
  const [start, setStart] = useState<{ table: string; row: number } | null>(null);
  const [depth, setDepth] = useState<"32" | "100" | "1000">("100");
  const from = start ?? focused;
  const answer = useRequest(from ? `${id}/${from.table}/${from.row}/${depth}` : null, (signal) => getChain(id ?? "", from?.table ?? "", from?.row ?? 0, Number(depth), signal));
  const steps = useMemo(() => (answer.data?.chain ?? []).map((one, step) => ({ ...one, step: -step })), [answer.data]);
  if (!from) return <Notice>Click an event: what it waited for stands here.</Notice>;
  return (
    <Asked answer={answer} what="The chain">
      {(chain) => (
        <>
          <Bar steps={chain.chain} />
          <DataTable
            name="Dependency Chain"
            columns={columns}
            rows={steps}
            rowId={(one) => `${one.table}/${one.row}`}
            selected={focused ? `${focused.table}/${focused.row}` : null}
            onPick={(one) => {
              // The chain stays that of the event it began with.
              setStart({ table: from.table, row: from.row });
              void goTo(one.table, one.row);
            }}
            filterable={false}
            tools={
              <>
                <span className="dim">
                  of {from.table} {from.row}: {ENDS[chain.end] ?? ""}
                </span>
                <Select label="Steps" shown value={depth} options={["32", "100", "1000"]} onChange={setDepth} />
                {start && focused && (
                  <Button onClick={() => setStart(null)} title={short(focused.name, 80)}>
                    Chain of the focused event
                  </Button>
                )}
              </>
            }
          />
        </>
      )}
    </Asked>
  );
}
