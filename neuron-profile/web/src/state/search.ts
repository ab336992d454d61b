// The current query and what it found. The timeline paints the matches, Event
// Details pages over them.

import { create } from "zustand";
import type { EventRef } from "./view";

export interface SearchState {
  /** Table that is searched. */
  table: string;
  /** In the grammar of HTTP.md; empty where nothing is searched. */
  query: string;
  status: "none" | "searching" | "done" | "failed";
  error: string | null;
  /** The page of matches that is in hand, in order of rows. */
  matches: EventRef[];
  /** How many matches come before the page. */
  offset: number;
  total: number;
  /** The match that is looked at, of all; -1 for none. */
  current: number;
  set(change: Partial<Omit<SearchState, "set" | "clear">>): void;
  clear(): void;
}

const empty = {
  query: "",
  status: "none" as const,
  error: null,
  matches: [],
  offset: 0,
  total: 0,
  current: -1,
};

export const useSearch = create<SearchState>((set) => ({
  table: "Instruction",
  ...empty,
  set: (change) => set(change),
  clear: () => set(empty),
}));
