// Goes to events that are only known by table and row, or by id.

import { create } from "zustand";
import { getEvent } from "../api/profiles";
import { eventRef } from "../api/events";
import { reason } from "../api/client";
import { useProfile } from "./profile";
import { useView } from "./view";

/** Something that the page has to say for a moment. */
export const useToast = create<{ text: string | null; bad: boolean }>(() => ({ text: null, bad: false }));

let timer: ReturnType<typeof setTimeout> | undefined;

export function toast(text: string, bad = false) {
  clearTimeout(timer);
  useToast.setState({ text, bad });
  timer = setTimeout(() => useToast.setState({ text: null }), bad ? 8000 : 3000);
}

/** Focuses an event and shows it. `look` is false where the view has its own reason to stand. */
export async function goTo(table: string, row: number, look = true): Promise<void> {
  const { id, lanes } = useProfile.getState();
  if (!id) return;
  try {
    const found = await getEvent(id, table, row);
    const event = eventRef(lanes, table, row, found.fields);
    if (look) useView.getState().reveal(event);
    else useView.getState().focus(event);
  } catch (error) {
    toast(`${table} ${row}: ${reason(error)}`, true);
  }
}
