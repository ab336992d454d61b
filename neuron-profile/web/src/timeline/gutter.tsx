// Labels of the rows: hide, pin, move (drag up or down), make higher (drag the lower edge). All by keys too.

import { type KeyboardEvent, type PointerEvent, memo, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { useSettings } from "../state/settings";
import { useUndo } from "../state/undo";
import { seenFree, visible } from "./layout";
import { LEAST_HEIGHT, MOST_HEIGHT, type Row, moved } from "./rows";
import type { Stage } from "./stage";

/** Changes settings as a step that can be undone. */
export function change(label: string, next: Partial<ReturnType<typeof useSettings.getState>>): void {
  const now = useSettings.getState();
  const before = Object.fromEntries(Object.keys(next).map((key) => [key, now[key as keyof typeof now]]));
  now.set(next);
  useUndo.getState().push({ label, undo: () => useSettings.getState().set(before), redo: () => useSettings.getState().set(next) });
}

export function hide(key: string): void {
  change("hide row", { hiddenRows: [...useSettings.getState().hiddenRows, key] });
}

function pin(row: Row): void {
  const others = useSettings.getState().pinnedRows.filter((key) => key !== row.key);
  change(row.pinned ? "unpin row" : "pin row", { pinnedRows: row.pinned ? others : [...others, row.key] });
}

function reorder(rows: readonly Row[], key: string, before: string | null): void {
  change("move row", { rowOrder: moved(rows, key, before) });
}

interface LabelProps {
  row: Row;
  top: number;
  over: boolean;
  /** The one of all labels that Tab reaches; arrows reach the others. */
  first: boolean;
  onDrag(key: string, y: number, done: boolean): void;
  onStep(row: Row, by: number): void;
  /** To the label above or below. */
  onWalk(from: HTMLElement, by: number): void;
}

const Label = memo(function Label({ row, top, over, first, onDrag, onStep, onWalk }: LabelProps) {
  const drag = useRef<{ y: number; height: number; kind: "move" | "size" } | null>(null);
  const down = (kind: "move" | "size") => (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0 || (event.target as Element).closest("button")) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { y: event.clientY, height: row.height, kind };
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const from = drag.current;
    if (!from) return;
    const away = event.clientY - from.y;
    if (from.kind === "move") {
      if (Math.abs(away) > 4) onDrag(row.key, event.clientY, false);
      return;
    }
    const height = Math.min(Math.max(Math.round(from.height + away), LEAST_HEIGHT), MOST_HEIGHT);
    const { rowHeights, set } = useSettings.getState();
    set({ rowHeights: { ...rowHeights, [row.key]: height } });
  };
  const up = (event: PointerEvent<HTMLElement>) => {
    const from = drag.current;
    drag.current = null;
    if (from?.kind === "move" && Math.abs(event.clientY - from.y) > 4) onDrag(row.key, event.clientY, true);
  };
  const key = (event: KeyboardEvent<HTMLElement>) => {
    if (event.target !== event.currentTarget) return;
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (by !== 0 && event.altKey) onStep(row, by);
    else if (by !== 0) onWalk(event.currentTarget, by);
    else if (event.key === "Delete") hide(row.key);
    else if (event.key === "p") pin(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const folded = row.kind === "lanes";
  const unfold = () => useSettings.getState().set({ expandedDma: true });
  return (
    <div
      className={`tl-label${over ? " over" : ""}${row.pinned ? " pinned" : ""}${row.heading ? " heading" : ""}`}
      style={{ top, height: row.height }}
      data-row={row.key}
      role="listitem"
      tabIndex={first ? 0 : -1}
      title={row.series[0]?.description || row.label}
      onKeyDown={key}
      onPointerDown={down("move")}
      onPointerMove={move}
      onPointerUp={up}
    >
      <span className="tl-tools">
        {folded && (
          <button type="button" aria-label={`show the rows of ${row.label}`} title="Show each DMA engine" onClick={unfold}>
            ▸
          </button>
        )}
        <button type="button" aria-label={`${row.pinned ? "unpin" : "pin"} ${row.label}`} aria-pressed={row.pinned} title={row.pinned ? "Unpin" : "Pin to the top"} onClick={() => pin(row)}>
          ⌖
        </button>
        <button type="button" aria-label={`hide ${row.label}`} title="Hide" onClick={() => hide(row.key)}>
          ×
        </button>
      </span>
      <span className="tl-name">{row.label}</span>
      <span className="tl-edge" onPointerDown={down("size")} onPointerMove={move} onPointerUp={up} />
    </div>
  );
});

export function Gutter({ stage }: { stage: Stage }) {
  const rows = useStore(stage.ui, (ui) => ui.rows);
  const layout = useStore(stage.ui, (ui) => ui.layout);
  const scroll = useStore(stage.ui, (ui) => ui.scroll);
  const height = useStore(stage.ui, (ui) => ui.height);
  const host = useRef<HTMLDivElement>(null);
  const [target, setTarget] = useState<string | null>(null);
  const seen = useMemo(() => visible(layout, height, scroll), [layout, height, scroll]);

  const under = (clientY: number): string | null => {
    const box = host.current?.getBoundingClientRect();
    if (!box) return null;
    const y = clientY - box.top;
    return seen.find((one) => y >= one.top && y < one.top + one.row.height)?.row.key ?? null;
  };
  const dragged = (key: string, clientY: number, done: boolean) => {
    const before = under(clientY);
    setTarget(done ? null : before);
    if (done && before !== key) reorder(rows, key, before);
  };
  const step = (row: Row, by: number) => {
    const at = rows.findIndex((one) => one.key === row.key);
    const next = rows[by < 0 ? at - 1 : at + 2];
    if (by < 0 ? at > 0 : at < rows.length - 1) reorder(rows, row.key, next?.key ?? null);
  };
  const walk = (from: HTMLElement, by: number) => {
    const all = [...(host.current?.querySelectorAll<HTMLElement>(".tl-label") ?? [])].sort((a, b) => a.offsetTop - b.offsetTop);
    const next = all[all.indexOf(from) + by];
    if (next) next.focus();
    else stage.scrollBy(by * 24);
  };
  // What a label calls stays the same, and so does its place in what scrolls: a label that moves with all others is not
  // made anew.
  const latest = useRef({ dragged, step, walk });
  latest.current = { dragged, step, walk };
  const [calls] = useState(() => ({
    onDrag: (key: string, y: number, done: boolean) => latest.current.dragged(key, y, done),
    onStep: (row: Row, by: number) => latest.current.step(row, by),
    onWalk: (from: HTMLElement, by: number) => latest.current.walk(from, by),
  }));
  const first = seen[0]?.row.key;
  const label = ({ row, top }: { row: Row; top: number }) => (
    <Label key={row.key} row={row} top={top} over={target === row.key} first={row.key === first} {...calls} />
  );
  return (
    <div ref={host} className="tl-gutter" role="list" aria-label="Rows of the timeline">
      <div className="tl-free" style={{ transform: `translateY(${-scroll}px)` }}>
        {seenFree(layout, height, scroll).map(label)}
      </div>
      {layout.pinnedHeight > 0 && (
        <div className="tl-pinned" style={{ height: layout.pinnedHeight }}>
          {seen.filter((one) => one.pinned).map(label)}
        </div>
      )}
    </div>
  );
}
