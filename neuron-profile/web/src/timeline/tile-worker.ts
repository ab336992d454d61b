// Asks for tiles and decodes them beside the page: an answer that the page waits for itself waits for a frame at each
// of its steps.

import { ApiError, answerWith, useServer } from "../api/client";
import { type Ask, type Part, type Timed, part } from "./tile-parts";

/** From the page: where the interface is, first of all; what is asked; what nobody waits for any more. */
export type ToWorker = { readonly root: string } | { readonly ask: Ask; readonly at: number } | { readonly stop: number };

/** To the page: an answer, or why there is none; whether the server is away. */
export type FromWorker =
  | ({ readonly at: number } & Timed)
  | { readonly at: number; readonly failed: string; readonly status: number | null }
  | { readonly away: boolean };

interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(value: FromWorker, give?: Transferable[]): void;
}

const page = self as unknown as Scope;
const running = new Map<number, AbortController>();

/** The memory of a part, which is given to the page instead of copied. */
function memory(part: Part): Transferable[] {
  const all = "lanes" in part ? [...part.lanes.lanes, ...part.lanes.events] : part.series.series;
  const arrays = all.flatMap((one) => Object.values(one).filter(ArrayBuffer.isView));
  return [...new Set(arrays.map((one) => one.buffer as ArrayBuffer))];
}

async function answer(at: number, ask: Ask): Promise<void> {
  const stop = new AbortController();
  running.set(at, stop);
  try {
    const asked = await part(ask, stop.signal);
    page.postMessage({ at, ...asked }, memory(asked.part));
  } catch (error) {
    const status = error instanceof ApiError ? error.status : null;
    page.postMessage({ at, failed: error instanceof Error ? error.message : String(error), status });
  } finally {
    running.delete(at);
  }
}

page.onmessage = ({ data }) => {
  if ("root" in data) answerWith((path, init) => fetch(`${data.root}${path}`, init));
  else if ("stop" in data) running.get(data.stop)?.abort();
  else void answer(data.at, data.ask);
};
useServer.subscribe(({ away }) => page.postMessage({ away }));
