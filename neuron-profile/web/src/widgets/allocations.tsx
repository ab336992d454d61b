// The map of SBUF: addresses by time, one partition and core at a time.

import { useMemo, useState } from "react";
import { getRows } from "../api/profiles";
import { bytes, moment, time } from "../format/number";
import { ticks } from "../format/ticks";
import { Figure } from "../parts/chart";
import { Select } from "../parts/controls";
import { Asked } from "../parts/notice";
import { useRequest } from "../parts/request";
import { useProfile } from "../state/profile";
import { useResting } from "../state/resting";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [760, 300, 84, 20];

/** Rows of one drawing. */
const MOST = 10_000;

export function AllocationMap() {
  const id = useProfile((s) => s.id);
  const { from, to } = useResting();
  const [partition, setPartition] = useState("0");
  const [core, setCore] = useState("0");
  const answer = useRequest(`${id}:allocations`, (signal) => getRows(id ?? "", "SbufAllocation", 0, MOST, signal));
  const number = (value: unknown) => (typeof value === "number" ? value : 0);
  const rows = useMemo(
    () => (answer.data?.rows ?? []).filter((row) => String(row.partition) === partition && String(row.pcore_idx ?? 0) === core),
    [answer.data, partition, core],
  );
  const high = Math.max(1, ...rows.map((row) => number(row.end_address) + 1));
  const x = (value: number) => LEFT + ((value - from) / (to - from)) * (WIDTH - LEFT);
  const y = (value: number) => (HEIGHT - BOTTOM) * (1 - value / high);
  const hex = (value: number) => `0x${Math.round(value).toString(16).toUpperCase().padStart(6, "0")}`;
  const clamp = (value: number) => Math.max(LEFT, Math.min(WIDTH, value));
  return (
    <Asked answer={answer} what="The allocations">
      {(data) => (
        <Figure
          title="Allocations in SBUF"
          label={`${rows.length} allocations by address and time`}
          width={WIDTH}
          height={HEIGHT}
          legend={[["instruction", "#8e25a5"], ["DMA", "#fd891c"]]}
          tools={
            <>
              <Select label="Partition" shown value={partition} options={["0", "32", "64", "96"]} onChange={setPartition} />
              <Select label="Core" shown value={core} options={["0", "1"]} onChange={setCore} />
              {data.next !== null && <span className="tag warn">the first {MOST.toLocaleString("en-US")}</span>}
            </>
          }
        >
          {ticks(0, high, 6).map((value) => (
            <g key={value}>
              <line x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} stroke="var(--line)" />
              <text x={LEFT - 6} y={y(value) + 4} textAnchor="end" fill="var(--dim)">{hex(value)}</text>
            </g>
          ))}
          {rows.map((row) => {
            const [start, end] = [number(row.start_ts), number(row.end_ts)];
            if (end < from || start > to) return null;
            const [low, top] = [number(row.start_address), number(row.end_address) + 1];
            const [left, right] = [clamp(x(start)), clamp(x(end))];
            const what = row.op_source_type === "DMA" || row.queue_name ? `${row.queue_name ?? ""} block ${row.block_id ?? ""}` : `${row.opcode ?? ""} ${row.operands ?? ""}`;
            return (
              <rect key={row.row} x={left} width={Math.max(1, right - left)} y={y(top)} height={Math.max(1, y(low) - y(top))} fill={row.queue_name ? "#fd891c" : "#8e25a5"}>
                <title>{`${moment(start)} – ${moment(end)} (${time(end - start)})\n${hex(low)} – ${hex(top - 1)}, ${bytes(top - low)}\n${what}`}</title>
              </rect>
            );
          })}
        </Figure>
      )}
    </Asked>
  );
}
