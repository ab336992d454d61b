// What goes wrong outside: names that are markup, a server that goes away,
// profiles that are not there.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Viewer, launch } from "./browser";
import { Server } from "./server";

const server = new Server();
let browser: Browser;
let id = "";

beforeAll(async () => {
  id = server.store("attn-fused-bf16-512");
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

const change = (body: unknown) =>
  fetch(server.url(`/api/v1/profiles/${id}`), { method: "PATCH", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

describe("names from outside", () => {
  it("are shown as they are and run nothing", async () => {
    const name = `<img src=x onerror="document.title='owned'"><script>1</script>`;
    expect((await change({ display_name: name, tags: ["<b>tag</b>", "'\"`${1}"] })).ok).toBe(true);
    const list = await Viewer.open(browser, server.url("/"));
    await list.page.getByText(name).first().waitFor();
    await list.page.getByText("<b>tag</b>").waitFor();
    await list.close();
    const viewer = await Viewer.open(browser, server.url(`/profile/${id}`));
    // The bar cuts the middle out of a long name.
    await viewer.page.getByText(name.slice(0, 30)).first().waitFor();
    expect(await viewer.page.title()).toContain("<img");
    expect(await viewer.page.locator("img").count()).toBe(0);
    await viewer.close();
    await change({ display_name: "fused", tags: [] });
  });

  it("are shown short where an answer has a megabyte of them, and layers by the hundred thousand are walked", async () => {
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    const viewer = new Viewer(page, `localhost:${server.port}`);
    const huge = `<i>${"x".repeat(1_000_000)}</i>`;
    const node = (i: number) => ({
      node: i, parent: null, depth: 0, name: i === 0 ? huge : `layer ${i}`, path: `layer ${i}`, leaf: true, count: 1, time_ns: 1, busy_ns: 100_000 - i, wait_ns: 0, share: 1e-5, engines: {},
      flops: 0, transpose_flops: 0, hfu: 0, mfu: 0, hbm_read_bytes: 0, hbm_write_bytes: 0, sbuf_read_bytes: 0, sbuf_write_bytes: 0, psum_read_bytes: 0, psum_write_bytes: 0, spill_save_bytes: 0, spill_reload_bytes: 0, dma_bytes: 0,
    });
    await page.route("**/operators?*", (route) =>
      route.fulfill({ json: { by: "layer", from: 0, to: 1, total: 100_000, cut: false, nodes: Array.from({ length: 100_000 }, (_, i) => node(i)) } }),
    );
    await page.goto(server.url(`/profile/${id}`));
    const table = viewer.widget("Operator Table");
    await table.getByText("100,000 rows").waitFor({ timeout: 20_000 });
    expect(await table.locator(".grid-row").count()).toBeLessThan(200);
    expect((await table.locator(".grid-row").first().innerText()).length).toBeLessThan(2000);
    await table.getByRole("treegrid").focus();
    await page.keyboard.press("End");
    await table.getByText("layer 99999").waitFor();
    await viewer.close();
  });
});

describe("a server", () => {
  it("that goes away is said to be, and nothing is lost when it comes back", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${id}`));
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await viewer.add("Annotations");
    await server.stop();
    await viewer.widget("Annotations").getByRole("button", { name: "Create" }).click();
    await viewer.widget("Annotations").getByText("only in this browser").waitFor({ timeout: 15_000 });
    await viewer.page.getByRole("tab", { name: "Overall Summary" }).click();
    await viewer.page.getByText("The server is away").waitFor();
    await viewer.picture("server-away");
    await server.start();
    await viewer.widget("Overall Summary").getByText("Total time", { exact: true }).waitFor({ timeout: 15_000 });
    await viewer.page.getByText("The server is away").waitFor({ state: "detached" });
    await expect
      .poll(async () => (await server.get<{ annotations: unknown[] }>(`/documents/${id}/(current)`).catch(() => null))?.annotations.length ?? 0, { timeout: 15_000 })
      .toBe(1);
    // Connections that were refused are told in the console, and only they.
    viewer.wrong.splice(0, viewer.wrong.length, ...viewer.wrong.filter((text) => !/ERR_CONNECTION_REFUSED|Failed to fetch/.test(text)));
    await viewer.close();
  });

  it("that has no such profile says so", async () => {
    const viewer = await Viewer.open(browser, server.url("/profile/n_0000000000000000000000000000000000000000"));
    await viewer.page.getByText("The profile cannot be shown").waitFor();
    await viewer.page.getByRole("button", { name: "All profiles" }).click();
    await viewer.page.getByText("fused").first().waitFor();
    await viewer.close();
  });

  it("without profiles says how to store one", async () => {
    const empty = new Server();
    await empty.start();
    const viewer = await Viewer.open(browser, empty.url("/"));
    await viewer.page.getByText("No profile is stored yet").waitFor();
    await viewer.close();
    await empty.end();
  });
});
