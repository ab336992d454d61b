// Overall Summary: all metrics of the execution by part of the core, the
// model's inputs and outputs, and where each framework layer begins and ends.

import { useMemo } from "react";
import { getRows, getSummary } from "../api/profiles";
import type { Fields, Row } from "../api/types";
import { GROUPS, metricInfo } from "../format/metrics";
import { bytes, flops, moment, quantity, time } from "../format/number";
import { words } from "../format/words";
import { Asked } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { useProfile } from "../state/profile";
import { useSettings } from "../state/settings";
import { useView } from "../state/view";
import { SystemSummaryWidget } from "./system-summary";

interface Line {
  id: string;
  name: string;
  value: string;
  /** What CSV has: the number as the server gave it. */
  raw: string | number | null;
  tip: string;
  below: Line[];
  range?: [number, number];
}

const group = (name: string, below: Line[]): Line => ({ id: name, name, value: "", raw: null, tip: "", below });

function metrics(rows: Fields[], unit: "auto" | "ns" | "us" | "ms" | "s"): Line[] {
  const lines = rows.flatMap((row, core) =>
    Object.entries(row).map(([name, value]): Line & { group: string } => {
      const info = metricInfo(name);
      const number = typeof value === "number";
      return {
        id: `${core}/${name}`,
        name: rows.length > 1 ? `${words(name)} (core ${core})` : words(name),
        value: number ? quantity(value, info.unit, unit) : String(value ?? "–"),
        raw: number || typeof value === "string" ? value : null,
        tip: info.tip,
        below: [],
        group: info.group,
      };
    }),
  );
  return GROUPS.map((name) => group(name, lines.filter((line) => line.group === name))).filter((one) => one.below.length > 0);
}

function tensors(rows: Row[], type: string, title: string): Line[] {
  const found = rows.filter((row) => row.type === type);
  if (found.length === 0) return [];
  const lines = found.map((row): Line => {
    const size = typeof row.size === "number" ? row.size : null;
    return {
      id: `tensor/${row.row}`,
      name: String(row.variable_name ?? ""),
      value: `${row.shape ?? ""} ${row.format ?? ""} ${bytes(size)}`.trim(),
      raw: size,
      tip: "A tensor of the program.",
      below: [],
    };
  });
  return [group(title, lines)];
}

/** Rows of LayerSummary: one for each layer and engine. A layer lasts from its first start to its last end. */
function layers(rows: Row[]): Line[] {
  const found = new Map<string, { start: number; end: number; count: number; flops: number }>();
  for (const row of rows) {
    const [name, start, end] = [row.name, row.start_ts, row.end_ts];
    if (typeof name !== "string" || typeof start !== "number" || typeof end !== "number") continue;
    const one = found.get(name) ?? { start, end, count: 0, flops: 0 };
    one.start = Math.min(one.start, start);
    one.end = Math.max(one.end, end);
    one.count += typeof row.instruction_count === "number" ? row.instruction_count : 0;
    one.flops = Math.max(one.flops, typeof row.tensor_engine_flop_count === "number" ? row.tensor_engine_flop_count : 0);
    found.set(name, one);
  }
  const lines = [...found].map(
    ([name, one]): Line => ({
      id: `layer/${name}`,
      name: name === "" ? "(no layer)" : name,
      value: `${moment(one.start)} – ${moment(one.end)}  (${time(one.end - one.start)}, ${one.count} instructions, ${flops(one.flops)})`,
      raw: one.end - one.start,
      tip: "From the first start to the last end of its instructions. A click shows it in the timeline.",
      below: [],
      range: [one.start, one.end],
    }),
  );
  return lines.length > 0 ? [group("Framework layers", lines)] : [];
}

const columns: Col<Line>[] = [
  { id: "name", title: "Name", value: (line) => line.name, width: 380 },
  { id: "value", title: "Value", value: (line) => (line.below.length > 0 ? "" : line.value), width: 260 },
  { id: "raw", title: "Number", value: (line) => line.raw, hidden: true, always: true, width: 160 },
];

export default function Summary() {
  const system = useProfile((s) => s.profile?.system === true);
  return system ? <SystemSummaryWidget /> : <DeviceSummary />;
}

function DeviceSummary() {
  const { id, profile } = useProfile();
  const unit = useSettings((s) => s.timeUnit);
  const answer = useRequest(id, async (signal) => {
    const has = (name: string) => profile !== null && name in profile.tables;
    const rows = async (name: string) => (id && has(name) ? (await getRows(id, name, 0, 10_000, signal)).rows : []);
    const [summary, info, layer] = await Promise.all([getSummary(id ?? "", signal), rows("TensorInfo"), rows("LayerSummary")]);
    return { metrics: summary.summary, info, layer };
  });
  const lines = useMemo(
    () =>
      answer.data
        ? [
            ...metrics(answer.data.metrics, unit),
            ...tensors(answer.data.info, "IN", "Model inputs"),
            ...tensors(answer.data.info, "WEIGHT", "Model weights"),
            ...tensors(answer.data.info, "OUT", "Model outputs"),
            ...layers(answer.data.layer),
          ]
        : [],
    [answer.data, unit],
  );
  return (
    <Asked answer={answer} what="The summary">
      {() => (
        <DataTable
          name="Overall Summary"
          columns={columns}
          rows={lines}
          rowId={(line) => line.id}
          childRows={(line) => line.below}
          onPick={(line) => line.range && useView.getState().zoomTo(line.range[0], line.range[1], { record: true })}
          cell={(column, line) =>
            column.id === "name" && line.tip ? (
              <span className="cell-text tip" title={line.tip}>
                {line.name}
              </span>
            ) : undefined
          }
          empty="This profile has no metrics."
        />
      )}
    </Asked>
  );
}
