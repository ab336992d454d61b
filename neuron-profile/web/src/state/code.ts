// What the code editor shows, and which lines are selected. Lines whose events
// are shown in the timeline are a search, so that they are painted like one.

import { create } from "zustand";
import { quoted } from "../api/search";
import { show } from "../layout/workspace";
import { find } from "./find";

export interface CodeState {
  file: string | null;
  /** The line to scroll to; with a number that changes even where the line does not. */
  line: number | null;
  turn: number;
  selected: number[];
}

export const useCode = create<CodeState>(() => ({ file: null, line: null, turn: 0, selected: [] }));

/** Opens a file at a line, in the code editor. */
export function openLine(file: string, line: number) {
  useCode.setState({ file, line, turn: useCode.getState().turn + 1, selected: [line] });
  show("code");
}

/** The query that finds the events of lines. */
export function linesQuery(file: string, lines: readonly number[]): string {
  return lines.map((line) => `nki_source_location=${quoted(`${file}:${line}`)}`).join(" OR ");
}

/** Paints the events of lines in the timeline; at most as many as a query may have. */
export async function showLines(file: string, lines: readonly number[]) {
  useCode.setState({ selected: [...lines] });
  await find("Instruction", linesQuery(file, lines.slice(0, 64)));
}
