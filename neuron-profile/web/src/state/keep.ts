// Keeps annotations: in this browser at once, with the server a moment later.
// A server that is away, or a page that is closed, loses none.

import { create } from "zustand";
import { ApiError, reason } from "../api/client";
import { readDocument, writeDocument } from "../api/documents";
import { type Annotation, useAnnotations } from "./annotations";

/** The document of what is on the screen; named sets are others. */
export const CURRENT = "(current)";

/** A set of annotations as it is stored. */
export interface AnnotationSet {
  version: 1;
  annotations: Annotation[];
  diff?: Record<string, string>;
  /** ms since 1970, to tell which of two copies is newer. */
  saved: number;
}

/** Whether what is on the screen is with the server. */
export const useKept = create<{ state: "kept" | "waiting" | "failed"; error: string | null }>(() => ({
  state: "kept",
  error: null,
}));

const place = (id: string) => `neuron-profile.annotations.${id}`;

/** A stored set, with only what is understood of it; null where it is none. */
export function readSet(value: unknown): AnnotationSet | null {
  if (!value || typeof value !== "object" || !("annotations" in value) || !Array.isArray(value.annotations)) return null;
  const annotations = value.annotations.flatMap((one: unknown): Annotation[] => {
    if (!one || typeof one !== "object") return [];
    const { id, name, from, to, colour, lane, source } = one as Record<string, unknown>;
    if (typeof from !== "number" || !Number.isFinite(from) || typeof id !== "string") return [];
    const end = typeof to === "number" && Number.isFinite(to) ? to : from;
    return [
      {
        id,
        name: String(name ?? id),
        from: Math.min(from, end),
        to: Math.max(from, end),
        colour: typeof colour === "string" && /^#[0-9a-f]{3,8}$/i.test(colour) ? colour : "#c8965a",
        ...(typeof lane === "number" && { lane }),
        source: source === "regions" ? "regions" : "user",
      },
    ];
  });
  const { diff, saved } = value as { diff?: unknown; saved?: unknown };
  const pairs = diff && typeof diff === "object" ? Object.entries(diff).filter(([, other]) => typeof other === "string") : [];
  return { version: 1, annotations, diff: Object.fromEntries(pairs), saved: typeof saved === "number" ? saved : 0 };
}

export function currentSet(): AnnotationSet {
  const { list, diff } = useAnnotations.getState();
  return { version: 1, annotations: list, diff, saved: Date.now() };
}

function local(id: string): AnnotationSet | null {
  try {
    return readSet(JSON.parse(localStorage.getItem(place(id)) ?? "null"));
  } catch {
    return null;
  }
}

/** Loads the annotations of a profile and keeps them from then on; returns how to stop. */
export async function keepAnnotations(id: string): Promise<() => void> {
  let far: AnnotationSet | null = null;
  try {
    far = readSet(await readDocument(id, CURRENT));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) useKept.setState({ state: "failed", error: reason(error) });
  }
  const near = local(id);
  const newest = near && (!far || near.saved > far.saved) ? near : far;
  useAnnotations.getState().begin(newest?.annotations ?? [], newest?.diff);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const store = async () => {
    try {
      await writeDocument(id, CURRENT, currentSet());
      useKept.setState({ state: "kept", error: null });
    } catch (error) {
      useKept.setState({ state: "failed", error: reason(error) });
      timer = setTimeout(store, 5000);
    }
  };
  if (near && newest === near && far !== near) timer = setTimeout(store, 1000);
  const stop = useAnnotations.subscribe((now, before) => {
    if (now.list === before.list && now.diff === before.diff) return;
    try {
      localStorage.setItem(place(id), JSON.stringify(currentSet()));
    } catch {
      // The server has it then.
    }
    useKept.setState({ state: "waiting", error: null });
    clearTimeout(timer);
    timer = setTimeout(store, 600);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
