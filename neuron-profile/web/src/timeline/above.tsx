// What moves above the canvases without a redraw of them: crosshair, hovered event, bands of drags, selection, ruler.
// Places are set directly after each frame; React only says what there is.

import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { useSettings } from "../state/settings";
import { useView } from "../state/view";
import { type Ruler, dragStore } from "./drags";
import { xOf } from "./geometry";
import type { Frame } from "./scene/frame";
import { padding } from "./scene/frame";
import type { Stage } from "./stage";
import { commas, duration } from "./ticks";
import { timeAt } from "./geometry";

const px = (value: number) => `${Math.round(value)}px`;

function put(node: HTMLElement | null, x: number, y: number, width: number, height: number): void {
  if (!node) return;
  node.style.transform = `translate(${px(x)}, ${px(y)})`;
  node.style.width = px(Math.max(width, 1));
  node.style.height = px(Math.max(height, 1));
}

/** From x to x, cut at the edges of the plot. */
function putTimes(node: HTMLElement | null, frame: Frame, from: number, to: number, y: number, height: number): void {
  const width = frame.width / frame.scale;
  const x0 = Math.min(Math.max(xOf(frame.window, width, from), -2), width);
  const x1 = Math.min(Math.max(xOf(frame.window, width, to), -2), width + 2);
  put(node, x0, y, x1 - x0, height);
}

function Crosshair({ stage }: { stage: Stage }) {
  const line = useRef<HTMLDivElement>(null);
  const shown = useSettings((one) => one.crosshair);
  useEffect(() => {
    const follow = () => {
      const node = line.current;
      if (!node) return;
      const { pointer } = stage;
      // Setting what is set already makes the browser look at styles anew, with every frame of a pan.
      if (node.hidden !== (pointer === null)) node.hidden = pointer === null;
      if (!pointer) return;
      node.style.transform = `translateX(${px(pointer.x)})`;
      const time = timeAt(stage.window, stage.ui.getState().width, pointer.x);
      const label = node.firstElementChild;
      if (label) label.textContent = `${commas(time)} ns`;
      node.classList.toggle("left", pointer.x > stage.ui.getState().width - 130);
    };
    const stopView = useView.subscribe(follow);
    const host = line.current?.parentElement;
    host?.addEventListener("pointermove", follow);
    host?.addEventListener("pointerleave", follow);
    follow();
    return () => {
      stopView();
      host?.removeEventListener("pointermove", follow);
      host?.removeEventListener("pointerleave", follow);
    };
  }, [stage, shown]);
  if (!shown) return null;
  return (
    <div ref={line} className="tl-crosshair" hidden aria-hidden="true">
      <span />
    </div>
  );
}

function Hovered({ stage }: { stage: Stage }) {
  const node = useRef<HTMLDivElement>(null);
  const hover = useStore(stage.ui, (ui) => ui.hover);
  const found = hover?.hit.what === "event" || hover?.hit.what === "column" ? hover.hit : null;
  useEffect(() => {
    if (!found) return;
    return stage.watch((frame) => {
      const row = frame.rows.find((one) => one.row.key === found.row.row.key);
      if (!row) return;
      const pad = padding(row.row.height);
      const high = row.row.height - 2 * pad;
      if (found.what === "event") {
        const y = row.top + pad + (found.sub * high) / found.of;
        putTimes(node.current, frame, found.start, found.end, y - 1, high / found.of + 2);
      } else putTimes(node.current, frame, found.from, found.to, row.top + pad - 1, high + 2);
    });
  }, [stage, found]);
  return found ? <div ref={node} className="tl-hovered" aria-hidden="true" /> : null;
}

function Selection({ stage }: { stage: Stage }) {
  const node = useRef<HTMLDivElement>(null);
  const selection = useView((view) => view.selection);
  useEffect(() => {
    if (!selection) return;
    return stage.watch((frame) => {
      const rows = frame.rows.filter((row) => row.row.lanes.some((lane) => selection.lanes.includes(lane)));
      const all = selection.lanes.length === 0;
      const top = all ? 0 : Math.min(...rows.map((row) => row.top));
      const bottom = all ? frame.height / frame.scale : Math.max(...rows.map((row) => row.top + row.row.height));
      if (node.current) node.current.hidden = !all && rows.length === 0;
      if (Number.isFinite(top) && Number.isFinite(bottom)) putTimes(node.current, frame, selection.from, selection.to, top, bottom - top);
    });
  }, [stage, selection]);
  return selection ? <div ref={node} className="tl-selection" aria-hidden="true" /> : null;
}

function Measure({ stage, ruler }: { stage: Stage; ruler: Ruler }) {
  const node = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      stage.watch((frame) => {
        const [from, to] = ruler.from < ruler.to ? [ruler.from, ruler.to] : [ruler.to, ruler.from];
        putTimes(node.current, frame, from, to, 0, frame.height / frame.scale);
      }),
    [stage, ruler],
  );
  const length = Math.abs(ruler.to - ruler.from);
  return (
    <div ref={node} className="tl-ruler" role="note" aria-label={`ruler: ${duration(length)}`}>
      <span>
        {duration(length)} ({commas(length)} ns)
      </span>
    </div>
  );
}

export function Above({ stage }: { stage: Stage }) {
  const { band, ruler } = useStore(dragStore(stage));
  const { width } = stage.ui.getState();
  const [x0, x1] = band ? [Math.min(band.from.x, band.to.x), Math.max(band.from.x, band.to.x)] : [0, 0];
  const box = band?.kind === "box";
  const [y0, y1] = band && box ? [Math.min(band.from.y, band.to.y), Math.max(band.from.y, band.to.y)] : [0, 0];
  const length = band ? timeAt(stage.window, width, x1) - timeAt(stage.window, width, x0) : 0;
  return (
    <>
      <Crosshair stage={stage} />
      <Hovered stage={stage} />
      <Selection stage={stage} />
      {ruler && <Measure stage={stage} ruler={ruler} />}
      {band && (
        <div
          className={`tl-band ${band.kind}`}
          aria-hidden="true"
          style={{ left: x0, width: x1 - x0, top: box ? y0 : 0, height: box ? y1 - y0 : "100%" }}
        >
          <span>{duration(length)}</span>
        </div>
      )}
    </>
  );
}
