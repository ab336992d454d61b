// Who asks for tiles: the page itself, or a worker where the page was given one. A page with a profile inside has
// none, since it is one file; a worker that the browser does not start is not missed.

import { ApiError, tell } from "../api/client";
import { ROOT } from "../api/root";
import { type Ask, type Part, type Timed, part } from "./tile-parts";
import type { FromWorker, ToWorker } from "./tile-worker";

interface Waiting {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  done(part: Part): void;
  failed(error: unknown): void;
}

/** Milliseconds that answers took, without what the page was busy with when they came: for measurements. */
export const fetches: number[] = [];

/** How many are kept. */
const FETCHES = 1000;

let worker: Worker | null = null;
let last = 0;
const waiting = new Map<number, Waiting>();

const post = (message: ToWorker) => worker?.postMessage(message);

function noted({ part, took }: Timed): Part {
  if (fetches.length >= FETCHES) fetches.splice(0, FETCHES / 2);
  fetches.push(took);
  return part;
}

function hear(message: FromWorker): void {
  if ("away" in message) return tell(message.away);
  const one = waiting.get(message.at);
  if (!one) return;
  waiting.delete(message.at);
  if ("part" in message) one.done(noted(message));
  else one.failed(message.status === null ? new Error(message.failed) : new ApiError(message.status, message.failed));
}

/** The worker is not there: what waits for it is asked by the page. */
function without(): void {
  worker = null;
  const all = [...waiting.values()];
  waiting.clear();
  for (const one of all) part(one.ask, one.signal).then(noted).then(one.done, one.failed);
}

/** From now on `made` asks for tiles; `root` is what paths of the interface begin with there. */
export function askIn(made: Worker, root = new URL(ROOT, document.baseURI).href): void {
  worker = made;
  made.onmessage = (event: MessageEvent<FromWorker>) => hear(event.data);
  made.onerror = without;
  post({ root });
}

/** Asks for a part of a tile. */
export function askPart(ask: Ask, signal: AbortSignal): Promise<Part> {
  if (!worker) return part(ask, signal).then(noted);
  last += 1;
  const at = last;
  return new Promise((done, failed) => {
    waiting.set(at, { ask, signal, done, failed });
    signal.addEventListener("abort", () => {
      if (!waiting.delete(at)) return;
      post({ stop: at });
      failed(signal.reason);
    });
    post({ ask, at });
  });
}
