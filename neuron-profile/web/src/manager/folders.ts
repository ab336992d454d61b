// Favourites and folders of the list of profiles. Both are tags, so that they
// hold for everybody who uses the server, and `neuron-profile tag` knows them:
// `favourite`, and `folder/NAME`. A profile may be in several folders.

import type { Entry } from "../api/types";

export const FAVOURITE = "favourite";
const FOLDER = "folder/";

/** Letters of the name of a folder at most. */
export const LETTERS = 100;

export const isFavourite = (one: Entry) => one.tags.includes(FAVOURITE);
export const foldersOf = (one: Entry) => one.tags.filter((tag) => tag.startsWith(FOLDER)).map((tag) => tag.slice(FOLDER.length));

/** Tags that are neither. */
export const plainTags = (one: Entry) => one.tags.filter((tag) => tag !== FAVOURITE && !tag.startsWith(FOLDER));

/** The tags of a profile with others in the place of its plain ones. */
export const withPlain = (one: Entry, plain: readonly string[]) => [...one.tags.filter((tag) => tag === FAVOURITE || tag.startsWith(FOLDER)), ...plain];

export const withFavourite = (one: Entry, on: boolean) => [...one.tags.filter((tag) => tag !== FAVOURITE), ...(on ? [FAVOURITE] : [])];

export function withFolder(one: Entry, folder: string, on: boolean): string[] {
  const tag = FOLDER + folder;
  return [...one.tags.filter((other) => other !== tag), ...(on ? [tag] : [])];
}

/** All folders by name, with how many profiles each has. */
export function folders(all: readonly Entry[]): [name: string, profiles: number][] {
  const found = new Map<string, number>();
  for (const name of all.flatMap(foldersOf)) found.set(name, (found.get(name) ?? 0) + 1);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What of the list is shown. */
export type Shelf = { what: "all" | "favourites" | "recent" } | { what: "folder"; name: string };

export function onShelf(all: readonly Entry[], shelf: Shelf, recent: readonly string[]): Entry[] {
  switch (shelf.what) {
    case "favourites":
      return all.filter(isFavourite);
    case "recent":
      return recent.flatMap((id) => all.find((one) => one.id === id) ?? []);
    case "folder":
      return all.filter((one) => foldersOf(one).includes(shelf.name));
    default:
      return [...all];
  }
}

const PLACE = "neuron-profile.recent";
const RECENT = 20;

/** Ids of the profiles that were opened last in this browser, latest first. */
export function recentIds(): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(found) ? found.filter((one): one is string => typeof one === "string").slice(0, RECENT) : [];
  } catch {
    return [];
  }
}

export function noteRecent(id: string): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify([id, ...recentIds().filter((one) => one !== id)].slice(0, RECENT)));
  } catch {
    // Without storage nothing is recent.
  }
}
