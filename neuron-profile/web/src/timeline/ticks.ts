// Ticks of the time axis, and how moments and lengths are written: ns, us, ms or s.

import type { Window } from "./geometry";

export interface Tick {
  /** ns */
  readonly time: number;
  readonly label: string;
}

/** Unit of time with its length in ns. */
interface Unit {
  readonly name: string;
  readonly ns: number;
}

const UNITS: readonly Unit[] = [
  { name: "s", ns: 1e9 },
  { name: "ms", ns: 1e6 },
  { name: "µs", ns: 1e3 },
  { name: "ns", ns: 1 },
];

/** How the axis writes: plain ns with commas as the guide does, another unit throughout, or the one that fits. */
export type AxisUnit = "auto" | "ns" | "us" | "ms" | "s";

/** The step of 1, 2 or 5 times a power of ten that is at least `least`, and never under 1 ns. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [1, 2, 5]) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/** A whole number with commas. */
export function commas(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

function trimmed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A length in the largest unit that it has at least one of, with four digits: `2.07 ms`. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  const unit = UNITS.find((one) => size >= one.ns) ?? { name: "ns", ns: 1 };
  const value = ns / unit.ns;
  const whole = Math.floor(Math.log10(Math.max(Math.abs(value), 1))) + 1;
  const text = unit.ns === 1 ? trimmed(value, Number.isInteger(value) ? 0 : 1) : trimmed(value, Math.max(0, 4 - whole));
  // 999.96 us are 1000 us, which are written as 1 ms.
  const next = UNITS[UNITS.findIndex((one) => one.name === unit.name) - 1];
  return text === "1000" && next ? `1 ${next.name}` : `${text} ${unit.name}`;
}

/** A moment as the hover box of the guide writes it: `1,176,253 ns`. */
export const moment = (ns: number): string => `${commas(ns)} ns`;

/** The unit that fits a step; the next larger one where moments have many digits of it. */
function fitting(time: number, step: number): Unit {
  const of = UNITS.find((one) => step >= one.ns) ?? UNITS[UNITS.length - 1]!;
  const larger = UNITS.find((one) => time >= one.ns * 1000 && one.ns > of.ns) ? UNITS[UNITS.indexOf(of) - 1] : undefined;
  return larger ?? of;
}

function label(time: number, step: number, unit: AxisUnit): string {
  if (unit === "ns") return commas(time);
  if (time === 0) return "0";
  const name = unit === "us" ? "µs" : unit;
  const shown = UNITS.find((one) => one.name === name) ?? fitting(time, step);
  const digits = Math.max(0, Math.ceil(Math.log10(shown.ns / step) - 1e-9));
  const [whole = "0", rest] = (time / shown.ns).toFixed(digits).split(".");
  const text = rest === undefined ? commas(Number(whole)) : `${commas(Number(whole))}.${rest}`;
  return `${text} ${shown.name}`;
}

/** Ticks of a window on `width` pixels, about one for every `apart` pixels. */
export function ticks(w: Window, width: number, unit: AxisUnit, apart = 140): Tick[] {
  const length = w.to - w.from;
  if (!(length > 0) || !(width > 0)) return [];
  const step = niceStep((length * apart) / width);
  const out: Tick[] = [];
  for (let n = Math.ceil(w.from / step - 1e-9); n * step <= w.to; n += 1) {
    const time = n * step;
    out.push({ time, label: label(time, step, unit) });
  }
  return out;
}

/** Values for the y axis of a series: 0, and round ones up to `max`, two or three of them. */
export function valueTicks(max: number): number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0];
  const power = 10 ** Math.floor(Math.log10(max / 2));
  const factor = [5, 2, 1].find((one) => one * power <= max / 2) ?? 1;
  const step = factor * power;
  const out: number[] = [];
  for (let n = 0; n * step <= max * (1 + 1e-9); n += 1) out.push(n * step);
  return out;
}

const PREFIXES: readonly (readonly [number, string])[] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A value of a series with its unit: `699.1 kB`, `97.5 %`. A share is written in percent. */
export function quantity(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "–";
  if (unit === "share" || unit === "ratio" || unit === "fraction") return `${trimmed(value * 100, 2)} %`;
  if (unit === "percent" || unit === "%") return `${trimmed(value, 2)} %`;
  if (unit === "ns") return duration(value);
  const [size, prefix] = PREFIXES.find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  const scaled = value / size;
  const digits = Math.abs(scaled) >= 100 ? 1 : 2;
  const text = `${trimmed(scaled, digits)} ${prefix}${unit === "-" ? "" : unit}`;
  return text.trim();
}
