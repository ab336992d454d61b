// Performance: FLOPs, memory bandwidth, kernels and DMA of what is seen (or of
// an annotated region), as charts.

import { useMemo, useState } from "react";
import { getRows, getSelection } from "../api/profiles";
import { type Metric, getMetrics, getTree, wholeNs } from "../api/trees";
import type { Fields, Lane } from "../api/types";
import { bytes, count, percent, quantity, time } from "../format/number";
import { Select } from "../parts/controls";
import { Columns, Doughnut, Figure } from "../parts/chart";
import { Asked } from "../parts/notice";
import { useSeen } from "../parts/range";
import { useRequest } from "../parts/request";
import { inOrder, useAnnotations } from "../state/annotations";
import { useProfile } from "../state/profile";

/** A metric over all cores: the common one, else the sum, else for fractions the mean. */
export function metricOf(metrics: readonly Metric[], name: string): number | null {
  const found = metrics.filter((one) => one.name === name);
  const common = found.find((one) => one.core === null);
  if (common) return common.value;
  if (found.length === 0) return null;
  const sum = found.reduce((total, one) => total + one.value, 0);
  return /percent/.test(name) ? sum / found.length : sum;
}

function Cards({ metrics, span }: { metrics: readonly Metric[]; span: number }) {
  const value = (name: string) => metricOf(metrics, name);
  const cards: [string, string, string][] = [
    ["Length", time(span), "Of the range"],
    ["Hardware FLOPs utilisation", percent(value("hfu_estimated_percent")), "Operations of the array by those it could do in the range"],
    ["Model FLOPs utilisation", percent(value("mfu_estimated_percent") ?? value("mfu_inst_estimated_percent")), "The same without transposes and the like"],
    ["Arithmetic intensity", quantity(value("mm_arithmetic_intensity") ?? Number.NaN, "flop/B").replace("NaN", "–"), "Operations for each byte of device memory"],
    ["Memory bandwidth utilisation", percent(value("mbu_estimated_percent")), "Bytes of device memory by those that could move in the range"],
    ["DMA active", percent(value("dma_active_time_percent")), "Part of the range in which a packet is under way"],
  ];
  return (
    <dl className="cards-row">
      {cards.map(([title, text, tip]) => (
        <div key={title} className="card number" title={tip}>
          <dt>{title}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function Flops({ metrics }: { metrics: readonly Metric[] }) {
  const value = (name: string) => Math.max(0, metricOf(metrics, name) ?? 0);
  const hfu = value("hfu_estimated_percent");
  const hardware = value("hardware_flops");
  const transpose = hardware > 0 ? (hfu * value("transpose_flops")) / hardware : 0;
  const active = value("tensor_engine_active_time_percent");
  const part = (name: string, amount: number, colour: string) => ({ name, value: Math.max(0, amount), colour });
  const others = ["vector", "scalar", "gpsimd", "sync"].map((engine) => {
    const busy = value(`${engine}_engine_active_time_percent`);
    return { name: engine === "gpsimd" ? "GpSimd" : engine.charAt(0).toUpperCase() + engine.slice(1), parts: [part("active", busy, "var(--info)"), part("unused", 1 - busy, "var(--raised)")] };
  });
  const tensor = [
    part("products", hfu - transpose, "var(--good)"),
    part("transposes", transpose, "var(--reload)"),
    part("active, not multiplying", active - hfu, "var(--info)"),
    part("unused", 1 - Math.max(active, hfu), "var(--raised)"),
  ];
  return (
    <Figure
      title="Use of engines"
      tip="Of the Tensor engine by what its array could do; of the others by time"
      label="Use of engines, stacked"
      width={520}
      height={230}
      legend={[["products", "var(--good)"], ["transposes", "var(--reload)"], ["active", "var(--info)"], ["unused", "var(--raised)"]]}
    >
      <Columns columns={[{ name: "Tensor", parts: tensor }, ...others]} max={1} width={520} height={230} show={(v) => percent(v)} />
    </Figure>
  );
}

function Memory({ metrics, span, peak }: { metrics: readonly Metric[]; span: number; peak: number | null }) {
  const value = (name: string) => Math.max(0, metricOf(metrics, name) ?? 0);
  const [read, write, reload, save] = [value("hbm_read_bytes"), value("hbm_write_bytes"), value("spill_reload_bytes"), value("spill_save_bytes")];
  const available = peak === null ? null : (peak * span) / 1e9;
  const parts = [
    { name: "read", value: Math.max(0, read - reload), colour: "var(--read)" },
    { name: "write", value: Math.max(0, write - save), colour: "var(--write)" },
    { name: "spill reload", value: reload, colour: "var(--reload)" },
    { name: "spill save", value: save, colour: "var(--save)" },
    ...(available === null ? [] : [{ name: "unused", value: Math.max(0, available - read - write), colour: "var(--raised)" }]),
  ];
  const useful = read > 0 ? (read - reload) / read : null;
  return (
    <Figure title="Device memory bandwidth" tip="Bytes by DMA; the whole ring is what the bandwidth could move in the range" label="Device memory bandwidth by use" width={520} height={190} legend={parts.map((part) => [`${part.name} ${bytes(part.value)}`, part.colour] as const)}>
      <Doughnut parts={parts} width={260} height={190} show={bytes} middle={available === null ? bytes(read + write) : percent((read + write) / available)} />
      <g fill="var(--text)">
        {[
          ["Available", available === null ? "not known" : bytes(available)],
          ["Moved", bytes(read + write)],
          ["Average transfer", bytes(metricOf(metrics, "dma_transfer_average_bytes"))],
          ["Useful part of reads", percent(useful)],
        ].map(([name, text], i) => (
          <g key={name} transform={`translate(285 ${34 + i * 38})`}>
            <text fill="var(--dim)">{name}</text>
            <text y={16} fontSize={14}>{text}</text>
          </g>
        ))}
      </g>
    </Figure>
  );
}

function Kernels({ engines }: { engines: readonly { name: string; kernel: number; compiler: number }[] }) {
  const max = Math.max(1, ...engines.map((one) => one.kernel + one.compiler));
  return (
    <Figure title="Instructions of kernels" tip="Instructions that name a source line, and those that the compiler made" label="Instructions with and without a source line by engine" width={520} height={200} legend={[["with a source line", "var(--info)"], ["made by the compiler", "var(--bad)"]]}>
      <Columns
        columns={engines.map((one) => ({ name: one.name, parts: [{ name: "with a source line", value: one.kernel, colour: "var(--info)" }, { name: "made by the compiler", value: one.compiler, colour: "var(--bad)" }] }))}
        max={max}
        width={520}
        height={200}
        show={count}
      />
    </Figure>
  );
}

function Dma({ lanes, busy, span }: { lanes: readonly Lane[]; busy: ReadonlyMap<number, number>; span: number }) {
  const columns = lanes.filter((lane) => lane.kind === "dma").map((lane) => ({ name: lane.name.replace(/^DMA-E/, ""), parts: [{ name: "busy", value: (busy.get(lane.number) ?? 0) / span, colour: "var(--info)" }] }));
  return (
    <Figure title="DMA engines" tip="Part of the range in which each engine has a packet under way" label="Busy part of each DMA engine" width={520} height={200}>
      <Columns columns={columns} max={1} width={520} height={200} show={(v) => percent(v)} />
    </Figure>
  );
}

const number = (row: Fields | undefined, name: string) => (typeof row?.[name] === "number" ? (row[name] as number) : null);

export default function Dashboard() {
  const { id, lanes, profile, totalNs } = useProfile();
  const list = useAnnotations((s) => s.list);
  const seen = useSeen();
  const [region, setRegion] = useState("seen");
  const named = list.find((one) => one.id === region);
  const range = wholeNs(region === "all" ? { from: 0, to: totalNs } : named ? named : seen);
  const span = range.to - range.from;
  const answer = useRequest(
    `${id}:${range.from}-${range.to}`,
    async (signal) => {
      const [metrics, sums, tree, meta] = await Promise.all([
        getMetrics(id ?? "", range, signal),
        getSelection(id ?? "", range, signal),
        getTree(id ?? "", "source", range, { depth: 1, limit: 10_000 }, signal),
        profile && "Metadata" in profile.tables ? getRows(id ?? "", "Metadata", 0, 1, signal) : null,
      ]);
      return { metrics: metrics.metrics, sums: sums.lanes, nodes: tree.nodes, meta: meta?.rows[0] };
    },
    150,
  );
  const engines = useMemo(() => {
    const found = new Map<string, { name: string; kernel: number; compiler: number }>();
    for (const node of answer.data?.nodes ?? []) {
      if (node.parent !== null) continue;
      for (const [name, sum] of Object.entries(node.engines)) {
        const one = found.get(name) ?? { name, kernel: 0, compiler: 0 };
        if (node.name === "(no source)") one.compiler += sum.count;
        else one.kernel += sum.count;
        found.set(name, one);
      }
    }
    return [...found.values()].filter((one) => !/^DMA/.test(one.name));
  }, [answer.data]);
  const regions = inOrder(list).filter((one) => one.to > one.from);
  return (
    <div className="dashboard">
      <div className="toolbar">
        <Select
          label="Region"
          shown
          value={region}
          options={[{ value: "seen", text: seen.box ? "Box" : "Visible range" }, { value: "all", text: `All (${time(totalNs)})` }, ...regions.map((one) => ({ value: one.id, text: `${one.name} (${time(one.to - one.from)})` }))]}
          onChange={setRegion}
        />
        <span className="dim mono">
          {time(range.from)} + {time(span)}
        </span>
      </div>
      <Asked answer={answer} what="The metrics">
        {(data) => (
          <>
            <Cards metrics={data.metrics} span={span} />
            <div className="figures-grid">
              <Flops metrics={data.metrics} />
              <Memory metrics={data.metrics} span={span} peak={number(data.meta, "hbm_ddr_bandwidth")} />
              <Kernels engines={engines} />
              <Dma lanes={lanes} busy={new Map(data.sums.map((one) => [one.lane, one.busy_ns]))} span={span} />
            </div>
          </>
        )}
      </Asked>
    </div>
  );
}
