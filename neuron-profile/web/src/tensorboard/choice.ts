// Which run, tool and profile are looked at. Kept for this browser's tab, and
// taken from the link of TensorBoard's page: ?neuron_run=NAME&neuron_tool=TOOL.

import { create } from "zustand";
import type { Run, Tool } from "./api";

const KEPT = "neuron-profile.tensorboard";

interface Choice {
  /** Name of the run: keys are of one log directory, names are for links. */
  run: string | null;
  tool: Tool | null;
  profile: string | null;
  set(change: Partial<Omit<Choice, "set">>): void;
}

function begin(): Pick<Choice, "run" | "tool"> {
  let link = "";
  try {
    link = window.parent.location.search;
  } catch {
    // Not ours to read.
  }
  const given = new URLSearchParams(link);
  const named = { run: given.get("neuron_run"), tool: given.get("neuron_tool") as Tool | null };
  if (named.run || named.tool) return named;
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (kept && typeof kept === "object") {
      const { run, tool } = kept as Record<string, unknown>;
      return { run: typeof run === "string" ? run : null, tool: typeof tool === "string" ? (tool as Tool) : null };
    }
  } catch {
    // Then from the start.
  }
  return { run: null, tool: null };
}

export const useChoice = create<Choice>((set, get) => ({
  run: null,
  tool: null,
  profile: null,
  ...(typeof window === "undefined" ? {} : begin()),
  set: (change) => {
    set(change);
    const { run, tool } = get();
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ run, tool }));
    } catch {
      // It is not kept then.
    }
  },
}));

/** The run and tool that are shown: what was chosen, as far as it is there. */
export function chosen(runs: readonly Run[], name: string | null, tool: Tool | null): { run: Run; tool: Tool } | null {
  const run = runs.find((one) => one.name === name) ?? runs[0];
  const first = run?.tools[0];
  if (!run || !first) return null;
  return { run, tool: tool !== null && run.tools.includes(tool) ? tool : first };
}
