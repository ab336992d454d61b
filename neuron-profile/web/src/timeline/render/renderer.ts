// Who draws the rectangles of a display list. Text and lines are drawn over them by overlay.ts.

import type { Packed } from "../colour";
import type { DisplayList } from "../display-list";

export interface Renderer {
  readonly kind: "webgl" | "raster";
  /** Why this one, for the test harness and for reports. */
  readonly device: string;
  /** Where text and lines are drawn after the rectangles; null where they need a canvas of their own above. */
  readonly over: CanvasRenderingContext2D | null;
  /** Device pixels. */
  resize(width: number, height: number): void;
  draw(list: DisplayList, background: Packed): void;
  dispose(): void;
}
