// What a hand does with the pointer, as actions. A small state machine without a DOM: presses, moves and releases go
// in, what they mean comes out.

/** What a plain drag across the plot does; modifiers choose the others at any time. */
export type Mode = "zoom" | "box" | "ruler" | "pan";

export interface Point {
  /** CSS pixels from the left top of the plot. */
  readonly x: number;
  readonly y: number;
}

export interface Modifiers {
  readonly shift: boolean;
  readonly ctrl: boolean;
  readonly alt: boolean;
}

export interface Press extends Point, Modifiers {
  readonly area: "plot" | "axis";
  /** 0 left, 1 middle, 2 right. */
  readonly button: number;
}

export type Action =
  | { readonly do: "click"; readonly at: Point; readonly ctrl: boolean }
  | { readonly do: "zoom" | "box" | "ruler" | "region"; readonly from: Point; readonly to: Point; readonly done: boolean }
  | { readonly do: "pan"; readonly dx: number; readonly dy: number; readonly first: boolean }
  | { readonly do: "annotate"; readonly at: Point }
  | { readonly do: "cancel" };

type Kind = "zoom" | "box" | "ruler" | "region" | "pan";

/** CSS pixels that a press may move and still is a click. */
export const CLICK = 4;

export class Gestures {
  mode: Mode = "zoom";
  private press: Press | null = null;
  private last: Point = { x: 0, y: 0 };
  private moved = false;
  private panned = false;

  get active(): boolean {
    return this.press !== null;
  }

  /** Whether something is being dragged. */
  get dragging(): boolean {
    return this.press !== null && this.moved;
  }

  private kind(press: Press): Kind {
    if (press.area === "axis" || press.button === 1) return "pan";
    if (press.button === 2) return "region";
    if (press.shift) return "box";
    if (press.alt) return "ruler";
    return this.mode;
  }

  down(press: Press): void {
    this.press = press;
    this.last = press;
    this.moved = false;
    this.panned = false;
  }

  move(to: Point): Action | null {
    const { press } = this;
    if (!press) return null;
    this.moved ||= Math.hypot(to.x - press.x, to.y - press.y) >= CLICK;
    if (!this.moved) return null;
    const kind = this.kind(press);
    if (kind !== "pan") return { do: kind, from: press, to, done: false };
    const first = !this.panned;
    // The axis has no rows to scroll.
    const dy = press.area === "axis" ? 0 : to.y - this.last.y;
    const action: Action = { do: "pan", dx: to.x - this.last.x, dy, first };
    this.last = to;
    this.panned = true;
    return action;
  }

  up(to: Point): Action | null {
    const { press, moved } = this;
    this.press = null;
    if (!press) return null;
    const kind = this.kind(press);
    if (!moved) {
      if (press.area === "axis") return null;
      if (press.button === 2) return { do: "annotate", at: press };
      return press.button === 0 ? { do: "click", at: press, ctrl: press.ctrl } : null;
    }
    return kind === "pan" ? null : { do: kind, from: press, to, done: true };
  }

  /** Gives up what is being done, as when Escape is pressed. */
  cancel(): Action | null {
    const was = this.press !== null;
    this.press = null;
    return was ? { do: "cancel" } : null;
  }
}

/** What a turn of the wheel does. Deltas in CSS pixels, as the browser says them for `deltaMode` 0. */
export type Wheel =
  | { readonly do: "zoom"; readonly factor: number }
  | { readonly do: "pan"; readonly pixels: number }
  | { readonly do: "scroll"; readonly pixels: number };

export function wheel(
  event: { deltaX: number; deltaY: number; deltaMode: number; shiftKey: boolean; ctrlKey: boolean; altKey: boolean },
  area: "plot" | "axis" | "gutter",
): Wheel | null {
  const unit = event.deltaMode === 1 ? 32 : event.deltaMode === 2 ? 400 : 1;
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (dx === 0 && dy === 0) return null;
  if (area === "gutter" || (event.altKey && !event.ctrlKey)) return { do: "scroll", pixels: dy || dx };
  // Some browsers turn the wheel sideways themselves where shift is held.
  if (event.shiftKey) return { do: "pan", pixels: dy || dx };
  if (Math.abs(dx) > Math.abs(dy)) return { do: "pan", pixels: dx };
  // A pinch of a touchpad comes as small steps with ctrl.
  const speed = event.ctrlKey ? 0.01 : 0.0025;
  return { do: "zoom", factor: Math.exp(-Math.max(Math.min(dy, 240), -240) * speed) };
}
