// Search: a form of field conditions or the query as text, result pages, and
// statistics of all that was found.

import { useEffect, useMemo, useState } from "react";
import { type Condition, type Match, type Operator, type Statistics, queryText } from "../api/search";
import { eventRef } from "../api/events";
import { count, moment, percent, time } from "../format/number";
import { words } from "../format/words";
import { Button, IconButton, Select, Tabs, TextField } from "../parts/controls";
import { Notice } from "../parts/notice";
import { type Col, DataTable } from "../parts/table";
import { PAGE, find, goToMatch, useFound } from "../state/find";
import { useProfile } from "../state/profile";
import { useSearch } from "../state/search";
import { useView } from "../state/view";

const OPERATORS: { value: Operator; text: string; numeric?: boolean }[] = [
  { value: "=", text: "is" },
  { value: "!=", text: "is not" },
  { value: "~", text: "has" },
  { value: "!~", text: "has not" },
  { value: "regex", text: "matches" },
  { value: ">=", text: "≥", numeric: true },
  { value: "<=", text: "≤", numeric: true },
  { value: ">", text: ">", numeric: true },
  { value: "<", text: "<", numeric: true },
  { value: "range", text: "between", numeric: true },
];

/** Tables whose rows are events of lanes. */
const CATEGORIES = [
  { value: "Instruction", text: "Instructions" },
  { value: "DmaPacket", text: "DMA packets" },
  { value: "SystemProfileEvents", text: "Host and device events" },
];
const EVENTS = CATEGORIES.map(({ value }) => value);
const PLACEHOLDER: Record<string, string> = { range: "100..200", regex: "regular expression" };

function ConditionRow(props: {
  condition: Condition;
  fields: readonly string[];
  values: readonly string[];
  onChange: (condition: Condition) => void;
  onRemove: () => void;
  onEnter: () => void;
}) {
  const { condition, fields, onChange } = props;
  return (
    <div className="condition">
      <Select
        label="Field"
        value={condition.field}
        options={[{ value: "", text: "any text" }, ...fields.map((field) => ({ value: field, text: words(field) }))]}
        onChange={(field) => onChange({ ...condition, field })}
      />
      <Select
        label="Comparison"
        value={condition.operator}
        options={OPERATORS.filter((one) => condition.field !== "" || one.value === "~" || one.value === "regex")}
        onChange={(operator) => onChange({ ...condition, operator })}
      />
      <TextField
        label="Value"
        mono
        wide
        value={condition.value}
        placeholder={PLACEHOLDER[condition.operator] ?? "value"}
        onChange={(value) => onChange({ ...condition, value })}
        onEnter={props.onEnter}
      />
      <IconButton icon="close" label="Remove this condition" onClick={props.onRemove} />
    </div>
  );
}

interface LaneLine {
  id: string;
  name: string;
  count: number;
  sum: number;
  mean: number;
  min: number;
  max: number;
  active: number;
}

function Numbers({ statistics }: { statistics: Statistics }) {
  const { lanes, totalNs } = useProfile();
  const rows = statistics.lanes.map((one): LaneLine => {
    const lane = lanes[one.lane];
    const { sum, mean, min, max } = one.duration_ns;
    return { id: String(one.lane), name: lane ? `${lane.name} (nc${lane.core})` : `lane ${one.lane}`, count: one.count, sum, mean, min, max, active: sum / totalNs };
  });
  const columns: Col<LaneLine>[] = [
    { id: "lane", title: "Lane", value: (one) => one.name, width: 140 },
    { id: "count", title: "Events", value: (one) => one.count, text: count, right: true, sum: true },
    { id: "sum_ns", title: "Sum", value: (one) => one.sum, text: (v) => time(v), right: true, sum: true },
    { id: "mean_ns", title: "Mean", value: (one) => one.mean, text: (v) => time(v), right: true },
    { id: "min_ns", title: "Shortest", value: (one) => one.min, text: (v) => time(v), right: true },
    { id: "max_ns", title: "Longest", value: (one) => one.max, text: (v) => time(v), right: true },
    { id: "active", title: "Active %", tip: "Sum of lengths by the length of the profile", value: (one) => one.active, text: percent, right: true },
  ];
  const all = statistics.duration_ns;
  return (
    <>
      <dl className="figures">
        <div><dt>Events</dt><dd>{count(statistics.count)}</dd></div>
        <div><dt>First start</dt><dd>{moment(statistics.start_ns)}</dd></div>
        <div><dt>Last end</dt><dd>{moment(statistics.end_ns)}</dd></div>
        <div><dt>Duration</dt><dd>{statistics.start_ns !== null && statistics.end_ns !== null ? time(statistics.end_ns - statistics.start_ns) : "–"}</dd></div>
        <div><dt>Sum of lengths</dt><dd>{time(all?.sum)}</dd></div>
        <div><dt>Mean length</dt><dd>{time(all?.mean)}</dd></div>
      </dl>
      <DataTable name="Statistics of the search" columns={columns} rows={rows} rowId={(one) => one.id} sort={{ id: "sum_ns", desc: true }} filterable={false} />
    </>
  );
}

function Results() {
  const lanes = useProfile((s) => s.lanes);
  const { offset, total, current, table, query } = useSearch();
  const found = useFound((s) => s.found);
  const columns = useMemo(
    (): Col<Match>[] => [
      { id: "start_ts", title: "Start", value: (row) => Number(row.start_ts ?? 0), text: moment, right: true, width: 110 },
      { id: "duration_ns", title: "Length", value: (row) => Number(row.end_ts ?? row.start_ts ?? 0) - Number(row.start_ts ?? 0), text: (v) => time(v), right: true, width: 80 },
      { id: "lane", title: "Lane", value: (row) => lanes[row.lane]?.name ?? "", width: 100 },
      { id: "name", title: "Name", value: (row) => eventRef(lanes, row.table, row.row, row).name, width: 150 },
      { id: "operands", title: "Operands", value: (row) => text(row.operands ?? row.queue_name), width: 260 },
      { id: "layer", title: "Layer", value: (row) => text(row.layer), width: 220 },
      { id: "variable", title: "Variable", value: (row) => text(row.variable), hidden: true },
      { id: "row", title: "Row", value: (row) => row.row, right: true, hidden: true },
    ],
    [lanes],
  );
  if (!found) return null;
  const page = Math.floor(offset / PAGE);
  const pages = Math.ceil(total / PAGE);
  const selected = found.rows[current - offset];
  return (
    <DataTable
      name="Search results"
      columns={columns}
      rows={found.rows}
      rowId={(row) => `${row.table}/${row.row}`}
      selected={selected ? `${selected.table}/${selected.row}` : null}
      onPick={(row) => void goToMatch(offset + found.rows.indexOf(row))}
      onHover={(row) => useView.getState().hover(row ? eventRef(lanes, row.table, row.row, row) : null)}
      empty="Nothing was found."
      tools={
        <span className="pager">
          <IconButton icon="left" label="Page before" disabled={page === 0} onClick={() => void find(table, query, (page - 1) * PAGE)} />
          <span className="mono">
            {pages === 0 ? 0 : page + 1} / {pages}
          </span>
          <IconButton icon="right" label="Next page" disabled={page + 1 >= pages} onClick={() => void find(table, query, (page + 1) * PAGE)} />
        </span>
      }
    />
  );
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

export default function Search() {
  const tables = useProfile((s) => s.tables);
  const search = useSearch();
  const found = useFound((s) => s.found);
  // A run has other events than a device.
  const known = CATEGORIES.filter(({ value }) => tables.some((one) => one.name === value));
  const first = known[0]?.value ?? "Instruction";
  const [table, setTable] = useState(search.query === "" && !known.some(({ value }) => value === search.table) ? first : search.table);
  const [join, setJoin] = useState<"AND" | "OR">("AND");
  const [conditions, setConditions] = useState<Condition[]>([{ field: first === "SystemProfileEvents" ? "name" : "opcode", operator: "=", value: "" }]);
  const [written, setWritten] = useState(search.query);
  const [mode, setMode] = useState<"form" | "text">(search.query ? "text" : "form");
  const [tab, setTab] = useState<"rows" | "numbers">("rows");
  // A search that was begun elsewhere (a link, a table) is shown as text.
  useEffect(() => {
    if (search.query && search.query !== queryText(conditions, join)) {
      setWritten(search.query);
      setMode("text");
    }
  }, [search.query]);
  const fields = useMemo(() => {
    const from = table === "all" ? EVENTS : [table];
    const names = tables.filter((one) => from.includes(one.name)).flatMap((one) => one.columns.map((column) => column.name));
    return [...new Set(names)];
  }, [tables, table]);
  const query = mode === "text" ? written : queryText(conditions, join);
  const submit = () => void find(table, query);
  const change = (at: number, condition: Condition | null) =>
    setConditions((all) => all.flatMap((one, i) => (i === at ? (condition ? [condition] : []) : [one])));
  return (
    <>
      <form
        className="search-form"
        aria-label="Search"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="toolbar">
          <Select
            label="Category"
            value={table}
            options={[...(known.length > 0 ? known : CATEGORIES.slice(0, 1)), ...(known.length === 1 ? [] : [{ value: "all", text: "All events" }])]}
            onChange={setTable}
          />
          <Tabs label="How to ask" value={mode} onChange={(next) => (next === "text" && setWritten(query), setMode(next))} options={[{ value: "form", text: "Fields" }, { value: "text", text: "Query" }]} />
          {mode === "form" && conditions.length > 1 && (
            <Select label="Conditions are joined by" value={join} options={[{ value: "AND", text: "all of" }, { value: "OR", text: "any of" }]} onChange={setJoin} />
          )}
          {mode === "form" && (
            <Button icon="plus" onClick={() => setConditions([...conditions, { field: "layer", operator: "~", value: "" }])}>
              Field
            </Button>
          )}
          <span className="spring" />
          <Button primary icon="search" onClick={submit} disabled={query.trim() === ""}>
            Search
          </Button>
          <Button onClick={() => void find(table, "")} disabled={search.query === ""}>
            Clear
          </Button>
        </div>
        {mode === "text" ? (
          <TextField
            label="Query"
            wide
            mono
            value={written}
            placeholder='opcode=MATMUL AND (duration_ns>100 OR operands=/\$S\[4/)'
            onChange={setWritten}
            onEnter={submit}
            bad={search.status === "failed"}
          />
        ) : (
          conditions.map((condition, i) => (
            <ConditionRow key={i} condition={condition} fields={fields} values={[]} onChange={(one) => change(i, one)} onRemove={() => change(i, null)} onEnter={submit} />
          ))
        )}
      </form>
      {search.status === "failed" && <Notice kind="bad">{search.error}</Notice>}
      {search.status === "searching" && !found && <Notice>Searching …</Notice>}
      {search.status === "none" && <Notice>Fields are joined by AND or OR; a query also has NOT, brackets, ranges and regular expressions.</Notice>}
      {found && search.status !== "failed" && (
        <>
          <div className="toolbar">
            <Tabs
              label="Parts of the result"
              value={tab}
              onChange={setTab}
              options={[{ value: "rows", text: `Results (${count(search.total)})` }, { value: "numbers", text: "Statistics" }]}
            />
            {!found.complete && <span className="tag warn">not all was searched</span>}
            <span className="spring" />
            {found.statistics.start_ns !== null && found.statistics.end_ns !== null && (
              <Button
                icon="zoom"
                onClick={() => useView.getState().zoomTo(found.statistics.start_ns ?? 0, found.statistics.end_ns ?? 0, { record: true })}
              >
                Zoom to all
              </Button>
            )}
          </div>
          {tab === "rows" ? <Results /> : <Numbers statistics={found.statistics} />}
        </>
      )}
    </>
  );
}
