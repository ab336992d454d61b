// The scroll bar of the rows: there is no native one, since nothing overflows.

import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { useStore } from "zustand";
import type { Stage } from "./stage";

export function Scrollbar({ stage }: { stage: Stage }) {
  const layout = useStore(stage.ui, (ui) => ui.layout);
  const scroll = useStore(stage.ui, (ui) => ui.scroll);
  const height = useStore(stage.ui, (ui) => ui.height);
  const drag = useRef<{ y: number; scroll: number } | null>(null);
  const room = Math.max(0, height - layout.pinnedHeight);
  const all = layout.freeHeight;
  if (all <= room || room <= 0) return <div className="tl-scroll" />;
  const thumb = Math.max((room / all) * room, 24);
  const top = layout.pinnedHeight + (scroll / (all - room)) * (room - thumb);
  const down = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const box = event.currentTarget.getBoundingClientRect();
    const y = event.clientY - box.top;
    // A press beside the thumb brings it there.
    if (y < top || y > top + thumb) stage.scrollAt(((y - layout.pinnedHeight - thumb / 2) / (room - thumb)) * (all - room));
    drag.current = { y: event.clientY, scroll: stage.ui.getState().scroll };
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    if (drag.current) stage.scrollAt(drag.current.scroll + ((event.clientY - drag.current.y) / (room - thumb)) * (all - room));
  };
  const key = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowUp: -24, ArrowDown: 24, PageUp: -room, PageDown: room, Home: -all, End: all }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    stage.scrollBy(by);
  };
  return (
    <div
      className="tl-scroll"
      role="scrollbar"
      aria-label="Rows"
      aria-orientation="vertical"
      aria-controls="tl-said"
      aria-valuenow={Math.round(scroll)}
      aria-valuemin={0}
      aria-valuemax={Math.round(all - room)}
      tabIndex={0}
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={() => {
        drag.current = null;
      }}
      onKeyDown={key}
    >
      <div style={{ top, height: thumb }} />
    </div>
  );
}
