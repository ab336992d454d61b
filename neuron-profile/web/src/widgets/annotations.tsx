// Annotations: every mark with its time and the difference to another, metrics
// of what lies between, named sets, CSV.

import { useMemo, useState } from "react";
import { getMetrics } from "../api/trees";
import { type TimeUnit, moment, quantity, time } from "../format/number";
import { Button, Check, Select } from "../parts/controls";
import { AskName, Confirm } from "../parts/dialog";
import { metricTree } from "../parts/cores";
import { Notice } from "../parts/notice";
import { useRequest } from "../parts/request";
import { type Col, DataTable } from "../parts/table";
import { type Annotation, annotationColours, comparedWith, inOrder, useAnnotations } from "../state/annotations";
import { useKept } from "../state/keep";
import { useProfile } from "../state/profile";
import { useSettings } from "../state/settings";
import { useView } from "../state/view";
import { AnnotationSets } from "./annotation-sets";

interface Line {
  id: string;
  name: string;
  /** The annotation, or a metric of what is between it and the other. */
  of: Annotation | null;
  other: Annotation | null;
  value: string;
  raw: number | null;
  below: Line[];
}

/** From the end of the earlier to the start of the later, or the one region itself. */
export function between(a: Annotation, b: Annotation | null): { from: number; to: number } {
  if (!b) return { from: a.from, to: a.to };
  const [first, last] = a.from <= b.from ? [a, b] : [b, a];
  return { from: first.from, to: Math.max(last.from, last.to) };
}

export default function Annotations() {
  const { id, profile } = useProfile();
  const { list, ticked, diff, active } = useAnnotations();
  const actions = useAnnotations.getState();
  const timeUnit = useSettings((s) => s.timeUnit);
  const snap = useSettings((s) => s.snap);
  const kept = useKept();
  const [renaming, setRenaming] = useState<Annotation | null>(null);
  const [clearing, setClearing] = useState(false);
  const order = useMemo(() => inOrder(list), [list]);

  const current = list.find((one) => one.id === active) ?? null;
  const other = current ? comparedWith(list, diff, current.id) : null;
  const range = current ? between(current, other) : null;
  const wide = range && range.to > range.from;
  const metrics = useRequest(wide ? `${id}:${range.from}-${range.to}` : null, (signal) => getMetrics(id ?? "", range ?? { from: 0, to: 1 }, signal), 150);

  const rows = useMemo(
    () =>
      order.map((one): Line => {
        const versus = comparedWith(list, diff, one.id);
        const below =
          one.id === active && metrics.data
            ? metricTree(metrics.data.metrics ?? [], timeUnit).map(function line(metric): Line {
                return { id: `${one.id}/${metric.id}`, name: metric.name, of: null, other: null, value: metric.value, raw: metric.raw, below: metric.below.map(line) };
              })
            : [];
        return { id: one.id, name: one.name, of: one, other: versus, value: "", raw: versus ? one.from - versus.from : null, below };
      }),
    [order, list, diff, active, metrics.data, timeUnit],
  );
  const columns = useMemo(
    (): Col<Line>[] => [
      { id: "tick", title: "", value: () => null, width: 34 },
      { id: "name", title: "Name", value: (line) => line.name, width: 240 },
      { id: "timestamp", title: "Timestamp", value: (line) => line.of?.from ?? null, text: (v) => (timeUnit === "auto" ? moment(v) : time(v, timeUnit)), right: true, width: 120 },
      { id: "length", title: "Length", value: (line) => (line.of && line.of.to > line.of.from ? line.of.to - line.of.from : null), text: (v) => time(v, timeUnit), right: true },
      { id: "colour", title: "Colour", value: (line) => line.of?.colour ?? null, width: 64 },
      { id: "diff_vs", title: "Diff vs", value: (line) => line.other?.name ?? null, width: 130 },
      { id: "diff", title: "Diff value", value: (line) => line.raw, text: (v, line) => (line.of ? time(v, timeUnit) : line.value), right: true, width: 130 },
    ],
    [timeUnit],
  );
  const chosen = order.filter((one) => ticked.includes(one.id));
  const zoom = () => {
    const from = Math.min(...chosen.map((one) => one.from));
    const to = Math.max(...chosen.map((one) => one.to));
    useView.getState().zoomTo(from, to, { record: true });
  };
  const create = () => {
    const { selection, from, to } = useView.getState();
    if (selection) actions.create({ from: selection.from, to: selection.to });
    else actions.create({ from: Math.round((from + to) / 2) });
  };
  const tools = (
    <>
      <Button icon="plus" onClick={create} title="At the middle of what is seen, or around the box">
        Create
      </Button>
      <Button icon="zoom" onClick={zoom} disabled={chosen.length < 2} title="Tick two to zoom to what lies between">
        Zoom
      </Button>
      <Button icon="trash" onClick={() => actions.remove(ticked)} disabled={ticked.length === 0}>
        Delete
      </Button>
      <Button onClick={() => actions.resetDiff()} disabled={Object.keys(diff).length === 0} title="Compare each with the one before it">
        Reset diff
      </Button>
      <Button onClick={() => setClearing(true)} disabled={list.length === 0}>
        Clear all
      </Button>
      <AnnotationSets />
      <Check label="Snap" checked={snap} onChange={(on) => useSettings.getState().set({ snap: on })} title="New marks and drags go to the nearest edge of an event" />
      <Select<TimeUnit> label="Unit" shown value={timeUnit} options={["auto", "ns", "us", "ms", "s"]} onChange={(one) => useSettings.getState().set({ timeUnit: one })} />
      {kept.state === "failed" && <span className="tag warn" title={kept.error ?? ""}>only in this browser</span>}
    </>
  );
  return (
    <>
      <DataTable
        name={`Annotations of ${profile?.display_name ?? ""}`}
        columns={columns}
        rows={rows}
        rowId={(line) => line.id}
        childRows={(line) => line.below}
        open={0}
        openSelected
        selected={active}
        tools={tools}
        onPick={(line) => line.of && actions.setActive(line.of.id === active ? null : line.of.id)}
        onOpen={(line) => line.of && setRenaming(line.of)}
        empty="No annotations. A right click in the timeline makes one."
        cell={(column, line) => {
          const one = line.of;
          if (!one) return column.id === "diff" ? <span className="cell-text">{line.value}</span> : column.id === "name" ? <span className="cell-text">{line.name}</span> : <span />;
          switch (column.id) {
            case "tick":
              return <Check bare label={`Tick ${one.name}`} checked={ticked.includes(one.id)} onChange={(on) => actions.tick(one.id, on)} />;
            case "name":
              return (
                <span className="cell-text" title="A double click renames it">
                  {one.name}
                </span>
              );
            case "colour":
              return <input type="color" className="swatch" aria-label={`Colour of ${one.name}`} value={one.colour.slice(0, 7)} list="annotation-colours" onClick={(event) => event.stopPropagation()} onChange={(event) => actions.recolour(one.id, event.target.value)} />;
            case "diff_vs":
              return (
                <Select
                  label={`Compare ${one.name} with`}
                  value={diff[one.id] ?? ""}
                  options={[{ value: "", text: line.other && !diff[one.id] ? `${line.other.name} (before)` : "the one before" }, ...order.filter((each) => each.id !== one.id).map((each) => ({ value: each.id, text: each.name }))]}
                  onChange={(value) => actions.setDiff(one.id, value === "" ? null : value)}
                />
              );
            case "diff":
              return line.other ? (
                <span className="diff">
                  <ZoomBox one={one} other={line.other} />
                  <span className="mono">{quantityDiff(one.from - line.other.from, timeUnit)}</span>
                </span>
              ) : (
                <span className="cell-text">–</span>
              );
            default:
              return undefined;
          }
        }}
      />
      <datalist id="annotation-colours">
        {annotationColours.map((colour) => (
          <option key={colour} value={colour} />
        ))}
      </datalist>
      {current && metrics.error !== null && <Notice kind="bad">Metrics of "{current.name}": {metrics.error}</Notice>}
      {renaming && <AskName title="Rename annotation" label="Name" action="Rename" initial={renaming.name} maxLength={200} onDone={(name) => actions.rename(renaming.id, name)} onClose={() => setRenaming(null)} />}
      {clearing && (
        <Confirm title="Clear all annotations" text={`${list.length} annotations are removed from this view. Saved sets stay. It can be undone.`} action="Clear" onDone={() => actions.remove(list.map((one) => one.id))} onClose={() => setClearing(false)} />
      )}
    </>
  );
}

const quantityDiff = (ns: number, unit: TimeUnit) => (unit === "auto" ? quantity(ns, "ns") : time(ns, unit));

/** The tick that zooms to what lies between two marks, and back. */
function ZoomBox({ one, other }: { one: Annotation; other: Annotation }) {
  const { from, to } = between(one, other);
  const on = useView((s) => Math.abs(s.from - from) < 1e-6 && Math.abs(s.to - to) < 1e-6);
  const { zoomTo, back } = useView.getState();
  return (
    <Check
      bare
      label={`Zoom to between ${one.name} and ${other.name}`}
      checked={on}
      disabled={to <= from}
      onChange={(want) => (want ? zoomTo(from, to, { record: true }) : back())}
    />
  );
}
