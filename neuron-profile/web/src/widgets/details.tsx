// Event Details: every field of the focused event with its unit and meaning,
// what it waited for and what waited for it, and a pager over search matches.

import { useMemo, useState } from "react";
import { getEvent } from "../api/profiles";
import { locations } from "../api/sources";
import type { Column, EventDetail, Value } from "../api/types";
import { count, moment, quantity, time } from "../format/number";
import { short, words } from "../format/words";
import { Button, IconButton, Tabs } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { openLine } from "../state/code";
import { nextMatch, previousMatch } from "../state/find";
import { useProfile } from "../state/profile";
import { useSearch } from "../state/search";
import { useView } from "../state/view";
import { show } from "../layout/workspace";
import { CallStacks } from "./call-stack";
import { Dependencies } from "./dependencies";
import { explainOperands } from "./operands";

interface Field {
  name: string;
  value: string;
  raw: Value;
  unit: string;
  tip: string;
}

/** Moments are whole nanoseconds, all else with a fitting unit. */
function fieldText(name: string, value: Value, unit: string): string {
  if (value === null || value === "") return "–";
  if (typeof value === "number") return /_ts$|^timestamp$/.test(name) ? moment(value) : unit ? quantity(value, unit) : String(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fields(detail: EventDetail): Field[] {
  const known = new Map<string, Column>(detail.columns.map((column) => [column.name, column]));
  return Object.entries(detail.fields).map(([name, value]) => {
    const column = known.get(name);
    const unit = column?.unit ?? "";
    return { name, value: fieldText(name, value, unit), raw: value, unit, tip: column?.description ?? "" };
  });
}

const columns: Col<Field>[] = [
  { id: "field", title: "Field", value: (one) => one.name, width: 210 },
  { id: "value", title: "Value", value: (one) => one.value, width: 320 },
  { id: "unit", title: "Unit", value: (one) => one.unit, hidden: true, width: 60 },
  { id: "description", title: "Meaning", value: (one) => one.tip, hidden: true, width: 400 },
];

/** Steps over what the search found. */
function Pager() {
  const { total, current } = useSearch();
  if (total === 0) return null;
  return (
    <span className="pager">
      <IconButton icon="left" label="Match before" disabled={current <= 0} onClick={() => void previousMatch()} />
      <span className="mono">
        {current < 0 ? "–" : count(current + 1)} / {count(total)}
      </span>
      <IconButton icon="right" label="Next match" disabled={current >= total - 1} onClick={() => void nextMatch()} />
    </span>
  );
}

function Value({ field }: { field: Field }) {
  const places = /source_location$/.test(field.name) ? locations(field.raw) : [];
  if (places.length > 0)
    return (
      <span className="links">
        {places.map(({ file, line }) => (
          <button key={`${file}:${line}`} type="button" className="link" title={`${file}:${line}`} onClick={() => openLine(file, line)}>
            {short(`${file}:${line}`, 100)}
          </button>
        ))}
      </span>
    );
  const parts = /operands$/.test(field.name) && typeof field.raw === "string" ? explainOperands(field.raw) : [];
  if (parts.length > 0)
    return (
      <span className="cell-text mono">
        {parts.map(({ text, tip }, i) => (
          <span key={i} className={tip ? "tip" : undefined} title={tip || undefined}>
            {text}{" "}
          </span>
        ))}
      </span>
    );
  return (
    <span className="cell-text mono" title={short(field.value, 4000)}>
      {short(field.value, 1000)}
    </span>
  );
}

export default function Details() {
  const { id } = useProfile();
  const focused = useView((s) => s.focused);
  const [tab, setTab] = useState<"event" | "dependencies" | "calls">("event");
  const answer = useRequest(focused ? `${id}/${focused.table}/${focused.row}` : null, (signal) =>
    getEvent(id ?? "", focused?.table ?? "", focused?.row ?? 0, signal),
  );
  const rows = useMemo(() => (answer.data ? fields(answer.data) : []), [answer.data]);
  if (!focused)
    return (
      <>
        <div className="toolbar">
          <Pager />
        </div>
        <Notice>Click an event in the timeline, or a row of a search.</Notice>
      </>
    );
  const stacks = answer.data?.call_stacks ?? [];
  // The next event may have none.
  const shown = tab === "calls" && answer.data && stacks.length === 0 ? "event" : tab;
  const ends = answer.data ? answer.data.predecessors.length + answer.data.successors.length : 0;
  const tools = (
    <>
      <Tabs
        label="Parts of the event"
        value={shown}
        onChange={setTab}
        options={[
          { value: "event", text: "Event" },
          { value: "dependencies", text: `Dependencies (${ends})` },
          ...(stacks.length > 0 ? [{ value: "calls" as const, text: "Call stack" }] : []),
        ]}
      />
      <Pager />
    </>
  );
  const title = (
    <div className="event-title">
      <strong>{short(focused.name, 80)}</strong>
      <span className="dim mono">
        {focused.table} {focused.row}, {moment(focused.start)}, {time(focused.end - focused.start)}
      </span>
      <span className="spring" />
      <Button icon="zoom" onClick={() => zoomToEvent()} title="Zoom to this event">
        Zoom
      </Button>
      <Button icon="tree" onClick={() => show("chain")} title="What it waited for, back to the first">
        Chain
      </Button>
    </div>
  );
  return (
    <>
      {title}
      <Asked answer={answer} what="The event">
        {(detail) =>
          shown === "event" ? (
            <DataTable
              name="Event Details"
              columns={columns}
              rows={rows}
              rowId={(one) => one.name}
              tools={tools}
              cell={(column, one) =>
                column.id === "value" ? (
                  <Value field={one} />
                ) : column.id === "field" ? (
                  <span className={one.tip ? "cell-text tip" : "cell-text"} title={one.tip || undefined}>
                    {words(one.name)}
                  </span>
                ) : undefined
              }
            />
          ) : (
            <>
              <div className="toolbar">{tools}</div>
              {shown === "calls" ? <CallStacks stacks={detail.call_stacks} /> : <Dependencies detail={detail} />}
            </>
          )
        }
      </Asked>
    </>
  );
}

/** The event with as much time again on both sides. */
function zoomToEvent() {
  const { focused, zoomTo } = useView.getState();
  if (!focused) return;
  const length = Math.max(focused.end - focused.start, 8);
  zoomTo(focused.start - length, focused.end + length, { record: true });
}
