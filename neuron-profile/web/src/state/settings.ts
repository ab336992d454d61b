// How things are shown. Kept in this browser; what a link must carry is also in
// the URL (url.ts).

import { create } from "zustand";
import { persist } from "zustand/middleware";

export type ColourBy = "name" | "operator" | "layer" | "engine" | "opcode" | "rules";
export type Theme = "dark" | "light" | "auto";

/** A colour of the user's scheme: events whose name has `text` (or meets it as a regular expression). */
export interface ColourRule {
  text: string;
  regex: boolean;
  colour: string;
}

/** A named colour scheme of the user. The first rule that fits wins. */
export interface Scheme {
  name: string;
  rules: ColourRule[];
}

export interface Settings {
  theme: Theme;
  /** px of ordinary text. */
  fontSize: number;
  timeUnit: "auto" | "ns" | "us" | "ms" | "s";
  /** Bars of tabs: all, those of several tabs, or none. */
  tabBars: "always" | "several" | "never";

  colourBy: ColourBy;
  schemes: Scheme[];
  /** The one that `rules` uses. */
  scheme: string;
  /** What DMA rows are coloured by. */
  dmaColourBy: "variable" | "queue" | "engine";

  /** Lanes and series by key (`lane:ENGINE/CORE`, `series:ID`), so that they hold for other profiles. */
  hiddenRows: string[];
  pinnedRows: string[];
  /** Order of rows by key; rows that are not named follow in the usual order. */
  rowOrder: string[];
  rowHeights: Record<string, number>;
  groupBy: "kind" | "core" | "none";
  /** Packets of DMA engines rather than transfers of queues. */
  expandedDma: boolean;
  shownSeries: string[] | null;
  semaphores: string[];

  /** Instructions grouped by layer: rows of layers above the engines. */
  layerRows: boolean;
  /** Parts of a layer's path that count; 0 is the whole path. */
  layerDepth: number;

  showDependencies: boolean;
  showWarnings: boolean;
  showErrors: boolean;
  showLabels: boolean;
  showHoverBox: boolean;
  crosshair: boolean;
  snap: boolean;

  set(change: Partial<Settings>): void;
  reset(): void;
}

const usual: Omit<Settings, "set" | "reset"> = {
  theme: "auto",
  fontSize: 12,
  timeUnit: "auto",
  tabBars: "always",
  colourBy: "name",
  schemes: [],
  scheme: "",
  dmaColourBy: "variable",
  hiddenRows: [],
  pinnedRows: [],
  rowOrder: [],
  rowHeights: {},
  groupBy: "kind",
  expandedDma: false,
  shownSeries: null,
  semaphores: [],
  layerRows: false,
  layerDepth: 0,
  showDependencies: true,
  showWarnings: true,
  showErrors: true,
  showLabels: true,
  showHoverBox: true,
  crosshair: true,
  snap: true,
};

export const useSettings = create<Settings>()(
  persist(
    (set) => ({
      ...usual,
      set: (change) => set(change),
      reset: () => set(usual),
    }),
    {
      name: "neuron-profile.settings",
      version: 1,
      partialize: ({ set: _set, reset: _reset, ...kept }) => kept,
    },
  ),
);
