// Region Highlighter: regions of the program as annotations, by layers, functions
// of kernels or iterations of their loops; and how long those of one name last.

import { useMemo, useState } from "react";
import { getLayers } from "../api/trees";
import { colourOf } from "../format/colour";
import { time } from "../format/number";
import { ticks } from "../format/ticks";
import { short } from "../format/words";
import { Button, Select, TextField } from "../parts/controls";
import { Figure } from "../parts/chart";
import { Notice, whyAbsent } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Annotation, useAnnotations } from "../state/annotations";
import { useProfile } from "../state/profile";
import { useView } from "../state/view";
import { kernelRegions, loopVariables } from "./kernel-regions";
import { type Region, groupRuns, hslToHex } from "./region-rules";

/** Annotations that one press makes at most. */
const MOST = 200;
/** Regions of kernels that are asked for at most. */
const MOST_FOUND = 4000;
const LOOP = "loop ";
const [WIDTH, ROW, LEFT] = [760, 22, 190];

function Distribution({ list }: { list: readonly Annotation[] }) {
  const groups = useMemo(() => {
    const found = new Map<string, Annotation[]>();
    for (const one of list) found.set(one.name, [...(found.get(one.name) ?? []), one]);
    return [...found].slice(0, 40);
  }, [list]);
  const longest = Math.max(1, ...list.map((one) => one.to - one.from));
  const height = groups.length * ROW + 26;
  const x = (ns: number) => LEFT + (ns / (longest * 1.03)) * (WIDTH - LEFT - 10);
  return (
    <Figure title="Lengths of regions" label="Lengths of regions by name" width={WIDTH} height={height}>
      {ticks(0, longest, 6).map((ns) => (
        <g key={ns}>
          <line x1={x(ns)} x2={x(ns)} y1={0} y2={height - 22} stroke="var(--line)" />
          <text x={x(ns)} y={height - 6} textAnchor="middle" fill="var(--dim)">{time(ns)}</text>
        </g>
      ))}
      {groups.map(([name, all], i) => (
        <g key={name} transform={`translate(0 ${i * ROW + ROW / 2})`}>
          <text x={LEFT - 8} y={4} textAnchor="end" fill="var(--text)">{short(name, 28)}</text>
          {all.map((one) => (
            // A mouse is one way; the table of annotations is another.
            <circle key={one.id} cx={x(one.to - one.from)} cy={0} r={5} fill={one.colour} stroke="var(--text)" strokeWidth={0.5} onClick={() => useView.getState().zoomTo(one.from, one.to, { record: true })}>
              <title>{`${one.name}: ${time(one.to - one.from)} from ${time(one.from)}`}</title>
            </circle>
          ))}
        </g>
      ))}
    </Figure>
  );
}

export default function Regions() {
  const { id, totalNs, profile } = useProfile();
  const list = useAnnotations((s) => s.list);
  const [of, setOf] = useState("layers");
  const [depth, setDepth] = useState("0");
  const [filter, setFilter] = useState("");
  const [gap, setGap] = useState("1000");
  const join = Math.max(0, Number(gap) || 0);
  const kernels = profile?.tables?.KernelInstructions !== undefined;
  const layers = useRequest(of === "layers" ? id : null, (signal) => getLayers(id ?? "", { from: 0, to: totalNs }, 4000, undefined, signal));
  const loops = useRequest(kernels ? id : null, (signal) => loopVariables(id ?? "", signal));
  const variable = of.startsWith(LOOP) ? of.slice(LOOP.length) : null;
  const calls = useRequest(
    of === "layers" ? null : `${id} ${of} ${join}`,
    (signal) => kernelRegions(id ?? "", variable === null ? { of: "functions" } : { of: "loop", variable }, join, MOST_FOUND, signal),
    300,
  );
  const depths = [...new Set((layers.data?.rows ?? []).map((row) => row.depth))];
  const found = useMemo((): Region[] => {
    const bars = (layers.data?.rows ?? []).filter((row) => String(row.depth) === depth).flatMap((row) => row.bars);
    const all = of === "layers" ? bars : (calls.data?.list ?? []);
    const wanted = all.filter((one) => one.path.toLowerCase().includes(filter.toLowerCase()));
    return of === "layers" ? groupRuns(wanted, join) : wanted;
  }, [layers.data, calls.data, of, depth, filter, join]);
  const answer = of === "layers" ? layers : calls;
  const cut = of !== "layers" && calls.data?.more === true;
  const kinds = [
    { value: "layers", text: "layers" },
    ...(kernels ? [{ value: "functions", text: "functions of kernels" }] : []),
    ...(loops.data ?? []).map((name) => ({ value: LOOP + name, text: `iterations of ${short(name, 40)}` })),
  ];
  const mine = list.filter((one) => one.source === "regions");
  const generate = () =>
    useAnnotations.getState().createMany(
      found.slice(0, MOST).map((one) => ({ from: one.from, to: one.to, name: short(one.name || "(no layer)", 120), colour: hslToHex(colourOf(one.path)), source: "regions" as const })),
      "generate regions",
    );
  return (
    <>
      <div className="toolbar">
        <Select label="Regions of" shown value={of} options={kinds} onChange={setOf} />
        {of === "layers" && <Select label="Level" shown value={depth} options={depths.length > 0 ? depths.map(String) : ["0"]} onChange={setDepth} />}
        <TextField label="Names that have" value={filter} onChange={setFilter} placeholder="all names" search />
        <TextField label="Join over gaps, ns" value={gap} onChange={setGap} mono />
        <Button primary icon="plus" onClick={generate} disabled={answer.loading || found.length === 0}>
          Mark {Math.min(found.length, MOST)} regions
        </Button>
        <Button icon="trash" onClick={() => useAnnotations.getState().remove(mine.map((one) => one.id))} disabled={mine.length === 0}>
          Clear {mine.length}
        </Button>
        {(cut || found.length > MOST) && (
          <span className="tag warn">
            {found.length}
            {cut && " or more"} found, the first {Math.min(found.length, MOST)} are marked
          </span>
        )}
      </div>
      {answer.error && <Notice kind="bad">{of === "layers" ? "The layers" : "The kernels"}: {answer.error}</Notice>}
      {answer.data && found.length === 0 && <Notice>{of === "layers" ? "No layer of this level has that name." : "None ran, or none has that name."}</Notice>}
      {mine.length > 0 && <Distribution list={mine} />}
      <p className="dim small">
        Regions of collectives: {whyAbsent(profile?.absent, "CcOp")}.
        {!kernels && <> Regions of kernels: {whyAbsent(profile?.absent, "KernelInstructions")}.</>}
      </p>
    </>
  );
}
