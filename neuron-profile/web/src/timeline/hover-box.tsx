// The hover box: what is under the pointer, in the colour of the event as in the guide's pictures.

import { useLayoutEffect, useRef } from "react";
import { useStore } from "zustand";
import { useSettings } from "../state/settings";
import { css, inkOn } from "./colour";
import { hitLines } from "./hover-fields";
import type { Stage } from "./stage";

export function HoverBox({ stage }: { stage: Stage }) {
  const hover = useStore(stage.ui, (ui) => ui.hover);
  const shown = useSettings((one) => one.showHoverBox);
  const node = useRef<HTMLDivElement>(null);
  // Beside the pointer, on the side where there is room.
  useLayoutEffect(() => {
    const box = node.current;
    if (!box || !hover) return;
    const { width, height } = stage.ui.getState();
    const [w, h] = [box.offsetWidth, box.offsetHeight];
    const x = hover.x + 16 + w > width ? Math.max(hover.x - 16 - w, 0) : hover.x + 16;
    const y = hover.y + 16 + h > height ? Math.max(hover.y - 16 - h, 0) : hover.y + 16;
    box.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  });
  if (!hover || !shown) return null;
  const { hit, colour, fields } = hover;
  const lane = "lane" in hit ? stage.events.lane(hit.lane) : undefined;
  const place = lane ? `${lane.name} (nc${lane.core})` : "";
  const lines = hitLines(hit, (kind) => stage.kinds.name(kind), place, fields, lane?.table ?? "");
  const style = colour === null ? {} : { backgroundColor: css(colour), color: inkOn(colour) };
  return (
    <div ref={node} className="tl-hover" style={style} aria-hidden="true" data-what={hit.what}>
      {lines.map(([label, value]) => (
        <div key={label}>
          <b>{label}:</b> {value}
        </div>
      ))}
    </div>
  );
}
