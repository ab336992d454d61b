// Numbers as people read them: a fitting unit, few digits, thousands apart.
// What is not there is a dash, never 0.

export type TimeUnit = "auto" | "ns" | "us" | "ms" | "s";

const STEPS: Record<Exclude<TimeUnit, "auto">, { size: number; name: string }> = {
  ns: { size: 1, name: "ns" },
  us: { size: 1e3, name: "µs" },
  ms: { size: 1e6, name: "ms" },
  s: { size: 1e9, name: "s" },
};

export const NONE = "–";

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en-US", { maximumFractionDigits: 9 });

/** A number with so many significant digits, without an exponent where it is short. */
function digits(value: number, significant: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 10 ** significant || size < 1e-4) {
    if (size >= 1e15 || size < 1e-4) return value.toExponential(significant - 1);
    return grouped.format(value);
  }
  const places = Math.max(0, significant - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** The unit in which a length of time has one to three digits before the point. */
export function fittingUnit(ns: number): Exclude<TimeUnit, "auto"> {
  const size = Math.abs(ns);
  return size >= 1e9 ? "s" : size >= 1e6 ? "ms" : size >= 1e3 ? "us" : "ns";
}

/** A length of time: `1.23 ms`. */
export function time(ns: number | null | undefined, unit: TimeUnit = "auto", significant = 4): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return NONE;
  const { size, name } = STEPS[unit === "auto" ? fittingUnit(ns) : unit];
  return `${digits(ns / size, unit === "auto" ? significant : 9)} ${name}`;
}

/** A moment, in whole nanoseconds: `1,234,567 ns`. */
export function moment(ns: number | null | undefined): string {
  return ns === null || ns === undefined || !Number.isFinite(ns) ? NONE : `${grouped.format(Math.round(ns))} ns`;
}

function scaled(value: number, steps: readonly string[], base: number): string {
  let step = 0;
  let size = Math.abs(value);
  while (size >= base && step < steps.length - 1) {
    size /= base;
    step++;
  }
  return `${digits(Math.sign(value) * size, 4)} ${steps[step]}`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  return scaled(value, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
}

export function bandwidth(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  return scaled(value, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], 1000);
}

export function flops(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  return scaled(value, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"], 1000);
}

/** A fraction as percent. */
export function percent(fraction: number | null | undefined): string {
  if (fraction === null || fraction === undefined || !Number.isFinite(fraction)) return NONE;
  const value = fraction * 100;
  if (value !== 0 && Math.abs(value) < 0.001) return `${value.toExponential(1)} %`;
  return `${Math.abs(value) < 1 ? digits(value, 2) : digits(value, 4)} %`;
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? NONE : exact.format(value);
}

/** A quantity by the unit that the schema names for it. */
export function quantity(value: number, unit: string | null | undefined, timeUnit: TimeUnit = "auto"): string {
  switch (unit) {
    case "ns":
      return time(value, timeUnit);
    case "s":
      return time(value * 1e9, timeUnit);
    case "B":
      return bytes(value);
    case "B/s":
      return bandwidth(value);
    case "flop":
      return flops(value);
    case "%":
      return percent(value);
    case "cyc":
    case "cycles":
      return `${count(value)} cycles`;
    case "GHz":
      return `${digits(value, 4)} GHz`;
    case "flop/B":
      return `${digits(value, 5)} FLOP/B`;
    default:
      return Number.isInteger(value) ? count(value) : digits(value, 6);
  }
}

/** A relative change: `+12.5 %`. */
export function change(from: number, to: number): string {
  if (from === to) return "0 %";
  if (from === 0) return NONE;
  const part = (to - from) / Math.abs(from);
  return `${part > 0 ? "+" : ""}${digits(part * 100, 3)} %`;
}
