// Rows of named bars over an axis, on a canvas: layers over time, flames, host
// events. Zoomed by drag, wheel and W/S, panned by A/D and shift-wheel, walked by
// arrows; what is under the pointer is told in a box, what has the focus to
// screen readers.

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { download } from "../format/download";
import { ticks } from "../format/ticks";
import { short } from "../format/words";
import { drawBars } from "./bars-draw";
import { IconButton } from "./controls";
import { useSize } from "./size";

export interface Bar {
  from: number;
  to: number;
  name: string;
  colour: string;
  /** A frame around it. */
  marked?: boolean;
  /** Whatever the widget knows it by. */
  key: string;
}

/** A value that holds from each time on until the next one. */
export interface StepLine {
  name: string;
  colour: string;
  times: readonly number[];
  values: readonly number[];
}

export interface BarRow {
  label: string;
  /** Sorted by `from`; those of one row do not overlap. */
  bars: readonly Bar[];
  /** A row of lines instead of bars, twice as high: from 0 to `max`. */
  lines?: { of: readonly StepLine[]; max: number; show: (value: number) => string };
}

/** The value of a line at a time; null before the first one. */
export function valueAt(line: StepLine, time: number): number | null {
  let [low, high] = [0, line.times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.times[middle]! > time) high = middle;
    else low = middle + 1;
  }
  return low === 0 ? null : line.values[low - 1]!;
}

/** Tops of rows, and the bottom of the last. */
export function topsOf(rows: readonly BarRow[], height: number): number[] {
  const tops = [0];
  for (const row of rows) tops.push(tops[tops.length - 1]! + (row.lines ? 2 * height : height));
  return tops;
}

interface Props {
  label: string;
  rows: readonly BarRow[];
  from: number;
  to: number;
  axis: (value: number) => string;
  tell: (bar: Bar) => ReactNode;
  /** More about a row of lines at a time. */
  tellLine?: (row: BarRow, time: number) => ReactNode;
  onZoom?: (from: number, to: number, record: boolean) => void;
  onPick?: (bar: Bar) => void;
  onMenu?: (bar: Bar) => void;
  onHover?: (bar: Bar | null) => void;
  gutter?: number;
  rowHeight?: number;
}

const AXIS = 22;

/** Saves what is drawn. */
function savePicture(canvas: HTMLCanvasElement | null, name: string) {
  canvas?.toBlob((blob) => blob && download(`${name}.png`, blob, "image/png"), "image/png");
}

/** The values of a row of lines at a time. */
function LineBox({ row, time, axis, more }: { row: BarRow; time: number; axis: (value: number) => string; more: Props["tellLine"] }) {
  return (
    <>
      <dl>
        <div>
          <dt>time</dt>
          <dd>{axis(time)}</dd>
        </div>
        {row.lines?.of.map((line) => {
          const value = valueAt(line, time);
          return (
            <div key={line.name}>
              <dt>{line.name}</dt>
              <dd>{value === null ? "–" : row.lines?.show(value)}</dd>
            </div>
          );
        })}
      </dl>
      {more?.(row, time)}
    </>
  );
}

export function Bars(props: Props) {
  const { rows, from, to, onZoom } = props;
  const gutter = props.gutter ?? 110;
  const height = props.rowHeight ?? 22;
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(holder);
  const [hover, setHover] = useState<{ bar: Bar | null; row: BarRow | null; time: number; x: number; y: number } | null>(null);
  const [drag, setDrag] = useState<{ start: number; now: number } | null>(null);
  const [at, setAt] = useState<{ row: number; bar: number } | null>(null);
  const plot = Math.max(1, size.width - gutter);
  const marks = useMemo(() => ticks(from, to, Math.max(2, plot / 110)), [from, to, plot]);
  const tops = useMemo(() => topsOf(rows, height), [rows, height]);
  const total = Math.max(tops[tops.length - 1]! + AXIS, size.height);
  const held = at ? rows[at.row]?.bars[at.bar] : undefined;

  useEffect(() => {
    const element = canvas.current;
    if (!element || size.width === 0) return;
    const frame = requestAnimationFrame(() =>
      drawBars(element, { rows, tops, from, to, gutter, height, width: size.width, total, marks, axis: props.axis, hover: hover?.bar ?? null, held: held ?? null, drag }),
    );
    return () => cancelAnimationFrame(frame);
  });

  const timeAt = (x: number) => from + ((x - gutter) / plot) * (to - from);
  const rowAt = (y: number) => tops.findIndex((top, i) => y >= top && y < (tops[i + 1] ?? 0));
  const barAt = (event: PointerEvent): { bar: Bar; row: number; index: number } | null => {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = rowAt(y);
    const bars = rows[row]?.bars;
    if (!bars || x < gutter) return null;
    const slack = (2 / plot) * (to - from);
    const time = timeAt(x);
    if (rows[row]?.lines) return null;
    const index = bars.findIndex((bar) => bar.from - slack <= time && time <= bar.to + slack);
    const bar = bars[index];
    return bar ? { bar, row, index } : null;
  };
  const place = (event: PointerEvent) => event.clientX - event.currentTarget.getBoundingClientRect().left;
  const zoomBy = (factor: number, middle: number) => onZoom?.(middle - (middle - from) * factor, middle + (to - middle) * factor, false);
  const pan = (part: number) => onZoom?.(from + (to - from) * part, to + (to - from) * part, false);
  const walk = (step: number) => {
    const now = at ?? { row: 0, bar: -step };
    const count = rows[now.row]?.bars.length ?? 0;
    setAt({ row: now.row, bar: Math.max(0, Math.min(count - 1, now.bar + step)) });
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = held ? (held.from + held.to) / 2 : (from + to) / 2;
    const steps: Record<string, () => void> = {
      w: () => zoomBy(0.7, middle),
      s: () => zoomBy(1 / 0.7, middle),
      a: () => pan(-0.15),
      d: () => pan(0.15),
      ArrowRight: () => walk(1),
      ArrowLeft: () => walk(-1),
      ArrowDown: () => setAt({ row: Math.min(rows.length - 1, (at?.row ?? -1) + 1), bar: 0 }),
      ArrowUp: () => setAt({ row: Math.max(0, (at?.row ?? 1) - 1), bar: 0 }),
      Enter: () => held && props.onPick?.(held),
      Escape: () => setAt(null),
    };
    const step = steps[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    step();
  };

  // React's wheel listeners cannot stop the page from scrolling.
  const wheel = useRef<(event: WheelEvent) => void>(() => {});
  wheel.current = (event) => {
    if (!onZoom || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.shiftKey) return pan((event.deltaY + event.deltaX) / 1000);
    const box = canvas.current?.getBoundingClientRect();
    zoomBy(1.0015 ** event.deltaY, timeAt(event.clientX - (box?.left ?? 0)));
  };
  useEffect(() => {
    const element = canvas.current;
    const heard = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener("wheel", heard, { passive: false });
    return () => element?.removeEventListener("wheel", heard);
  }, []);

  return (
    <div className="bars" ref={holder}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`${props.label}. Arrows walk, Enter chooses, W and S zoom, A and D pan.`}
        style={{ height: total }}
        onKeyDown={keys}
        onPointerDown={(event) => {
          if (event.button !== 0 || place(event) < gutter) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ start: place(event), now: place(event) });
        }}
        onPointerMove={(event) => {
          if (drag) return setDrag({ ...drag, now: place(event) });
          const found = barAt(event);
          const box = event.currentTarget.getBoundingClientRect();
          const [x, y] = [event.clientX - box.left, event.clientY - box.top];
          const row = rows[rowAt(y)];
          const lines = row?.lines && x >= gutter ? row : null;
          setHover(found || lines ? { bar: found?.bar ?? null, row: lines, time: timeAt(x), x, y } : null);
          if ((found?.bar ?? null) !== (hover?.bar ?? null)) props.onHover?.(found?.bar ?? null);
        }}
        onPointerUp={(event) => {
          if (!drag) return;
          setDrag(null);
          const [a, b] = [Math.min(drag.start, drag.now), Math.max(drag.start, drag.now)];
          if (b - a > 4) return onZoom?.(timeAt(Math.max(a, gutter)), timeAt(b), true);
          const found = barAt(event);
          if (!found) return;
          setAt({ row: found.row, bar: found.index });
          props.onPick?.(found.bar);
        }}
        onPointerLeave={() => {
          setHover(null);
          props.onHover?.(null);
        }}
        onContextMenu={(event) => {
          if (!props.onMenu) return;
          event.preventDefault();
          if (hover?.bar) props.onMenu(hover.bar);
        }}
      />
      {hover && !drag && (
        <div className="hover-box" style={{ left: Math.min(hover.x + 12, Math.max(0, size.width - 320)), top: hover.y + 16, borderColor: hover.bar?.colour ?? hover.row?.lines?.of[0]?.colour ?? "" }}>
          {hover.bar ? props.tell(hover.bar) : hover.row && <LineBox row={hover.row} time={hover.time} axis={props.axis} more={props.tellLine} />}
        </div>
      )}
      <div className="bars-tools">
        <IconButton icon="download" label={`Save ${props.label.toLowerCase()} as PNG`} onClick={() => savePicture(canvas.current, props.label)} />
      </div>
      <div className="only-read" aria-live="polite">
        {held ? `${rows[at?.row ?? 0]?.label ?? ""}: ${short(held.name, 200)}, ${props.axis(held.from)} to ${props.axis(held.to)}` : ""}
      </div>
    </div>
  );
}
