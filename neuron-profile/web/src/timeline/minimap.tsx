// The whole profile in a strip: how busy which kind of row is, and the window that is seen, which can be dragged.

import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import { useResting } from "../state/resting";
import { useView } from "../state/view";
import { useSettings } from "../state/settings";
import { loadLanes } from "./fetch";
import { PAN_STEP, clamp, pan, span, timeAt, xOf } from "./geometry";
import type { Subject } from "./stage";
import type { LaneTile } from "./tile-data";
import { rootLevel } from "./tile-key";
import { duration } from "./ticks";
import { MapPicture, windowIn } from "./minimap-draw";

/** CSS pixels at the edges of the window that resize it. */
const EDGE = 6;

export function Overview({ subject }: { subject: Subject }) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const tile = useRef<LaneTile | null>(null);
  const drag = useRef<{ part: "move" | "from" | "to" | "new"; x: number; from: number; to: number } | null>(null);
  const theme = useSettings((one) => one.theme);

  useEffect(() => {
    const area = canvas.current;
    if (!area) return;
    const picture = new MapPicture(area, subject);
    const draw = () => picture.paint(tile.current, useView.getState());
    const stopView = useView.subscribe((view) => picture.show(view));
    const sizes = new ResizeObserver(draw);
    sizes.observe(area);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
    const stop = new AbortController();
    const level = rootLevel(subject.total);
    const put = (loaded: LaneTile) => {
      tile.current = loaded;
      draw();
    };
    const numbers = subject.lanes.map((lane) => lane.number);
    loadLanes(subject.id, numbers, { set: "", level, index: 0 }, stop.signal, put).catch(() => {
      // The timeline itself says what is wrong; the window can be dragged without a picture.
    });
    return () => {
      sizes.disconnect();
      themes.disconnect();
      stopView();
      stop.abort();
    };
  }, [subject, theme]);

  // What is focused and told stands where the window is drawn once the view rests.
  useEffect(() => {
    const follow = () => {
      const node = frame.current;
      const width = host.current?.clientWidth ?? 0;
      if (!node || width === 0) return;
      const { from, to } = useResting.getState();
      const seen = windowIn(subject.total, width, { from, to });
      node.style.left = `${seen.x}px`;
      node.style.width = `${seen.width}px`;
      node.setAttribute("aria-valuenow", String(Math.round(from)));
      node.setAttribute("aria-valuetext", `${duration(to - from)} from ${duration(from)}`);
    };
    const sizes = new ResizeObserver(follow);
    if (host.current) sizes.observe(host.current);
    const stop = useResting.subscribe(follow);
    follow();
    return () => {
      sizes.disconnect();
      stop();
    };
  }, [subject]);

  const timeOf = (event: PointerEvent<HTMLElement>): { time: number; x: number; width: number } => {
    const box = host.current!.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { time: timeAt({ from: 0, to: subject.total }, box.width, x), x, width: box.width };
  };
  const down = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0 || !host.current) return;
    event.preventDefault();
    host.current.setPointerCapture(event.pointerId);
    const view = useView.getState();
    const { x, width, time } = timeOf(event);
    const whole = { from: 0, to: subject.total };
    const [x0, x1] = [xOf(whole, width, view.from), xOf(whole, width, view.to)];
    const near = (edge: number) => Math.abs(x - edge) <= EDGE;
    const all = view.from <= 0 && view.to >= subject.total;
    const part = !all && near(x0) ? "from" : !all && near(x1) ? "to" : !all && x > x0 && x < x1 ? "move" : "new";
    drag.current = { part, x, from: part === "new" ? time : view.from, to: part === "new" ? time : view.to };
    view.mark();
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const now = drag.current;
    if (!now) return;
    const view = useView.getState();
    const { time, x, width } = timeOf(event);
    const limits = { total: subject.total, minSpan: view.minSpan };
    if (now.part === "move") {
      const moved = pan(now, ((x - now.x) / width) * subject.total, limits);
      view.zoomTo(moved.from, moved.to);
    } else if (Math.abs(x - now.x) > 3) {
      const other = now.part === "from" ? now.to : now.from;
      const seen = clamp({ from: Math.min(time, other), to: Math.max(time, other) }, limits);
      view.zoomTo(seen.from, seen.to);
    }
  };
  const up = (event: PointerEvent<HTMLElement>) => {
    const now = drag.current;
    drag.current = null;
    if (!now) return;
    const { time, x } = timeOf(event);
    const view = useView.getState();
    // A click beside the window brings it there.
    if (now.part === "new" && Math.abs(x - now.x) <= 3) {
      const half = span(view) / 2;
      const seen = clamp({ from: time - half, to: time + half }, { total: subject.total, minSpan: view.minSpan });
      view.zoomTo(seen.from, seen.to);
    }
  };
  const key = (event: KeyboardEvent<HTMLElement>) => {
    const view = useView.getState();
    const limits = { total: subject.total, minSpan: view.minSpan };
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const seen = pan(view, by * PAN_STEP * span(view), limits);
    view.zoomTo(seen.from, seen.to, { record: true });
  };
  return (
    <div ref={host} className="tl-map" onPointerDown={down} onPointerMove={move} onPointerUp={up} onDoubleClick={() => useView.getState().fit()}>
      <canvas ref={canvas} aria-hidden="true" />
      <div
        ref={frame}
        className="tl-window"
        role="slider"
        tabIndex={0}
        aria-label="Visible part of the profile"
        aria-valuenow={0}
        aria-valuemin={0}
        aria-valuemax={subject.total}
        onKeyDown={key}
      />
    </div>
  );
}
