// What the parts of the timeline around the canvases show: rows of the gutter, the hover box, the band of a drag.

import { createStore } from "zustand/vanilla";
import type { Fields } from "../api/types";
import type { Mode } from "./gestures";
import type { Hit } from "./hit";
import { type Layout, place } from "./layout";
import type { Row } from "./rows";
import type { Packed } from "./colour";

export interface Hover {
  readonly hit: Hit;
  /** CSS pixels in the plot. */
  readonly x: number;
  readonly y: number;
  readonly colour: Packed | null;
  /** The fields of the event's row, once they are there. */
  readonly fields: Fields | null;
}

export interface LegendEntry {
  readonly label: string;
  readonly colour: Packed;
  /** Share of the visible busy time. */
  readonly share: number;
}

export interface Ui {
  readonly rows: readonly Row[];
  readonly layout: Layout;
  /** CSS pixels. */
  readonly scroll: number;
  readonly width: number;
  readonly height: number;
  readonly hover: Hover | null;
  readonly mode: Mode;
  readonly legend: boolean;
  readonly entries: readonly LegendEntry[];
  /** Said to those who do not see the plot. */
  readonly said: string;
  /** Why the last tile did not come, one line. */
  readonly trouble: string | null;
  readonly settled: boolean;
}

export const createUi = () =>
  createStore<Ui>(() => ({
    rows: [],
    layout: place([]),
    scroll: 0,
    width: 0,
    height: 0,
    hover: null,
    mode: "zoom",
    legend: false,
    entries: [],
    said: "",
    trouble: null,
    settled: false,
  }));
