// Memory Viewer: how full SBUF and PSUM are over time, the program's own tensors
// in device memory, device memory by use, and the map of allocations where the
// profile has one.

import { useMemo } from "react";
import { getRows } from "../api/profiles";
import { type SeriesInfo, getSeries } from "../api/series";
import { wholeNs } from "../api/trees";
import type { Row } from "../api/types";
import { bytes, moment, percent } from "../format/number";
import { words } from "../format/words";
import { Asked, Notice, whyAbsent } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { useProfile } from "../state/profile";
import { useResting } from "../state/resting";
import { useView } from "../state/view";
import { AllocationMap } from "./allocations";
import { StackedLines } from "./lines";

function Usage({ title, group, list }: { title: string; group: string; list: readonly SeriesInfo[] }) {
  const id = useProfile((s) => s.id);
  const { from, to } = useResting();
  const range = wholeNs({ from, to });
  const ids = list.map((one) => one.id);
  const answer = useRequest(`${id}:${group}:${range.from}-${range.to}:${ids.join()}`, (signal) => getSeries(id ?? "", ids, { ...range, width: 800 }, signal), 100);
  return (
    <Asked answer={answer} what={title}>
      {(view) => (
        <StackedLines
          title={title}
          from={range.from}
          to={range.to}
          lines={list.map((info) => ({ info, values: view.series.find((one) => one.id === info.id) ?? null }))}
          start={view.start}
          columnNs={view.columnNs}
        />
      )}
    </Asked>
  );
}

const hbmColumns: Col<Row>[] = [
  { id: "usage_type", title: "Use", value: (row) => words(String(row.usage_type ?? "")), width: 200 },
  { id: "usage_bytes", title: "Size", value: (row) => (typeof row.usage_bytes === "number" ? row.usage_bytes : null), text: bytes, right: true, sum: true, width: 110 },
  { id: "neuroncore_idx", title: "Core", value: (row) => (typeof row.neuroncore_idx === "number" ? row.neuroncore_idx : null), right: true, width: 60 },
];

function DeviceMemory() {
  const { id, profile } = useProfile();
  const has = profile !== null && "HbmUsageSummaryByType" in profile.tables;
  const answer = useRequest(has ? id : null, (signal) => getRows(id ?? "", "HbmUsageSummaryByType", 0, 10_000, signal));
  const rows = useMemo(() => (answer.data?.rows ?? []).filter((row) => typeof row.usage_bytes === "number" && row.usage_bytes > 0 && !/^total$/i.test(String(row.usage_type))), [answer.data]);
  if (!has) return <Notice>No device memory by use: {whyAbsent(profile?.absent, "HbmUsageSummaryByType")}.</Notice>;
  return (
    <Asked answer={answer} what="Device memory">
      {() => <DataTable name="Device memory by use" columns={hbmColumns} rows={rows} rowId={(row) => String(row.row)} sort={{ id: "usage_bytes", desc: true }} />}
    </Asked>
  );
}

const number = (name: string) => (row: Row) => {
  const value = row[name];
  return typeof value === "number" ? value : null;
};

const scratchColumns: Col<Row>[] = [
  { id: "variable_name", title: "Scratch tensor", value: (row) => String(row.variable_name ?? ""), width: 200 },
  { id: "size", title: "Size", value: number("size"), text: bytes, right: true, width: 80 },
  { id: "start_ts", title: "First use", value: number("start_ts"), text: moment, right: true, width: 110 },
  { id: "end_ts", title: "Last use", value: number("end_ts"), text: moment, right: true, width: 110 },
  { id: "write_count", title: "Writes", value: number("write_count"), right: true, width: 70 },
  { id: "read_count", title: "Reads", value: number("read_count"), right: true, width: 70 },
  { id: "pcore_idx", title: "Core", value: number("pcore_idx"), right: true, width: 60 },
];

/** Tensors that the program keeps in device memory; a click goes to the time of one. */
function Scratch() {
  const { id, profile } = useProfile();
  const has = profile !== null && "ScratchpadTensor" in profile.tables;
  const answer = useRequest(has ? id : null, (signal) => getRows(id ?? "", "ScratchpadTensor", 0, 10_000, signal));
  if (!has) return null;
  const zoom = (row: Row) => {
    if (typeof row.start_ts !== "number" || typeof row.end_ts !== "number") return;
    const margin = Math.max(10, (row.end_ts - row.start_ts) * 0.05);
    useView.getState().zoomTo(row.start_ts - margin, row.end_ts + margin, { record: true });
  };
  return (
    <Asked answer={answer} what="Scratch tensors">
      {(data) => <DataTable name="Scratch tensors" columns={scratchColumns} rows={data.rows} rowId={(row) => String(row.row)} sort={{ id: "size", desc: true }} onPick={zoom} />}
    </Asked>
  );
}

export default function Memory() {
  const { series, profile } = useProfile();
  const focused = useView((s) => s.focused);
  const cores = [...new Set(series.filter((one) => one.group === "sbuf" || one.group === "psum").map((one) => one.core ?? 0))];
  const has = profile !== null && "SbufAllocation" in profile.tables;
  return (
    <div className="memory">
      <div className="memory-lines">
        {cores.map((core) =>
          (["sbuf", "psum"] as const).map((group) => {
            const list = series.filter((one) => one.group === group && (one.core ?? 0) === core && !/avg/.test(one.id));
            if (list.length === 0) return null;
            const name = group === "sbuf" ? "State buffer" : "Partial sums";
            return <Usage key={`${group}${core}`} group={`${group}${core}`} title={`${name}${cores.length > 1 ? ` (nc${core})` : ""}`} list={list} />;
          }),
        )}
        {series
          .filter((one) => one.group === "scratchpad")
          .map((one) => (
            <Usage key={one.id} group={one.id} title={one.name} list={[one]} />
          ))}
        {cores.length === 0 && <Notice>No use of SBUF and PSUM over time: {whyAbsent(profile?.absent, "SbufUsage")}.</Notice>}
        {has ? <AllocationMap /> : <Notice>No map of allocations: {whyAbsent(profile?.absent, "SbufAllocation")}.</Notice>}
        {focused && <p className="dim small">Focused: {focused.name} at {moment(focused.start)}; full is {percent(1)}.</p>}
      </div>
      <div className="memory-side">
        <Scratch />
        <DeviceMemory />
      </div>
    </div>
  );
}
