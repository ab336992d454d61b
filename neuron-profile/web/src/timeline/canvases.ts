// The canvases of the plot: rectangles with text over them, the axis beside them. Chooses who draws the rectangles, and
// another one where a graphics card goes away for good.
//
// A canvas that a graphics card draws has its text on a second one above. Without a card that would be a second
// picture to copy and to blend with every frame: there the text is drawn on the first.

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

/** Text that is the same for lists with the same texts and lines; empty for none. */
function signature(list: DisplayList): string {
  let text = "";
  for (const one of list.texts) text += `${one.x} ${one.y} ${one.colour} ${one.size} ${one.text}\n`;
  for (const one of list.lines) text += `${one.points.join(" ")} ${one.colour}\n`;
  return text;
}

export class Canvases {
  private plot: HTMLCanvasElement;
  /** Only above a canvas that has no text of its own. */
  private text: HTMLCanvasElement | null = null;
  private readonly axis: HTMLCanvasElement;
  private textContext: CanvasRenderingContext2D | null = null;
  private readonly axisContext: CanvasRenderingContext2D | null;
  /** What the text canvas shows. */
  private textShown = "";
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
    this.plot = canvasIn(plotHost, "tl-rects", plotHost.firstChild);
    this.axis = canvasIn(axisHost, "tl-ticks", axisHost.firstChild);
    this.axisContext = this.axis.getContext("2d", { alpha: false });
    this.choose(wanted);
  }

  private fresh(): void {
    const next = this.plot.nextSibling;
    this.plot.remove();
    this.plot = canvasIn(this.plotHost, "tl-rects", next);
  }

  private use(renderer: Renderer | null): void {
    this.renderer = renderer;
    const above = renderer !== null && renderer.over === null;
    if (above === (this.text !== null)) return;
    this.text?.remove();
    this.text = above ? canvasIn(this.plotHost, "tl-text", this.plot.nextSibling) : null;
    this.textContext = this.text?.getContext("2d") ?? null;
  }

  private choose(wanted: Wanted): void {
    if (wanted !== "raster") {
      const card = webgl(
        this.plot,
        () => {
          this.patience = setTimeout(() => this.fallBack(), PATIENCE);
        },
        () => {
          clearTimeout(this.patience);
          this.redraw();
        },
      );
      if (card && (wanted === "webgl" || !SOFTWARE.test(card.device))) return this.use(card);
      // A canvas keeps the kind of its first context.
      card?.dispose();
      this.fresh();
    }
    this.use(raster(this.plot));
  }

  private fallBack(): void {
    this.renderer?.dispose();
    this.fresh();
    this.use(raster(this.plot));
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
    if (this.text) set(this.text, this.width, this.height);
    set(this.axis, this.width, Math.round(AXIS_HEIGHT * scale));
    // A canvas whose size is set is empty.
    this.textShown = "";
  }

  draw(plot: DisplayList, axis: DisplayList, background: Packed, axisBackground: string): void {
    this.renderer?.draw(plot, background);
    if (this.renderer?.over) drawOverlay(this.renderer.over, plot);
    else if (this.textContext) this.drawText(this.textContext, plot);
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

  /** A canvas that stays as it is costs the browser nothing: the labels of the y axes stand still while time moves. */
  private drawText(context: CanvasRenderingContext2D, plot: DisplayList): void {
    const shown = signature(plot);
    if (shown === this.textShown) return;
    context.clearRect(0, 0, this.width, this.height);
    drawOverlay(context, plot);
    this.textShown = shown;
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
    for (const canvas of [this.plot, this.text, this.axis]) canvas?.remove();
  }
}
