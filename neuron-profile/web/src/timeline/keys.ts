// Keys of the timeline. The same list makes the keyboard map of the help.

export type Command =
  | "zoom-in"
  | "zoom-out"
  | "pan-left"
  | "pan-right"
  | "page-up"
  | "page-down"
  | "fit"
  | "back"
  | "forward"
  | "next-event"
  | "previous-event"
  | "lane-up"
  | "lane-down"
  | "zoom-to-focus"
  | "annotate"
  | "remove"
  | "box-mode"
  | "ruler-mode"
  | "legend"
  | "clear";

export interface Key {
  /** `key` of the event, lower case. */
  readonly key: string;
  readonly shift?: boolean;
  readonly command: Command;
}

export interface Shortcut {
  readonly keys: string;
  readonly what: string;
}

const KEYS: readonly Key[] = [
  { key: "w", command: "zoom-in" },
  { key: "s", command: "zoom-out" },
  { key: "arrowup", command: "zoom-in" },
  { key: "arrowdown", command: "zoom-out" },
  { key: "+", command: "zoom-in" },
  { key: "=", command: "zoom-in" },
  { key: "-", command: "zoom-out" },
  { key: "a", command: "pan-left" },
  { key: "d", command: "pan-right" },
  { key: "arrowleft", command: "pan-left" },
  { key: "arrowright", command: "pan-right" },
  { key: "pageup", command: "page-up" },
  { key: "pagedown", command: "page-down" },
  { key: "0", command: "fit" },
  { key: "home", command: "fit" },
  { key: "[", command: "back" },
  { key: "]", command: "forward" },
  { key: "backspace", command: "back" },
  { key: "arrowright", shift: true, command: "next-event" },
  { key: "arrowleft", shift: true, command: "previous-event" },
  { key: "arrowup", shift: true, command: "lane-up" },
  { key: "arrowdown", shift: true, command: "lane-down" },
  { key: "enter", command: "zoom-to-focus" },
  { key: "f", command: "zoom-to-focus" },
  { key: "m", command: "annotate" },
  { key: "delete", command: "remove" },
  { key: "b", command: "box-mode" },
  { key: "r", command: "ruler-mode" },
  { key: "l", command: "legend" },
  { key: "escape", command: "clear" },
];

/** What the help says. */
export const SHORTCUTS: readonly Shortcut[] = [
  { keys: "drag", what: "zoom to the range" },
  { keys: "wheel, W / S, ↑ / ↓, + / −", what: "zoom around the pointer" },
  { keys: "drag the axis, shift+wheel, A / D, ← / →", what: "pan" },
  { keys: "wheel over the labels, alt+wheel, PgUp / PgDn", what: "scroll the rows" },
  { keys: "0, double click", what: "whole profile" },
  { keys: "[ / ], Backspace", what: "back and forward through zooms" },
  { keys: "click", what: "event details and dependencies" },
  { keys: "ctrl+click", what: "the source line of an event" },
  { keys: "shift+← / →", what: "event before, event after in the lane" },
  { keys: "shift+↑ / ↓", what: "lane above, lane below" },
  { keys: "Enter, F", what: "zoom to the focused event" },
  { keys: "shift+drag, B", what: "box selection" },
  { keys: "alt+drag, R", what: "ruler" },
  { keys: "right click, M", what: "annotation; drag with the right button for a region" },
  { keys: "Delete", what: "delete the active annotation" },
  { keys: "L", what: "legend" },
  { keys: "Esc", what: "clear ruler, selection, focus" },
];

export function command(event: {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const key = event.key.toLowerCase();
  const found = KEYS.find((one) => one.key === key && (one.shift ?? false) === event.shiftKey);
  // `+` needs shift on many keyboards.
  return (found ?? (key === "+" ? KEYS.find((one) => one.key === "+") : undefined))?.command ?? null;
}
