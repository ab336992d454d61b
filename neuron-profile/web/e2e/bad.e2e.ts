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

describe("texts of a program", () => {
  const evil = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;

  it("that are markup are shown as they are: layers, kinds of events, sources", async () => {
    const file = `/x/${evil.replaceAll("/", "|")}.py`;
    const source = `${evil}\n"""</textarea></style></script>${evil}"""\n`;
    const put = await fetch(server.url(`/api/v1/profiles/${id}/sources/${encodeURIComponent(file)}`), { method: "PUT", body: source, headers: { "content-type": "text/plain; charset=utf-8" } });
    expect(put.status).toBe(204);
    const viewer = await Viewer.open(browser, server.url("/favicon.svg"));
    const { page } = viewer;
    const change = async (pattern: string, edit: (body: Record<string, unknown>) => void) =>
      page.route(pattern, async (route) => {
        const answer = await route.fetch();
        const body = (await answer.json()) as Record<string, unknown>;
        edit(body);
        await route.fulfill({ json: body });
      });
    await change("**/operators?*", (body) => (body.nodes as { name: string; path: string }[]).forEach((node) => Object.assign(node, { name: evil, path: `a/${evil}` })));
    await change("**/layers?*", (body) => (body.rows as { bars: { name: string; path: string }[] }[]).forEach((row) => row.bars.forEach((bar) => Object.assign(bar, { name: evil, path: evil }))));
    await change("**/kinds?*", (body) => (body.texts = (body.texts as string[]).map(() => evil)));
    await page.goto(server.url(`/profile/${id}`));
    await viewer.widget("Operator Table").getByText(evil.slice(0, 30)).first().waitFor();
    for (const title of ["Hierarchy", "Flame View", "Roofline", "Region Highlighter"]) {
      await viewer.add(title);
      await expect.poll(async () => (await viewer.widget(title).innerText()).trim().length).toBeGreaterThan(0);
    }
    await viewer.add("Code Editor");
    const code = viewer.widget("Code Editor");
    await code.getByRole("button", { name: /script/ }).first().click();
    await code.getByText("document.title='owned'").first().waitFor();
    expect(await page.title()).not.toBe("owned");
    expect(await page.locator("img, script:not([src])").count()).toBe(0);
    await viewer.close();
    await fetch(server.url(`/api/v1/profiles/${id}/sources/${encodeURIComponent(file)}`), { method: "DELETE" });
  });

  it("of a megabyte in every list, and layers by the hundred thousand over time, leave the page usable", async () => {
    const viewer = await Viewer.open(browser, server.url("/favicon.svg"));
    const { page } = viewer;
    const huge = "x".repeat(1_000_000);
    await page.route(`**/api/v1/profiles/${id}`, async (route) => {
      const body = (await (await route.fetch()).json()) as { display_name: string; neff: string; lanes: { name: string }[]; notes: string[] };
      body.display_name = huge;
      body.neff = huge;
      body.notes = [huge];
      if (body.lanes[0]) body.lanes[0].name = huge;
      await route.fulfill({ json: body });
    });
    await page.route("**/layers?*", (route) => {
      const bars = Array.from({ length: 100_000 }, (_, i) => ({ name: `layer ${i}`, path: `layer ${i}`, node: i, from: i, to: i + 1, busy_ns: 1, kind: 0 }));
      return route.fulfill({ json: { start: 0, column_ns: 1, rows: [{ core: 0, depth: 0, bars }], cut: true } });
    });
    await page.goto(server.url(`/profile/${id}`));
    await page.getByRole("tab", { name: "Hierarchy" }).click();
    await viewer.widget("Hierarchy").locator("canvas").waitFor({ timeout: 20_000 });
    await viewer.widget("Hierarchy").getByText("too many layers to show all").waitFor();
    await page.getByRole("tab", { name: "Device Timeline" }).click();
    await page.getByRole("application", { name: "Device timeline" }).waitFor();
    await page.getByRole("button", { name: /notes about this profile/ }).click();
    await page.keyboard.press("Escape");
    // What is shown of a text is short, wherever it stands.
    expect((await page.evaluate(() => document.body.innerText)).length).toBeLessThan(100_000);
    await viewer.close();
  });
});

describe("events of no length", () => {
  it("are found by the pointer, and zoom to a view that is no point", async () => {
    const { rows } = await server.get<{ rows: { row: number; start_ts: number }[] }>(`/profiles/${id}/search/Instruction?duration_ns=0&limit=1`);
    const row = rows[0]?.row ?? 0;
    const viewer = await Viewer.open(browser, server.url("/favicon.svg"));
    if (rows.length === 0) {
      // The capture has none: one is made of an event that it has.
      await viewer.page.route(`**/events/Instruction/${row}`, async (route) => {
        const body = (await (await route.fetch()).json()) as { fields: Record<string, number> };
        Object.assign(body.fields, { end_ts: body.fields.start_ts, duration_ns: 0 });
        await route.fulfill({ json: body });
      });
    }
    await viewer.page.goto(server.url(`/profile/${id}#e=Instruction/${row}`));
    const details = viewer.widget("Event Details");
    await details.getByRole("button", { name: "Zoom", exact: true }).click();
    await viewer.page.waitForFunction(() => /t=/.test(location.hash));
    const [, from, to] = /t=(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)/.exec(new URL(viewer.page.url()).hash)!;
    expect(Number(to) - Number(from)).toBeGreaterThanOrEqual(8);
    await viewer.close();
  });
});

describe("a link that has expired", () => {
  it("is said to have, and what is made meanwhile is kept and stored later", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${id}`));
    const { page } = viewer;
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await viewer.add("Annotations");
    const before = (await server.get<{ annotations: unknown[] }>(`/documents/${id}/(current)`).catch(() => ({ annotations: [] }))).annotations.length;
    // As the server says it: serve/access.rs.
    await page.route("**/api/v1/**", (route) => route.fulfill({ status: 401, json: { error: "open the link that neuron-profile printed: it has the token" } }));
    await viewer.widget("Annotations").getByRole("button", { name: "Create" }).click();
    await viewer.widget("Annotations").getByText("only in this browser").waitFor({ timeout: 15_000 });
    await viewer.add("Roofline");
    await viewer.widget("Roofline").getByText(/the link may have expired/).waitFor();
    await page.unroute("**/api/v1/**");
    await viewer.widget("Roofline").getByRole("button", { name: "Try again" }).click();
    await viewer.widget("Roofline").getByText(/FLOP\/B/).first().waitFor();
    await expect.poll(async () => (await server.get<{ annotations: unknown[] }>(`/documents/${id}/(current)`).catch(() => null))?.annotations.length ?? 0, { timeout: 20_000 }).toBe(before + 1);
    await viewer.close();
  });

  it("opens no profile and says what to do", async () => {
    const viewer = await Viewer.open(browser, server.url("/favicon.svg"));
    await viewer.page.route("**/api/v1/**", (route) => route.fulfill({ status: 401, json: { error: "open the link that neuron-profile printed: it has the token" } }));
    await viewer.page.goto(server.url(`/profile/${id}`));
    await viewer.page.getByText(/The profile cannot be shown: .*the link may have expired/).waitFor();
    await viewer.close();
  });
});

describe("a profile with nothing in it", () => {
  it.each([
    ["no lanes", { lanes: [], names: [], kinds: 0, events: 0, total_ns: 0, tables: {}, notes: [] }],
    ["one event of no length", { total_ns: 1 }],
  ])("%s", async (_what, part) => {
    const viewer = await Viewer.open(browser, server.url("/favicon.svg"));
    await viewer.page.route(`**/api/v1/profiles/${id}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), ...part } });
    });
    await viewer.page.goto(server.url(`/profile/${id}`));
    await viewer.page.getByRole("tab", { name: "Device Timeline" }).waitFor();
    for (const title of ["Operator Table", "Overall Summary", "Current Selection Summary", "Annotations", "Tensor Viewer"]) {
      await viewer.page.getByRole("tab", { name: title }).click();
      await expect.poll(async () => (await viewer.widget(title).innerText()).trim().length).toBeGreaterThan(0);
    }
    for (const title of ["Performance", "Hierarchy", "Flame View", "Roofline", "Memory Viewer", "Region Highlighter", "Settings"]) {
      await viewer.add(title);
      await expect.poll(async () => (await viewer.widget(title).innerText()).trim().length).toBeGreaterThan(0);
      expect(await viewer.widget(title).getByText(/failed:/).count(), title).toBe(0);
    }
    await viewer.close();
  });
});

describe("a server", () => {
  it("that goes away is said to be, and nothing is lost when it comes back", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${id}`));
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await viewer.add("Annotations");
    const before = (await server.get<{ annotations: unknown[] }>(`/documents/${id}/(current)`).catch(() => ({ annotations: [] }))).annotations.length;
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
      .toBe(before + 1);
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
