import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError, answerWith, useServer } from "../api/client";
import { askIn, askPart, fetches } from "./tile-asker";
import type { Ask, Part } from "./tile-parts";
import type { FromWorker, ToWorker } from "./tile-worker";

const ask: Ask = { id: "n_1", from: 0, to: 512, width: 512, lanes: [0] };

/** An answer of `viewport` without lanes. */
function empty(): ArrayBuffer {
  const bytes = new ArrayBuffer(32);
  const view = new DataView(bytes);
  view.setUint32(0, 0x3154564e, true);
  view.setUint32(24, 1, true);
  return bytes;
}

class Fake {
  onmessage: ((event: { data: FromWorker }) => void) | null = null;
  onerror: (() => void) | null = null;
  readonly heard: ToWorker[] = [];
  postMessage(message: ToWorker): void {
    this.heard.push(message);
  }
  say(data: FromWorker): void {
    this.onmessage?.({ data });
  }
  /** The number of the last question. */
  get at(): number {
    const last = this.heard.findLast((one) => "ask" in one);
    return last && "at" in last ? last.at : -1;
  }
}

describe("a worker that asks for tiles", () => {
  let worker: Fake;
  const start = (signal = new AbortController().signal) => askPart(ask, signal);

  beforeEach(() => {
    worker = new Fake();
    askIn(worker as unknown as Worker, "http://host/api/v1");
    answerWith(() => Promise.resolve(new Response(empty())));
  });
  afterEach(() => worker.onerror?.());

  it("hears first where the interface is, then what is asked, and gives the answer", async () => {
    const done = start();
    expect(worker.heard).toEqual([{ root: "http://host/api/v1" }, { ask, at: worker.at }]);
    const part: Part = { lanes: { start: 0, columnNs: 1, columns: 512, lanes: [], events: [] } };
    worker.say({ at: worker.at, part, took: 7 });
    expect(await done).toBe(part);
    expect(fetches.at(-1)).toBe(7);
  });

  it("is told what nobody waits for, and what it says of that is not heard", async () => {
    const stop = new AbortController();
    const done = start(stop.signal);
    const { at } = worker;
    stop.abort();
    await expect(done).rejects.toThrow(/abort/i);
    expect(worker.heard.at(-1)).toEqual({ stop: at });
    // Nobody is there to hear it.
    worker.say({ at, failed: "late", status: null });
  });

  it("tells refusals with their status, and whether the server is away", async () => {
    const done = start();
    worker.say({ at: worker.at, failed: "not in this file", status: 410 });
    await expect(done).rejects.toEqual(new ApiError(410, "not in this file"));
    worker.say({ away: true });
    expect(useServer.getState().away).toBe(true);
    worker.say({ away: false });
    expect(useServer.getState().away).toBe(false);
  });

  it("that does not start is not missed: the page asks itself", async () => {
    const done = start();
    worker.onerror?.();
    expect(Object.keys(await done)).toEqual(["lanes"]);
    expect(Object.keys(await start())).toEqual(["lanes"]);
  });
});
