// System Timeline: framework, runtime and hardware events of the host, with
// transfers, memories and processors, where the profile is of a whole run. An
// execution leads to its device profile.

import { useMemo, useState } from "react";
import { getEvent, getRows } from "../api/profiles";
import { type SystemSummary, getSystem } from "../api/system";
import type { Fields, Row } from "../api/types";
import { eventRef } from "../api/events";
import { colourOf } from "../format/colour";
import { bytes, time } from "../format/number";
import { short } from "../format/words";
import { type Bar, type BarRow, Bars } from "../parts/bars";
import { Check, Select } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { Asked, Notice, whyAbsent } from "../parts/notice";
import { useRequest } from "../parts/request";
import { useProfile } from "../state/profile";
import { useView } from "../state/view";
import { show } from "../layout/workspace";
import { DeviceList } from "./devices";
import { openDevice, targetOf } from "./drill";
import { categoriesAt, hostMemoryRow, memoryRows, processorRows, transferRows } from "./system-lines";
import { type Grouping, systemRows, withoutShared } from "./system-rows";

const MOST = 10_000;
/** Samples of a table that are drawn: 10 pages. */
const SAMPLES = 100_000;

/** Rows of a table, page by page. */
async function samples(id: string, table: string, has: boolean, signal: AbortSignal): Promise<Row[]> {
  const out: Row[] = [];
  for (let from: number | null = 0; has && from !== null && out.length < SAMPLES; ) {
    const page = await getRows(id, table, from, MOST, signal);
    out.push(...page.rows);
    from = page.next;
  }
  return out;
}

interface Data {
  events: Row[];
  more: boolean;
  summary: SystemSummary;
  hbm: Row[];
  cpu: Row[];
  host: Row[];
}

function EventBox({ row }: { row: Row | undefined }) {
  return (
    <dl>
      {Object.entries(row ?? {})
        .filter(([, value]) => value !== null && value !== "")
        .slice(0, 14)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{short(String(value), 200)}</dd>
          </div>
        ))}
    </dl>
  );
}

export default function System() {
  const { id, profile, lanes } = useProfile();
  const [grouping, setGrouping] = useState<Grouping>("default");
  const [transfers, setTransfers] = useState<"core" | "instance" | "off">("core");
  const [processors, setProcessors] = useState<"off" | "all" | "each">("all");
  const [memories, setMemories] = useState(true);
  const [range, setRange] = useState<[number, number] | null>(null);
  const [past, setPast] = useState<[number, number][]>([]);
  const [listing, setListing] = useState(false);
  const focused = useView((s) => s.focused);
  const has = (table: string) => profile !== null && table in profile.tables;
  const answer = useRequest(has("SystemProfileEvents") ? id : null, async (signal): Promise<Data> => {
    const of = id ?? "";
    const [events, summary, hbm, cpu, host] = await Promise.all([
      getRows(of, "SystemProfileEvents", 0, MOST, signal),
      getSystem(of, signal),
      samples(of, "SystemProfileHbmUsage", has("SystemProfileHbmUsage"), signal),
      samples(of, "CpuUsage", has("CpuUsage"), signal),
      samples(of, "HostMemUsage", has("HostMemUsage"), signal),
    ]);
    return { events: events.rows, more: events.next !== null, summary, hbm, cpu, host };
  });
  const data = answer.data;
  const marked = focused?.table === "SystemProfileEvents" ? String(focused.row) : null;
  const rows = useMemo((): BarRow[] => {
    if (!data) return [];
    const bars = withoutShared(systemRows(data.events, grouping, colourOf)).map((row) => ({ ...row, bars: row.bars.map((bar) => (bar.key === marked ? { ...bar, marked: true } : bar)) }));
    return [
      ...bars,
      ...(transfers === "off" ? [] : transferRows(data.summary.transfers, transfers === "core", { host_to_device: "#4a90e2", device_to_host: "#e2a04a" })),
      ...(memories ? memoryRows(data.hbm, "#8ab45a") : []),
      ...(memories ? hostMemoryRow(data.host, "#61c2bc") : []),
      ...(processors === "off" ? [] : processorRows(data.cpu, "#b07be0", processors === "each")),
    ];
  }, [data, grouping, transfers, processors, memories, marked]);
  const known = useMemo(() => new Map((data?.events ?? []).map((row): [string, Row] => [String(row.row), row])), [data]);
  if (!has("SystemProfileEvents"))
    return (
      <Notice>
        <p>No host events: {whyAbsent(profile?.absent, "SystemProfileEvents")}.</p>
        <p className="dim">They are in profiles of a whole run (a directory with ntrace.pb), not in those of one execution on the device.</p>
      </Notice>
    );
  const pick = async (bar: Bar) => {
    const row = known.get(bar.key) ?? (id ? ((await getEvent(id, "SystemProfileEvents", Number(bar.key))).fields as Fields) : {});
    useView.getState().focus(eventRef(lanes, "SystemProfileEvents", Number(bar.key), row));
    if (row.name === "nc_exec_running" && data) {
      const target = targetOf(row, data.summary.devices);
      if (target && id) return openDevice(target, id, Number(bar.key));
    }
    show("details");
  };
  return (
    <Asked answer={answer} what="The host events">
      {(data) => {
        const [start, end] = [0, Math.max(profile?.total_ns ?? 1, 1)];
        const [from, to] = range ?? busiest(data.events, end);
        const zoom = (a: number, b: number, record: boolean) => {
          if (record) setPast([...past, [from, to]]);
          setRange([Math.max(start, a), Math.min(end, b)]);
        };
        return (
          <>
            <div className="toolbar">
              <Select
                label="Rows"
                value={grouping}
                options={[
                  { value: "default", text: "Process and source" },
                  { value: "device", text: "CPU and device" },
                  { value: "core", text: "NeuronCore" },
                  { value: "thread", text: "Thread" },
                  { value: "process", text: "Process" },
                  { value: "instance", text: "Instance" },
                ]}
                onChange={setGrouping}
              />
              <Select
                label="Transfers"
                value={transfers}
                options={[
                  { value: "core", text: "Transfers by core" },
                  { value: "instance", text: "Transfers of the instance" },
                  { value: "off", text: "No transfers" },
                ]}
                onChange={setTransfers}
              />
              <Select
                label="Processors"
                value={processors}
                options={[
                  { value: "all", text: "CPUs together" },
                  { value: "each", text: "Each CPU" },
                  { value: "off", text: "No CPUs" },
                ]}
                onChange={setProcessors}
              />
              <Check label="Memories" checked={memories} onChange={setMemories} />
              <button type="button" className="button" disabled={past.length === 0} onClick={() => (setRange(past[past.length - 1] ?? null), setPast(past.slice(0, -1)))}>
                Back
              </button>
              <button type="button" className="button" onClick={() => zoom(...busiest(data.events, end), true)}>
                Events
              </button>
              <button type="button" className="button" onClick={() => zoom(start, end, true)}>
                All
              </button>
              <button type="button" className="button" onClick={() => setListing(true)}>
                Device profiles ({data.summary.devices.length})
              </button>
              {data.more && <span className="tag warn">the first {MOST.toLocaleString("en-US")} events</span>}
              {data.summary.transfers_cut && <span className="tag warn">not all transfers</span>}
            </div>
            <Bars
              label="Host events"
              rows={rows}
              from={from}
              to={to}
              gutter={250}
              axis={(value) => time(value)}
              onZoom={zoom}
              onPick={(bar) => void pick(bar)}
              tell={(bar) => (
                <>
                  <EventBox row={known.get(bar.key)} />
                  {known.get(bar.key)?.name === "nc_exec_running" && data.summary.devices.length > 0 && <p className="dim">A click opens its device profile.</p>}
                </>
              )}
              tellLine={(row, at) => (
                <dl>
                  {categoriesAt(data.hbm, row.label, at).map(([name, value]) => (
                    <div key={name}>
                      <dt>{name}</dt>
                      <dd>{bytes(value)}</dd>
                    </div>
                  ))}
                </dl>
              )}
            />
            {listing && id && (
              <Dialog title="Device profiles of this run" onClose={() => setListing(false)} wide>
                <DeviceList run={id} devices={data.summary.devices} />
              </Dialog>
            )}
          </>
        );
      }}
    </Asked>
  );
}

/** From the first event to the last: samples of the host go on for long before and after. */
function busiest(events: readonly Row[], total: number): [number, number] {
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  for (const { start_ts, end_ts } of events) {
    if (typeof start_ts !== "number" || typeof end_ts !== "number") continue;
    from = Math.min(from, start_ts);
    to = Math.max(to, end_ts);
  }
  if (!(from < to)) return [0, total];
  const space = Math.max(1, (to - from) * 0.01);
  return [Math.max(0, from - space), Math.min(total, to + space)];
}
