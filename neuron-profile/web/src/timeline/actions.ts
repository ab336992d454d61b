// What commands and gestures do: changes of the stores, by way of the stage that knows what is drawn.

import { isAbort } from "../api/client";
import { useAnnotations } from "../state/annotations";
import { useSettings } from "../state/settings";
import { type EventRef, useView } from "../state/view";
import { type Window, PAN_STEP, ZOOM_STEP, around, pan, reveal, span, timeAt, zoomAround } from "./geometry";
import type { Action, Mode, Wheel } from "./gestures";
import { hit, snap } from "./hit";
import type { Command } from "./keys";
import { rowsIn } from "./layout";
import { type Band, drags } from "./drags";
import type { Stage } from "./stage";

/** CSS pixels within which annotations stick to edges of events. */
export const SNAP = 8;

/** Milliseconds without a step after which the next one begins a new zoom to go back from. */
const PAUSE = 700;

/** What another part of the page may listen to: a ctrl+click on an event. */
export const SOURCE_EVENT = "timeline-source";

let lastStep = Number.NEGATIVE_INFINITY;

/** Small steps (wheel, keys, drags) are one zoom to go back from. */
function step(window: Window): void {
  const now = performance.now();
  const view = useView.getState();
  view.zoomTo(window.from, window.to, { record: now - lastStep > PAUSE });
  lastStep = now;
}

/** A jump is a zoom of its own. */
function jump(window: Window): void {
  lastStep = Number.NEGATIVE_INFINITY;
  useView.getState().zoomTo(window.from, window.to, { record: true });
}

const timeOf = (stage: Stage, x: number): number => timeAt(stage.window, stage.ui.getState().width, x);

/** A moment that an annotation gets: stuck to an edge nearby, if that is wished. */
export function annotated(stage: Stage, x: number): number {
  const time = Math.min(Math.max(timeOf(stage, x), 0), stage.subject.total);
  const stuck = useSettings.getState().snap && stage.frame ? snap(stage.frame, time, SNAP) : time;
  return Math.round(stuck);
}

function zoomBy(stage: Stage, factor: number, x: number | null): void {
  const { window } = stage;
  const time = x === null ? (window.from + window.to) / 2 : timeOf(stage, x);
  step(zoomAround(window, time, factor, stage.limits));
}

export function turn(stage: Stage, wheel: Wheel, x: number | null): void {
  if (wheel.do === "zoom") zoomBy(stage, wheel.factor, x);
  else if (wheel.do === "scroll") stage.scrollBy(wheel.pixels);
  else step(pan(stage.window, (wheel.pixels / stage.ui.getState().width) * span(stage.window), stage.limits));
}

export function setMode(stage: Stage, mode: Mode): void {
  stage.gestures.mode = mode;
  stage.ui.setState({ mode });
}

/** Focuses an event and moves the view as little as is needed to see it. */
export function goTo(stage: Stage, event: EventRef): void {
  const seen = reveal(stage.window, event.start, event.end, stage.limits);
  if (seen !== stage.window) step(seen);
  useView.getState().focus(event);
}

/** Walks to the event before or after the focused one; without one to the first that is seen. */
async function walk(stage: Stage, by: 1 | -1): Promise<void> {
  const { focused } = useView.getState();
  const next = focused ? await stage.events.beside(focused, by) : await firstSeen(stage);
  if (next) goTo(stage, next);
}

async function firstSeen(stage: Stage): Promise<EventRef | null> {
  for (const row of stage.frame?.rows ?? []) {
    const lane = row.row.lanes[0];
    if (lane === undefined) continue;
    const { from, to } = stage.window;
    const found = await stage.events.nearest(lane, (from + to) / 2, from, to);
    if (found) return found;
  }
  return null;
}

/** To the event of the lane above or below that is nearest to the focused one in time. */
async function changeLane(stage: Stage, by: 1 | -1): Promise<void> {
  const { focused } = useView.getState();
  if (!focused) return walk(stage, 1);
  const lanes = stage.ui.getState().rows.flatMap((row) => row.lanes);
  const time = (focused.start + focused.end) / 2;
  const { from, to } = stage.window;
  for (let at = lanes.indexOf(focused.lane) + by; at >= 0 && at < lanes.length; at += by) {
    const lane = lanes[at];
    const found = lane === undefined ? null : await stage.events.nearest(lane, time, from, to);
    if (found) return goTo(stage, found);
  }
}

function clear(stage: Stage): void {
  const view = useView.getState();
  if (stage.gestures.cancel()) return drags(stage).show(null);
  if (drags(stage).ruler) return drags(stage).measure(null);
  if (stage.gestures.mode !== "zoom") return setMode(stage, "zoom");
  if (view.selection) return view.select(null);
  view.focus(null);
}

export function run(stage: Stage, command: Command): void {
  const view = useView.getState();
  const at = stage.pointer?.x ?? null;
  const { window, limits } = stage;
  const away = span(window) * PAN_STEP;
  const quiet = (error: unknown) => {
    if (!isAbort(error)) stage.ui.setState({ trouble: error instanceof Error ? error.message : String(error) });
  };
  switch (command) {
    case "zoom-in":
      return zoomBy(stage, ZOOM_STEP, at);
    case "zoom-out":
      return zoomBy(stage, 1 / ZOOM_STEP, at);
    case "pan-left":
      return step(pan(window, -away, limits));
    case "pan-right":
      return step(pan(window, away, limits));
    case "page-up":
      return stage.scrollBy(-stage.ui.getState().height * 0.8);
    case "page-down":
      return stage.scrollBy(stage.ui.getState().height * 0.8);
    case "fit":
      return jump({ from: 0, to: stage.subject.total });
    case "back":
      return view.back();
    case "forward":
      return view.forward();
    case "next-event":
      return void walk(stage, 1).catch(quiet);
    case "previous-event":
      return void walk(stage, -1).catch(quiet);
    case "lane-up":
      return void changeLane(stage, -1).catch(quiet);
    case "lane-down":
      return void changeLane(stage, 1).catch(quiet);
    case "zoom-to-focus":
      if (view.focused) jump(around(view.focused.start, view.focused.end, limits));
      else if (view.selection) jump(view.selection);
      return;
    case "annotate": {
      const time = at !== null ? annotated(stage, at) : (view.focused?.start ?? Math.round((window.from + window.to) / 2));
      useAnnotations.getState().create({ from: time });
      return;
    }
    case "remove": {
      const { active, remove } = useAnnotations.getState();
      if (active) remove([active]);
      return;
    }
    case "box-mode":
      return setMode(stage, stage.gestures.mode === "box" ? "zoom" : "box");
    case "ruler-mode":
      return setMode(stage, stage.gestures.mode === "ruler" ? "zoom" : "ruler");
    case "legend":
      stage.ui.setState({ legend: !stage.ui.getState().legend });
      return stage.redraw();
    case "clear":
      return clear(stage);
  }
}

async function click(stage: Stage, x: number, y: number, ctrl: boolean): Promise<void> {
  if (!stage.frame) return;
  const found = hit(stage.frame, x, y);
  const event = found && (await stage.events.pick(found, timeOf(stage, x)));
  useView.getState().focus(event);
  if (event && ctrl) document.dispatchEvent(new CustomEvent(SOURCE_EVENT, { detail: event }));
}

/** Does what a gesture means. */
export function act(stage: Stage, action: Action): void {
  const { width } = stage.ui.getState();
  if (action.do === "pan") {
    const away = (-action.dx / width) * span(stage.window);
    if (action.first) lastStep = Number.NEGATIVE_INFINITY;
    step(pan(stage.window, away, stage.limits));
    stage.scrollBy(-action.dy);
    return;
  }
  if (action.do === "cancel") return drags(stage).show(null);
  if (action.do === "click") {
    void click(stage, action.at.x, action.at.y, action.ctrl).catch((error: unknown) => {
      stage.ui.setState({ trouble: error instanceof Error ? error.message : String(error) });
    });
    return;
  }
  if (action.do === "annotate") {
    useAnnotations.getState().create({ from: annotated(stage, action.at.x) });
    return;
  }
  const band: Band = { kind: action.do, from: action.from, to: action.to };
  if (!action.done) return drags(stage).show(band);
  drags(stage).show(null);
  const [x0, x1] = [Math.min(action.from.x, action.to.x), Math.max(action.from.x, action.to.x)];
  const [from, to] = [Math.max(timeOf(stage, x0), 0), Math.min(timeOf(stage, x1), stage.subject.total)];
  if (action.do === "zoom") jump({ from, to });
  else if (action.do === "region") {
    useAnnotations.getState().create({ from: annotated(stage, x0), to: annotated(stage, x1) });
  } else if (action.do === "ruler") drags(stage).measure({ from: annotated(stage, action.from.x), to: annotated(stage, action.to.x) });
  else {
    const rows = rowsIn(stage.frame?.rows ?? [], action.from.y, action.to.y);
    const lanes = rows.flatMap((row) => row.row.lanes);
    useView.getState().select({ from: Math.round(from), to: Math.round(to), lanes });
  }
}
