// What a widget says when it has nothing to show: it waits, it failed, there is
// nothing, or the data is not in this profile and why.

import type { ReactNode } from "react";
import { Button } from "./controls";
import type { Answer } from "./request";

export function Notice({ children, kind = "plain" }: { children: ReactNode; kind?: "plain" | "bad" }) {
  return (
    <div className={kind === "bad" ? "notice bad" : "notice"} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** Shows an answer, or why there is none. The old one stays while a new one is asked for. */
export function Asked<T>({ answer, what, children }: { answer: Answer<T>; what: string; children: (data: T) => ReactNode }) {
  if (answer.error !== null)
    return (
      <Notice kind="bad">
        <p>
          {what}: {answer.error}
        </p>
        <Button onClick={answer.reload} icon="reload">
          Try again
        </Button>
      </Notice>
    );
  if (answer.data === null) return <Notice>{answer.loading ? `Loading ${what.toLowerCase()} …` : `No ${what.toLowerCase()}.`}</Notice>;
  return <>{children(answer.data)}</>;
}

/** The reason why a table of the schema is not in a profile, as the server tells it. */
export function whyAbsent(absent: Record<string, string> | string[] | undefined, table: string): string {
  const known = Array.isArray(absent) ? undefined : absent?.[table];
  return known ?? "the capture does not have it";
}
