// Buttons of the timeline, at its right top as in the guide: box selection, ruler, back and forward, zoom, fit,
// legend, pictures.

import { useStore } from "zustand";
import { useProfile } from "../state/profile";
import { useSettings } from "../state/settings";
import { useView } from "../state/view";
import { run, setMode } from "./actions";
import { change } from "./gutter";
import type { Command } from "./keys";
import { pngOf, save, svgOf } from "./picture";
import type { Stage } from "./stage";

const PATHS = {
  box: "M3 3h10v10H3z",
  ruler: "M2 6h12v4H2zM5 6v2M8 6v2M11 6v2",
  back: "M10 4L6 8l4 4",
  forward: "M6 4l4 4-4 4",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  legend: "M3 4h2M3 8h2M3 12h2M7 4h6M7 8h6M7 12h6",
  picture: "M2 3h12v10H2zM2 11l4-4 3 3 2-2 3 3",
} as const;

function Button(props: {
  icon: keyof typeof PATHS;
  label: string;
  pressed?: boolean;
  disabled?: boolean;
  text?: string;
  onClick(): void;
}) {
  return (
    <button
      type="button"
      aria-label={props.label}
      title={props.label}
      aria-pressed={props.pressed}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      <svg viewBox="0 0 16 16" width="13" height="13" fill="none" stroke="currentColor" strokeWidth="1.4" aria-hidden="true">
        <path d={PATHS[props.icon]} />
      </svg>
      {props.text}
    </button>
  );
}

export function Toolbar({ stage }: { stage: Stage }) {
  const mode = useStore(stage.ui, (ui) => ui.mode);
  const legend = useStore(stage.ui, (ui) => ui.legend);
  const past = useView((view) => view.past.length > 0);
  const future = useView((view) => view.future.length > 0);
  const hidden = useSettings((one) => one.hiddenRows.length);
  const title = () => useProfile.getState().profile?.display_name ?? "timeline";
  const file = (ending: string) => `${title().replace(/[^\w.-]+/g, "_").slice(0, 80) || "timeline"}.${ending}`;
  const do_ = (command: Command) => () => run(stage, command);
  const toggle = (wanted: "box" | "ruler") => () => setMode(stage, mode === wanted ? "zoom" : wanted);
  const png = async () => {
    const blob = await pngOf(stage);
    if (blob) save(blob, file("png"));
  };
  const vector = () => {
    const blob = svgOf(stage, title());
    if (blob) save(blob, file("svg"));
  };
  return (
    <div className="tl-toolbar" role="toolbar" aria-label="Timeline">
      {hidden > 0 && (
        <Button
          icon="legend"
          label={`Show ${hidden} hidden row${hidden === 1 ? "" : "s"}`}
          text={`${hidden} hidden`}
          onClick={() => change("show hidden rows", { hiddenRows: [] })}
        />
      )}
      <Button icon="box" label="Box selection (B, or shift+drag)" pressed={mode === "box"} onClick={toggle("box")} />
      <Button icon="ruler" label="Ruler (R, or alt+drag)" pressed={mode === "ruler"} onClick={toggle("ruler")} />
      <Button icon="back" label="Back ([)" disabled={!past} onClick={do_("back")} />
      <Button icon="forward" label="Forward (])" disabled={!future} onClick={do_("forward")} />
      <Button icon="plus" label="Zoom in (W)" onClick={do_("zoom-in")} />
      <Button icon="minus" label="Zoom out (S)" onClick={do_("zoom-out")} />
      <Button icon="fit" label="Whole profile (0)" onClick={do_("fit")} />
      <Button icon="legend" label="Legend (L)" pressed={legend} onClick={do_("legend")} />
      <Button icon="picture" label="Save as PNG" text="PNG" onClick={() => void png()} />
      <Button icon="picture" label="Save as SVG" text="SVG" onClick={vector} />
    </div>
  );
}
