// The bar of a profile: its name, steps back and forward, widgets, layouts,
// what the page has to say, theme.

import { useState } from "react";
import { useServer } from "../api/client";
import { inTensorBoard } from "../api/root";
import { changeProfile } from "../api/profiles";
import { count, moment, time } from "../format/number";
import { short } from "../format/words";
import { Button, IconButton } from "../parts/controls";
import { AskName, Confirm, Dialog } from "../parts/dialog";
import { MenuItem, Pop } from "../parts/menu";
import { go } from "../router";
import { toast } from "../state/goto";
import { useKept } from "../state/keep";
import { useProfile } from "../state/profile";
import { useResting } from "../state/resting";
import { type Shared, shared } from "../state/shared";
import { useUndo } from "../state/undo";
import { runUrl, useRun } from "../state/url";
import { useView } from "../state/view";
import { ExportDialog } from "./exporting";
import { ProfileFacts } from "./facts";
import { nextTheme } from "./theme";
import { builtinNames, load, remove, save, useWorkspace } from "./workspace";

function LayoutMenu() {
  const { name, names, error } = useWorkspace();
  const [asking, setAsking] = useState(false);
  const [deleting, setDeleting] = useState<string | null>(null);
  return (
    <>
      <Pop label="Layouts" icon="list" text={short(name, 20)}>
        {(close) => (
          <div className="menu-scroll">
            {builtinNames.map((one) => (
              <MenuItem key={one} onClick={() => (close(), void load(one))}>
                {one}
              </MenuItem>
            ))}
            {names.length > 0 && <hr />}
            {names.map((one) => (
              <div className="menu-row" key={one}>
                <MenuItem onClick={() => (close(), void load(one))}>{short(one, 40)}</MenuItem>
                <IconButton icon="trash" label={`Delete layout ${one}`} onClick={() => (close(), setDeleting(one))} />
              </div>
            ))}
            <hr />
            <MenuItem onClick={() => (close(), setAsking(true))}>Save as …</MenuItem>
            {names.includes(name) && <MenuItem onClick={() => (close(), void save(name))}>Save "{short(name, 24)}"</MenuItem>}
            {error && <p className="bad small">{error}</p>}
          </div>
        )}
      </Pop>
      {asking && (
        <AskName title="Save this layout" label="Name" action="Save" onDone={(one) => void save(one)} onClose={() => setAsking(false)} />
      )}
      {deleting && (
        <Confirm
          title="Delete layout"
          text={`The layout "${deleting}" is deleted for all profiles.`}
          action="Delete"
          onDone={() => void remove(deleting)}
          onClose={() => setDeleting(null)}
        />
      )}
    </>
  );
}

/** What a file with a profile inside says of itself. */
function fileNotes(file: Shared): string[] {
  const { window, made_by, left_out } = file;
  const what = window.whole ? "all events" : `the events from ${moment(window.from)} to ${moment(window.to)}`;
  return [
    `This page is a file that neuron-profile ${made_by} wrote: it has ${what} of the profile (${count(window.events)}), asks no server, and SQL needs one. Annotations that are made here stay in this browser.`,
    ...left_out.map((text) => `Not in this file: ${text}.`),
  ];
}

/** What is wrong with the profile or the connection. */
function Bell() {
  const profile = useProfile((s) => s.profile);
  const kept = useKept();
  const notes = [...(profile?.notes ?? [])];
  const file = shared();
  if (file) notes.unshift(...fileNotes(file));
  if (profile?.simulated) notes.unshift("This profile is of the software NeuronCore: simulated.");
  if (kept.state === "failed") notes.push(`Annotations are only in this browser: ${kept.error}`);
  return (
    <span className={notes.length > 0 ? "bell dot" : "bell"}>
      <Pop label={notes.length > 0 ? `${notes.length} notes about this profile` : "No notes about this profile"} icon="bell">
        {() => (
          <div className="menu-text">
            {notes.length === 0 ? <p>Nothing to note.</p> : notes.map((note) => <p key={note}>{short(note, 2000)}</p>)}
          </div>
        )}
      </Pop>
    </span>
  );
}

function Rename({ onClose }: { onClose: () => void }) {
  const profile = useProfile((s) => s.profile);
  if (!profile) return null;
  const done = async (display_name: string) => {
    try {
      await changeProfile(profile.id, { display_name });
      useProfile.setState({ profile: { ...profile, display_name } });
    } catch (error) {
      toast(String(error), true);
    }
  };
  return (
    <AskName title="Rename profile" label="Name" action="Rename" initial={profile.display_name} maxLength={150} onDone={done} onClose={onClose} />
  );
}

/** What is seen, in words. */
function SeenRange() {
  const { from, to, total } = useResting();
  const whole = from === 0 && to === total;
  return (
    <span className="dim mono range" title={`${moment(from)} to ${moment(to)}`}>
      {whole ? time(total) : `${time(from)} + ${time(to - from)}`}
    </span>
  );
}

interface Props {
  onAdd: () => void;
  onHelp: () => void;
  onFocusMode: () => void;
}

export function Topbar({ onAdd, onHelp, onFocusMode }: Props) {
  const profile = useProfile((s) => s.profile);
  const past = useView((s) => s.past.length);
  const future = useView((s) => s.future.length);
  const { back, forward } = useView.getState();
  const { done, undone, undo, redo } = useUndo();
  const away = useServer((s) => s.away);
  const run = useRun((s) => s.run);
  const [facts, setFacts] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const [exporting, setExporting] = useState(false);
  const last = done[done.length - 1];
  const next = undone[undone.length - 1];
  return (
    <header className="topbar">
      {shared() ? (
        <span className="brand">neuron-profile</span>
      ) : (
        <button type="button" className="brand" onClick={() => go("/")} title="All profiles">
          neuron-profile
        </button>
      )}
      {profile && (
        <>
          <button type="button" className="profile-name tip" onClick={() => setFacts(true)} title="About this profile">
            {short(profile.display_name, 60)}
          </button>
          {!inTensorBoard && !shared() && <IconButton icon="pencil" label="Rename profile" onClick={() => setRenaming(true)} />}
          {shared() && (
            <span className="tag" title={fileNotes(shared()!).join("\n")}>
              {shared()?.window.whole ? "file" : "file with a part"}
            </span>
          )}
          {run && !shared() && !inTensorBoard && (
            <Button icon="left" onClick={() => go(runUrl(run))} title="Back to the run that this device profile is of">
              Run
            </Button>
          )}
          {profile.simulated && <span className="tag warn">simulated</span>}
        </>
      )}
      <span className="spring" />
      {away && (
        <span className="tag bad" role="alert">
          The server is away. Trying again …
        </span>
      )}
      <SeenRange />
      <IconButton icon="left" label="Zoom before this one" disabled={past === 0} onClick={back} />
      <IconButton icon="right" label="Zoom after this one" disabled={future === 0} onClick={forward} />
      <IconButton icon="undo" label={last ? `Undo: ${last.label}` : "Nothing to undo"} disabled={!last} onClick={undo} />
      <IconButton icon="redo" label={next ? `Redo: ${next.label}` : "Nothing to redo"} disabled={!next} onClick={redo} />
      <IconButton icon="download" label="Save what is seen, or copy the link to it" onClick={() => setExporting(true)} />
      <Button primary icon="plus" onClick={onAdd}>
        Add widget
      </Button>
      <LayoutMenu />
      <Bell />
      <IconButton icon="focus" label="Focus mode" onClick={onFocusMode} />
      <IconButton icon="theme" label="Dark, light, or as the system" onClick={nextTheme} />
      <IconButton icon="help" label="Keys" onClick={onHelp} />
      {facts && (
        <Dialog title="About this profile" onClose={() => setFacts(false)} wide>
          <ProfileFacts />
        </Dialog>
      )}
      {exporting && <ExportDialog onClose={() => setExporting(false)} />}
      {renaming && <Rename onClose={() => setRenaming(false)} />}
    </header>
  );
}
