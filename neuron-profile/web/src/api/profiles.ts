// The requests about profiles, one function each.

import { getBytes, getJson, query, send } from "./client";
import type { Entry, EventDetail, Fields, Profile, ProfileList, Rows, SelectionSums, Tables } from "./types";
import { type Viewport, decodeViewport } from "./wire";

type Signal = AbortSignal | null;

const at = (id: string) => `/profiles/${encodeURIComponent(id)}`;

export const listProfiles = (signal?: Signal) => getJson<ProfileList>("/profiles", signal);
export const getProfile = (id: string, signal?: Signal) => getJson<Profile>(at(id), signal);
export const deleteProfile = (id: string) => send(`DELETE`, at(id));
export const changeProfile = (id: string, change: { display_name?: string; tags?: string[] }) =>
  send<Entry>("PATCH", at(id), change);

export const getSummary = (id: string, signal?: Signal) =>
  getJson<{ summary: Fields[] }>(`${at(id)}/summary`, signal);

export const getTables = (id: string, signal?: Signal) => getJson<Tables>(`${at(id)}/tables`, signal);

/** Rows of a table, from a row on. */
export const getRows = (id: string, table: string, from: number, limit: number, signal?: Signal) =>
  getJson<Rows>(`${at(id)}/tables/${encodeURIComponent(table)}${query({ from, limit })}`, signal);

export const getEvent = (id: string, table: string, row: number, signal?: Signal) =>
  getJson<EventDetail>(`${at(id)}/events/${encodeURIComponent(table)}/${row}`, signal);

export async function getViewport(
  id: string,
  range: { from: number; to: number; width: number; lanes?: readonly number[]; events?: number },
  signal?: Signal,
): Promise<Viewport> {
  return decodeViewport(await getBytes(`${at(id)}/viewport${query(range)}`, signal));
}

export const getSelection = (
  id: string,
  range: { from: number; to: number; lanes?: readonly number[] },
  signal?: Signal,
) => getJson<SelectionSums>(`${at(id)}/selection${query(range)}`, signal);
