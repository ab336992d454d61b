// The dock: groups of tabs that are dragged, sized, made large and closed.

import {
  DockviewDefaultTab,
  DockviewReact,
  type DockviewReadyEvent,
  type IDockviewHeaderActionsProps,
  type IDockviewPanelHeaderProps,
  type IDockviewPanelProps,
} from "dockview-react";
import "dockview-react/dist/styles/dockview.css";
import { Suspense, useEffect, useState } from "react";
import { IconButton } from "../parts/controls";
import { Notice } from "../parts/notice";
import { Boundary } from "./boundary";
import { widget } from "./catalogue";
import { begin, close } from "./workspace";

function Panel({ api }: IDockviewPanelProps) {
  const known = widget(api.id);
  if (!known) return <Notice kind="bad">This version has no widget "{api.id}".</Notice>;
  const Shown = known.component;
  return (
    <div className={`widget widget-${known.id}`} data-widget={known.title}>
      <Boundary what={known.title}>
        <Suspense fallback={<Notice>Loading …</Notice>}>
          <Shown />
        </Suspense>
      </Boundary>
    </div>
  );
}

/** The dock's own tab, whose closing is a step that can be undone. */
function Tab(props: IDockviewPanelHeaderProps) {
  return <DockviewDefaultTab {...props} closeActionOverride={() => close(props.api.id)} />;
}

function GroupActions({ containerApi, api, activePanel }: IDockviewHeaderActionsProps) {
  const [large, setLarge] = useState(api.isMaximized());
  useEffect(() => {
    const heard = containerApi.onDidMaximizedGroupChange(() => setLarge(api.isMaximized()));
    return () => heard.dispose();
  }, [containerApi, api]);
  return (
    <div className="group-actions">
      <IconButton
        icon="maximise"
        label={large ? "Back to the layout" : `Enlarge ${activePanel?.title ?? "this group"}`}
        pressed={large}
        onClick={() => (large ? api.exitMaximized() : api.maximize())}
      />
    </div>
  );
}

const components = { widget: Panel };
const theme = { name: "neuron", className: "dockview-theme-neuron", gap: 3 };

export function Dock({ layout }: { layout: string | null }) {
  const ready = (event: DockviewReadyEvent) => void begin(event.api, layout);
  return (
    <DockviewReact
      components={components}
      defaultTabComponent={Tab}
      rightHeaderActionsComponent={GroupActions}
      onReady={ready}
      theme={theme}
      disableFloatingGroups
      watermarkComponent={() => <Notice>No widgets. Add one, or load a layout.</Notice>}
    />
  );
}
