// Runs that the original wrote, in the tools that it had.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "../browser";
import { Board, Lab, Tab } from "./board";
import { FUSED, OPERATORS, TRACE, originals } from "./samples";

const lab = new Lab();
const board = new Board(lab);
let browser: Browser;

beforeAll(async () => {
  originals(lab);
  await board.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await board.stop();
  lab.end();
});

const rows = [
  ["aten__addmm_dot", "2", "0", "0", "279", "39.08%"],
  ["aten__relu_maximum", "1", "0", "0", "276", "38.66%"],
  ["aten__tanh_tanh", "1", "0", "0", "159", "22.27%"],
];

describe("runs of the original", () => {
  it("make the tab active, with the tools that each run has files for", async () => {
    expect(await board.active()).toBe(true);
    const tab = await Tab.at(browser, board);
    const options = (of: typeof tab.runs) => of.locator("option").allInnerTexts();
    await expect.poll(() => options(tab.runs)).toEqual([TRACE, OPERATORS]);
    expect(await options(tab.tools)).toEqual(["trace"]);
    await tab.runs.selectOption({ label: OPERATORS });
    await expect.poll(() => options(tab.tools)).toEqual(["operator-framework", "operator-hlo", "operator-timeline"]);
    await tab.close();
  });

  it("operator-framework: pies, table, sort, search, pages, hover", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(OPERATORS, "operator-framework");
    const name = (cells: string[][]) => cells.map((row) => [(row[0] ?? "").split("\n")[0]?.replace(/\?$/, "").trim(), ...row.slice(1)]);
    await expect.poll(async () => name(await tab.cells())).toEqual(rows);
    await tab.frame.getByText("Showing 1 to 3 of 3 entries").waitFor();
    const labels = await tab.frame.locator(".tb-pie text").allTextContents();
    expect(labels).toEqual(["100%", "39.1%", "38.7%", "22.3%"]);
    expect(await tab.frame.getByRole("radio").count()).toBe(1);
    await tab.frame.getByLabel("NeuronDevice 0 NeuronCore 0", { exact: true }).waitFor();
    await tab.picture("tb-operator-framework");
    const head = tab.frame.getByRole("columnheader", { name: "Time (ns)" });
    await head.getByRole("button").click();
    expect(name(await tab.cells()).map((row) => row[4])).toEqual(["159", "276", "279"]);
    await head.getByRole("button").click();
    expect(name(await tab.cells()).map((row) => row[4])).toEqual(["279", "276", "159"]);
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    await tab.frame.getByLabel("Search:").fill("relu");
    await tab.frame.getByText("Showing 1 to 1 of 1 entries (filtered from 3 total entries)").waitFor();
    await tab.frame.getByLabel("Search:").fill("");
    const tip = tab.frame.getByRole("tooltip");
    expect(await tip.isVisible()).toBe(false);
    await tab.frame.getByRole("button", { name: "Operators in aten__addmm_dot" }).hover();
    await expect.poll(() => tip.isVisible()).toBe(true);
    expect(await tip.locator("span").allTextContents()).toEqual(FUSED);
    await tab.picture("tb-fused-hover");
    await tab.close();
  });

  it("operator-hlo has the operators of the graph", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(OPERATORS, "operator-hlo");
    await expect.poll(async () => (await tab.cells()).map((row) => row[4])).toEqual(["279", "276", "159"]);
    await tab.close();
  });

  it("operator-timeline: four processes, and the members of a fused slice by a click", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(OPERATORS, "operator-timeline");
    await tab.frame.getByText("Nothing selected. Tap stuff.").waitFor();
    const labels = tab.frame.locator(".tl-label .tl-name");
    await expect.poll(() => labels.allTextContents()).toEqual([
      "Process Overview", "Neuron Runtime Setup", "Compute Busy", "DMA Busy",
      "Process Control", "",
      "Process Execution", "", "", "Framework Ops", "HLO Ops",
      "Process Data Transfer", "",
    ]);
    await tab.picture("tb-operator-timeline");
    await tab.frame.getByLabel("Search slices").fill("fused");
    await tab.frame.getByText("0 of 1").waitFor();
    await tab.frame.getByRole("button", { name: "Next match" }).click();
    await tab.frame.getByText("1 item selected.").waitFor();
    const panel = tab.frame.getByRole("region", { name: "Selected slice" });
    await expect.poll(() => panel.locator("dd").allTextContents()).toEqual(["fused_16", "other", "11,452 ns", "153 ns", "", FUSED.join("")]);
    await tab.picture("tb-fused-slice");
    await tab.close();
  });

  it("trace: device above host, slices within slices, a click", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(TRACE, "trace");
    const labels = tab.frame.locator(".tl-label .tl-name");
    await expect.poll(() => labels.allTextContents()).toEqual([
      "Process 4736", "IO Data Transfer", "NeuronDevice Execution", "CC Synchronization",
      "Process /host:CPU", "python#24", "", "", "tf_Compute/-106433425#25",
    ]);
    // The middle of the row of StepMarker, which is nearly as long as the trace.
    const row = tab.frame.locator('.tl-label[data-row^="trace:Process /host:CPU/python#24"]');
    const plot = tab.frame.locator(".tl-plot");
    // Rows are named before their slices are there, and a click on nothing selects nothing.
    await tab.frame.locator(".tl-plot[aria-busy=false]").waitFor();
    const [at, area] = [await row.boundingBox(), await plot.boundingBox()];
    if (!at || !area) throw new Error("the row is not there");
    await tab.page.mouse.click(area.x + area.width / 2, at.y + at.height / 2);
    const panel = tab.frame.getByRole("region", { name: "Selected slice" });
    await expect.poll(() => panel.locator("dd").allTextContents()).toEqual(["StepMarker", "other", "0 ns", "5,100,000,000 ns"]);
    await tab.picture("tb-trace");
    await tab.close();
  });

  it("follows TensorBoard into the dark, and keeps what was chosen", async () => {
    const tab = await Tab.at(browser, board, "dark");
    await tab.open(OPERATORS, "operator-hlo");
    await expect.poll(() => tab.frame.locator("html").getAttribute("data-theme")).toBe("dark");
    await tab.picture("tb-operator-dark");
    await tab.page.reload();
    await tab.frame.locator('main[aria-label="operator-hlo"]').waitFor();
    await tab.close();
  });
});
