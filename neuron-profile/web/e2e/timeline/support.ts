// A server with the real captures and a browser, for the tests of the timeline. NEURON_PROFILE_BIN names another
// binary than the one of the build; everything is taken down at the end, by its own handle.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type Page, chromium } from "playwright-core";
import { build } from "vite";
import type { Stage } from "../../src/timeline/stage";

const web = fileURLToPath(new URL("../..", import.meta.url));
const root = fileURLToPath(new URL("../../../..", import.meta.url));
const binary = process.env.NEURON_PROFILE_BIN ?? join(root, "target/debug/neuron-profile");

/** Where screenshots go, to be looked at. */
export const out = join(web, "e2e/out");

export interface World {
  /** Of the pages. */
  url: string;
  browser: Browser;
  /** Ids of the captures by name. */
  ids: Record<"attn-tkg" | "moe-dge", string>;
  close(): Promise<void>;
}

/** Waits for the line in which a server says its address. */
function address(child: ChildProcess): Promise<string> {
  return new Promise((done, stop) => {
    let said = "";
    const timer = setTimeout(() => stop(new Error(`no address within 20 s: ${said}`)), 20_000);
    child.stdout?.on("data", (bytes: Buffer) => {
      said += bytes.toString();
      const found = /http:\/\/localhost:\d+/.exec(said);
      if (!found) return;
      clearTimeout(timer);
      done(found[0]);
    });
    child.on("exit", (code) => stop(new Error(`the server ended with ${code}: ${said}`)));
  });
}

export async function open(): Promise<World> {
  mkdirSync(out, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "timeline-e2e-"));
  const data = ["--data-path", join(home, "data")];
  const ids: Record<string, string> = {};
  for (const name of ["attn-tkg", "moe-dge"]) {
    const file = (ending: string) => join(root, "tests/fixtures/profiles", `${name}.${ending}`);
    const said = execFileSync(binary, ["view", "-n", file("neff"), "-s", file("ntff"), "--ingest-only", ...data]);
    ids[name] = /n_[0-9a-f]{40}/.exec(said.toString())?.[0] ?? "";
  }
  const dist = join(home, "dist");
  await build({ root: web, logLevel: "error", build: { outDir: relative(web, dist), emptyOutDir: true } });
  const env = { ...process.env, NEURON_PROFILE_WEB: dist };
  const child = spawn(binary, ["view", "--port", "0", ...data], { env, stdio: ["ignore", "pipe", "inherit"] });
  let browser: Browser | null = null;
  const close = async () => {
    await browser?.close();
    child.kill();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const url = await address(child);
    process.env.NEURON_PROFILE_SERVER = url;
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
    return { url, browser, ids: ids as World["ids"], close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Settings {
  [key: string]: unknown;
}

export interface Options {
  settings?: Settings;
  query?: string;
  width?: number;
  height?: number;
  scale?: number;
  /** What the page adds to the address. */
  hash?: string;
}

/** A page with the timeline of a profile over all of its window, loaded. */
export async function show(world: World, id: string, options: Options = {}): Promise<{ page: Page; errors: string[] }> {
  const { width = 1600, height = 900, scale = 1 } = options;
  const context = await world.browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) errors.push(message.text());
  });
  await page.addInitScript((state) => {
    localStorage.setItem("neuron-profile.settings", JSON.stringify({ state, version: 1 }));
  }, options.settings ?? {});
  await page.goto(`${world.url}/profile/${id}${options.query ?? ""}${options.hash ?? ""}`);
  await page.waitForSelector(".tl-plot");
  // A sheet that is made by script is allowed by the policy of the page, a style element is not.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      ".tl { position: fixed !important; inset: 34px 0 0; z-index: 9999; height: auto !important }" +
        ".tl-map { position: fixed !important; inset: 0 10px auto 133px; z-index: 9999; margin: 0 }",
    );
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  });
  await page.waitForFunction((least) => document.querySelector(".tl-plot")!.clientHeight > least, height * 0.7);
  await settled(page);
  return { page, errors };
}

type Hosted = Element & { timeline: Stage };

/** Waits until all that is seen is loaded and drawn. */
export async function settled(page: Page): Promise<void> {
  // Two frames first: what was just done has to be seen before it can be loaded.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForFunction(() => (document.querySelector(".tl") as Hosted | null)?.timeline.ui.getState().settled);
}

/** What the stage of the page says. */
export function state(page: Page) {
  return page.evaluate(() => {
    const stage = (document.querySelector(".tl") as Hosted).timeline;
    const { rows, scroll, hover, mode, said, trouble, layout } = stage.ui.getState();
    const { from, to } = stage.window;
    return {
      from,
      to,
      total: stage.subject.total,
      rows: rows.map((row) => row.label),
      keys: rows.map((row) => row.key),
      scroll,
      pinned: layout.pinned.map((one) => one.row.label),
      hover: hover && { ...hover.hit, row: "row" in hover.hit ? hover.hit.row.row.label : "" },
      fields: hover?.fields ?? null,
      mode,
      said,
      trouble,
      rects: stage.list.count,
      texts: stage.list.texts.map((text) => text.text),
      lines: stage.list.lines.length,
      marks: stage.frame?.marks.map((mark) => mark.role) ?? [],
      device: stage.device,
      drawn: stage.times.drawn,
    };
  });
}

export interface Bar {
  lane: number;
  row: number;
  start: number;
  end: number;
  /** The middle of the part that is seen, pixels of the page. */
  x: number;
  y: number;
}

/** Events that are drawn one by one, with where they are on the page. */
export function bars(page: Page): Promise<Bar[]> {
  return page.evaluate(() => {
    const stage = (document.querySelector(".tl") as Hosted).timeline;
    const box = document.querySelector(".tl-plot")!.getBoundingClientRect();
    const frame = stage.frame!;
    const x = (time: number) => ((time - frame.window.from) / (frame.window.to - frame.window.from)) * box.width;
    const found: Bar[] = [];
    for (const row of frame.rows) {
      const lane = row.row.lanes[0];
      const all = row.row.kind === "lane" && lane !== undefined ? frame.stacked(lane) : null;
      if (!all || lane === undefined) continue;
      for (let i = 0; i < all.count; i += 1) {
        const x0 = Math.max(x(all.start[i]!), 0);
        const x1 = Math.min(x(all.end[i]!), box.width);
        if (x1 <= x0) continue;
        const y = row.top + row.row.height * (0.18 + (0.64 * (all.sub[i]! + 0.5)) / all.of[i]!);
        found.push({ lane, row: all.rows[i]!, start: all.start[i]!, end: all.end[i]!, x: box.left + (x0 + x1) / 2, y: box.top + y });
      }
    }
    return found;
  });
}

/** Where the plot is on the page. */
export async function plot(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator(".tl-plot").boundingBox();
  if (!box) throw new Error("there is no plot");
  return box;
}
