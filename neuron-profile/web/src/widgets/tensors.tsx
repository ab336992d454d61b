// Tensor Viewer: the tensors of the program and how often each is loaded; a
// click finds the DMA of one.

import { useMemo } from "react";
import { quoted } from "../api/search";
import type { Row } from "../api/types";
import { getRows } from "../api/profiles";
import { count, quantity } from "../format/number";
import { words } from "../format/words";
import { Asked, Notice, whyAbsent } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { find } from "../state/find";
import { useProfile } from "../state/profile";

const WIDTHS: Record<string, number> = { variable_name: 260, shape: 160, type: 80, format: 80, size: 90, node: 60 };

/** The names of the columns about loads into SBUF are as long as their meaning, which the tip has. */
const TITLES: Record<string, string> = {
  load_to_sbuf_avg_size_bytes: "Average load",
  load_to_sbuf_total_size_bytes: "Loaded",
  load_to_sbuf_dma_count: "Loads",
  load_to_sbuf_repeat_factor: "Times loaded",
};

export default function Tensors() {
  const { id, profile, tables } = useProfile();
  const has = profile !== null && "TensorInfo" in profile.tables;
  const answer = useRequest(has ? id : null, (signal) => getRows(id ?? "", "TensorInfo", 0, 10_000, signal));
  const columns = useMemo(
    (): Col<Row>[] =>
      (tables.find((one) => one.name === "TensorInfo")?.columns ?? []).map((column) => {
        const number = !/^(variable_name|type|format|shape)$/.test(column.name);
        return {
          id: column.name,
          title: TITLES[column.name] ?? words(column.name),
          tip: column.description,
          value: (row) => {
            const value = row[column.name];
            return typeof value === "number" || typeof value === "string" ? value : null;
          },
          right: number,
          width: WIDTHS[column.name] ?? 100,
          // An average has no sum.
          sum: column.unit === "B" && !/_avg_/.test(column.name),
          text: (value) => (column.unit ? quantity(value, column.unit) : count(value)),
        };
      }),
    [tables],
  );
  if (!has) return <Notice>No table of tensors: {whyAbsent(profile?.absent, "TensorInfo")}.</Notice>;
  return (
    <Asked answer={answer} what="The tensors">
      {(data) => (
        <>
          <DataTable
            name="Tensor Viewer"
            columns={columns}
            rows={data.rows}
            rowId={(row) => String(row.row)}
            sort={{ id: "size", desc: true }}
            onPick={(row) => typeof row.variable_name === "string" && void find("DmaPacket", `variable=${quoted(row.variable_name)}`)}
            tools={<span className="dim">A click finds the DMA packets of a tensor.</span>}
            empty="The program has no tensors."
          />
          {data.next !== null && <Notice>Only the first {count(data.rows.length)} are shown.</Notice>}
        </>
      )}
    </Asked>
  );
}
