// The summary of a run: what it was about, its device profiles, its events by
// source and name, transfers, memories and processors.

import { useMemo } from "react";
import { type SystemSummary, getSystem } from "../api/system";
import { bytes, count, percent, time } from "../format/number";
import { Asked } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { useProfile } from "../state/profile";
import { DeviceList } from "./devices";

interface Line {
  id: string;
  name: string;
  count: number | null;
  time: number | null;
  mean: number | null;
  most: number | null;
  note: string;
  below: Line[];
}

const columns: Col<Line>[] = [
  { id: "name", title: "Name", value: (one) => one.name, width: 260 },
  { id: "count", title: "Events", value: (one) => one.count, text: count, right: true, sum: false, width: 90 },
  { id: "time_ns", title: "Sum of lengths", value: (one) => one.time, text: (v) => time(v), right: true, width: 120 },
  { id: "mean_ns", title: "Mean", value: (one) => one.mean, text: (v) => time(v), right: true, width: 100 },
  { id: "max_ns", title: "Longest", value: (one) => one.most, text: (v) => time(v), right: true, width: 100 },
  { id: "note", title: "More", value: (one) => one.note, width: 260 },
];

const plain = (id: string, name: string, note: string): Line => ({ id, name, count: null, time: null, mean: null, most: null, note, below: [] });

function sum(id: string, name: string, below: Line[]): Line {
  const total = (of: (line: Line) => number | null) => below.reduce((all, line) => all + (of(line) ?? 0), 0);
  const [events, length] = [total((line) => line.count), total((line) => line.time)];
  return { id, name, count: events, time: length, mean: events > 0 ? length / events : null, most: Math.max(0, ...below.map((line) => line.most ?? 0)), note: "", below };
}

/** Events by source, name and core; then what is not events. */
export function systemLines(of: SystemSummary): Line[] {
  const sources = new Map<string, Map<string, Line[]>>();
  for (const one of of.events) {
    const names = sources.get(one.source) ?? new Map<string, Line[]>();
    sources.set(one.source, names);
    const line: Line = { id: `${one.source}/${one.name}/${one.core}`, name: one.core === null ? "no core" : `NC ${one.core}`, count: one.count, time: one.time_ns, mean: one.time_ns / one.count, most: one.max_ns, note: "", below: [] };
    names.set(one.name, [...(names.get(one.name) ?? []), line]);
  }
  const events = [...sources].map(([source, names]) => {
    const below = [...names].map(([name, lines]) => (lines.length === 1 ? { ...lines[0]!, id: `${source}/${name}`, name, note: lines[0]!.name } : sum(`${source}/${name}`, name, lines)));
    return sum(source, source, below.sort((a, b) => (b.time ?? 0) - (a.time ?? 0)));
  });
  const transfers = (["host_to_device", "device_to_host"] as const).flatMap((direction) => {
    const own = of.transfers.filter((one) => one.direction === direction);
    if (own.length === 0) return [];
    const moved = own.reduce((all, one) => all + one.bytes, 0);
    const length = own.reduce((all, one) => all + one.end_ns - one.start_ns, 0);
    return [{ ...plain(direction, direction.replaceAll("_", " "), `${bytes(moved)}, ${bytes(length > 0 ? (moved / length) * 1e9 : 0)}/s while they last`), count: own.length, time: length, mean: length / own.length, most: Math.max(...own.map((one) => one.end_ns - one.start_ns)) }];
  });
  const memories = of.memories.map((one) => plain(`memory/${one.device}/${one.memory}`, `Device ${one.device}, memory ${one.memory}`, `${bytes(one.max_bytes)} at most (at ${time(one.max_at_ns)}), ${bytes(one.last_bytes)} at the end`));
  const host = of.host_memory.max_bytes > 0 ? [plain("memory/host", "Host", `${bytes(of.host_memory.max_bytes)} at most, ${percent(of.host_memory.max_percent / 100)}`)] : [];
  const processors = of.processors.map((one) => plain(`cpu/${one.name}`, `CPU ${one.name}`, `${percent(one.mean_percent / 100)} on average, ${percent(one.max_percent / 100)} at most, ${count(one.samples)} samples`));
  const syncs = of.syncs.map((one, i) => plain(`sync/${i}`, `NC ${one.core ?? "?"}${one.physical === null ? "" : `:${one.physical}`}`, `at ${time(one.start_ns)}, clocks ${time(Math.abs(one.drift_ns))} ${one.drift_ns < 0 ? "nearer" : "further apart"} than at the first point`));
  const group = (name: string, below: Line[]) => (below.length > 0 ? [{ ...plain(name, name, ""), below }] : []);
  return [...events, ...group("Transfers", transfers), ...group("Memories", [...memories, ...host]), ...group("Processors", processors), ...group("Clock alignment", syncs)];
}

export function SystemSummaryWidget() {
  const { id } = useProfile();
  const answer = useRequest(id, (signal) => getSystem(id ?? "", signal));
  const lines = useMemo(() => (answer.data ? systemLines(answer.data) : []), [answer.data]);
  return (
    <Asked answer={answer} what="The summary of the run">
      {(data) => {
        const runs = data.events.filter((one) => one.name === "nc_exec_running");
        const cards: [string, string, string][] = [
          ["Instances", count(data.instances), "Machines that the run names"],
          ["Processes", count(data.processes), "Processes that told events"],
          ["Length", time(data.total_ns), "From the first to the last moment of anything in the run"],
          ["Executions", count(runs.reduce((all, one) => all + one.count, 0)), "nc_exec_running of all cores"],
          ["Time on devices", time(runs.reduce((all, one) => all + one.time_ns, 0)), "The lengths of these, added"],
          ["Device profiles", count(data.devices.length), "Traces that were stored with the run"],
        ];
        return (
          <div className="system-summary">
            <dl className="cards-row">
              {cards.map(([title, text, tip]) => (
                <div key={title} className="card number" title={tip}>
                  <dt>{title}</dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
            {data.devices.length > 0 && id && (
              <div className="system-devices">
                <DeviceList run={id} devices={data.devices} />
              </div>
            )}
            <div className="system-lines">
              <DataTable name="Overall Summary" columns={columns} rows={lines} rowId={(one) => one.id} childRows={(one) => one.below} open={1} empty="The run has no events." />
            </div>
          </div>
        );
      }}
    </Asked>
  );
}
