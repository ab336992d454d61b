// Who draws the rectangles of a display list. Text and lines are drawn by overlay.ts on a 2D canvas above.

import type { Packed } from "../colour";
import type { DisplayList } from "../display-list";

export interface Renderer {
  readonly kind: "webgl" | "raster";
  /** Why this one, for the test harness and for reports. */
  readonly device: string;
  /** Device pixels. */
  resize(width: number, height: number): void;
  draw(list: DisplayList, background: Packed): void;
  dispose(): void;
}
