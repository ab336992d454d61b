// Ticks of an axis: round numbers, about as many as are asked for.

/** Multiples of 1, 2 or 5 times a power of ten within a range. */
export function ticks(from: number, to: number, wanted: number): number[] {
  const span = to - from;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const raw = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => one >= raw) ?? power * 10;
  const out: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to + step * 1e-9; n++) out.push(n * step);
  return out;
}

/** Powers of ten within a range, both ends at the power outside. */
export function decades(low: number, high: number): number[] {
  const out: number[] = [];
  for (let n = Math.floor(Math.log10(low)); n <= Math.ceil(Math.log10(high)); n++) out.push(10 ** n);
  return out;
}
