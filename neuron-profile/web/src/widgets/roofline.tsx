// Roofline: each operator by its arithmetic intensity and the operations that it
// reaches, under the peaks of the array and of device memory.

import { useMemo, useState } from "react";
import { getRows } from "../api/profiles";
import { type TreeBy, type TreeNode, getTree } from "../api/trees";
import type { Fields } from "../api/types";
import { colourOf } from "../format/colour";
import { bytes, flops, percent, quantity, time } from "../format/number";
import { decades } from "../format/ticks";
import { short } from "../format/words";
import { Figure } from "../parts/chart";
import { Check, Select } from "../parts/controls";
import { Asked, Notice } from "../parts/notice";
import { useSeen } from "../parts/range";
import { useRequest } from "../parts/request";
import { useProfile } from "../state/profile";

export interface Peaks {
  /** Operations and bytes, per second. */
  flops: number;
  bytes: number;
}

/** The peaks by the hardware constants of the profile; null where they are not there. */
export function peaks(meta: Fields | undefined): Peaks | null {
  const of = (name: string) => (typeof meta?.[name] === "number" ? (meta[name] as number) : null);
  const [rows, columns, clock, memory] = [of("tensor_engine_num_rows"), of("tensor_engine_num_cols"), of("tensor_engine_clock_freq"), of("hbm_ddr_bandwidth")];
  if (!rows || !columns || !clock || !memory) return null;
  // GHz where it is small, Hz where it is not.
  return { flops: rows * columns * 2 * (clock < 1e4 ? clock * 1e9 : clock), bytes: memory };
}

export interface Point {
  name: string;
  path: string;
  intensity: number;
  reached: number;
  busy: number;
  flops: number;
  bytes: number;
  roof: number;
}

/** Points of those that multiply and move bytes. `reached` is by busy time. */
export function points(nodes: readonly TreeNode[], peak: Peaks): Point[] {
  return nodes.flatMap((node) => {
    const work = node.flops - node.transpose_flops;
    const moved = node.hbm_read_bytes + node.hbm_write_bytes + (node.hbm_read_bytes + node.hbm_write_bytes === 0 ? node.dma_bytes : 0);
    if (!node.leaf || work <= 0 || moved <= 0 || node.busy_ns <= 0) return [];
    const intensity = work / moved;
    return [{ name: node.name, path: node.path, intensity, reached: work / (node.busy_ns / 1e9), busy: node.busy_ns, flops: work, bytes: moved, roof: Math.min(peak.flops, intensity * peak.bytes) }];
  });
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [760, 380, 78, 40];

function Plot({ all, peak, whole }: { all: readonly Point[]; peak: Peaks; whole: Point | null }) {
  const shown = whole ? [...all, whole] : all;
  const ridge = peak.flops / peak.bytes;
  const [low, high] = [Math.min(ridge / 100, ...shown.map((one) => one.intensity)), Math.max(ridge * 10, ...shown.map((one) => one.intensity))];
  const bottom = Math.min(peak.flops / 1e4, ...shown.map((one) => one.reached));
  const [xs, ys] = [decades(low, high), decades(bottom, peak.flops * 1.5)];
  const scale = (values: readonly number[], size: number) => {
    const [a, b] = [Math.log10(values[0] ?? 1), Math.log10(values[values.length - 1] ?? 10)];
    return (value: number) => ((Math.log10(value) - a) / (b - a)) * size;
  };
  const [sx, sy] = [scale(xs, WIDTH - LEFT - 20), scale(ys, HEIGHT - BOTTOM - 14)];
  const x = (value: number) => LEFT + sx(value);
  const y = (value: number) => HEIGHT - BOTTOM - sy(value);
  const last = xs[xs.length - 1] ?? high;
  const first = Math.max(xs[0] ?? low, (ys[0] ?? bottom) / peak.bytes);
  const biggest = Math.max(1, ...all.map((one) => one.busy));
  return (
    <>
      {xs.map((value) => (
        <g key={value}>
          <line x1={x(value)} x2={x(value)} y1={8} y2={HEIGHT - BOTTOM} stroke="var(--line)" />
          <text x={x(value)} y={HEIGHT - BOTTOM + 15} textAnchor="middle" fill="var(--dim)">{value >= 1e-4 && value < 1e6 ? String(Number(value.toPrecision(1))) : value.toExponential(0)}</text>
        </g>
      ))}
      {ys.map((value) => (
        <g key={value}>
          <line x1={LEFT} x2={WIDTH - 20} y1={y(value)} y2={y(value)} stroke="var(--line)" />
          <text x={LEFT - 6} y={y(value) + 4} textAnchor="end" fill="var(--dim)">{flops(value).replace("FLOP", "FLOP/s")}</text>
        </g>
      ))}
      <text x={(LEFT + WIDTH) / 2} y={HEIGHT - 6} textAnchor="middle" fill="var(--text)">Arithmetic intensity, FLOP/B</text>
      <path d={`M${x(first)} ${y(first * peak.bytes)} L${x(ridge)} ${y(peak.flops)} L${x(last)} ${y(peak.flops)}`} fill="none" stroke="var(--accent)" strokeWidth={2} />
      <text x={x(last) - 4} y={y(peak.flops) - 6} textAnchor="end" fill="var(--accent)">{flops(peak.flops)}/s</text>
      <text x={x(first) + 8} y={y(first * peak.bytes) - 30} fill="var(--accent)">{quantity(peak.bytes, "B/s")}</text>
      {all.map((one) => (
        <circle key={one.path} cx={x(one.intensity)} cy={y(one.reached)} r={3 + 9 * Math.sqrt(one.busy / biggest)} fill={colourOf(one.path)} fillOpacity={0.8} stroke="var(--text)" strokeWidth={0.6}>
          <title>{`${short(one.path || one.name, 200)}\n${quantity(one.intensity, "flop/B")}, ${flops(one.reached)}/s (${percent(one.reached / one.roof)} of its roof)\n${flops(one.flops)}, ${bytes(one.bytes)}, busy ${time(one.busy)}`}</title>
        </circle>
      ))}
      {whole && (
        <g stroke="var(--hit)" strokeWidth={2}>
          <line x1={x(whole.intensity) - 8} x2={x(whole.intensity) + 8} y1={y(whole.reached)} y2={y(whole.reached)} />
          <line x1={x(whole.intensity)} x2={x(whole.intensity)} y1={y(whole.reached) - 8} y2={y(whole.reached) + 8} />
          <title>{`All together over the range: ${quantity(whole.intensity, "flop/B")}, ${flops(whole.reached)}/s`}</title>
        </g>
      )}
    </>
  );
}

export default function Roofline() {
  const { id, profile } = useProfile();
  const seen = useSeen();
  const [by, setBy] = useState<TreeBy>("operator");
  const [follow, setFollow] = useState(false);
  const range = follow && !seen.whole ? { from: seen.from, to: seen.to } : null;
  const answer = useRequest(`${id}:${by}:${range ? `${range.from}-${range.to}` : "all"}`, async (signal) => {
    const has = profile !== null && "Metadata" in profile.tables;
    const [tree, meta] = await Promise.all([getTree(id ?? "", by, range, { limit: 2000, sort: "flops" }, signal), has ? getRows(id ?? "", "Metadata", 0, 1, signal) : null]);
    return { tree, peak: peaks(meta?.rows[0]) };
  }, 150);
  const made = useMemo(() => {
    if (!answer.data?.peak) return null;
    const { tree, peak } = answer.data;
    const all = points(tree.nodes, peak);
    const top = tree.nodes.filter((node) => node.parent === null);
    const sum = (of: (node: TreeNode) => number) => top.reduce((total, node) => total + of(node), 0);
    const work = sum((node) => node.flops - node.transpose_flops);
    const moved = sum((node) => node.hbm_read_bytes + node.hbm_write_bytes) || sum((node) => node.dma_bytes);
    const span = tree.to - tree.from;
    const whole = work > 0 && moved > 0 ? { name: "all", path: "", intensity: work / moved, reached: work / (span / 1e9), busy: span, flops: work, bytes: moved, roof: Math.min(peak.flops, (work / moved) * peak.bytes) } : null;
    return { all, whole, peak };
  }, [answer.data]);
  return (
    <>
      <div className="toolbar">
        <Select label="Points are" shown value={by} options={[{ value: "operator", text: "Operators" }, { value: "layer", text: "Layers" }, { value: "source", text: "Source lines" }, { value: "opcode", text: "Opcodes" }]} onChange={setBy} />
        <Check label="Visible range only" checked={follow} onChange={setFollow} />
      </div>
      <Asked answer={answer} what="The roofline">
        {(data) =>
          !data.peak || !made ? (
            <Notice>The profile does not name the peaks of its hardware.</Notice>
          ) : (
            <>
              {made.all.length === 0 && (
                <Notice>
                  No {by} has both matrix operations and bytes of device memory in this trace{made.whole ? "; the cross is all together." : "."}
                </Notice>
              )}
              <Figure title="Roofline" tip="A point below the slanted line waits for memory, below the flat one for the array" label={`Roofline of ${made.all.length} points`} width={WIDTH} height={HEIGHT} legend={[["peaks", "var(--accent)"], ["all together", "var(--hit)"]]}>
                <Plot all={made.all} peak={made.peak} whole={made.whole} />
              </Figure>
            </>
          )
        }
      </Asked>
    </>
  );
}
