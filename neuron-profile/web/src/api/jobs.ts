// Uploads and the jobs that make profiles of them; and the stream that tells
// what changes.

import { ROOT } from "./root";
import { ApiError, getJson, query, request, send } from "./client";

export interface Job {
  job: number;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  display_name: string;
  progress: number;
  events: number;
  profile: string | null;
  error: string | null;
  notes: string[];
}

export interface Upload {
  upload: string;
  name: string;
  bytes: number;
}

export async function listJobs(signal?: AbortSignal | null): Promise<Job[]> {
  try {
    return (await getJson<{ jobs: Job[] }>("/jobs", signal)).jobs;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

export const startJob = (job: { neff: string; ntff: string; display_name?: string; tags?: string[]; force?: boolean }) =>
  send<Job>("POST", "/jobs", job);
export const endJob = (job: number) => request(`/jobs/${job}`, { method: "DELETE" });

/** Sends a file; `told` hears how much of it has gone, from 0 to 1. */
export function upload(file: File, told: (part: number) => void, signal: AbortSignal): Promise<Upload> {
  // fetch tells nothing of the progress of a body.
  return new Promise((done, stop) => {
    const call = new XMLHttpRequest();
    call.open("POST", `${ROOT}/uploads${query({ name: file.name })}`);
    call.upload.onprogress = (event) => told(event.total > 0 ? event.loaded / event.total : 0);
    call.onload = () => {
      let body: unknown = null;
      try {
        body = JSON.parse(call.responseText);
      } catch {
        // The status says it.
      }
      if (call.status >= 200 && call.status < 300) return done(body as Upload);
      const text = body && typeof body === "object" && "error" in body ? String(body.error) : `the server answered ${call.status}`;
      stop(new ApiError(call.status, text));
    };
    call.onerror = () => stop(new ApiError(0, "the server went away while the file was sent"));
    call.onabort = () => stop(new DOMException("cancelled", "AbortError"));
    signal.addEventListener("abort", () => call.abort());
    call.send(file);
  });
}

export interface Changes {
  added: string[];
  changed: string[];
  removed: string[];
}

/** Hears what changes on the server until the returned function is called. The browser connects again by itself. */
export function listen(on: { hello?: () => void; profiles?: (changes: Changes) => void; job?: (job: Job) => void }): () => void {
  const stream = new EventSource(`${ROOT}/events`);
  stream.addEventListener("hello", () => on.hello?.());
  stream.addEventListener("profiles", (event) => on.profiles?.(JSON.parse(event.data) as Changes));
  stream.addEventListener("job", (event) => on.job?.(JSON.parse(event.data) as Job));
  return () => stream.close();
}
