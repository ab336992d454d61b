// Small charts as SVG: stacked columns, a doughnut, points. Colours are the
// theme's variables, so a saved file has the theme of the page.

import { type ReactNode, useRef } from "react";
import { savePng, saveSvg } from "../format/svg";
import { ticks } from "../format/ticks";
import { toast } from "../state/goto";
import { MenuItem, Pop } from "./menu";

/** A chart with a title, a tip, and its files. */
export function Figure(props: { title: string; tip?: string; width: number; height: number; label: string; children: ReactNode; tools?: ReactNode; legend?: readonly (readonly [string, string])[] }) {
  const drawing = useRef<SVGSVGElement>(null);
  const save = (how: (name: string, element: SVGSVGElement) => unknown) => {
    if (drawing.current) Promise.resolve(how(props.title, drawing.current)).catch((error: unknown) => toast(String(error), true));
  };
  return (
    <figure className="card figure">
      <figcaption>
        <h3 className={props.tip ? "tip" : undefined} title={props.tip}>
          {props.title}
        </h3>
        <span className="spring" />
        {props.tools}
        <Pop label={`Save ${props.title}`} icon="download">
          {(close) => (
            <>
              <MenuItem onClick={() => (close(), save(saveSvg))}>SVG</MenuItem>
              <MenuItem onClick={() => (close(), save(savePng))}>PNG</MenuItem>
            </>
          )}
        </Pop>
      </figcaption>
      <svg ref={drawing} viewBox={`0 0 ${props.width} ${props.height}`} role="img" aria-label={props.label} fontSize={11}>
        {props.children}
      </svg>
      {props.legend && (
        <ul className="legend">
          {props.legend.map(([text, colour]) => (
            <li key={text}>
              <span className="swatch" style={{ background: colour }} />
              {text}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

export interface Part {
  name: string;
  value: number;
  colour: string;
}

/** Columns of parts; `show` says a value. */
export function Columns(props: { columns: readonly { name: string; parts: readonly Part[] }[]; max: number; width: number; height: number; show: (value: number) => string }) {
  const { columns, max, width, height, show } = props;
  const [left, top, bottom] = [44, 8, 22];
  const plot = height - top - bottom;
  const y = (value: number) => top + plot * (1 - value / max);
  const step = (width - left) / Math.max(1, columns.length);
  const wide = Math.min(64, step * 0.72);
  const every = Math.ceil(columns.length / Math.max(1, Math.floor((width - left) / 34)));
  return (
    <>
      {ticks(0, max, 5).map((value) => (
        <g key={value}>
          <line x1={left} x2={width} y1={y(value)} y2={y(value)} stroke="var(--line)" />
          <text x={left - 6} y={y(value) + 4} textAnchor="end" fill="var(--dim)">
            {show(value)}
          </text>
        </g>
      ))}
      {columns.map((column, i) => {
        const middle = left + step * (i + 0.5);
        let sum = 0;
        return (
          <g key={column.name}>
            {column.parts.map((part) => {
              const value = Math.max(0, Math.min(part.value, max - sum));
              sum += value;
              return (
                <rect key={part.name} x={middle - wide / 2} y={y(sum)} width={wide} height={Math.max(0, (plot * value) / max)} fill={part.colour}>
                  <title>{`${column.name}, ${part.name}: ${show(part.value)}`}</title>
                </rect>
              );
            })}
            {i % every === 0 && (
              <text x={middle} y={height - 6} textAnchor="middle" fill="var(--text)">
                {column.name}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** A ring of parts around a middle. */
export function Doughnut({ parts, width, height, show, middle }: { parts: readonly Part[]; width: number; height: number; show: (value: number) => string; middle: string }) {
  const total = parts.reduce((sum, part) => sum + Math.max(0, part.value), 0) || 1;
  const radius = height / 2 - 10;
  const ring = 2 * Math.PI * radius * 0.78;
  let before = 0;
  return (
    <g transform={`translate(${width / 2} ${height / 2}) rotate(-90)`}>
      {parts.map((part) => {
        const share = Math.max(0, part.value) / total;
        const start = before;
        before += share;
        return (
          <circle key={part.name} r={radius * 0.78} fill="none" stroke={part.colour} strokeWidth={radius * 0.4} strokeDasharray={`${share * ring} ${ring}`} strokeDashoffset={-start * ring}>
            <title>{`${part.name}: ${show(part.value)}`}</title>
          </circle>
        );
      })}
      <text transform="rotate(90)" textAnchor="middle" dominantBaseline="middle" fill="var(--text)" fontSize={17} fontWeight={600}>
        {middle}
      </text>
    </g>
  );
}
