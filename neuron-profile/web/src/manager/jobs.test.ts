import { expect, it } from "vitest";
import type { Job } from "../api/jobs";
import { withJob } from "./jobs";

const job = (number: number, state: Job["state"]): Job => ({ job: number, state, display_name: "", progress: 0, events: 0, profile: null, error: null, notes: [] });

it("a job that has ended is not begun again by late news", () => {
  const states = (jobs: Job[]) => jobs.map((one) => `${one.job} ${one.state}`);
  const failed = withJob(withJob([], job(1, "queued")), job(1, "failed"));
  expect(states(failed)).toEqual(["1 failed"]);
  expect(states(withJob(failed, job(1, "queued")))).toEqual(["1 failed"]);
  expect(states(withJob(failed, job(2, "running")))).toEqual(["2 running", "1 failed"]);
  expect(states(withJob(withJob([], job(1, "queued")), job(1, "running")))).toEqual(["1 running"]);
});
