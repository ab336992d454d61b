// The tools. But for the operator tables they are the widgets of the viewer.

import { type ReactNode, Suspense, lazy, useEffect } from "react";
import { Boundary } from "../layout/boundary";
import { Button } from "../parts/controls";
import { Notice } from "../parts/notice";
import { useProfile } from "../state/profile";
import { type Made, type Run, type Tool } from "./api";
import { Operators } from "./operators";
import { TraceView } from "./trace";

const ProfilePage = lazy(async () => ({ default: (await import("../layout/page")).ProfilePage }));
const Dashboard = lazy(() => import("../widgets/dashboard"));
const Summary = lazy(() => import("../widgets/summary"));
const Recommendations = lazy(() => import("../widgets/recommendations"));
const Memory = lazy(() => import("../widgets/memory"));
const Tensors = lazy(() => import("../widgets/tensors"));
const Roofline = lazy(() => import("../widgets/roofline"));

/** A widget as it stands in the viewer's dock. */
function Widget({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section className={`widget widget-${id} tb-widget`} data-widget={title} aria-label={title}>
      <Boundary what={title}>
        <Suspense fallback={<Notice>Loading …</Notice>}>{children}</Suspense>
      </Boundary>
    </section>
  );
}

/** Opens a profile, and shows what it is for once it is open. */
function Opened({ id, children }: { id: string; children: ReactNode }) {
  const { status, error, load, id: open } = useProfile();
  useEffect(() => {
    void load(id);
  }, [id, load]);
  if (open !== id || status === "loading" || status === "none") return <Notice>Loading the profile …</Notice>;
  if (status === "failed")
    return (
      <Notice kind="bad">
        <p>The profile cannot be shown: {error}</p>
        <Button icon="reload" onClick={() => void load(id)}>
          Try again
        </Button>
      </Notice>
    );
  return <>{children}</>;
}

function view(tool: Tool, id: string): ReactNode {
  switch (tool) {
    case "trace":
    case "operator-timeline":
      return (
        <Opened id={id}>
          <TraceView />
        </Opened>
      );
    case "overview":
      return (
        <Opened id={id}>
          <div className="tb-stack">
            <Widget id="dashboard" title="Performance">
              <Dashboard />
            </Widget>
            <div className="tb-pair">
              <Widget id="summary" title="Overall Summary">
                <Summary />
              </Widget>
              <Widget id="recommendations" title="Recommendations">
                <Recommendations />
              </Widget>
            </div>
          </div>
        </Opened>
      );
    case "memory":
      return (
        <Opened id={id}>
          <div className="tb-stack">
            <Widget id="memory" title="Memory Viewer">
              <Memory />
            </Widget>
            <Widget id="tensors" title="Tensor Viewer">
              <Tensors />
            </Widget>
          </div>
        </Opened>
      );
    case "roofline":
      return (
        <Opened id={id}>
          <Widget id="roofline" title="Roofline">
            <Roofline />
          </Widget>
        </Opened>
      );
    default:
      return (
        <Suspense fallback={<Notice>Loading …</Notice>}>
          <ProfilePage id={id} />
        </Suspense>
      );
  }
}

export function ToolView({ run, tool, made, profile }: { run: Run; tool: Tool; made: Made; profile: string | null }) {
  if (made.state === "working") return <Notice>{made.seconds < 1 ? "Loading …" : `Reading the traces of the run: ${Math.floor(made.seconds)} s …`}</Notice>;
  if (made.state === "failed")
    return (
      <Notice kind="bad">
        <p>This run cannot be shown: {made.error}</p>
        <p className="dim">Other runs are not touched by it. It is tried again when its files change.</p>
      </Notice>
    );
  if (tool === "operator-framework" || tool === "operator-hlo")
    return <Operators run={run} of={tool === "operator-hlo" ? "hlo" : "framework"} profile={profile} />;
  if (profile === null) return <Notice kind="bad">The run has no profile.</Notice>;
  return view(tool, profile);
}
