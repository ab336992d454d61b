// The plot as a component: hosts the stage, and hands pointer, wheel and keys to it.

import { type PointerEvent, type KeyboardEvent, type MouseEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { act, run, turn } from "./actions";
import { Annotations } from "./annotations";
import { Above } from "./above";
import { wheel } from "./gestures";
import { Gutter } from "./gutter";
import { HoverBox } from "./hover-box";
import { command } from "./keys";
import { Legend } from "./legend-box";
import { Scrollbar } from "./scrollbar";
import { Stage, type Subject } from "./stage";
import { Toolbar } from "./toolbar";
import type { Wanted } from "./canvases";

/** `?renderer=webgl` or `?renderer=raster` overrules the choice, to find out what a machine draws faster. */
function wantedRenderer(): Wanted {
  const asked = new URLSearchParams(window.location.search).get("renderer");
  return asked === "webgl" || asked === "raster" ? asked : "auto";
}

interface Hosted extends HTMLDivElement {
  timeline?: Stage;
}

function place(event: { clientX: number; clientY: number }, of: Element): { x: number; y: number } {
  const box = of.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

export function Plot({ subject }: { subject: Subject }) {
  const root = useRef<Hosted>(null);
  const plot = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLDivElement>(null);
  const [stage, setStage] = useState<Stage | null>(null);

  useEffect(() => {
    const [host, area, below] = [root.current, plot.current, axis.current];
    if (!host || !area || !below) return;
    const made = new Stage(subject, host, area, below, wantedRenderer());
    // Tests and measurements reach the stage by its element.
    host.timeline = made;
    setStage(made);
    const sizes = new ResizeObserver(() => made.resize(area.clientWidth, area.clientHeight));
    sizes.observe(area);
    // A window that moves to a screen of another density changes no size.
    const density = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const denser = () => made.resize(area.clientWidth, area.clientHeight);
    density.addEventListener("change", denser);
    return () => {
      sizes.disconnect();
      density.removeEventListener("change", denser);
      delete host.timeline;
      made.dispose();
      setStage(null);
    };
  }, [subject]);

  // React listens to wheels passively, and then the page would scroll too.
  useEffect(() => {
    const host = root.current;
    if (!stage || !host) return;
    const turned = (event: WheelEvent) => {
      const target = event.target as Element;
      const area = target.closest(".tl-gutter") ? "gutter" : target.closest(".tl-axis") ? "axis" : "plot";
      if (target.closest(".tl-legend, .tl-toolbar")) return;
      const what = wheel(event, area);
      if (!what) return;
      event.preventDefault();
      turn(stage, what, area === "gutter" || !plot.current ? null : place(event, plot.current).x);
    };
    host.addEventListener("wheel", turned, { passive: false });
    return () => host.removeEventListener("wheel", turned);
  }, [stage]);

  const down = (area: "plot" | "axis") => (event: PointerEvent<HTMLElement>) => {
    if (!stage || !plot.current || event.button > 2) return;
    if ((event.target as Element).closest("button, input, .tl-handle, .tl-legend, .tl-toolbar")) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    plot.current.focus({ preventScroll: true });
    const { shiftKey: shift, altKey: alt } = event;
    const ctrl = event.ctrlKey || event.metaKey;
    stage.gestures.down({ ...place(event, plot.current), area, button: event.button, shift, ctrl, alt });
    event.preventDefault();
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    if (!stage || !plot.current) return;
    const at = place(event, plot.current);
    const action = stage.gestures.move(at);
    if (action) act(stage, action);
    const over = (event.target as Element).closest(".tl-legend, .tl-toolbar");
    stage.point(over || at.y < 0 || at.y >= plot.current.clientHeight ? null : at);
  };
  const up = (event: PointerEvent<HTMLElement>) => {
    if (!stage || !plot.current) return;
    const action = stage.gestures.up(place(event, plot.current));
    if (action) act(stage, action);
  };
  const cancel = () => {
    const action = stage?.gestures.cancel();
    if (stage && action) act(stage, action);
  };
  const key = (event: KeyboardEvent<HTMLElement>) => {
    if (!stage || (event.target as Element).closest("input, textarea, select")) return;
    // Buttons keep their own keys.
    if ((event.target as Element).closest("button") && (event.key === "Enter" || event.key === " ")) return;
    const what = command(event);
    if (!what) return;
    event.preventDefault();
    event.stopPropagation();
    run(stage, what);
  };
  const menu = (event: MouseEvent) => event.preventDefault();
  const fit = (event: MouseEvent) => {
    if (stage && !(event.target as Element).closest("button, input, .tl-handle, .tl-legend, .tl-toolbar")) run(stage, "fit");
  };

  return (
    <div ref={root} className="tl" onKeyDown={key}>
      <div className="tl-body">
        {stage && <Gutter stage={stage} />}
        <div
          ref={plot}
          className="tl-plot"
          role="application"
          aria-roledescription="timeline"
          aria-label="Device timeline"
          aria-describedby="tl-said"
          tabIndex={0}
          onPointerDown={down("plot")}
          onPointerMove={move}
          onPointerUp={up}
          onPointerCancel={cancel}
          onPointerLeave={() => stage?.point(null)}
          onContextMenu={menu}
          onDoubleClick={fit}
        >
          {stage && <Above stage={stage} />}
          {stage && <Annotations stage={stage} />}
          {stage && <HoverBox stage={stage} />}
          {stage && <Legend stage={stage} />}
          {stage && <Toolbar stage={stage} />}
        </div>
        {stage && <Scrollbar stage={stage} />}
      </div>
      <div
        ref={axis}
        className="tl-axis"
        onPointerDown={down("axis")}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={cancel}
        onDoubleClick={fit}
        onContextMenu={menu}
      />
      {stage && <Busy stage={stage} of={plot} />}
      {stage && <Said stage={stage} />}
    </div>
  );
}

/** Says of the plot whether what it shows is still being loaded. */
function Busy({ stage, of }: { stage: Stage; of: RefObject<HTMLDivElement | null> }) {
  const settled = useStore(stage.ui, (ui) => ui.settled);
  useEffect(() => of.current?.setAttribute("aria-busy", String(!settled)), [settled, of]);
  return null;
}

function Said({ stage }: { stage: Stage }) {
  const said = useStore(stage.ui, (ui) => ui.said);
  const trouble = useStore(stage.ui, (ui) => ui.trouble);
  return (
    <>
      <output id="tl-said" className="tl-said" aria-live="polite">
        {said}
      </output>
      {trouble && (
        <p className="tl-trouble" role="status">
          {trouble}
        </p>
      )}
    </>
  );
}
