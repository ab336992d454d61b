// Current Selection Summary: the metrics of what is seen, or of the box that was
// drawn; and what runs in it, by lane and name.

import { useMemo, useState } from "react";
import { ApiError } from "../api/client";
import { getSelection } from "../api/profiles";
import { getMetrics, wholeNs } from "../api/trees";
import { bytes, count, percent, time } from "../format/number";
import { Button, Tabs } from "../parts/controls";
import { type MetricLine, metricTree } from "../parts/cores";
import { Asked } from "../parts/notice";
import { useSeen } from "../parts/range";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { useProfile } from "../state/profile";
import { useSettings } from "../state/settings";
import { useView } from "../state/view";

const metricColumns: Col<MetricLine>[] = [
  { id: "name", title: "Name", value: (line) => line.name, width: 360 },
  { id: "value", title: "Value", value: (line) => (line.below.length > 0 ? "" : line.value), width: 200 },
  { id: "raw", title: "Number", value: (line) => line.raw, hidden: true, always: true },
];

interface Sum {
  id: string;
  name: string;
  count: number;
  time: number;
  busy: number;
  bytes: number | null;
  share: number;
  below: Sum[];
}

const sumColumns: Col<Sum>[] = [
  { id: "name", title: "Lane, name", value: (one) => one.name, width: 220 },
  { id: "count", title: "Events", value: (one) => one.count, text: count, right: true, sum: true },
  { id: "busy_ns", title: "Busy", tip: "Time of the range that its events cover", value: (one) => one.busy, text: (v) => time(v), right: true },
  { id: "share", title: "Busy %", tip: "Busy time by the length of the range", value: (one) => one.share, text: percent, right: true },
  { id: "time_ns", title: "Sum of lengths", tip: "Lengths of events; those that overlap add up", value: (one) => one.time, text: (v) => time(v), right: true, sum: true },
  { id: "bytes", title: "Bytes", value: (one) => one.bytes, text: bytes, right: true, sum: true },
];

export default function Selection() {
  const { id, lanes, profile } = useProfile();
  const unit = useSettings((s) => s.timeUnit);
  const seen = useSeen();
  const [tab, setTab] = useState<"metrics" | "events">("metrics");
  const range = wholeNs(seen);
  const key = `${id}:${range.from}-${range.to}:${seen.lanes.join()}`;
  const metrics = useRequest(
    tab === "metrics" ? key : null,
    async (signal) => (await getMetrics(id ?? "", range, signal)).metrics ?? Promise.reject(new ApiError(404, "this server has no metrics of regions")),
    120,
  );
  const sums = useRequest(
    tab === "events" ? key : null,
    (signal) => getSelection(id ?? "", { ...range, ...(seen.lanes.length > 0 && { lanes: seen.lanes }) }, signal),
    120,
  );
  const lines = useMemo(() => metricTree(metrics.data ?? [], unit), [metrics.data, unit]);
  const rows = useMemo(() => {
    const span = range.to - range.from;
    return (sums.data?.lanes ?? [])
      .filter((lane) => lane.count > 0)
      .map((lane): Sum => {
        const known = lanes[lane.lane];
        const many = new Set(lanes.map((one) => one.core)).size > 1;
        const below = lane.names.map((one): Sum => {
          const moved = (one as { bytes?: number }).bytes ?? null;
          return { id: `${lane.lane}/${one.name}`, name: one.name, count: one.count, time: one.time_ns, busy: one.busy_ns, bytes: moved, share: one.busy_ns / span, below: [] };
        });
        const moved = below.some((one) => one.bytes !== null) ? below.reduce((sum, one) => sum + (one.bytes ?? 0), 0) : null;
        return {
          id: String(lane.lane),
          name: known ? known.name + (many ? ` (nc${known.core})` : "") : `lane ${lane.lane}`,
          count: lane.count,
          time: below.reduce((sum, one) => sum + one.time, 0),
          busy: lane.busy_ns,
          bytes: moved,
          share: lane.busy_ns / span,
          below,
        };
      });
  }, [sums.data, lanes]);
  const tools = (
    <>
      <Tabs label="What is shown" value={tab} onChange={setTab} options={[{ value: "metrics", text: "Metrics" }, { value: "events", text: "Events" }]} />
      <span className="dim">
        {seen.box ? "box " : seen.whole ? "whole profile " : "visible range "}
        <span className="mono">
          {time(range.from)} + {time(range.to - range.from)}
        </span>
        {seen.lanes.length > 0 && `, ${seen.lanes.length} of ${profile?.lanes.length ?? 0} lanes`}
      </span>
      {seen.box && (
        <Button icon="close" onClick={() => useView.getState().select(null)}>
          Forget the box
        </Button>
      )}
    </>
  );
  if (tab === "events")
    return (
      <Asked answer={sums} what="The sums of the range">
        {() => (
          <DataTable key="events" name="Events of the selection" columns={sumColumns} rows={rows} rowId={(one) => one.id} childRows={(one) => one.below} open={0} tools={tools} sort={{ id: "busy_ns", desc: true }} empty="No event begins in this range." />
        )}
      </Asked>
    );
  return (
    <>
      {metrics.error !== null && <div className="toolbar">{tools}</div>}
      <Asked answer={metrics} what="The metrics of the range">
        {() => (
          <DataTable
            key="metrics"
            name="Current Selection Summary"
            columns={metricColumns}
            rows={lines}
            rowId={(line) => line.id}
            childRows={(line) => line.below}
            open={2}
            tools={tools}
            cell={(column, line) =>
              column.id === "name" && line.tip ? (
                <span className="cell-text tip" title={line.tip}>
                  {line.name}
                </span>
              ) : undefined
            }
          />
        )}
      </Asked>
    </>
  );
}
