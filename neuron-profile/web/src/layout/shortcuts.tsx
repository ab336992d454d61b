// Keys of the page, in one table: it is what is listened to and what `?` shows.
// The timeline and the tables have keys of their own, which are only shown here.

import { useEffect } from "react";
import { Dialog } from "../parts/dialog";
import { SHORTCUTS } from "../timeline";
import { useUndo } from "../state/undo";
import { useView } from "../state/view";
import { show } from "./workspace";

interface Shortcut {
  /** As `event.key`; with `ctrl` Ctrl or Cmd has to be held. */
  key: string;
  ctrl?: boolean;
  shift?: boolean;
  about: string;
  run: () => void;
}

export interface Keyed {
  help: () => void;
  focusMode: () => void;
  addWidget: () => void;
}

export function shortcuts(on: Keyed): Shortcut[] {
  return [
    { key: "?", about: "This list", run: on.help },
    { key: "/", about: "Search", run: () => show("search") },
    { key: "f", ctrl: true, about: "Search", run: () => show("search") },
    { key: "z", ctrl: true, about: "Undo", run: () => useUndo.getState().undo() },
    { key: "z", ctrl: true, shift: true, about: "Redo", run: () => useUndo.getState().redo() },
    { key: "y", ctrl: true, about: "Redo", run: () => useUndo.getState().redo() },
    { key: "[", about: "Zoom before this one", run: () => useView.getState().back() },
    { key: "]", about: "Zoom after this one", run: () => useView.getState().forward() },
    { key: "\\", about: "Focus mode: the widgets alone", run: on.focusMode },
    { key: "+", ctrl: true, shift: true, about: "Add a widget", run: on.addWidget },
  ];
}

const ELSEWHERE: readonly { where: string; keys: readonly (readonly [string, string])[] }[] = [
  { where: "Timeline", keys: SHORTCUTS.map(({ keys, what }) => [keys, what] as const) },
  {
    where: "Tables",
    keys: [
      ["↑ ↓ Page Home End", "Walk the rows"],
      ["→ ←", "Open and close a row"],
      ["Enter", "Show the row in the timeline"],
      ["Shift and a click on a head", "Sort by several columns"],
    ],
  },
  {
    where: "Code",
    keys: [
      ["click, Shift and click", "Show the events of a line, or of several"],
      ["Ctrl and Shift and G", "Zoom to them"],
    ],
  },
];

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Listens to the keys while the page is there. */
export function useShortcuts(on: Keyed) {
  useEffect(() => {
    const table = shortcuts(on);
    const pressed = (event: KeyboardEvent) => {
      const held = event.ctrlKey || event.metaKey;
      if (event.defaultPrevented || event.altKey || (typing(event.target) && !(held && event.key !== "z" && event.key !== "y"))) return;
      const found = table.find(
        (one) =>
          one.key.toLowerCase() === event.key.toLowerCase() &&
          (one.ctrl ?? false) === held &&
          (one.shift === undefined ? !(held && event.shiftKey) : one.shift === event.shiftKey),
      );
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [on]);
}

function Keys({ where, keys }: { where: string; keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{where}</h3>
      <dl className="keys">
        {keys.map(([key, about]) => (
          <div key={key + about}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function ShortcutHelp({ on, onClose }: { on: Keyed; onClose: () => void }) {
  const page = shortcuts(on).map((one) => {
    const name = [one.ctrl && "Ctrl", one.shift && "Shift", one.key.length === 1 ? one.key.toUpperCase() : one.key];
    return [name.filter(Boolean).join(" and "), one.about] as const;
  });
  return (
    <Dialog title="Keys" onClose={onClose} wide>
      <div className="key-columns">
        <Keys where="Everywhere" keys={page} />
        {ELSEWHERE.map((one) => (
          <Keys key={one.where} {...one} />
        ))}
        <section>
          <h3>Colours of dependencies</h3>
          <dl className="keys">
            <div>
              <dt><span className="swatch predecessor" /></dt>
              <dd>The event waited for these</dd>
            </div>
            <div>
              <dt><span className="swatch successor" /></dt>
              <dd>These waited for the event</dd>
            </div>
            <div>
              <dt><span className="swatch hit" /></dt>
              <dd>Found by the search</dd>
            </div>
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
