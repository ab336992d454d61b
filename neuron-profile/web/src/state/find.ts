// Runs the search and walks its matches.

import { isAbort, reason } from "../api/client";
import { eventRef } from "../api/events";
import { type Found, search } from "../api/search";
import { create } from "zustand";
import { useProfile } from "./profile";
import { useSearch } from "./search";
import { useView } from "./view";

/** Matches that are in hand at once. */
export const PAGE = 50;

/** What the last answer said beside the matches. */
export const useFound = create<{ found: Found | null }>(() => ({ found: null }));

let running: AbortController | null = null;

/** Tables that are searched: one, or all that have events. */
const tables = (table: string) => (table === "all" ? {} : { tables: [table] });

/** Searches, or fetches another page of the same search. */
export async function find(table: string, query: string, offset = 0, current = -1): Promise<void> {
  const { id, lanes } = useProfile.getState();
  running?.abort();
  if (!id || query.trim() === "") {
    useSearch.getState().clear();
    useFound.setState({ found: null });
    return;
  }
  const mine = new AbortController();
  running = mine;
  const set = useSearch.getState().set;
  set({ table, query, status: "searching", error: null });
  try {
    const found = await search(id, { q: query, ...tables(table), offset, limit: PAGE }, mine.signal);
    const matches = found.rows.map((row) => eventRef(lanes, row.table, row.row, row));
    useFound.setState({ found });
    set({ status: "done", matches, offset, total: found.total, current });
  } catch (error) {
    if (isAbort(error)) return;
    useFound.setState({ found: null });
    set({ status: "failed", error: reason(error), matches: [], total: 0, current: -1 });
  }
}

/** Looks at a match, by its place among all. */
export async function goToMatch(place: number): Promise<void> {
  const { total, offset, matches, table, query, set } = useSearch.getState();
  if (place < 0 || place >= total) return;
  if (place < offset || place >= offset + matches.length) await find(table, query, Math.floor(place / PAGE) * PAGE, place);
  const now = useSearch.getState();
  const match = now.matches[place - now.offset];
  if (!match) return;
  set({ current: place });
  useView.getState().reveal(match);
}

export const nextMatch = () => goToMatch(Math.min(useSearch.getState().current + 1, useSearch.getState().total - 1));
export const previousMatch = () => goToMatch(Math.max(useSearch.getState().current - 1, 0));
