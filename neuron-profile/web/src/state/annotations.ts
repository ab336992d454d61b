// Marks in time: lines and regions with a name. What is on the screen is kept
// by the server in the profile's document `(current)` a moment after each
// change, and in this browser at once, so that a server that goes away loses
// none. Named sets are documents of their own.

import { create } from "zustand";
import { useUndo } from "./undo";

export interface Annotation {
  id: string;
  name: string;
  from: number;
  /** As `from` for a line. */
  to: number;
  colour: string;
  lane?: number;
  /** Who made it: a person, or the region highlighter. */
  source?: "user" | "regions";
}

export interface AnnotationState {
  list: Annotation[];
  /** Ids of those that are ticked in the table. */
  ticked: string[];
  /** What `Diff vs` compares each with; the one before it where nothing is said. */
  diff: Record<string, string>;
  /** The one that is active, by id. */
  active: string | null;
  create(annotation: Partial<Annotation> & { from: number; to?: number }): Annotation;
  createMany(annotations: (Partial<Annotation> & { from: number })[], label: string): void;
  rename(id: string, name: string): void;
  move(id: string, from: number, to: number): void;
  recolour(id: string, colour: string): void;
  remove(ids: readonly string[]): void;
  setDiff(id: string, other: string | null): void;
  resetDiff(): void;
  tick(id: string, ticked: boolean): void;
  setActive(id: string | null): void;
  /** Puts another list in its place (load of a set); a step that can be undone. */
  replace(list: Annotation[], label: string): void;
  /** Begins anew, for another profile; no step. */
  begin(list: Annotation[], diff?: Record<string, string>): void;
}

/** Colours of new annotations, in turn: apart from each other in both themes. */
const COLOURS = ["#c8965a", "#5aa9e6", "#e06c9f", "#6abf69", "#a98ee0", "#d9b44a", "#4bb8b1", "#e07a5f"];

export const annotationColours: readonly string[] = COLOURS;

let counter = 0;
const freshId = () => `a${Date.now().toString(36)}${(counter++).toString(36)}`;

/** The lowest number that no annotation is named by. */
function freeName(list: readonly Annotation[]): string {
  const taken = new Set(list.map((one) => one.name));
  let number = 0;
  while (taken.has(String(number))) number++;
  return String(number);
}

/** In order of time: the order of the table, and of `the one before`. */
export function inOrder(list: readonly Annotation[]): Annotation[] {
  return [...list].sort((a, b) => a.from - b.from || a.to - b.to || (a.id < b.id ? -1 : 1));
}

/** What an annotation is compared with: the chosen one, else the one before it. */
export function comparedWith(list: readonly Annotation[], diff: Record<string, string>, id: string): Annotation | null {
  const chosen = list.find((one) => one.id === diff[id]);
  if (chosen) return chosen;
  const order = inOrder(list);
  return order[order.findIndex((one) => one.id === id) - 1] ?? null;
}

export const useAnnotations = create<AnnotationState>((set, get) => {
  /** Changes the list as one step. */
  const change = (label: string, list: Annotation[]) => {
    const before = get().list;
    const put = (value: Annotation[]) => {
      const known = new Set(value.map((one) => one.id));
      const { ticked, active } = get();
      set({
        list: value,
        ticked: ticked.filter((id) => known.has(id)),
        active: active && known.has(active) ? active : null,
      });
    };
    put(list);
    useUndo.getState().push({ label, undo: () => put(before), redo: () => put(list) });
  };
  const made = (given: Partial<Annotation> & { from: number }, list: readonly Annotation[]): Annotation => ({
    id: freshId(),
    name: freeName(list),
    to: given.from,
    colour: COLOURS[list.length % COLOURS.length] ?? "#c8965a",
    source: "user",
    ...given,
  });
  const edit = (label: string, id: string, with_: (one: Annotation) => Annotation) => {
    const list = get().list;
    if (list.some((one) => one.id === id)) change(label, list.map((one) => (one.id === id ? with_(one) : one)));
  };
  return {
    list: [],
    ticked: [],
    diff: {},
    active: null,

    create: (given) => {
      const one = made(given, get().list);
      change("create annotation", [...get().list, one]);
      set({ active: one.id });
      return one;
    },
    createMany: (given, label) => {
      const list = [...get().list];
      for (const one of given) list.push(made(one, list));
      change(label, list);
    },
    rename: (id, name) => edit("rename annotation", id, (one) => ({ ...one, name })),
    move: (id, from, to) =>
      edit("move annotation", id, (one) => ({ ...one, from: Math.min(from, to), to: Math.max(from, to) })),
    recolour: (id, colour) => edit("colour annotation", id, (one) => ({ ...one, colour })),
    remove: (ids) => {
      const gone = new Set(ids);
      if (ids.length > 0) change("delete annotations", get().list.filter((one) => !gone.has(one.id)));
    },
    setDiff: (id, other) => {
      const { [id]: _old, ...rest } = get().diff;
      set({ diff: other === null ? rest : { ...rest, [id]: other } });
    },
    resetDiff: () => set({ diff: {} }),
    tick: (id, ticked) => {
      const others = get().ticked.filter((one) => one !== id);
      set({ ticked: ticked ? [...others, id] : others });
    },
    setActive: (active) => set({ active }),
    replace: (list, label) => change(label, list),
    begin: (list, diff = {}) => set({ list, diff, ticked: [], active: null }),
  };
});
