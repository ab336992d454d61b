// The page of a profile.

import { useEffect, useMemo, useState } from "react";
import { Button } from "../parts/controls";
import { Notice } from "../parts/notice";
import { noteRecent } from "../manager/folders";
import { go } from "../router";
import { embedded } from "../state/embedded";
import { useAnnotations } from "../state/annotations";
import { find } from "../state/find";
import { goTo, useToast } from "../state/goto";
import { keepAnnotations } from "../state/keep";
import { useProfile } from "../state/profile";
import { useSettings } from "../state/settings";
import { type UrlState, followStores, parseUrl, useRun } from "../state/url";
import { useView } from "../state/view";
import { AddWidget } from "./addwidget";
import { Dock } from "./dock";
import { followOthers } from "./follow";
import { ShortcutHelp, useShortcuts } from "./shortcuts";
import { Topbar } from "./topbar";
import { useWorkspace } from "./workspace";

/** Puts the stores as the link has them. */
function open(url: UrlState) {
  const view = useView.getState();
  if (url.range) view.zoomTo(url.range.from, url.range.to);
  if (url.box) view.select(url.box);
  if (url.colour) useSettings.getState().set({ colourBy: url.colour });
  if (url.event) void goTo(url.event.table, url.event.row, url.range === null);
  if (url.search) void find(url.search.table, url.search.query);
  if (url.annotation) useAnnotations.getState().setActive(url.annotation);
  useRun.setState({ run: url.run });
}

export function ProfilePage({ id }: { id: string }) {
  const { status, error, load, profile } = useProfile();
  const [adding, setAdding] = useState(false);
  const [helping, setHelping] = useState(false);
  const [focus, setFocus] = useState(embedded());
  const toast = useToast();
  const tabBars = useSettings((s) => s.tabBars);
  // As the page was opened: later it follows the stores.
  const url = useMemo(() => parseUrl(window.location.hash), [id]);
  const keyed = useMemo(
    () => ({ help: () => setHelping(true), focusMode: () => setFocus((on) => !on), addWidget: () => setAdding(true) }),
    [],
  );
  useShortcuts(keyed);

  useEffect(() => {
    void load(id);
  }, [id, load]);

  useEffect(() => {
    if (status !== "ready") return;
    noteRecent(id);
    let stops: (() => void)[] = [];
    let gone = false;
    void keepAnnotations(id).then((stop) => {
      if (gone) return stop();
      open(url);
      stops = [stop, followStores(() => saved()), followOthers(id)];
    });
    return () => {
      gone = true;
      for (const stop of stops) stop();
    };
  }, [status, id, url]);

  useEffect(() => {
    document.title = profile ? `${profile.display_name.slice(0, 120)} – neuron-profile` : "neuron-profile";
  }, [profile]);

  if (status === "failed")
    return (
      <main className="page centre">
        <Notice kind="bad">
          <p>The profile cannot be shown: {error}</p>
          <Button icon="reload" onClick={() => void load(id)}>
            Try again
          </Button>
          <Button icon="list" onClick={() => go("/")}>
            All profiles
          </Button>
        </Notice>
      </main>
    );
  return (
    <div className={`${focus ? "page focus" : "page"} tabs-${tabBars}`}>
      {!focus && <Topbar onAdd={() => setAdding(true)} onHelp={() => setHelping(true)} onFocusMode={() => setFocus(true)} />}
      <main className="dock">{status === "ready" ? <Dock layout={url.layout} /> : <Notice>Loading the profile …</Notice>}</main>
      {adding && <AddWidget onClose={() => setAdding(false)} />}
      {helping && <ShortcutHelp on={keyed} onClose={() => setHelping(false)} />}
      {toast.text && (
        <div className={toast.bad ? "toast bad" : "toast"} role={toast.bad ? "alert" : "status"}>
          {toast.text}
        </div>
      )}
    </div>
  );
}

/** The layout that a link names: one that others have too. */
function saved(): string | null {
  const { name } = useWorkspace.getState();
  return name === "Default" || name === "System" ? null : name;
}
