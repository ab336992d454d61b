// Jobs that make profiles of uploads: their state and progress.

import { create } from "zustand";
import { reason } from "../api/client";
import { type Job, endJob, listJobs } from "../api/jobs";
import { count, percent } from "../format/number";
import { short } from "../format/words";
import { Button, IconButton } from "../parts/controls";
import { go } from "../router";
import { toast } from "../state/goto";

interface JobState {
  jobs: Job[];
  put: (job: Job) => void;
  forget: (job: number) => void;
  refresh: () => Promise<void>;
}

const ended = (job: Job) => job.state !== "queued" && job.state !== "running";

/** Jobs with news of one. The answer to its start may come after the stream told its end: what has ended stays so. */
export function withJob(jobs: readonly Job[], job: Job): Job[] {
  const known = jobs.find((one) => one.job === job.job);
  if (known && ended(known) && !ended(job)) return [...jobs];
  return [job, ...jobs.filter((one) => one.job !== job.job)].sort((a, b) => b.job - a.job);
}

export const useJobs = create<JobState>((set, get) => ({
  jobs: [],
  put: (job) => set({ jobs: withJob(get().jobs, job) }),
  forget: (job) => set({ jobs: get().jobs.filter((one) => one.job !== job) }),
  refresh: async () => {
    try {
      set({ jobs: await listJobs() });
    } catch (error) {
      toast(`The jobs: ${reason(error)}`, true);
    }
  },
}));

const WORDS: Record<Job["state"], string> = { queued: "waits", running: "is being stored", done: "is stored", failed: "failed", cancelled: "was cancelled" };

export function Jobs() {
  const { jobs, forget } = useJobs();
  if (jobs.length === 0) return null;
  const end = async (job: Job) => {
    try {
      await endJob(job.job);
      if (job.state !== "running" && job.state !== "queued") forget(job.job);
    } catch (error) {
      toast(reason(error), true);
      forget(job.job);
    }
  };
  return (
    <section className="jobs" aria-label="Uploads">
      {jobs.slice(0, 8).map((job) => {
        const going = job.state === "running" || job.state === "queued";
        return (
          <div key={job.job} className={`job ${job.state}`}>
            <span>{short(job.display_name || `job ${job.job}`, 60)}</span>
            <span className="dim">{WORDS[job.state]}</span>
            {going && <progress aria-label={`Progress of ${job.display_name}`} value={job.progress} max={1} />}
            {going && <span className="mono dim">{percent(job.progress)}, {count(job.events)} events</span>}
            {job.error && <span className="bad">{short(job.error, 300)}</span>}
            {job.notes.length > 0 && <span className="tag warn" title={job.notes.join("\n")}>{job.notes.length} notes</span>}
            <span className="spring" />
            {job.profile && (
              <Button primary onClick={() => go(`/profile/${job.profile}`)}>
                Open
              </Button>
            )}
            <IconButton icon="close" label={going ? `Cancel ${job.display_name}` : `Forget ${job.display_name}`} onClick={() => void end(job)} />
          </div>
        );
      })}
    </section>
  );
}
