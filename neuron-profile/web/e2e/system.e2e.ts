// A run of inspect, from a real instance, with its device profile; and a capture
// of the software NeuronCore.

import { execFileSync } from "node:child_process";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Viewer, launch } from "./browser";
import { Server, binary } from "./server";
import { table } from "./tables";

const server = new Server();
let browser: Browser;
let run = "";
let device = "";
let simulated = "";

beforeAll(async () => {
  [run, device] = server.storeRun("inspect") as [string, string];
  simulated = server.captureModel("transformer");
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

function query(id: string, sql: string): Record<string, string | number | null>[] {
  const text = execFileSync(binary, ["query", id, sql, "--output-format", "json", "--data-path", server.data], { encoding: "utf8", maxBuffer: 1 << 28 });
  return JSON.parse(text) as Record<string, string | number | null>[];
}

/** Goes along a row of the host events by keys until a name is told. */
async function walkTo(viewer: Viewer, name: string): Promise<void> {
  const widget = viewer.widget("System Timeline");
  const canvas = widget.locator("canvas");
  const told = async () => (await widget.locator("[aria-live]").allTextContents()).join();
  await canvas.focus();
  for (let row = 0; row < 12; row += 1) {
    await viewer.page.keyboard.press("ArrowDown");
    let before = "";
    for (let bar = 0; bar < 40; bar += 1) {
      const now = await told();
      if (now.includes(`: ${name},`)) return;
      if (now === before) break;
      before = now;
      await viewer.page.keyboard.press("ArrowRight");
    }
  }
  throw new Error(`no ${name} in the first rows: ${await told()}`);
}

describe("a run of inspect", () => {
  it("opens with its own widgets, whose numbers are those of the command", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${run}`));
    const summary = viewer.widget("Overall Summary");
    await summary.getByText("Executions").waitFor();
    const [runs] = query(run, "SELECT count(*) AS n, sum(duration_ns) AS t FROM SystemProfileEvents WHERE name = 'nc_exec_running'");
    await summary.getByText(String(runs!.n), { exact: true }).first().waitFor();
    const waits = viewer.page.waitForEvent("download");
    await summary.locator(".system-lines").getByRole("button", { name: /as CSV$/ }).click();
    const { rowsOf } = await import("./tables");
    const rows = await rowsOf(await waits);
    const kinds = query(run, "SELECT trace_event_source AS source, name, count(*) AS n, sum(duration_ns) AS t FROM SystemProfileEvents GROUP BY 1, 2");
    expect(kinds.length).toBeGreaterThan(10);
    for (const kind of kinds) expect(rows.some((row) => row.name === kind.name && Number(row.count) === kind.n && Number(row.time_ns) === kind.t), String(kind.name)).toBe(true);
    const [memory] = query(run, "SELECT count(DISTINCT hbm_idx) AS n FROM SystemProfileHbmUsage");
    expect(rows.filter((row) => /^Device \d+, memory/.test(row.name ?? ""))).toHaveLength(Number(memory!.n));
    const [cpus] = query(run, "SELECT count(DISTINCT cpu_id) AS n FROM CpuUsage");
    expect(rows.filter((row) => /^CPU /.test(row.name ?? ""))).toHaveLength(Number(cpus!.n));
    await viewer.widget("System Timeline").locator("canvas").waitFor();
    await viewer.page.waitForTimeout(500);
    await viewer.picture("system-dark");
    await viewer.close();
  });

  it("leads from an execution to its device profile, and back to the event", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${run}`));
    const { page } = viewer;
    await viewer.widget("System Timeline").locator("canvas").waitFor();
    await walkTo(viewer, "nc_exec_running");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === `/profile/${device}`);
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    expect(new URL(page.url()).hash).toContain(`s=${run}`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL((url) => url.pathname === `/profile/${run}`);
    await viewer.widget("Event Details").getByText("nc_exec_running").first().waitFor();
    // From the list of device profiles too.
    await page.getByRole("tab", { name: "System Timeline" }).click();
    await viewer.widget("System Timeline").getByRole("button", { name: /Device profiles \(1\)/ }).click();
    await page.getByRole("dialog").locator(".grid-row").first().click();
    await page.waitForURL((url) => url.pathname === `/profile/${device}`);
    await viewer.close();
  });

  it("has rows of transfers, memories and processors that say their values", { timeout: 120_000 }, async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${run}`), "light");
    const widget = viewer.widget("System Timeline");
    await widget.locator("canvas").waitFor();
    await viewer.enlarge("System Timeline");
    await widget.getByRole("button", { name: "All", exact: true }).click();
    const canvas = widget.locator("canvas");
    const high = await canvas.evaluate((element) => element.clientHeight);
    const wide = await canvas.evaluate((element) => element.clientWidth);
    const rows: string[] = [];
    // The rows of lines stand last; those of transfers are the last of the bars.
    for (let y = Math.max(11, high - 22 - 22 * 24); y < high - 22; y += 22) {
      await canvas.hover({ position: { x: Math.round(wide * 0.7), y } });
      const box = widget.locator(".hover-box");
      if ((await box.count()) > 0) rows.push((await box.innerText()).replaceAll("\n", " "));
    }
    const text = rows.join("|");
    for (const part of [/mean of all [\d.]+ %/, /in use [\d.]+ GiB/, /total [\d.]+ [KMG]iB/, /bandwidth/]) expect(text).toMatch(part);
    await viewer.picture("system-timeline-light");
    await widget.getByRole("combobox", { name: "Processors" }).selectOption("each");
    const [cpus] = query(run, "SELECT count(DISTINCT cpu_id) AS n FROM CpuUsage");
    await expect.poll(() => canvas.evaluate((element) => element.clientHeight)).toBeGreaterThan(high + (Number(cpus!.n) - 2) * 44);
    await viewer.close();
  });

  it("is a system profile in the list, and its events are found, followed and exported", async () => {
    const list = await Viewer.open(browser, server.url("/"));
    await list.page.getByRole("treegrid").or(list.page.getByRole("grid")).first().waitFor();
    await list.page.getByText("system", { exact: true }).first().waitFor();
    await list.close();
    const viewer = await Viewer.open(browser, server.url(`/profile/${run}`));
    await viewer.add("Search");
    const search = viewer.widget("Search");
    await search.getByRole("tab", { name: "Query" }).click();
    await search.getByRole("textbox", { name: "Query" }).fill("name=nrt_execute");
    await search.getByRole("textbox", { name: "Query" }).press("Enter");
    const [found] = query(run, "SELECT count(*) AS n FROM SystemProfileEvents WHERE name = 'nrt_execute'");
    await search.getByRole("tab", { name: `Results (${found!.n})` }).waitFor();
    await search.locator(".grid-row").first().click();
    await viewer.page.getByRole("tab", { name: "Event Details" }).click();
    await viewer.widget("Event Details").getByText("nrt_execute").first().waitFor();
    await viewer.close();
  });
});

describe("a capture of the software NeuronCore", () => {
  it("is said to be simulated and fills the widgets", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${simulated}`));
    await viewer.page.getByText("simulated", { exact: true }).first().waitFor();
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    const counts = (await table(viewer, "Operator Table")).map((row) => Number(row.count));
    const [all] = query(simulated, "SELECT count(*) AS n FROM Instruction WHERE pcore_idx = 0 OR pcore_idx IS NULL");
    expect(counts).toContain(Number(all!.n));
    for (const [title, shows] of [
      ["Overall Summary", /Tensor engine/],
      ["Current Selection Summary", /Tensor engine/],
      ["Performance", /Use of engines/],
      ["Tensor Viewer", /Variable name/i],
      ["Memory Viewer", /State buffer|No use/],
      ["Flame View", /all \(/],
    ] as const) {
      await viewer.add(title);
      await viewer.widget(title).getByText(shows).first().waitFor();
    }
    await viewer.page.waitForTimeout(500);
    await viewer.picture("simulated-dark");
    await viewer.close();
  });
});
