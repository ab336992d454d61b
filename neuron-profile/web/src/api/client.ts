// Requests: errors as one line, and patience when the server is away.
//
// A server that was stopped or a tunnel that broke comes back often enough: a
// read is tried again until it is answered or nobody waits for it, and the page
// says meanwhile that the server is away. A change is not repeated, since it may
// have been done.

import { create } from "zustand";
import { ROOT } from "./root";

/** Whether the last request reached the server. */
export const useServer = create<{ away: boolean; since: number }>(() => ({ away: false, since: 0 }));

/** What the server answered instead of what was asked for. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Milliseconds before each new try; the last one is repeated. */
const PAUSES = [250, 500, 1000, 2000];

/** Notes whether the server answers. */
export function tell(away: boolean) {
  const now = useServer.getState();
  if (now.away !== away) useServer.setState({ away, since: Date.now() });
}

function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((done, stop) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      stop(signal.reason);
    });
  });
}

async function refusal(response: Response): Promise<ApiError> {
  let text = `the server answered ${response.status}`;
  try {
    const body: unknown = await response.json();
    if (body && typeof body === "object" && "error" in body) text = String(body.error);
  } catch {
    // The status is all there is.
  }
  if (response.status === 401) text += " (the link may have expired)";
  return new ApiError(response.status, text);
}

/** Answers a request; `path` begins behind the root. */
export type Answerer = (path: string, init: RequestInit) => Promise<Response>;

let answerer: Answerer = (path, init) => fetch(`${ROOT}${path}`, init);

/** Lets something else than a server answer: a page with a profile inside (src/share). */
export function answerWith(other: Answerer) {
  answerer = other;
}

/** A request of the interface; `path` begins behind the root. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const read = !init.method || init.method === "GET";
  for (let tried = 0; ; tried++) {
    let response: Response;
    try {
      response = await answerer(path, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      tell(true);
      if (!read) throw new ApiError(0, "the server is away; nothing was changed as far as is known");
      await pause(PAUSES[Math.min(tried, PAUSES.length - 1)] ?? 2000, init.signal);
      continue;
    }
    tell(false);
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

export async function getJson<T>(path: string, signal?: AbortSignal | null): Promise<T> {
  const response = await request(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function getText(path: string, signal?: AbortSignal | null): Promise<string> {
  const response = await request(path, signal ? { signal } : {});
  return response.text();
}

export async function getBytes(path: string, signal?: AbortSignal | null): Promise<ArrayBuffer> {
  const response = await request(path, signal ? { signal } : {});
  return response.arrayBuffer();
}

/** Sends JSON; the answer's JSON, or null where there is none. */
export async function send<T>(method: string, path: string, body?: unknown): Promise<T | null> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  const response = await request(path, init);
  return response.status === 204 ? null : ((await response.json()) as T);
}

type Parameter = string | number | boolean | readonly (string | number)[] | null | undefined;

/** `?a=1&b=2`, without what is not given. Lists have commas between. */
export function query(parameters: Record<string, Parameter>): string {
  const parts = Object.entries(parameters).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    const text = Array.isArray(value) ? value.join(",") : String(value);
    return [`${encodeURIComponent(key)}=${encodeURIComponent(text)}`];
  });
  return parts.length > 0 ? `?${parts.join("&")}` : "";
}

/** Whether an error only says that nobody waits any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The line that is shown for an error. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
