// The profile that is open. Everything else asks by its id.

import { create } from "zustand";
import { isAbort, reason } from "../api/client";
import { getProfile, getTables } from "../api/profiles";
import { type SeriesInfo, listSeries } from "../api/series";
import type { Lane, Profile, TableInfo } from "../api/types";
import { learnMetrics } from "../format/metrics";
import { short } from "../format/words";
import { useView } from "./view";

export interface ProfileState {
  status: "none" | "loading" | "ready" | "failed";
  /** Why it failed, one line. */
  error: string | null;
  id: string | null;
  profile: Profile | null;
  lanes: Lane[];
  names: string[];
  /** Lines that are not events: usage, throughput, utilisation. */
  series: SeriesInfo[];
  /** The tables with their columns, units and descriptions. */
  tables: TableInfo[];
  totalNs: number;
  load(id: string): Promise<void>;
}

/** Letters of the name of a row at most. */
const NAME = 200;

let loading: AbortController | null = null;

export const useProfile = create<ProfileState>((set, get) => ({
  status: "none",
  error: null,
  id: null,
  profile: null,
  lanes: [],
  names: [],
  series: [],
  tables: [],
  totalNs: 0,

  load: async (id) => {
    loading?.abort();
    const mine = new AbortController();
    loading = mine;
    set({ status: "loading", error: null, id, profile: null, lanes: [], names: [], series: [], tables: [] });
    try {
      const [profile, tables, series] = await Promise.all([
        getProfile(id, mine.signal),
        getTables(id, mine.signal),
        listSeries(id, mine.signal),
      ]);
      if (mine.signal.aborted) return;
      learnMetrics(tables.tables.find((one) => one.name === "Summary")?.columns ?? []);
      useView.getState().begin(profile.total_ns);
      set({
        status: "ready",
        profile,
        // A name may be a megabyte; what is shown of it is short.
        lanes: profile.lanes.map((lane) => (lane.name.length > NAME ? { ...lane, name: short(lane.name, NAME) } : lane)),
        names: profile.names,
        series,
        tables: tables.tables,
        totalNs: profile.total_ns,
      });
    } catch (error) {
      if (!isAbort(error) && get().id === id) set({ status: "failed", error: reason(error) });
    }
  },
}));
