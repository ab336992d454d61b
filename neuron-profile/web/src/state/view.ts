// What of the profile is seen, and what in it is pointed at. The timeline, the
// tables and the URL read and write this one store.

import { create } from "zustand";

/** An event by its place in a table, with what is drawn of it. */
export interface EventRef {
  table: string;
  row: number;
  lane: number;
  start: number;
  end: number;
  name: string;
}

/** A box: a range of time in lanes (by number; none means all). */
export interface Selection {
  from: number;
  to: number;
  lanes: number[];
}

export interface Range {
  from: number;
  to: number;
}

export interface ViewState {
  /** ns; may be fractions while an animation runs. */
  from: number;
  to: number;
  /** Length of the profile, ns. */
  total: number;
  /** The narrowest view, ns. */
  minSpan: number;
  selection: Selection | null;
  hovered: EventRef | null;
  focused: EventRef | null;
  past: Range[];
  future: Range[];
  /** Begins with a profile of this length, wholly seen. */
  begin(total: number): void;
  /** Shows a range, kept within the profile. `record`: a step that `back` undoes. */
  zoomTo(from: number, to: number, options?: { record?: boolean }): void;
  /** Notes where we are, before a gesture of many small steps (wheel, drag). */
  mark(): void;
  back(): void;
  forward(): void;
  fit(): void;
  select(selection: Selection | null): void;
  hover(event: EventRef | null): void;
  focus(event: EventRef | null): void;
  /** Focuses an event and moves the view so that it is seen. */
  reveal(event: EventRef): void;
}

/** Steps that are remembered. */
const STEPS = 200;

/** A range within the profile, no narrower than allowed, of the same width where possible. */
export function clamp(from: number, to: number, total: number, minSpan: number): Range {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return { from: 0, to: total };
  if (to < from) [from, to] = [to, from];
  const span = Math.min(Math.max(to - from, minSpan), Math.max(total, minSpan));
  const middle = (from + to) / 2;
  let start = to - from === span ? from : middle - span / 2;
  start = Math.max(0, Math.min(start, Math.max(total, minSpan) - span));
  return { from: start, to: start + span };
}

export const useView = create<ViewState>((set, get) => ({
  from: 0,
  to: 1,
  total: 1,
  minSpan: 16,
  selection: null,
  hovered: null,
  focused: null,
  past: [],
  future: [],

  begin: (total) =>
    set({
      from: 0,
      to: Math.max(total, 1),
      total: Math.max(total, 1),
      // An event of one ns is 60 px or so wide then.
      minSpan: Math.min(16, Math.max(total, 1)),
      selection: null,
      hovered: null,
      focused: null,
      past: [],
      future: [],
    }),

  zoomTo: (from, to, options) => {
    const now = get();
    const range = clamp(from, to, now.total, now.minSpan);
    if (range.from === now.from && range.to === now.to) return;
    if (options?.record) now.mark();
    set(range);
  },

  mark: () => {
    const { from, to, past } = get();
    const last = past[past.length - 1];
    if (last && last.from === from && last.to === to) return;
    set({ past: [...past.slice(-STEPS + 1), { from, to }], future: [] });
  },

  back: () => {
    const { from, to, past, future } = get();
    const last = past[past.length - 1];
    if (last) set({ ...last, past: past.slice(0, -1), future: [...future, { from, to }] });
  },

  forward: () => {
    const { from, to, past, future } = get();
    const next = future[future.length - 1];
    if (next) set({ ...next, past: [...past, { from, to }], future: future.slice(0, -1) });
  },

  fit: () => get().zoomTo(0, get().total, { record: true }),

  select: (selection) => set({ selection }),
  hover: (hovered) => {
    // Moves over one event are many, changes few.
    if (hovered !== get().hovered) set({ hovered });
  },
  focus: (focused) => set({ focused }),

  reveal: (event) => {
    const { from, to, zoomTo } = get();
    set({ focused: event });
    if (event.start >= from && event.end <= to) return;
    const span = Math.max(to - from, (event.end - event.start) * 2);
    const middle = (event.start + event.end) / 2;
    zoomTo(middle - span / 2, middle + span / 2, { record: true });
  },
}));
