// The legend: what the visible colours mean. Pointing at one dims the others.

import { useEffect, useState } from "react";
import { useStore } from "zustand";
import { type ColourBy, useSettings } from "../state/settings";
import { css } from "./colour";
import type { Stage } from "./stage";
import { quantity } from "./ticks";

const SCHEMES: readonly (readonly [ColourBy, string])[] = [
  ["name", "Opcode"],
  ["operator", "Operator"],
  ["layer", "Layer"],
  ["engine", "Engine"],
  ["rules", "My rules"],
];

export function Legend({ stage }: { stage: Stage }) {
  const shown = useStore(stage.ui, (ui) => ui.legend);
  const entries = useStore(stage.ui, (ui) => ui.entries);
  const colourBy = useSettings((one) => one.colourBy);
  const [kept, setKept] = useState<string | null>(null);
  const choose = (label: string | null) => {
    stage.scheme.choose(label);
    stage.redraw();
  };
  useEffect(() => {
    if (!shown) {
      setKept(null);
      choose(null);
    }
  }, [shown]);
  if (!shown) return null;
  return (
    <section className="tl-legend" aria-label="Legend">
      <label>
        Colour by{" "}
        <select value={colourBy === "opcode" ? "name" : colourBy} onChange={(event) => useSettings.getState().set({ colourBy: event.target.value as ColourBy })}>
          {SCHEMES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <ul>
        {entries.map((entry) => (
          <li key={entry.label}>
            <button
              type="button"
              aria-pressed={kept === entry.label}
              title={entry.label}
              onPointerEnter={() => choose(entry.label)}
              onPointerLeave={() => choose(kept)}
              onClick={() => {
                const next = kept === entry.label ? null : entry.label;
                setKept(next);
                choose(next);
              }}
            >
              <i style={{ backgroundColor: css(entry.colour) }} />
              <span>{entry.label}</span>
              <em>{quantity(entry.share, "share")}</em>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
