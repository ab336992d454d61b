// A pie: the largest slice first, from the bottom on and clockwise.

import { short } from "../format/words";

/** Ten colours that are told apart, in the order of slices. */
export const COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"];

/** Slices with a colour of their own; the rest is one. */
const MOST = 9;

export interface Slice {
  name: string;
  value: number;
}

export interface Drawn extends Slice {
  /** Of the circle, from 0 at the bottom, clockwise. */
  from: number;
  to: number;
  colour: string;
}

/** A share with one decimal at most. */
export const shareText = (share: number): string => `${Number((share * 100).toFixed(1))}%`;

/** Slices by size, small ones joined. */
export function drawn(slices: readonly Slice[]): Drawn[] {
  const sorted = slices.filter((one) => one.value > 0).sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
  const rest = sorted.slice(MOST);
  const others = rest.reduce((sum, one) => sum + one.value, 0);
  const shown = rest.length > 1 ? [...sorted.slice(0, MOST), { name: `${rest.length} others`, value: others }] : sorted;
  const total = shown.reduce((sum, one) => sum + one.value, 0);
  let from = 0;
  return shown.map((one, i) => {
    const to = i === shown.length - 1 ? 1 : from + one.value / total;
    const made = { ...one, from, to, colour: COLOURS[i % COLOURS.length]! };
    from = to;
    return made;
  });
}

/** A point of the circle: 0 is the bottom, and it goes clockwise. */
function point(at: number, radius: number): [number, number] {
  const angle = at * 2 * Math.PI;
  return [-Math.sin(angle) * radius, Math.cos(angle) * radius];
}

function path({ from, to }: Drawn, radius: number): string {
  if (to - from >= 1) return `M0 ${radius} A${radius} ${radius} 0 1 1 0 ${-radius} A${radius} ${radius} 0 1 1 0 ${radius} Z`;
  const [x0, y0] = point(from, radius);
  const [x1, y1] = point(to, radius);
  return `M0 0 L${x0} ${y0} A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${x1} ${y1} Z`;
}

/** Where labels are, and what a letter of them takes. */
const LABEL = { radius: 70, height: 9, letter: 5.4 };

/** Whether the label of a slice lies within it: how broad that has to be depends on how the slice lies. */
export function labelled({ from, to }: Pick<Drawn, "from" | "to">): boolean {
  if (to - from >= 1) return true;
  const width = shareText(to - from).length * LABEL.letter;
  const angle = (from + to) * Math.PI;
  const needed = width * Math.abs(Math.cos(angle)) + LABEL.height * Math.abs(Math.sin(angle));
  return (to - from) * 2 * Math.PI * LABEL.radius >= needed;
}

export function Pie({ title, slices, unit, picked, onPick }: { title: string; slices: readonly Slice[]; unit: string; picked?: string | null; onPick?: (name: string) => void }) {
  const all = drawn(slices);
  return (
    <figure className="tb-pie">
      <figcaption>{title}</figcaption>
      <svg viewBox="-112 -112 224 224" role="img" aria-label={`${title}: ${all.map((one) => `${short(one.name, 60)} ${shareText(one.to - one.from)}`).join(", ")}`}>
        {all.map((one) => {
          const share = one.to - one.from;
          const [x, y] = share >= 1 ? [0, 0] : point((one.from + one.to) / 2, LABEL.radius);
          return (
            <g key={one.name} className={picked === one.name ? "picked" : undefined} onClick={() => onPick?.(one.name)}>
              <path d={path(one, 100)} fill={one.colour} />
              {labelled(one) && (
                <text x={x} y={y}>
                  {shareText(share)}
                </text>
              )}
              <title>{`${short(one.name, 200)}\n${one.value.toLocaleString("en-US")} ${unit} (${shareText(share)})`}</title>
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
