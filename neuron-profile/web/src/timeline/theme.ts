// Colours of the timeline from the CSS variables of the page, so that a theme is in one place.

import { type Packed, mix, pack, parse } from "./colour";
import type { Theme } from "./scene/frame";

/** Values where the page defines none: those of the dark theme. */
const USUAL: Readonly<Record<string, string>> = {
  "--tl-bg": "#141a21",
  "--tl-row-alt": "#171e27",
  "--tl-grid": "#2a323d",
  "--tl-label": "#aab4c0",
  "--tl-axis": "#93a0af",
  "--tl-selection": "#42b4ff",
  "--tl-predecessor": "#ff4d4d",
  "--tl-successor": "#5b6cff",
  "--tl-hit": "#ffe14d",
  "--tl-crosshair": "#7f8c9b",
};

/** Reads them; `get` is `getPropertyValue` of the computed style. */
export function readTheme(get: (name: string) => string): Theme {
  const text = (name: string): string => get(name).trim() || (USUAL[name] ?? "#000000");
  const colour = (name: string): Packed => pack(parse(text(name)));
  const background = colour("--tl-bg");
  const { r, g, b } = parse(text("--tl-bg"));
  const grid = colour("--tl-grid");
  return {
    // What the page calls its theme does not matter, only what is read well on its background.
    shade: r + g + b < 384 ? "dark" : "light",
    background,
    rowAlternate: colour("--tl-row-alt"),
    grid,
    rowLine: mix(background, grid, 0.6),
    label: text("--tl-label"),
    axis: text("--tl-axis"),
    selection: colour("--tl-selection"),
    predecessor: colour("--tl-predecessor"),
    successor: colour("--tl-successor"),
    hit: colour("--tl-hit"),
    focus: pack(parse(r + g + b < 384 ? "#ffffff" : "#000000")),
    font: get("--mono").trim(),
  };
}
