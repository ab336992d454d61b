// What a person does, by the step lists of profiler.md §3, on real captures; the
// numbers that widgets show are compared with the interface.

import type { Browser } from "playwright-core";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Metric, TreeNode } from "../src/api/trees";
import type { Profile } from "../src/api/types";
import { Viewer, launch } from "./browser";
import { Server } from "./server";
import { rowsOf, table } from "./tables";

const server = new Server();
let browser: Browser;
const ids: Record<string, string> = {};

beforeAll(async () => {
  for (const name of ["attn-tkg", "moe-dge"]) ids[name] = server.store(name);
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

const open = (name: string, hash = "") => Viewer.open(browser, server.url(`/profile/${ids[name]}${hash}`));

const hash = (viewer: Viewer) => new URL(viewer.page.url()).hash;

/** The three viewports in which numbers are compared. */
const VIEWPORTS: [from: number, to: number][] = [
  [0, 0],
  [20_000, 120_000],
  [150_000, 151_000],
];

describe.each(["attn-tkg", "moe-dge"])("%s", (name) => {
  it("Overall Summary has the metrics of the execution", async () => {
    const viewer = await open(name);
    await viewer.add("Overall Summary");
    await viewer.widget("Overall Summary").getByText("Total time", { exact: true }).waitFor();
    const shown = await table(viewer, "Overall Summary");
    const { summary } = await server.get<{ summary: Record<string, unknown>[] }>(`/profiles/${ids[name]}/summary`);
    const wanted = Object.values(summary[0] ?? {}).filter((value) => typeof value === "number");
    expect(wanted.length).toBeGreaterThan(80);
    const numbers = new Map<string, number>();
    for (const row of shown) if (row.raw) numbers.set(row.raw, (numbers.get(row.raw) ?? 0) + 1);
    for (const value of wanted) expect(numbers.has(String(value)), String(value)).toBe(true);
    await viewer.close();
  });

  it.each(VIEWPORTS)("Operator Table and Selection Summary are those of %d to %d", async (from, to) => {
    const whole = to === 0;
    const { total_ns } = await server.get<Profile>(`/profiles/${ids[name]}`);
    const range = whole ? "" : `&from=${from}&to=${to}`;
    const tree = await server.get<{ nodes: TreeNode[] }>(`/profiles/${ids[name]}/operators?by=layer&limit=5000${range}`);
    const metrics = await server.get<{ metrics: Metric[] }>(`/profiles/${ids[name]}/summary?from=${from}&to=${whole ? total_ns : to}`);
    const viewer = await open(name, whole ? "" : `#t=${from}-${to}`);
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    const shown = await table(viewer, "Operator Table");
    expect(shown.length).toBe(tree.nodes.length);
    expect(shown.length).toBeGreaterThan(0);
    const sums = (rows: { busy: number; count: number }[]) => rows.map((one) => `${one.busy}/${one.count}`).sort();
    expect(sums(shown.map((row) => ({ busy: Number(row.busy_ns), count: Number(row.count) })))).toEqual(sums(tree.nodes.map((node) => ({ busy: node.busy_ns, count: node.count }))));

    await viewer.add("Current Selection Summary");
    await viewer.widget("Current Selection Summary").locator(".grid-row").first().waitFor();
    const values = (await table(viewer, "Current Selection Summary")).flatMap((row) => (row.value ? [row.value] : []));
    expect(values.length).toBe(metrics.metrics.length);
    await viewer.close();
  });

  it("Search finds what the interface finds, page by page, and the timeline goes there", async () => {
    const viewer = await open(name);
    await viewer.add("Search");
    const widget = viewer.widget("Search");
    await widget.getByRole("combobox", { name: "Field" }).selectOption("opcode");
    await widget.getByRole("textbox", { name: "Value" }).fill("MATMUL");
    await widget.getByRole("textbox", { name: "Value" }).press("Enter");
    const found = await server.get<{ total: number; statistics: { duration_ns: { sum: number } }; rows: { row: number; start_ts: number }[] }>(`/profiles/${ids[name]}/search?q=opcode%3DMATMUL&tables=Instruction`);
    expect(found.total).toBeGreaterThan(100);
    await widget.getByRole("tab", { name: `Results (${found.total.toLocaleString("en-US")})` }).waitFor();
    await widget.locator(".grid-row").first().click();
    await viewer.page.waitForFunction((row) => location.hash.includes(`e=Instruction%2F${row}`), found.rows[0]?.row);
    await viewer.page.getByRole("tab", { name: "Event Details" }).click();
    await viewer.widget("Event Details").getByText("MATMUL", { exact: true }).first().waitFor();
    await viewer.widget("Event Details").getByRole("button", { name: "Next match" }).click();
    await viewer.page.waitForFunction((row) => location.hash.includes(`e=Instruction%2F${row}`), found.rows[1]?.row);
    await viewer.close();
  });

  it("Event Details has every field, and dependencies lead both ways", async () => {
    const first = await server.get<{ rows: { row: number }[] }>(`/profiles/${ids[name]}/search?q=opcode%3DMATMUL&tables=Instruction&limit=200`);
    let detail: { row: number; fields: Record<string, unknown>; predecessors: { row: number; table: string }[] } | null = null;
    for (const { row } of first.rows) {
      detail = await server.get(`/profiles/${ids[name]}/events/Instruction/${row}`);
      if (detail && detail.predecessors.some((one) => typeof one.row === "number")) break;
    }
    const before = detail?.predecessors.find((one) => typeof one.row === "number");
    expect(before).toBeDefined();
    const viewer = await open(name, `#e=Instruction/${detail?.row}`);
    await viewer.widget("Event Details").locator(".grid-row").first().waitFor();
    expect((await table(viewer, "Event Details")).map((row) => row.field).sort()).toEqual(Object.keys(detail?.fields ?? {}).sort());
    await viewer.widget("Event Details").getByRole("tab", { name: /Dependencies/ }).click();
    await viewer.widget("Event Details").locator(".ends button:enabled").first().click();
    await viewer.page.waitForFunction(([table, row]) => location.hash.includes(`e=${table}%2F${row}`), [before?.table, before?.row] as const);
    await viewer.add("Dependency Chain");
    await viewer.widget("Dependency Chain").locator(".grid-row").first().waitFor();
    await viewer.close();
  });
});

describe("widgets of the whole profile", () => {
  it("Tensor Viewer has the tensors, and a click finds the DMA of one", async () => {
    const { rows } = await server.get<{ rows: { variable_name: string; size: number }[] }>(`/profiles/${ids["moe-dge"]}/tables/TensorInfo?limit=10000`);
    const viewer = await open("moe-dge");
    await viewer.add("Tensor Viewer");
    await viewer.widget("Tensor Viewer").locator(".grid-row").first().waitFor();
    const shown = await table(viewer, "Tensor Viewer");
    expect(shown.map((row) => `${row.variable_name} ${row.size}`).sort()).toEqual(rows.map((row) => `${row.variable_name} ${row.size}`).sort());
    await viewer.widget("Tensor Viewer").locator(".grid-row").first().click();
    await viewer.page.waitForFunction(() => decodeURIComponent(location.hash).includes("q=DmaPacket:variable="));
    await viewer.close();
  });

  it("Recommendations are the findings of the server, where it has rules", async () => {
    const answer = await fetch(server.url(`/api/v1/profiles/${ids["attn-tkg"]}/findings`));
    const viewer = await open("attn-tkg");
    await viewer.add("Recommendations");
    const widget = viewer.widget("Recommendations");
    if (answer.status === 404) await widget.getByText("This server has no rules").waitFor();
    else {
      const { findings } = (await answer.json()) as { findings: { sentence: string }[] };
      await widget.getByRole("listitem").first().waitFor();
      expect(await widget.locator("article header strong").allInnerTexts()).toEqual(
        // A heading begins with a capital.
        findings.map(({ sentence }) => sentence.charAt(0).toUpperCase() + sentence.slice(1)),
      );
      await viewer.enlarge("Recommendations");
      await viewer.picture("recommendations-full-dark");
    }
    await viewer.close();
  });

  it("Region Highlighter marks layers, and undo takes them away", async () => {
    const viewer = await open("moe-dge");
    await viewer.add("Region Highlighter");
    const button = viewer.widget("Region Highlighter").getByRole("button", { name: /^Mark \d+ regions/ });
    await expect.poll(() => button.isEnabled()).toBe(true);
    const wanted = Number(/\d+/.exec(await button.innerText())?.[0]);
    expect(wanted).toBeGreaterThan(0);
    await button.click();
    await viewer.widget("Region Highlighter").getByText("Lengths of regions").waitFor();
    await viewer.add("Annotations");
    expect((await table(viewer, "Annotations")).filter((row) => row.timestamp !== "")).toHaveLength(wanted);
    await viewer.picture("regions-dark");
    await viewer.page.getByRole("button", { name: "Undo: generate regions" }).click();
    await viewer.widget("Annotations").getByText("No annotations").waitFor();
    await viewer.close();
  });

  it("the visible range is saved as CSV", async () => {
    const wanted = await server.get<{ total: number }>(`/profiles/${ids["attn-tkg"]}/search?q=${encodeURIComponent("start_ts>=0")}&tables=Instruction&from=60000&to=120000`);
    expect(wanted.total).toBeGreaterThan(100);
    const viewer = await open("attn-tkg", "#t=60000-120000");
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await viewer.page.getByRole("button", { name: /^Save what is seen/ }).click();
    const waits = viewer.page.waitForEvent("download");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    const rows = await rowsOf(await waits);
    expect(rows).toHaveLength(wanted.total);
    expect(Object.keys(rows[0] ?? {})[0]).toBe("timeline_track");
    for (const row of rows) expect(Number(row.start_ts) >= 60_000 && Number(row.start_ts) < 120_000).toBe(true);
    await viewer.close();
  });

  it("Roofline and the charts are saved as SVG", async () => {
    const viewer = await open("attn-tkg");
    await viewer.add("Roofline");
    await viewer.widget("Roofline").locator("circle").first().waitFor();
    await viewer.widget("Roofline").getByRole("button", { name: "Save Roofline" }).click();
    const waits = viewer.page.waitForEvent("download");
    await viewer.widget("Roofline").getByRole("button", { name: "SVG" }).click();
    const text = readFileSync(await (await waits).path(), "utf8");
    expect(text).toContain("<svg");
    expect(text).not.toContain("var(--");
    await viewer.close();
  });

  it("Event Details, the chain, a search and its statistics, as pictures", async () => {
    const viewer = await open("attn-tkg", "#q=Instruction:opcode%3DMATMUL&t=60000-120000");
    await viewer.add("Search");
    await viewer.widget("Search").locator(".grid-row").nth(3).click();
    await viewer.page.waitForTimeout(700);
    await viewer.picture("search-found-dark");
    await viewer.widget("Search").getByRole("tab", { name: "Statistics" }).click();
    await viewer.widget("Search").getByText("Sum of lengths").waitFor();
    await viewer.picture("search-statistics-dark");
    await viewer.page.getByRole("tab", { name: "Event Details" }).click();
    await viewer.widget("Event Details").getByRole("tab", { name: /Dependencies/ }).click();
    await viewer.widget("Event Details").locator(".ends button").first().waitFor();
    await viewer.picture("dependencies-dark");
    await viewer.add("Dependency Chain");
    await viewer.widget("Dependency Chain").locator(".grid-row").first().waitFor();
    await viewer.picture("chain-dark");
    await viewer.close();
  });
});

describe("a profile", () => {
  it("is left and found again by its link", async () => {
    const viewer = await open("attn-tkg");
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    const canvas = viewer.page.getByRole("application", { name: "Device timeline" });
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    if (!box) throw new Error("no timeline");
    await viewer.page.mouse.move(box.x + box.width * 0.4, box.y + 120);
    await viewer.page.mouse.down();
    await viewer.page.mouse.move(box.x + box.width * 0.6, box.y + 124, { steps: 6 });
    await viewer.page.mouse.up();
    await viewer.page.waitForFunction(() => location.hash.includes("t="));
    const link = hash(viewer);
    await viewer.page.getByRole("button", { name: "Zoom before this one" }).click();
    await viewer.page.waitForFunction(() => !location.hash.includes("t="));
    await viewer.page.getByRole("button", { name: "Zoom after this one" }).click();
    await viewer.page.waitForFunction((text) => location.hash === text, link);
    const other = await open("attn-tkg", link);
    await other.widget("Operator Table").locator(".grid-row").first().waitFor();
    await other.page.waitForTimeout(400);
    expect(hash(other)).toBe(link);
    await other.close();
    await viewer.close();
  });

  it("annotations are made, compared, renamed, undone, saved as a set and kept", async () => {
    const viewer = await open("attn-tkg", "#t=100000-200000");
    await viewer.add("Annotations");
    const widget = viewer.widget("Annotations");
    await widget.getByRole("button", { name: "Create" }).click();
    const timeline = viewer.page.getByRole("application", { name: "Device timeline" });
    const box = await timeline.boundingBox();
    if (!box) throw new Error("no timeline");
    await viewer.page.mouse.click(box.x + box.width * 0.8, box.y + 60, { button: "right" });
    await viewer.page.keyboard.press("Escape");
    await viewer.page.waitForFunction(() => document.querySelectorAll("[data-widget=Annotations] .grid-row [type=color]").length === 2);
    const rows = (await table(viewer, "Annotations")).filter((row) => row.timestamp !== "");
    const [first, second] = [rows[0], rows[1]];
    expect(Number(first?.timestamp)).toBe(150_000);
    expect(Number(second?.diff)).toBe(Number(second?.timestamp) - 150_000);
    expect(second?.diff_vs).toBe(first?.name);

    // The metrics between the two are those of the interface.
    await viewer.page.waitForFunction(() => document.querySelectorAll("[data-widget=Annotations] .grid-row").length > 4);
    const between = await server.get<{ metrics: Metric[] }>(`/profiles/${ids["attn-tkg"]}/summary?from=150000&to=${second?.timestamp}`);
    const metrics = (await table(viewer, "Annotations")).filter((row) => row.timestamp === "" && row.diff !== "");
    expect(metrics.map((row) => Number(row.diff)).sort()).toEqual(between.metrics.map((one) => one.value).sort());

    await widget.getByRole("checkbox", { name: /^Zoom to between/ }).first().click();
    await viewer.page.waitForFunction((to) => location.hash.includes(`t=150000-${to}`), second?.timestamp);

    await widget.locator(".grid-row").first().locator("[role=gridcell]").nth(1).dblclick();
    await viewer.page.getByRole("dialog").getByRole("textbox").fill("begin <b>here</b>");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await widget.getByText("begin <b>here</b>").first().waitFor();
    await viewer.page.getByRole("button", { name: /^Undo: rename/ }).click();
    expect(await widget.getByText("begin <b>here</b>").count()).toBe(0);
    await viewer.page.getByRole("button", { name: /^Redo: rename/ }).click();
    await widget.getByText("begin <b>here</b>").first().waitFor();

    await widget.getByRole("button", { name: /^Sets of annotations/ }).click();
    await widget.getByRole("button", { name: "Save as …" }).click();
    await viewer.page.getByRole("dialog").getByRole("textbox").fill("my set");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(async () => (await server.get<{ names: string[] }>(`/documents/${ids["attn-tkg"]}`)).names).toContain("my set");
    // Another browser has what the server has, and it gets it a moment later.
    const kept = async () => JSON.stringify(await server.get(`/documents/${ids["attn-tkg"]}/${encodeURIComponent("(current)")}`));
    await expect.poll(kept, { timeout: 10_000 }).toContain("begin <b>here</b>");
    await viewer.close();

    const again = await open("attn-tkg");
    await again.add("Annotations");
    await again.widget("Annotations").getByText("begin <b>here</b>").first().waitFor();
    await again.close();
  });

  it("layouts are saved, loaded and deleted, and widgets closed and found again", async () => {
    const viewer = await open("moe-dge");
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await viewer.add("Flame View");
    await viewer.page.getByRole("button", { name: /^Layouts/ }).click();
    await viewer.page.getByRole("button", { name: "Save as …" }).click();
    await viewer.page.getByRole("dialog").getByRole("textbox").fill("with flames");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(async () => (await server.get<{ names: string[] }>("/documents/layouts")).names).toEqual(["with flames"]);
    await viewer.page.getByRole("button", { name: /^Layouts/ }).click();
    await viewer.page.getByRole("button", { name: "Timeline", exact: true }).click();
    await viewer.widget("Operator Table").waitFor({ state: "detached" });
    await viewer.page.getByRole("button", { name: /^Undo: load layout/ }).click();
    await viewer.widget("Flame View").waitFor();
    await viewer.close();
    // Another profile, another browser: the layout is the server's.
    const other = await open("attn-tkg", "#l=with+flames");
    await other.page.getByRole("tab", { name: "Flame View" }).waitFor();
    await other.page.getByRole("button", { name: /^Layouts/ }).click();
    await other.page.getByRole("button", { name: "Delete layout with flames" }).click();
    await other.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect.poll(async () => (await server.get<{ names: string[] }>("/documents/layouts")).names).toEqual([]);
    await other.close();
  });

  it("is compared with another, side by side and by operator", async () => {
    const viewer = await Viewer.open(browser, server.url(`/compare?ids=${ids["attn-tkg"]},${ids["moe-dge"]}`));
    for (const name of ["attn-tkg", "moe-dge"]) await viewer.page.frameLocator(`iframe[title="Profile ${name}"]`).locator("canvas").first().waitFor();
    const shown = viewer.page.getByRole("region", { name: "Differences" });
    await shown.getByText("Total time").first().waitFor();
    await shown.getByRole("tab", { name: "Opcodes" }).click();
    await shown.getByText("TensorMatrix").first().waitFor();
    await viewer.page.waitForTimeout(800);
    await viewer.picture("compare-dark");
    await viewer.close();
  });

  it("is used by keyboard alone", async () => {
    const viewer = await open("attn-tkg");
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await viewer.page.keyboard.press("?");
    await viewer.page.getByRole("dialog", { name: "Keys" }).waitFor();
    await viewer.picture("keys-dark");
    await viewer.page.keyboard.press("Escape");
    await viewer.page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    await viewer.widget("Operator Table").getByRole("treegrid").focus();
    await viewer.page.keyboard.press("ArrowDown");
    await viewer.page.keyboard.press("Enter");
    await viewer.page.waitForFunction(() => location.hash.includes("q="));
    // Every control has a name.
    const nameless = await viewer.page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, [role=grid], [role=treegrid], canvas[tabindex]")]
        .filter((one) => (one as HTMLElement).offsetParent !== null)
        .filter((one) => {
          const labels = (one as HTMLInputElement).labels;
          return !(one.getAttribute("aria-label") || one.textContent?.trim() || one.getAttribute("title") || (labels && labels.length > 0));
        })
        .map((one) => one.outerHTML.slice(0, 160)),
    );
    expect(nameless).toEqual([]);
    await viewer.close();
  });
});
