// The timeline and its minimap. They read and write the stores of ../state, and nothing else of the page.

import { useMemo } from "react";
import { useProfile } from "../state/profile";
import { Overview } from "./minimap";
import { Plot } from "./plot";
import type { Subject } from "./stage";
import "./timeline.css";

export { SOURCE_EVENT } from "./actions";
export { SHORTCUTS } from "./keys";

/** The loaded profile as the timeline needs it; null while there is none. */
function useSubject(): Subject | null {
  const { id, status, lanes, names, series, totalNs } = useProfile();
  return useMemo(
    () => (id !== null && status === "ready" ? { id, lanes, names, series, total: Math.max(totalNs, 1) } : null),
    [id, status, lanes, names, series, totalNs],
  );
}

export function Timeline() {
  const subject = useSubject();
  if (!subject) return <div className="tl tl-none" />;
  if (subject.lanes.length === 0) return <div className="tl tl-none">This profile has no events: there is nothing to draw.</div>;
  return <Plot key={subject.id} subject={subject} />;
}

export function Minimap() {
  const subject = useSubject();
  return subject && subject.lanes.length > 0 ? <Overview key={subject.id} subject={subject} /> : null;
}
