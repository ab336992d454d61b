// The canvases of the plot: rectangles below, text above, the axis beside them. Chooses who draws the rectangles, and
// another one where a graphics card goes away for good.

import type { Packed } from "./colour";
import type { DisplayList } from "./display-list";
import { drawOverlay } from "./render/overlay";
import { raster } from "./render/raster";
import type { Renderer } from "./render/renderer";
import { webgl } from "./render/webgl";
import { AXIS_HEIGHT } from "./scene/axis";

export type Wanted = "auto" | "webgl" | "raster";

/** Names of graphics cards that are programs: filling memory ourselves is faster than asking them. */
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

/** Milliseconds after which a lost context is not waited for any more. */
const PATIENCE = 3000;

function canvasIn(host: HTMLElement, name: string, before: Node | null = null): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.className = name;
  canvas.setAttribute("aria-hidden", "true");
  host.insertBefore(canvas, before);
  return canvas;
}

export class Canvases {
  private plot: HTMLCanvasElement;
  private readonly text: HTMLCanvasElement;
  private readonly axis: HTMLCanvasElement;
  private readonly textContext: CanvasRenderingContext2D | null;
  private readonly axisContext: CanvasRenderingContext2D | null;
  private textUsed = false;
  private patience: ReturnType<typeof setTimeout> | undefined;
  renderer: Renderer | null = null;
  /** Device pixels of the plot. */
  width = 0;
  height = 0;
  scale = 1;

  constructor(
    private readonly plotHost: HTMLElement,
    axisHost: HTMLElement,
    wanted: Wanted,
    private readonly redraw: () => void,
  ) {
    this.text = canvasIn(plotHost, "tl-text", plotHost.firstChild);
    this.plot = canvasIn(plotHost, "tl-rects", this.text);
    this.axis = canvasIn(axisHost, "tl-ticks", axisHost.firstChild);
    this.textContext = this.text.getContext("2d");
    this.axisContext = this.axis.getContext("2d", { alpha: false });
    this.choose(wanted);
  }

  private fresh(): void {
    this.plot.remove();
    this.plot = canvasIn(this.plotHost, "tl-rects", this.text);
  }

  private choose(wanted: Wanted): void {
    if (wanted !== "raster") {
      this.renderer = webgl(
        this.plot,
        () => {
          this.patience = setTimeout(() => this.fallBack(), PATIENCE);
        },
        () => {
          clearTimeout(this.patience);
          this.redraw();
        },
      );
      if (this.renderer && (wanted === "webgl" || !SOFTWARE.test(this.renderer.device))) return;
      // A canvas keeps the kind of its first context.
      this.renderer?.dispose();
      this.fresh();
    }
    this.renderer = raster(this.plot);
  }

  private fallBack(): void {
    this.renderer?.dispose();
    this.fresh();
    this.renderer = raster(this.plot);
    this.renderer?.resize(this.width, this.height);
    this.redraw();
  }

  /** CSS pixels of the plot, and device pixels of each. */
  resize(width: number, height: number, scale: number): void {
    this.scale = scale;
    this.width = Math.max(1, Math.round(width * scale));
    this.height = Math.max(1, Math.round(height * scale));
    this.renderer?.resize(this.width, this.height);
    const set = (canvas: HTMLCanvasElement, w: number, h: number) => {
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
    };
    set(this.text, this.width, this.height);
    set(this.axis, this.width, Math.round(AXIS_HEIGHT * scale));
    this.textUsed = false;
  }

  draw(plot: DisplayList, axis: DisplayList, background: Packed, axisBackground: string): void {
    this.renderer?.draw(plot, background);
    const any = plot.texts.length > 0 || plot.lines.length > 0;
    // An empty canvas that stays as it is costs the browser nothing.
    if (this.textContext && (any || this.textUsed)) {
      this.textContext.clearRect(0, 0, this.width, this.height);
      drawOverlay(this.textContext, plot);
      this.textUsed = any;
    }
    const context = this.axisContext;
    if (!context) return;
    context.fillStyle = axisBackground;
    context.fillRect(0, 0, this.axis.width, this.axis.height);
    for (const { x0, y0, x1, y1, colour } of axis.rects()) {
      context.fillStyle = `rgb(${colour & 255} ${(colour >>> 8) & 255} ${(colour >>> 16) & 255})`;
      context.fillRect(x0, y0, x1 - x0, y1 - y0);
    }
    drawOverlay(context, axis);
  }

  /** For tests: makes the browser take the context away, and give it back. */
  loseContext(): { restore(): void } | null {
    const gl = this.renderer?.kind === "webgl" ? this.plot.getContext("webgl2") : null;
    const extension = gl?.getExtension("WEBGL_lose_context");
    if (!extension) return null;
    extension.loseContext();
    return { restore: () => extension.restoreContext() };
  }

  dispose(): void {
    clearTimeout(this.patience);
    this.renderer?.dispose();
    for (const canvas of [this.plot, this.text, this.axis]) canvas.remove();
  }
}
