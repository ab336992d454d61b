// Where rows stand: pinned ones at the top, the others below, scrolled. CSS pixels, y downwards from the plot's top.

import type { Row } from "./rows";

export interface Placed {
  readonly row: Row;
  /** y of its top when nothing is scrolled. */
  readonly top: number;
}

export interface Layout {
  readonly pinned: readonly Placed[];
  readonly free: readonly Placed[];
  /** Height of the pinned rows. */
  readonly pinnedHeight: number;
  /** Height of all others. */
  readonly freeHeight: number;
}

export function place(rows: readonly Row[]): Layout {
  const stack = (some: readonly Row[], from: number): [Placed[], number] => {
    let top = from;
    const placed = some.map((row) => {
      const one = { row, top };
      top += row.height;
      return one;
    });
    return [placed, top - from];
  };
  const [pinned, pinnedHeight] = stack(rows.filter((row) => row.pinned), 0);
  const [free, freeHeight] = stack(rows.filter((row) => !row.pinned), pinnedHeight);
  return { pinned, free, pinnedHeight, freeHeight };
}

/** The scroll position within what there is to scroll in a plot of `height`. */
export function clampScroll(layout: Layout, height: number, scroll: number): number {
  const most = Math.max(0, layout.freeHeight - Math.max(0, height - layout.pinnedHeight));
  return Math.min(Math.max(scroll, 0), most);
}

export interface Visible {
  readonly row: Row;
  /** y on the screen; may be above the area of its kind where it is scrolled half away. */
  readonly top: number;
  readonly pinned: boolean;
}

/** Rows that scroll and are seen, with their y in all that scrolls. */
export function seenFree(layout: Layout, height: number, scroll: number): Layout["free"] {
  return layout.free.filter(({ row, top }) => top - scroll + row.height > layout.pinnedHeight && top - scroll < height);
}

/** Rows that are seen, with their y on the screen. */
export function visible(layout: Layout, height: number, scroll: number): Visible[] {
  const out: Visible[] = [];
  for (const { row, top } of layout.pinned) {
    if (top < height) out.push({ row, top, pinned: true });
  }
  for (const { row, top } of seenFree(layout, height, scroll)) out.push({ row, top: top - scroll, pinned: false });
  return out;
}

/** The row at y, or null. */
export function rowAt(rows: readonly Visible[], layout: Layout, y: number): Visible | null {
  const wanted = y < layout.pinnedHeight;
  return rows.find((one) => one.pinned === wanted && y >= one.top && y < one.top + one.row.height) ?? null;
}

/** Rows that a vertical range touches. */
export function rowsIn(rows: readonly Visible[], y0: number, y1: number): Visible[] {
  const [low, high] = y0 < y1 ? [y0, y1] : [y1, y0];
  return rows.filter((one) => one.top < high && one.top + one.row.height > low);
}

/** The scroll position at which a row is wholly seen, moved as little as possible. */
export function scrollTo(layout: Layout, height: number, scroll: number, key: string): number {
  const found = layout.free.find((one) => one.row.key === key);
  if (!found) return clampScroll(layout, height, scroll);
  const above = found.top - layout.pinnedHeight;
  const below = found.top + found.row.height - height;
  return clampScroll(layout, height, Math.min(Math.max(scroll, below), above));
}
