// Debian's chromium with drawing in software, and pages that note what goes
// wrong in them.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type Page, chromium } from "playwright-core";
import { expect } from "vitest";

const path = process.env.NEURON_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((one) => existsSync(one)) ?? "chromium";

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: path,
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });

const out = join(import.meta.dirname, "out");

/** A page with what must not happen in it: exceptions, broken policy, requests elsewhere. */
export class Viewer {
  readonly wrong: string[] = [];
  readonly page: Page;

  constructor(page: Page, host: string) {
    this.page = page;
    page.on("pageerror", (error) => this.wrong.push(String(error)));
    page.on("console", (message) => {
      // A status of an answer is told as an error too; widgets say what it means.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text())) this.wrong.push(message.text());
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (/^https?:/.test(url.protocol) && url.host !== host) this.wrong.push(`a request to ${url.host}`);
    });
  }

  static async open(browser: Browser, url: string, scheme: "dark" | "light" = "dark"): Promise<Viewer> {
    const context = await browser.newContext({ viewport: { width: 1600, height: 900 }, colorScheme: scheme, acceptDownloads: true });
    const viewer = new Viewer(await context.newPage(), new URL(url).host);
    await viewer.page.goto(url);
    return viewer;
  }

  /** Opens a widget through the catalogue, as a person does. */
  async add(title: string): Promise<void> {
    await this.page.getByRole("button", { name: "Add widget" }).click();
    await this.page.getByRole("searchbox", { name: "Find a widget" }).fill(title);
    await this.page.getByRole("dialog").getByRole("button", { name: new RegExp(`^${title}`) }).first().click();
    await this.widget(title).waitFor();
  }

  widget(title: string) {
    return this.page.locator(`[data-widget="${title}"]`);
  }

  /** Makes the group of a widget large, or small again. */
  async enlarge(title: string): Promise<void> {
    await this.page.getByRole("button", { name: `Enlarge ${title}`, exact: true }).click();
  }

  async back(): Promise<void> {
    await this.page.getByRole("button", { name: "Back to the layout" }).first().click();
  }

  async picture(name: string): Promise<void> {
    mkdirSync(out, { recursive: true });
    await this.page.screenshot({ path: join(out, `${name}.png`) });
  }

  /** Ends the page; nothing may have gone wrong in it. */
  async close(): Promise<void> {
    await this.page.context().close();
    expect(this.wrong).toEqual([]);
  }
}
