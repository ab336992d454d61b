// Operators of the framework or of the compiler's graph: where the time goes by
// core and by operator, and the table of all.

import { useId, useMemo, useState } from "react";
import { short } from "../format/words";
import { Asked } from "../parts/notice";
import { useRequest } from "../parts/request";
import type { Col } from "../parts/rows";
import { type Op, type Ops, type Run, getOperators } from "./api";
import { PagedTable } from "./paged";
import { Pie } from "./pie";

/** Which core, as the original calls it. */
export const coreName = (op: Pick<Op, "neuron_device" | "neuron_core">) => `NeuronDevice ${op.neuron_device} NeuronCore ${op.neuron_core}`;

/** The cores, in order. */
export function coresOf(ops: readonly Op[]): string[] {
  const found = new Map(ops.map((op) => [coreName(op), op]));
  const order = (a: Op, b: Op) => a.neuron_device - b.neuron_device || a.neuron_core - b.neuron_core;
  return [...found].sort((a, b) => order(a[1], b[1])).map(([name]) => name);
}

/** Time by core. */
export function byCore(ops: readonly Op[]): { name: string; value: number }[] {
  const sums = new Map<string, number>();
  for (const op of ops) sums.set(coreName(op), (sums.get(coreName(op)) ?? 0) + op.time_ns);
  return [...sums].map(([name, value]) => ({ name, value }));
}

export const share = (time: number, total: number) => (total > 0 ? time / total : 0);

function columnsOf(total: number): Col<Op>[] {
  const number = (value: number) => value.toLocaleString("en-US", { useGrouping: false });
  return [
    { id: "name", title: "Op Name", value: (op) => op.name },
    { id: "occurrences", title: "Occurrences", tip: "Operators of this name in the program", value: (op) => op.occurrences, text: number, right: true },
    { id: "neuron_device", title: "Neuron Device", value: (op) => op.neuron_device, text: number, right: true },
    { id: "neuron_core", title: "NeuronCore", value: (op) => op.neuron_core, text: number, right: true },
    { id: "time_ns", title: "Time (ns)", tip: "Lengths of its instructions on all engines of the core, without waits for semaphores", value: (op) => op.time_ns, text: number, right: true },
    { id: "share", title: "Time %", tip: "Of the time of all operators", value: (op) => share(op.time_ns, total), text: (value) => `${(value * 100).toFixed(2)}%` },
  ];
}

/** The name; `?` shows what a fused operator is made of. */
function Name({ op }: { op: Op }) {
  const id = useId();
  const fused = op.fused ?? [];
  return (
    <span className="tb-op">
      <span title={op.name.length > 80 ? short(op.name, 2000) : undefined}>{short(op.name, 80)}</span>
      {fused.length > 0 && (
        <span className="tb-fused">
          <button type="button" aria-label={`Operators in ${short(op.name, 80)}`} aria-describedby={id} onClick={(event) => event.stopPropagation()}>
            ?
          </button>
          <span id={id} role="tooltip">
            {fused.map((member) => (
              <span key={member}>{short(member, 200)}</span>
            ))}
          </span>
        </span>
      )}
    </span>
  );
}

function View({ ops, of }: { ops: Ops; of: "framework" | "hlo" }) {
  const cores = useMemo(() => coresOf(ops.ops), [ops]);
  const [wanted, setCore] = useState<string | null>(null);
  const [picked, setPicked] = useState<string | null>(null);
  const core = wanted !== null && cores.includes(wanted) ? wanted : (cores[0] ?? "");
  const columns = useMemo(() => columnsOf(ops.total_time), [ops]);
  const own = useMemo(() => ops.ops.filter((op) => coreName(op) === core), [ops, core]);
  const key = (op: Op) => JSON.stringify([op.name, op.neuron_device, op.neuron_core]);
  const pick = (name: string) => {
    const op = own.find((one) => one.name === name);
    if (op) setPicked(key(op));
  };
  const pickedOp = ops.ops.find((op) => key(op) === picked);
  return (
    <div className="tb-operators">
      <div className="tb-pies">
        <Pie title="Time (ns) by Device" slices={byCore(ops.ops)} unit="ns" picked={core} onPick={setCore} />
        <Pie
          title="Time (ns) per operator by Device"
          slices={own.map((op) => ({ name: op.name, value: op.time_ns }))}
          unit="ns"
          picked={pickedOp && coreName(pickedOp) === core ? pickedOp.name : null}
          onPick={pick}
        />
        <fieldset>
          <legend className="tb-hidden">Core</legend>
          {cores.map((name) => (
            <label key={name}>
              <input type="radio" name="core" checked={name === core} onChange={() => setCore(name)} /> {name}
            </label>
          ))}
        </fieldset>
      </div>
      <PagedTable
        name={of === "hlo" ? "HLO operators" : "Framework operators"}
        columns={columns}
        rows={ops.ops}
        rowId={key}
        first={{ id: "name", desc: false }}
        picked={picked}
        onPick={(op) => (setPicked(key(op)), setCore(coreName(op)))}
        cell={(column, op) => {
          if (column.id === "name") return <Name op={op} />;
          if (column.id !== "share") return undefined;
          const part = share(op.time_ns, ops.total_time);
          return (
            <span className="tb-share">
              {`${(part * 100).toFixed(2)}%`}
              <meter min={0} max={1} value={Math.min(part, 1)} aria-label="share of the time" />
            </span>
          );
        }}
      />
    </div>
  );
}

export function Operators({ run, of, profile }: { run: Run; of: "framework" | "hlo"; profile: string | null }) {
  const answer = useRequest(`${run.run}:${run.stamp}:${of}:${profile}`, (signal) => getOperators(run.run, of, profile, signal));
  return (
    <Asked answer={answer} what="The operators">
      {(ops) => <View ops={ops} of={of} />}
    </Asked>
  );
}
