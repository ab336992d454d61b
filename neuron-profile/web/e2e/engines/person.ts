// What a person does in a browser, with the pointer and the keys, and what is seen then.

import type { Stage } from "../../src/timeline/stage";
import type { Engine, Started } from "./browsers";

/** An element by CSS, and by the begin of its name or its text where that is given; the first that is seen. */
export type Finder = readonly [css: string, name?: string];

export interface Spot {
  x: number;
  y: number;
}

export interface Box extends Spot {
  width: number;
  height: number;
}

/** Keys that write nothing, as the standard numbers them. */
export const KEY = { Enter: "\uE007" } as const;

type Hosted = Element & { timeline: Stage };

export class Person {
  /** What must not happen in a page, of all pages so far. */
  readonly wrong: string[] = [];

  private constructor(private readonly browser: Started) {}

  static async at(engine: Engine, webgl = true): Promise<Person> {
    return new Person(await engine.start(webgl));
  }

  async leave(): Promise<void> {
    await this.collect();
    await this.browser.end();
  }

  /** Calls a function in the page. It sees nothing of what is around it here. */
  async ask<A extends unknown[], T>(of: (...args: A) => T | Promise<T>, ...args: A): Promise<T> {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve().then(() => (${of.toString()})(...[...arguments].slice(0, -1))).then((value) => done({ value }), (error) => done({ error: String(error) }))`;
    // Without a sandbox Firefox has the page's own objects, as the other engine has.
    const answer = (await this.browser.wire.send("ExecuteAsyncScript", { script, args, sandbox: null })) as { value: T; error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  }

  /** Asks until the answer is neither null nor false. */
  async wait<A extends unknown[], T>(what: string, of: (...args: A) => T | Promise<T>, ...args: A): Promise<NonNullable<T>> {
    const last = Date.now() + 20_000;
    for (;;) {
      const answer = await this.ask(of, ...args);
      if (answer !== null && answer !== undefined && (answer as unknown) !== false) return answer as NonNullable<T>;
      if (Date.now() > last) throw new Error(`waited in vain: ${what}`);
      await new Promise((done) => setTimeout(done, 60));
    }
  }

  /** Goes to a page as one who was never there. */
  async open(url: string): Promise<void> {
    await this.collect();
    await this.browser.wire.send("Navigate", { url: new URL("/favicon.svg", url).href });
    await this.ask(() => localStorage.clear());
    await this.browser.wire.send("Navigate", { url });
  }

  async reload(): Promise<void> {
    await this.collect();
    await this.browser.wire.send("Refresh", {});
  }

  /** Takes what the page noted of itself, before it is gone. */
  private async collect(): Promise<void> {
    this.wrong.push(...(await this.ask(() => (window as { wrong?: string[] }).wrong ?? [])));
  }

  /** Where an element is that is seen, stands still and has nothing above it. */
  async box([css, name]: Finder): Promise<Box> {
    let before = "";
    const last = Date.now() + 20_000;
    for (;;) {
      const found = await this.ask(
        (css, name) => {
          for (const one of document.querySelectorAll(css)) {
            const text = (one.getAttribute("aria-label") ?? one.textContent ?? "").trim();
            if (!text.startsWith(name) || one.matches(":disabled")) continue;
            one.scrollIntoView({ block: "nearest", inline: "nearest" });
            const { left, top, width, height } = one.getBoundingClientRect();
            const above = document.elementFromPoint(left + width / 2, top + height / 2);
            if (width > 0 && height > 0 && above && (one.contains(above) || above.contains(one))) return { x: left, y: top, width, height };
          }
          return null;
        },
        css,
        name ?? "",
      );
      if (found && JSON.stringify(found) === before) return found;
      before = JSON.stringify(found);
      if (Date.now() > last) throw new Error(`waited in vain for ${css} ${name ?? ""}`);
      await new Promise((done) => setTimeout(done, 40));
    }
  }

  private act(...sources: object[]): Promise<unknown> {
    return this.browser.wire.send("PerformActions", { actions: sources });
  }

  private pointer(...actions: object[]): Promise<unknown> {
    return this.act({ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions });
  }

  async move({ x, y }: Spot): Promise<void> {
    await this.pointer({ type: "pointerMove", x: Math.round(x), y: Math.round(y), duration: 0 });
  }

  /** Presses a button of the mouse at a place: 0 is the left one, 2 the right one. */
  async clickAt({ x, y }: Spot, button = 0): Promise<void> {
    await this.pointer({ type: "pointerMove", x: Math.round(x), y: Math.round(y), duration: 0 }, { type: "pointerDown", button }, { type: "pointerUp", button });
  }

  async click(finder: Finder): Promise<void> {
    const { x, y, width, height } = await this.box(finder);
    await this.clickAt({ x: x + width / 2, y: y + height / 2 });
  }

  async drag(from: Spot, to: Spot): Promise<void> {
    const [x, y] = [Math.round((from.x + to.x) / 2), Math.round((from.y + to.y) / 2)];
    const at = (spot: Spot) => ({ type: "pointerMove", x: Math.round(spot.x), y: Math.round(spot.y), duration: 20 });
    await this.pointer(at(from), { type: "pointerDown", button: 0 }, at({ x, y }), at(to), { type: "pointerUp", button: 0 });
  }

  async wheel({ x, y }: Spot, deltaY: number): Promise<void> {
    await this.act({ type: "wheel", id: "wheel", actions: [{ type: "scroll", x: Math.round(x), y: Math.round(y), deltaX: 0, deltaY, duration: 0 }] });
  }

  async type(text: string): Promise<void> {
    await this.act({ type: "key", id: "keys", actions: [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]) });
  }

  async fill(finder: Finder, text: string): Promise<void> {
    await this.click(finder);
    await this.type(text);
  }

  /** Chooses in a list of the browser; its window is not part of the page, so this is what follows from it. */
  async choose(css: string, value: string): Promise<void> {
    await this.wait(
      `${value} in ${css}`,
      (css, value) => {
        const select = document.querySelector<HTMLSelectElement>(css);
        if (![...(select?.options ?? [])].some((option) => option.value === value)) return false;
        select!.value = value;
        return select!.dispatchEvent(new Event("change", { bubbles: true }));
      },
      css,
      value,
    );
  }

  /** Opens a widget through the catalogue. */
  async add(title: string): Promise<void> {
    await this.click(["button", "Add widget"]);
    await this.fill(["dialog[open] input[type=search]"], title);
    await this.click(["dialog[open] button", title]);
    await this.wait(`the widget ${title}`, (title) => document.querySelector(`[data-widget="${title}"]`) !== null, title);
  }

  /** The text of an element, once it has the one that is wanted. */
  async reads(css: string, wanted: string): Promise<string> {
    return this.wait(
      `"${wanted}" in ${css}`,
      (css, wanted) => {
        for (const one of document.querySelectorAll(css)) if (one.textContent?.includes(wanted)) return one.textContent;
        return null;
      },
      css,
      wanted,
    );
  }

  /** How many colours a part of the window has, as it is on the screen. */
  async colours({ x, y, width, height }: Box): Promise<number> {
    const picture = await this.browser.wire.send("TakeScreenshot", { full: false });
    return this.ask(
      async (text, x, y, width, height) => {
        const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = new OffscreenCanvas(width, height);
        const context = canvas.getContext("2d")!;
        context.drawImage(bitmap, -x, -y);
        return new Set(new Uint32Array(context.getImageData(0, 0, width, height).data.buffer)).size;
      },
      picture as string,
      Math.round(x),
      Math.round(y),
      Math.floor(width),
      Math.floor(height),
    );
  }

  /** Waits until the timeline has loaded and drawn all that is seen; what it shows. */
  async timeline() {
    return this.wait("a timeline that is drawn", async () => {
      // Two frames first: what was just done has to be seen before it can be loaded.
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const stage = (document.querySelector(".tl") as Hosted | null)?.timeline;
      const box = document.querySelector(".tl-plot")?.getBoundingClientRect();
      if (!stage?.ui.getState().settled || !stage.frame || !box) return null;
      const { from, to } = stage.window;
      const frame = stage.frame;
      // The widest instruction that is seen, one whose row is on the screen.
      let widest: { x: number; y: number; width: number; lane: number; row: number } | null = null;
      const at = (time: number) => Math.min(Math.max(((time - from) / (to - from)) * box.width, 0), box.width);
      for (const { row, top } of frame.rows) {
        const lane = row.lanes[0];
        const all = row.kind === "lane" && lane !== undefined && top > 0 && top + row.height < box.height ? frame.stacked(lane) : null;
        if (!all || lane === undefined || stage.events.lane(lane)?.table !== "Instruction") continue;
        for (let i = 0; i < all.count; i += 1) {
          const [x0, x1] = [at(all.start[i]!), at(all.end[i]!)];
          if (x1 - x0 <= (widest?.width ?? 0)) continue;
          const y = box.top + top + row.height * (0.18 + (0.64 * (all.sub[i]! + 0.5)) / all.of[i]!);
          widest = { x: box.left + (x0 + x1) / 2, y, width: x1 - x0, lane, row: all.rows[i]! };
        }
      }
      return { from, to, total: stage.subject.total, device: stage.device, widest, plot: { x: box.left, y: box.top, width: box.width, height: box.height } };
    });
  }
}
