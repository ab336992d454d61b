// Time and pixels: which x a moment has, and how a window of time moves. Pure; knows no store and no canvas.

/** A window of time, ns since the start; `to` is above `from`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** What limits windows: the length of the profile and the narrowest span, ns. */
export interface Limits {
  readonly total: number;
  readonly minSpan: number;
}

/** Share of the visible span that one pan step moves (our choice). */
export const PAN_STEP = 0.15;

/** Factor of one zoom step of a key or button (our choice). */
export const ZOOM_STEP = 1.5;

export const span = (w: Window): number => w.to - w.from;

/** x of a moment in a plot of `width` pixels; outside of 0..width where it is not in the window. */
export const xOf = (w: Window, width: number, time: number): number => ((time - w.from) / span(w)) * width;

/** Moment at x. */
export const timeAt = (w: Window, width: number, x: number): number => w.from + (x / width) * span(w);

/** The window with its span between the narrowest one and the profile, moved into the profile. */
export function clamp(w: Window, limits: Limits): Window {
  const total = Math.max(limits.total, 1);
  const least = Math.min(limits.minSpan, total);
  const from = Number.isFinite(w.from) ? w.from : 0;
  const wide = Number.isFinite(w.to) ? w.to - from : total;
  const length = Math.min(Math.max(wide, least), total);
  // A window that is too narrow grows around its middle, so that a click zooms where it is.
  const begin = length > wide ? from - (length - wide) / 2 : from;
  const at = Math.min(Math.max(begin, 0), total - length);
  return { from: at, to: at + length };
}

/** The window with its span divided by `factor`; `time` keeps its x. */
export function zoomAround(w: Window, time: number, factor: number, limits: Limits): Window {
  const total = Math.max(limits.total, 1);
  const wanted = span(w) / factor;
  const length = Math.min(Math.max(wanted, Math.min(limits.minSpan, total)), total);
  const share = (time - w.from) / span(w);
  const from = time - share * length;
  return clamp({ from, to: from + length }, limits);
}

/** Moved by `time` ns; stops at the ends of the profile. */
export const pan = (w: Window, time: number, limits: Limits): Window =>
  clamp({ from: w.from + time, to: w.to + time }, limits);

/** Around something, with a margin of an eighth of it on both sides, so that its edges are seen. */
export function around(from: number, to: number, limits: Limits): Window {
  const margin = Math.max((to - from) / 8, limits.minSpan / 4);
  return clamp({ from: from - margin, to: to + margin }, limits);
}

/** Moved just as far as needed to see a moment, with a tenth of the span beside it. */
export function reveal(w: Window, from: number, to: number, limits: Limits): Window {
  const margin = span(w) / 10;
  if (from >= w.from && to <= w.to) return w;
  if (to - from > span(w) - 2 * margin) return around(from, to, limits);
  const shift = from < w.from ? from - margin - w.from : to + margin - w.to;
  return pan(w, shift, limits);
}

/** Two windows that look the same. */
export const same = (a: Window, b: Window): boolean => a.from === b.from && a.to === b.to;
