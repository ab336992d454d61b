// Database Viewer: the tables of the profile row by row, with units and
// meanings; and questions in SQL.

import { useMemo, useState } from "react";
import { askSql } from "../api/findings";
import { getRows } from "../api/profiles";
import type { Value } from "../api/types";
import { count } from "../format/number";
import { Button, IconButton, Select, Tabs } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { goTo } from "../state/goto";
import { useProfile } from "../state/profile";

type AnyRow = Record<string, Value>;

const PAGE = 500;
const EVENTS = new Set(["Instruction", "DmaPacket"]);

const plain = (value: Value | undefined) =>
  value === null || value === undefined ? null : typeof value === "object" ? JSON.stringify(value) : typeof value === "boolean" ? String(value) : value;

function columnsOf(names: readonly { name: string; tip?: string; number?: boolean }[]): Col<AnyRow>[] {
  return names.map(({ name, tip, number }) => ({ id: name, title: name, ...(tip && { tip }), value: (row) => plain(row[name]), right: number === true, width: number ? 110 : 170 }));
}

function TableView() {
  const { id, tables, profile } = useProfile();
  const [table, setTable] = useState("");
  const [from, setFrom] = useState(0);
  const name = table || tables[0]?.name || "";
  const info = tables.find((one) => one.name === name);
  const answer = useRequest(info ? `${id}/${name}/${from}` : null, (signal) => getRows(id ?? "", name, from, PAGE, signal));
  const columns = useMemo(() => {
    const known = info && info.columns.length > 0 ? info.columns : Object.keys(answer.data?.rows[0] ?? {}).filter((one) => one !== "row").map((one) => ({ name: one, type: "", unit: null, description: "" }));
    const numbers = new Set(Object.entries(answer.data?.rows[0] ?? {}).flatMap(([one, value]) => (typeof value === "number" ? [one] : [])));
    return columnsOf([
      { name: "row", number: true },
      ...known.map((column) => ({ name: column.name, tip: [column.description, column.unit && `Unit: ${column.unit}`].filter(Boolean).join(" "), number: numbers.has(column.name) })),
    ]);
  }, [info, answer.data]);
  const absent = profile?.absent && !Array.isArray(profile.absent) ? Object.entries(profile.absent) : [];
  return (
    <Asked answer={answer} what="The rows">
      {(data) => (
        <>
          <DataTable
            key={name}
            name={name}
            columns={columns}
            rows={data.rows}
            rowId={(row) => String(row.row)}
            onPick={(row) => EVENTS.has(name) && typeof row.row === "number" && void goTo(name, row.row)}
            tools={
              <>
                <Select label="Table" value={name} options={tables.map((one) => ({ value: one.name, text: `${one.name} (${count(one.rows)})` }))} onChange={(next) => (setFrom(0), setTable(next))} />
                <span className="pager">
                  <IconButton icon="left" label="Rows before" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - PAGE))} />
                  <span className="mono">{count(from)}</span>
                  <IconButton icon="right" label="Next rows" disabled={data.next === null} onClick={() => setFrom(from + PAGE)} />
                </span>
                {info?.description && <span className="dim">{info.description}</span>}
              </>
            }
          />
          {absent.length > 0 && (
            <details className="absent">
              <summary>{absent.length} tables of the schema are not in this profile</summary>
              <dl className="facts">
                {absent.map(([one, why]) => (
                  <div key={one}>
                    <dt>{one}</dt>
                    <dd>{why}</dd>
                  </div>
                ))}
              </dl>
            </details>
          )}
        </>
      )}
    </Asked>
  );
}

function SqlView() {
  const { id } = useProfile();
  const [text, setText] = useState("SELECT engine, opcode, instruction_count, active_time_ns\nFROM OpcodeSummary\nORDER BY active_time_ns DESC");
  const [asked, setAsked] = useState<string | null>(null);
  const answer = useRequest(asked, (signal) => askSql(id ?? "", text, 1000, signal));
  const columns = useMemo(() => columnsOf((answer.data?.columns ?? []).map((column) => ({ name: column.name, tip: column.type, number: /int|float|decimal/i.test(column.type) }))), [answer.data]);
  const rows = useMemo(() => (answer.data?.rows ?? []).map((row, i) => ({ ...row, "(row)": i })), [answer.data]);
  const run = () => setAsked(`${id}:${text}:${Date.now()}`);
  return (
    <>
      <textarea
        className="sql mono"
        aria-label="Question in SQL"
        value={text}
        spellCheck={false}
        rows={4}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
        }}
      />
      <div className="toolbar">
        <Button primary onClick={run} title="Ctrl and Enter">
          Run
        </Button>
        {answer.data?.more && <span className="tag warn">only the first 1,000 rows</span>}
      </div>
      {asked && (
        <Asked answer={answer} what="The question">
          {() => <DataTable name="Answer" columns={columns} rows={rows} rowId={(row) => String(row["(row)"])} empty="No rows." />}
        </Asked>
      )}
    </>
  );
}

export default function Database() {
  const tables = useProfile((s) => s.tables);
  const [tab, setTab] = useState<"tables" | "sql">("tables");
  if (tables.length === 0) return <Notice>This profile has no tables.</Notice>;
  return (
    <>
      <div className="toolbar">
        <Tabs label="How to look" value={tab} onChange={setTab} options={[{ value: "tables", text: "Tables" }, { value: "sql", text: "SQL" }]} />
      </div>
      {tab === "tables" ? <TableView /> : <SqlView />}
    </>
  );
}
