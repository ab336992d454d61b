// Undo and redo of what a person made: annotations, layouts, settings. Zooms
// have their own steps (view.ts), since they are many and lose nothing.

import { create } from "zustand";

export interface Step {
  /** What was done, for the menu. */
  label: string;
  undo(): void;
  redo(): void;
}

export interface UndoState {
  done: Step[];
  undone: Step[];
  /** Notes a step that was done just now. */
  push(step: Step): void;
  undo(): void;
  redo(): void;
  clear(): void;
}

const STEPS = 200;

export const useUndo = create<UndoState>((set, get) => ({
  done: [],
  undone: [],
  push: (step) => set({ done: [...get().done.slice(-STEPS + 1), step], undone: [] }),
  undo: () => {
    const { done, undone } = get();
    const step = done[done.length - 1];
    if (!step) return;
    set({ done: done.slice(0, -1), undone: [...undone, step] });
    step.undo();
  },
  redo: () => {
    const { done, undone } = get();
    const step = undone[undone.length - 1];
    if (!step) return;
    set({ done: [...done, step], undone: undone.slice(0, -1) });
    step.redo();
  },
  clear: () => set({ done: [], undone: [] }),
}));
