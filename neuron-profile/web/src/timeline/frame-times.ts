// How long frames take: what the measurements of the viewer read.

export interface FrameTime {
  /** When the browser began the frame, ms. */
  readonly at: number;
  /** Time that the timeline took of it, ms. */
  readonly took: number;
  /** Whether the plot was drawn, or only what is under the pointer looked up. */
  readonly drawn: boolean;
  readonly rects: number;
}

const KEPT = 2000;

export class FrameTimes {
  private kept: FrameTime[] = [];
  /** Frames in which the plot was drawn, ever. */
  drawn = 0;
  /** When the first frame with bars of lanes was done, ms since the page was asked for. */
  firstPaint: number | null = null;

  add(at: number, took: number, drawn: boolean, rects: number): void {
    if (this.kept.length >= KEPT) this.kept = this.kept.slice(KEPT / 2);
    if (drawn) this.drawn += 1;
    this.kept.push({ at, took, drawn, rects });
  }

  get all(): readonly FrameTime[] {
    return this.kept;
  }

  clear(): void {
    this.kept = [];
  }
}
