// The tab: the run and the tool at the left, what was chosen at the right.

import { useEffect, useState } from "react";
import { isAbort, reason, useServer } from "../api/client";
import { short } from "../format/words";
import { Notice } from "../parts/notice";
import { type Made, type Runs, type Tool, getMade, getRuns } from "./api";
import { chosen, useChoice } from "./choice";
import { NoData } from "./nodata";
import { useTensorBoardTheme } from "./theme";
import { ToolView } from "./tools";

/** Milliseconds between looks at the log directory, and at what is being made. */
const LOOK = 1000;
const PROGRESS = 250;

/** The runs, looked at again and again while the tab is seen. */
function useRuns(): { runs: Runs | null; error: string | null } {
  const [state, setState] = useState<{ runs: Runs | null; error: string | null }>({ runs: null, error: null });
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = "";
    const look = async () => {
      if (!document.hidden) {
        try {
          const runs = await getRuns(stop.signal);
          const text = JSON.stringify(runs);
          // Nothing is drawn again for nothing.
          if (text !== last) setState({ runs, error: null });
          last = text;
        } catch (error) {
          if (isAbort(error)) return;
          last = "";
          setState((before) => ({ ...before, error: reason(error) }));
        }
      }
      if (!stop.signal.aborted) timer = setTimeout(look, LOOK);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, []);
  return state;
}

/** What a tool needs of a run, once it is made. */
function useMade(run: string | null, stamp: string, tool: Tool | null): Made {
  const [made, setMade] = useState<Made & { of: string }>({ state: "working", seconds: 0, of: "" });
  const of = `${run}:${stamp}:${tool}`;
  useEffect(() => {
    if (run === null || tool === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const answer = await getMade(run, tool, stop.signal);
        if (stop.signal.aborted) return;
        setMade({ ...answer, of });
        if (answer.state === "working") timer = setTimeout(ask, PROGRESS);
      } catch (error) {
        if (!isAbort(error)) setMade({ state: "failed", error: reason(error), of });
      }
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [of]);
  return made.of === of ? made : { state: "working", seconds: 0 };
}

export function TensorBoardApp() {
  useTensorBoardTheme();
  const { runs, error } = useRuns();
  const choice = useChoice();
  const away = useServer((s) => s.away);
  const now = runs ? chosen(runs.runs, choice.run, choice.tool) : null;
  const made = useMade(now?.run.run ?? null, now?.run.stamp ?? "", now?.tool ?? null);
  const profiles = made.state === "ready" ? made.profiles : [];
  const table = now?.tool === "operator-framework" || now?.tool === "operator-hlo";
  const profile = profiles.find((one) => one.id === choice.profile)?.id ?? (table ? null : (profiles[0]?.id ?? null));

  if (!runs)
    return (
      <main className="tb-whole">
        {error === null ? <Notice>Looking at the log directory …</Notice> : <Notice kind="bad">{error}</Notice>}
      </main>
    );
  if (!now) return <NoData runs={runs} />;
  return (
    <div className="tb">
      <aside className="tb-side">
        <label>
          Run:
          <select value={now.run.run} title={now.run.name} onChange={(event) => choice.set({ run: runs.runs.find((one) => one.run === event.target.value)?.name ?? null, profile: null })}>
            {runs.runs.map((one) => (
              <option key={one.run} value={one.run}>
                {short(one.name, 120)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Tool:
          <select value={now.tool} onChange={(event) => choice.set({ tool: event.target.value as Tool })}>
            {now.run.tools.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {profiles.length > 1 && (
          <label>
            Profile:
            <select value={profile ?? ""} onChange={(event) => choice.set({ profile: event.target.value || null })}>
              {table && <option value="">all</option>}
              {profiles.map((one) => (
                <option key={one.id} value={one.id}>
                  {short(one.name, 120)}
                </option>
              ))}
            </select>
          </label>
        )}
        {runs.notes.length > 0 && (
          <details className="tb-notes">
            <summary>{runs.notes.length === 1 ? "1 note" : `${runs.notes.length} notes`}</summary>
            <ul>
              {runs.notes.slice(0, 50).map((note) => (
                <li key={note}>{short(note, 300)}</li>
              ))}
            </ul>
          </details>
        )}
        {(away || error !== null) && (
          <p className="bad" role="alert">
            {error ?? "TensorBoard is away. Trying again …"}
          </p>
        )}
      </aside>
      <main className="tb-main" aria-label={now.tool}>
        <ToolView key={`${now.run.run}:${now.tool}:${profile ?? ""}`} run={now.run} tool={now.tool} made={made} profile={profile} />
      </main>
    </div>
  );
}
