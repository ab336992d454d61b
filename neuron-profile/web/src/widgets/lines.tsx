// Series of one group stacked over time, as SVG.

import { useRef, useState } from "react";
import type { SeriesColumns, SeriesInfo } from "../api/series";
import { moment, quantity } from "../format/number";
import { ticks } from "../format/ticks";
import { Figure } from "../parts/chart";
import { useView } from "../state/view";

interface Line {
  info: SeriesInfo;
  values: SeriesColumns | null;
}

const SHADES = ["#5aa9e6", "#8fd3c8", "#e6c07b", "#d98fb2", "#a98ee0", "#e07a5f", "#7fb069", "#9aa5b1"];
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [760, 132, 62, 20];

/** The mean of each column, 0 where there is none; a value holds until the next one. */
export function held(values: SeriesColumns | null, columns: number): Float64Array {
  const out = new Float64Array(columns);
  if (!values) return out;
  let [next, value] = [0, 0];
  for (let at = 0; at < columns; at++) {
    if (next < values.count && values.columns[next] === at) value = values.mean[next++] ?? 0;
    out[at] = value;
  }
  return out;
}

export function StackedLines(props: { title: string; from: number; to: number; start: number; columnNs: number; lines: readonly Line[] }) {
  const { title, from, to, start, columnNs, lines } = props;
  const plot = useRef<SVGRectElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const columns = Math.max(1, Math.ceil((to - start) / columnNs));
  const values = lines.map((one) => held(one.values, columns));
  const share = lines[0]?.info.unit === "%";
  // Partitions of one buffer are each a share of it: stacked they are its mean.
  const part = share ? 1 / Math.max(1, lines.length) : 1;
  const tops: Float64Array[] = [];
  let before = new Float64Array(columns);
  for (const one of values) {
    const top = before.map((value, i) => value + (one[i] ?? 0) * part);
    tops.push(top);
    before = top;
  }
  const max = Math.max(share ? 0.01 : 1, ...before) * 1.08;
  const x = (column: number) => LEFT + ((start + column * columnNs - from) / (to - from)) * (WIDTH - LEFT);
  const y = (value: number) => (HEIGHT - BOTTOM) * (1 - value / max) + 4;
  const step = (top: Float64Array, reverse: boolean) => {
    const points: string[] = [];
    for (let i = 0; i < columns; i++) points.push(`${x(i).toFixed(1)} ${y(top[i] ?? 0).toFixed(1)}`, `${x(i + 1).toFixed(1)} ${y(top[i] ?? 0).toFixed(1)}`);
    return (reverse ? points.reverse() : points).join("L");
  };
  const column = at === null ? null : Math.min(columns - 1, Math.max(0, Math.floor((at - start) / columnNs)));
  const unit = lines[0]?.info.unit ?? "";
  return (
    <Figure
      title={title}
      label={`${title} over time, ${lines.length} parts stacked`}
      width={WIDTH}
      height={HEIGHT}
      legend={lines.map((one, i) => [`${one.info.name.replace(/ \(nc\d+\)$/, "")}${column === null ? "" : ` ${quantity(values[i]?.[column] ?? 0, unit)}`}`, SHADES[i % SHADES.length] ?? "gray"] as const)}
      tools={<span className="dim mono">{column === null ? "" : `${moment(start + column * columnNs)}: ${quantity(before[column] ?? 0, unit)}`}</span>}
    >
      {ticks(0, max, 3).map((value) => (
        <g key={value}>
          <line x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} stroke="var(--line)" />
          <text x={LEFT - 6} y={y(value) + 4} textAnchor="end" fill="var(--dim)">{quantity(value, unit)}</text>
        </g>
      ))}
      {ticks(from, to, 6).map((value) => (
        <text key={value} x={LEFT + ((value - from) / (to - from)) * (WIDTH - LEFT)} y={HEIGHT - 4} textAnchor="middle" fill="var(--dim)">
          {Math.round(value).toLocaleString("en-US")}
        </text>
      ))}
      {tops.map((top, i) => {
        const below = tops[i - 1] ?? new Float64Array(columns);
        return <path key={lines[i]?.info.id} d={`M${step(top, false)}L${step(below, true)}Z`} fill={SHADES[i % SHADES.length]} fillOpacity={0.85} />;
      })}
      {at !== null && <line x1={LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT)} x2={LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT)} y1={0} y2={HEIGHT - BOTTOM} stroke="var(--text)" strokeDasharray="2 2" />}
      <rect
        ref={plot}
        x={LEFT}
        y={0}
        width={WIDTH - LEFT}
        height={HEIGHT - BOTTOM}
        fill="transparent"
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setAt(from + ((event.clientX - box.left) / box.width) * (to - from));
        }}
        onPointerLeave={() => setAt(null)}
        onDoubleClick={() => useView.getState().fit()}
      />
    </Figure>
  );
}
