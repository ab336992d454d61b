// Layouts: where widgets stand. The built-in ones, those that a person saved
// (documents of the server, shared by all profiles), and the one in use, kept in
// this browser so that a reload finds it again.

import type { DockviewApi, SerializedDockview } from "dockview-react";
import { create } from "zustand";
import { reason } from "../api/client";
import { deleteDocument, listDocuments, readDocument, writeDocument } from "../api/documents";
import { embedded } from "../state/embedded";
import { useProfile } from "../state/profile";
import { useUndo } from "../state/undo";
import { widget } from "./catalogue";

const KIND = "layouts";
/** Runs and devices are laid out apart. */
const KEPT = () => (useProfile.getState().profile?.system === true ? "neuron-profile.layout.system" : "neuron-profile.layout");

interface Workspace {
  api: DockviewApi | null;
  /** The saved or built-in layout that was loaded last. */
  name: string;
  names: string[];
  error: string | null;
}

export const useWorkspace = create<Workspace>(() => ({ api: null, name: "Default", names: [], error: null }));

/** Groups of tabs, from top to bottom, with their part of the height; the first of a group is shown. */
type Builtin = { tabs: string[]; part: number; beside?: { tabs: string[]; part: number } }[];

const BUILTIN: Record<string, Builtin> = {
  Default: [
    { tabs: ["timeline", "hierarchy"], part: 0.6 },
    {
      tabs: ["operators", "summary", "selection", "annotations", "tensors", "recommendations"],
      part: 0.4,
      beside: { tabs: ["details", "search", "chain"], part: 0.36 },
    },
  ],
  Summary: [
    { tabs: ["dashboard", "recommendations", "roofline"], part: 0.55 },
    { tabs: ["summary", "operators", "comparison"], part: 0.45, beside: { tabs: ["flame"], part: 0.45 } },
  ],
  Code: [
    { tabs: ["timeline"], part: 0.42 },
    { tabs: ["code"], part: 0.58, beside: { tabs: ["details", "operators", "search"], part: 0.36 } },
  ],
  Memory: [
    { tabs: ["timeline"], part: 0.5 },
    { tabs: ["memory"], part: 0.5, beside: { tabs: ["tensors", "details"], part: 0.45 } },
  ],
  Timeline: [{ tabs: ["timeline"], part: 1 }],
  System: [
    { tabs: ["system", "timeline"], part: 0.6 },
    { tabs: ["summary", "recommendations", "database", "annotations"], part: 0.4, beside: { tabs: ["details", "search"], part: 0.36 } },
  ],
};

/** What a profile opens with: a run has other widgets than a device. */
const usual = (): string => (useProfile.getState().profile?.system === true ? "System" : "Default");

export const builtinNames = Object.keys(BUILTIN);

function add(api: DockviewApi, id: string, position?: Parameters<DockviewApi["addPanel"]>[0]["position"]) {
  const known = widget(id);
  if (!known || api.getPanel(id)) return;
  api.addPanel({ id, component: "widget", title: known.title, ...(position && { position }) });
}

function build(api: DockviewApi, rows: Builtin) {
  api.clear();
  let above: string | null = null;
  for (const row of rows) {
    const [first, ...rest] = row.tabs;
    if (!first) continue;
    add(api, first, above ? { referencePanel: above, direction: "below" } : undefined);
    for (const id of rest) add(api, id, { referencePanel: first, direction: "within" });
    const [side, ...more] = row.beside?.tabs ?? [];
    if (side) {
      add(api, side, { referencePanel: first, direction: "right" });
      for (const id of more) add(api, id, { referencePanel: side, direction: "within" });
      api.getPanel(side)?.api.setActive();
    }
    api.getPanel(first)?.api.setActive();
    above = first;
  }
  // Sizes after all groups are there: each new one takes from those before.
  for (const row of rows) {
    const [first, side] = [row.tabs[0], row.beside?.tabs[0]];
    if (first) api.getPanel(first)?.group.api.setSize({ height: Math.round(api.height * row.part) });
    if (side && row.beside) api.getPanel(side)?.group.api.setSize({ width: Math.round(api.width * row.beside.part) });
  }
}

/** Puts a layout in place; false where it cannot be read. */
function restore(api: DockviewApi, layout: SerializedDockview): boolean {
  try {
    // A widget of another version is left out rather than shown empty.
    const panels = Object.keys(layout.panels ?? {});
    if (panels.length === 0 || panels.some((id) => !widget(id))) return false;
    api.fromJSON(layout);
    return true;
  } catch {
    return false;
  }
}

function kept(): SerializedDockview | null {
  try {
    return JSON.parse(localStorage.getItem(KEPT()) ?? "null") as SerializedDockview | null;
  } catch {
    return null;
  }
}

/** Begins: the layout of the link, else the one that was in use, else the default. */
export async function begin(api: DockviewApi, named: string | null) {
  useWorkspace.setState({ api, name: usual() });
  const before = kept();
  if (named && BUILTIN[named]) build(api, BUILTIN[named]);
  else if (!before || !restore(api, before)) build(api, BUILTIN[usual()]!);
  api.onDidLayoutChange(() => {
    if (embedded()) return;
    try {
      localStorage.setItem(KEPT(), JSON.stringify(api.toJSON()));
    } catch {
      // Without storage the next visit begins with the default.
    }
  });
  void refresh();
  if (named && !BUILTIN[named]) await load(named);
  else if (named) useWorkspace.setState({ name: named });
  if (wished) show(wished);
  wished = null;
}

export async function refresh() {
  try {
    useWorkspace.setState({ names: await listDocuments(KIND), error: null });
  } catch (error) {
    useWorkspace.setState({ error: reason(error) });
  }
}

/** Changes the layout as a step that can be undone. */
function step(label: string, change: () => void) {
  const { api, name } = useWorkspace.getState();
  if (!api) return;
  const before = api.toJSON();
  change();
  const [after, newName] = [api.toJSON(), useWorkspace.getState().name];
  const put = (layout: SerializedDockview, called: string) => {
    restore(api, layout);
    useWorkspace.setState({ name: called });
  };
  useUndo.getState().push({ label, undo: () => put(before, name), redo: () => put(after, newName) });
}

export async function load(name: string) {
  const { api } = useWorkspace.getState();
  if (!api) return;
  const built = BUILTIN[name];
  try {
    const layout = built ? null : await readDocument<SerializedDockview>(KIND, name);
    step(`load layout ${name}`, () => {
      if (built) build(api, built);
      else if (!layout || !restore(api, layout)) throw new Error(`the layout "${name}" is of another version`);
      useWorkspace.setState({ name, error: null });
    });
  } catch (error) {
    useWorkspace.setState({ error: reason(error) });
  }
}

export async function save(name: string) {
  const { api } = useWorkspace.getState();
  if (!api) return;
  try {
    await writeDocument(KIND, name, api.toJSON());
    useWorkspace.setState({ name, error: null });
  } catch (error) {
    useWorkspace.setState({ error: reason(error) });
  }
  await refresh();
}

export async function remove(name: string) {
  try {
    await deleteDocument(KIND, name);
  } catch (error) {
    useWorkspace.setState({ error: reason(error) });
  }
  await refresh();
}

/** A widget that was asked for before there was a place for it. */
let wished: string | null = null;

/** Shows a widget: the one that stands, else a new one beside what is active. */
export function show(id: string) {
  const { api } = useWorkspace.getState();
  if (!api) {
    wished = id;
    return;
  }
  const standing = api.getPanel(id);
  if (standing) {
    standing.api.setActive();
    return;
  }
  step(`add ${widget(id)?.title ?? id}`, () => {
    // Not over the timeline: below it, where the tables are.
    const groups = api.groups.filter((group) => !group.panels.some((panel) => panel.id === "timeline"));
    const place = groups[0];
    add(api, id, place ? { referenceGroup: place, direction: "within" } : { direction: "below" });
    api.getPanel(id)?.api.setActive();
  });
}

export function close(id: string) {
  const { api } = useWorkspace.getState();
  const panel = api?.getPanel(id);
  if (api && panel) step(`close ${panel.title ?? id}`, () => api.removePanel(panel));
}
