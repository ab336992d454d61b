// The URL holds what is seen, so that a link opens exactly this view: range,
// focused event, box, search, colour scheme, active annotation, layout.
//
//   #t=FROM-TO&e=TABLE/ROW&b=FROM-TO/LANES&q=TABLE:QUERY&c=SCHEME&a=ID&l=LAYOUT&s=RUN/ROW
//
// It is behind the `#`, so that the server never sees it and its log never
// holds it; it is written with replaceState, since zooms have steps of their own.

import { create } from "zustand";
import { type ColourBy, useSettings } from "./settings";
import { useAnnotations } from "./annotations";
import { useSearch } from "./search";
import { type Selection, useView } from "./view";

export interface UrlState {
  range: { from: number; to: number } | null;
  event: { table: string; row: number } | null;
  box: Selection | null;
  search: { table: string; query: string } | null;
  colour: ColourBy | null;
  annotation: string | null;
  layout: string | null;
  /** The run that a device profile was opened from, and its event. */
  run: string | null;
}

const COLOURS: readonly string[] = ["name", "operator", "layer", "engine", "opcode", "rules"];

const range = (text: string | null | undefined) => {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  return found ? { from: Number(found[1]), to: Number(found[2]) } : null;
};

/** Reads what is behind the `#`. What is not understood is left out. */
export function parseUrl(hash: string): UrlState {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const event = /^([A-Za-z]\w*)\/(\d+)$/.exec(given.get("e") ?? "");
  const [times, lanes] = (given.get("b") ?? "").split("/");
  const box = range(times);
  const search = /^([A-Za-z]\w*):(.+)$/s.exec(given.get("q") ?? "");
  const colour = given.get("c") ?? "";
  return {
    range: range(given.get("t")),
    event: event ? { table: event[1]!, row: Number(event[2]) } : null,
    box: box && { ...box, lanes: lanes ? lanes.split(",").map(Number).filter(Number.isInteger) : [] },
    search: search ? { table: search[1]!, query: search[2]! } : null,
    colour: COLOURS.includes(colour) ? (colour as ColourBy) : null,
    annotation: given.get("a"),
    layout: given.get("l"),
    run: /^n_[0-9a-f]{40}(\/\d+)?$/.exec(given.get("s") ?? "")?.[0] ?? null,
  };
}

/** Writes it; nothing for what is as usual. */
export function formatUrl(state: UrlState): string {
  const time = (ns: number) => String(Math.round(ns * 1000) / 1000);
  const span = (one: { from: number; to: number }) => `${time(one.from)}-${time(one.to)}`;
  const given = new URLSearchParams();
  if (state.range) given.set("t", span(state.range));
  if (state.event) given.set("e", `${state.event.table}/${state.event.row}`);
  if (state.box) given.set("b", span(state.box) + (state.box.lanes.length > 0 ? `/${state.box.lanes.join(",")}` : ""));
  if (state.search) given.set("q", `${state.search.table}:${state.search.query}`);
  if (state.colour && state.colour !== "name") given.set("c", state.colour);
  if (state.annotation) given.set("a", state.annotation);
  if (state.layout) given.set("l", state.layout);
  if (state.run) given.set("s", state.run);
  const text = given.toString();
  return text === "" ? "" : `#${text}`;
}

/** The state of the stores. */
export function currentUrl(layout: string | null): UrlState {
  const view = useView.getState();
  const search = useSearch.getState();
  const whole = view.from === 0 && view.to === view.total;
  return {
    range: whole ? null : { from: view.from, to: view.to },
    event: view.focused && { table: view.focused.table, row: view.focused.row },
    box: view.selection,
    search: search.query === "" ? null : { table: search.table, query: search.query },
    colour: useSettings.getState().colourBy,
    annotation: useAnnotations.getState().active,
    layout,
    run: useRun.getState().run,
  };
}

/** Where a device profile was opened from; the way back to it. */
export const useRun = create<{ run: string | null }>(() => ({ run: null }));

/** The address of the run, with the event from which its device profile was opened. */
export function runUrl(run: string): string {
  const [id, row] = run.split("/");
  return `/profile/${id}${row === undefined ? "" : `#e=SystemProfileEvents/${row}`}`;
}

/** Keeps the URL as the stores are, a moment after they change; returns how to stop. */
export function followStores(layout: () => string | null): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = () => {
    const text = formatUrl(currentUrl(layout()));
    if (text !== window.location.hash)
      history.replaceState(null, "", window.location.pathname + window.location.search + text);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(write, 150);
  };
  const stops = [useView, useSearch, useSettings, useAnnotations].map((store) => store.subscribe(later));
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}
