// System Timeline: framework, runtime and hardware events of the host, where the
// profile is of a whole run.

import { useMemo, useState } from "react";
import { getRows } from "../api/profiles";
import type { Row } from "../api/types";
import { colourOf } from "../format/colour";
import { time } from "../format/number";
import { Bars } from "../parts/bars";
import { Select } from "../parts/controls";
import { Asked, Notice, whyAbsent } from "../parts/notice";
import { useRequest } from "../parts/request";
import { useProfile } from "../state/profile";
import { type Grouping, systemRows } from "./system-rows";

const MOST = 10_000;

export default function System() {
  const { id, profile } = useProfile();
  const [grouping, setGrouping] = useState<Grouping>("default");
  const [range, setRange] = useState<[number, number] | null>(null);
  const [past, setPast] = useState<[number, number][]>([]);
  const has = profile !== null && "SystemProfileEvents" in profile.tables;
  const answer = useRequest(has ? id : null, (signal) => getRows(id ?? "", "SystemProfileEvents", 0, MOST, signal));
  const rows = useMemo(() => systemRows(answer.data?.rows ?? [], grouping, colourOf), [answer.data, grouping]);
  const known = useMemo(() => new Map((answer.data?.rows ?? []).map((row): [string, Row] => [String(row.row), row])), [answer.data]);
  if (!has)
    return (
      <Notice>
        <p>No host events: {whyAbsent(profile?.absent, "SystemProfileEvents")}.</p>
        <p className="dim">They are in profiles of a whole run (a directory with ntrace.pb), not in those of one execution on the device.</p>
      </Notice>
    );
  return (
    <Asked answer={answer} what="The host events">
      {(data) => {
        const all = rows.flatMap((row) => row.bars);
        const [start, end] = [Math.min(...all.map((bar) => bar.from)), Math.max(...all.map((bar) => bar.to))];
        const [from, to] = range ?? [start, Math.max(end, start + 1)];
        return (
          <>
            <div className="toolbar">
              <Select
                label="Rows"
                value={grouping}
                options={[
                  { value: "default", text: "Process and source" },
                  { value: "core", text: "NeuronCore" },
                  { value: "thread", text: "Thread" },
                  { value: "process", text: "Process" },
                  { value: "instance", text: "Instance" },
                ]}
                onChange={setGrouping}
              />
              <button type="button" className="button" disabled={past.length === 0} onClick={() => (setRange(past[past.length - 1] ?? null), setPast(past.slice(0, -1)))}>
                Back
              </button>
              <button type="button" className="button" onClick={() => (setRange(null), setPast([]))}>
                All
              </button>
              {data.next !== null && <span className="tag warn">the first {MOST.toLocaleString("en-US")} events</span>}
            </div>
            <Bars
              label="Host events"
              rows={rows}
              from={from}
              to={to}
              gutter={230}
              axis={(value) => time(value - start)}
              onZoom={(a, b, record) => {
                if (record) setPast([...past, [from, to]]);
                setRange([Math.max(start, a), Math.min(Math.max(end, start + 1), b)]);
              }}
              tell={(bar) => {
                const row = known.get(bar.key);
                return (
                  <dl>
                    {Object.entries(row ?? {})
                      .filter(([, value]) => value !== null && value !== "")
                      .slice(0, 14)
                      .map(([name, value]) => (
                        <div key={name}>
                          <dt>{name}</dt>
                          <dd>{String(value).slice(0, 200)}</dd>
                        </div>
                      ))}
                  </dl>
                );
              }}
            />
          </>
        );
      }}
    </Asked>
  );
}
