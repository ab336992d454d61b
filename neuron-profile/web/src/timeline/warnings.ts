// Stretches of the profile that a reader must know of: the hardware was throttled, told an error, or had no room for
// records; or the events are not in this file. Bands behind the rows, told under the pointer.

import type { Fields } from "../api/types";
import { getRows } from "../api/profiles";
import { shared } from "../state/shared";
import type { Fault } from "./tile-data";
import { quantity } from "./ticks";

export interface Warning {
  readonly from: number;
  readonly to: number;
  readonly kind: "throttling" | "error" | "loss" | "outside";
  readonly text: string;
}

/** Rows of limits that are looked at: more are a profile that is throttled all over. */
const MOST = 10_000;

/** Limits as bands: those below all cycles, of each core, joined where they touch and say the same. */
export function limits(rows: readonly Fields[]): Warning[] {
  const cores = new Map<unknown, Warning[]>();
  for (const { k, n, timestamp, duration, pcore_idx } of rows) {
    if (typeof k !== "number" || typeof n !== "number" || k >= n || typeof timestamp !== "number" || typeof duration !== "number") continue;
    const [from, to] = [timestamp, timestamp + duration];
    const text = `${pcore_idx === undefined ? "" : `NeuronCore ${pcore_idx}: `}${quantity(k / n, "share")} of the cycles may be used (${k} of ${n})`;
    const all = cores.get(pcore_idx) ?? [];
    cores.set(pcore_idx, all);
    const last = all[all.length - 1];
    // Times are whole nanoseconds, so neighbours may stand one apart.
    if (last && last.text === text && from - last.to <= 1) all[all.length - 1] = { ...last, to };
    else all.push({ from, to, kind: "throttling", text });
  }
  return [...cores.values()].flat();
}

export function ofFaults(faults: readonly Fault[]): Warning[] {
  return faults.map(({ time, text, loss }) => ({ from: time, to: time, kind: loss ? "loss" : "error", text }));
}

/** What of a profile is not in the file that this page is. */
export function outside(total: number): Warning[] {
  const window = shared()?.window;
  if (!window || window.whole) return [];
  const text = "The events here are not in this file; open the profile with neuron-profile view";
  const parts: Warning[] = [
    { from: 0, to: window.from, kind: "outside", text },
    { from: window.to, to: total, kind: "outside", text },
  ];
  return parts.filter(({ from, to }) => to > from);
}

/** The limits of a profile. */
export async function loadLimits(id: string, signal: AbortSignal): Promise<Warning[]> {
  const { rows, next } = await getRows(id, "Throttle", 0, MOST, signal);
  const found = limits(rows);
  const last = found[found.length - 1];
  if (next === null || !last) return found;
  return [...found.slice(0, -1), { ...last, text: `${last.text}; later limits of the core are in the row Throttling` }];
}

export const TITLES: Readonly<Record<Warning["kind"], string>> = {
  throttling: "Throttling",
  error: "Error",
  loss: "Lost records",
  outside: "Left out",
};

export const COLOURS: Readonly<Record<Warning["kind"], readonly [dark: string, light: string]>> = {
  throttling: ["#e0a030", "#c98a00"],
  error: ["#ff6b60", "#c4352c"],
  loss: ["#b07be0", "#7a3fb5"],
  outside: ["#808890", "#9098a0"],
};
