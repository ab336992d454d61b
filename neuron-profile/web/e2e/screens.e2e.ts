// Every widget in dark and light with something in it. The pictures are for
// people: e2e/out.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Viewer, launch } from "./browser";
import { Server } from "./server";

const server = new Server();
let browser: Browser;
let id = "";

beforeAll(async () => {
  id = server.store("attn-tkg");
  server.store("moe-dge");
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

/** A widget, and a text that is only there when it shows something; none for a drawing. */
const WIDGETS: [title: string, shows: RegExp | null][] = [
  ["Overall Summary", /Tensor engine/],
  ["Performance", /Use of engines/],
  ["Current Selection Summary", /Tensor engine/],
  ["Operator Table", /CallImpl_custom-call/],
  ["Annotations", /No annotations/],
  ["Tensor Viewer", /Variable name/i],
  ["Recommendations", /rule|At stake/],
  ["Roofline", /FLOP\/B/],
  ["Profile Comparison", /Side by side/],
  ["Flame View", /all \(/],
  ["Hierarchy", null],
  ["Code Editor", /Instructions|source/],
  ["Memory Viewer", /State buffer/],
  ["Database Viewer", /start_ts/],
  ["Settings", /Theme/],
  ["Region Highlighter", /Mark/],
  ["System Timeline", /No host events/],
  ["Search", /Fields/],
  ["Event Details", /Click an event/],
  ["Dependency Chain", /Click an event/],
];

describe.each(["dark", "light"] as const)("%s", (theme) => {
  let viewer: Viewer;

  it("profiles", async () => {
    const list = await Viewer.open(browser, server.url("/"), theme);
    await list.page.getByText("moe-dge").first().waitFor();
    await list.picture(`manager-${theme}`);
    await list.close();
  });

  it("profile, as it opens", async () => {
    viewer = await Viewer.open(browser, server.url(`/profile/${id}`), theme);
    await viewer.widget("Operator Table").getByText(/CallImpl/).first().waitFor();
    await viewer.page.waitForTimeout(800);
    await viewer.picture(`profile-${theme}`);
  });

  it.each(WIDGETS)("%s", async (title, shows) => {
    await viewer.add(title);
    const widget = viewer.widget(title);
    await (shows ? widget.getByText(shows) : widget.locator("canvas")).first().waitFor({ timeout: 10_000 });
    await viewer.enlarge(title);
    await viewer.page.waitForTimeout(500);
    expect((await widget.innerText()).length).toBeGreaterThan(10);
    await viewer.picture(`${title.toLowerCase().replaceAll(" ", "-")}-${theme}`);
    await viewer.back();
  });

  it("nothing went wrong", async () => {
    await viewer.close();
  });
});
