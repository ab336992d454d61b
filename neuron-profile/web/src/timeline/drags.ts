// Bands that are seen while something is dragged, and the ruler that stays: one small store for each stage.

import { type StoreApi, createStore } from "zustand/vanilla";
import type { Point } from "./gestures";
import type { Stage } from "./stage";

export interface Band {
  readonly kind: "zoom" | "box" | "ruler" | "region";
  readonly from: Point;
  readonly to: Point;
}

/** ns; `to` may be before `from`. */
export interface Ruler {
  readonly from: number;
  readonly to: number;
}

export interface Drags {
  readonly band: Band | null;
  readonly ruler: Ruler | null;
  show(band: Band | null): void;
  measure(ruler: Ruler | null): void;
}

const stores = new WeakMap<Stage, StoreApi<Drags>>();

export function dragStore(stage: Stage): StoreApi<Drags> {
  let store = stores.get(stage);
  if (!store) {
    store = createStore<Drags>((set) => ({
      band: null,
      ruler: null,
      show: (band) => set({ band }),
      measure: (ruler) => set({ ruler }),
    }));
    stores.set(stage, store);
  }
  return store;
}

export const drags = (stage: Stage): Drags => dragStore(stage).getState();
