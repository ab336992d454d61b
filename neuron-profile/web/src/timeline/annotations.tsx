// Annotations on the plot: lines that are dragged (with snapping), regions with two edges, names that are changed in
// place. Their places are set after each frame; the list is in ../state/annotations.

import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { type Annotation, useAnnotations } from "../state/annotations";
import { annotated } from "./actions";
import { xOf } from "./geometry";
import type { Stage } from "./stage";

/** Handles on the screen at most: a thousand regions of a highlighter are seen as bands, not as handles. */
const MOST = 120;

type Part = "from" | "to" | "both";

function Name({ one, editing, onDone }: { one: Annotation; editing: boolean; onDone(): void }) {
  const { rename } = useAnnotations.getState();
  const done = (name: string | null) => {
    onDone();
    if (name !== null && name.trim() !== "" && name !== one.name) rename(one.id, name.trim());
  };
  const key = (event: KeyboardEvent<HTMLInputElement>) => {
    event.stopPropagation();
    if (event.key === "Enter") done(event.currentTarget.value);
    if (event.key === "Escape") done(null);
  };
  if (editing) {
    return (
      <input
        className="tl-rename"
        aria-label={`name of annotation ${one.name}`}
        defaultValue={one.name}
        maxLength={200}
        // biome-ignore lint/a11y/noAutofocus: it was opened by a double click on the name
        autoFocus
        onKeyDown={key}
        onBlur={(event) => done(event.currentTarget.value)}
        onPointerDown={(event) => event.stopPropagation()}
      />
    );
  }
  return <span className="tl-mark-name">{one.name}</span>;
}

function Mark({ stage, one }: { stage: Stage; one: Annotation }) {
  const begin = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  // While it is dragged, before it is one step of the undo.
  const [held, setHeld] = useState<{ from: number; to: number } | null>(null);
  const drag = useRef<{ part: Part; x: number; moved: boolean } | null>(null);
  const active = useAnnotations((all) => all.active === one.id);
  const [editing, setEditing] = useState(false);
  const { from, to } = held ?? one;
  const region = one.to > one.from;

  useEffect(
    () =>
      stage.watch((frame) => {
        const width = frame.width / frame.scale;
        const put = (node: HTMLDivElement | null, time: number) => {
          if (!node) return;
          const x = xOf(frame.window, width, time);
          node.hidden = x < -1 || x > width;
          node.style.transform = `translateX(${Math.round(x)}px)`;
        };
        put(begin.current, from);
        put(end.current, to);
      }),
    [stage, from, to],
  );

  const down = (part: Part) => (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    useAnnotations.getState().setActive(one.id);
    drag.current = { part, x: event.clientX, moved: false };
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const now = drag.current;
    if (!now) return;
    event.stopPropagation();
    now.moved ||= Math.abs(event.clientX - now.x) > 2;
    const host = event.currentTarget.closest(".tl-plot");
    if (!now.moved || !host) return;
    const time = annotated(stage, event.clientX - host.getBoundingClientRect().left);
    setHeld(now.part === "both" ? { from: time, to: time } : { from, to, [now.part]: time });
  };
  const up = (event: PointerEvent<HTMLElement>) => {
    const now = drag.current;
    drag.current = null;
    if (!now) return;
    event.stopPropagation();
    if (now.moved && held) useAnnotations.getState().move(one.id, held.from, held.to);
    setHeld(null);
  };
  const key = (event: KeyboardEvent<HTMLElement>) => {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    const { move: put, remove } = useAnnotations.getState();
    if (event.target !== event.currentTarget) return;
    if (event.key === "Delete" || event.key === "Backspace") remove([one.id]);
    else if (event.key === "F2" || event.key === "Enter") setEditing(true);
    else if (by !== 0) {
      const { window } = stage;
      const away = by * Math.max(1, Math.round((window.to - window.from) / 400));
      put(one.id, Math.max(one.from + away, 0), Math.max(one.to + away, 0));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const line = (part: Part, node: typeof begin, name: boolean) => (
    <div ref={node} className={`tl-mark${active ? " active" : ""}`} style={{ color: one.colour }}>
      <div
        className="tl-handle"
        role="slider"
        tabIndex={0}
        aria-label={`annotation ${one.name}${region ? (part === "from" ? ", begin" : ", end") : ""}`}
        aria-valuenow={part === "to" ? to : from}
        aria-valuemin={0}
        aria-valuemax={stage.subject.total}
        data-annotation={one.id}
        data-part={part}
        onPointerDown={down(part)}
        onPointerMove={move}
        onPointerUp={up}
        onKeyDown={key}
        onDoubleClick={(event) => {
          event.stopPropagation();
          setEditing(true);
        }}
      >
        {name && <Name one={one} editing={editing} onDone={() => setEditing(false)} />}
      </div>
    </div>
  );
  if (!region) return line("both", begin, true);
  return (
    <>
      {line("from", begin, true)}
      {line("to", end, false)}
    </>
  );
}

export function Annotations({ stage }: { stage: Stage }) {
  const list = useAnnotations((all) => all.list);
  return (
    <div className="tl-annotations">
      {list.slice(-MOST).map((one) => (
        <Mark key={one.id} stage={stage} one={one} />
      ))}
    </div>
  );
}
