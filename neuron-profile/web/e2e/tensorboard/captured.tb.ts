// Runs of captured sample models: every tool, and the same figures as
// `neuron-profile query` of the same profile.

import { cpSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "../browser";
import { capture } from "../server";
import { Board, Lab, Tab, pause } from "./board";

const lab = new Lab();
const board = new Board(lab, ["--load_fast", "false"]);
let browser: Browser;
let mlp = "";
let transformer = "";

beforeAll(async () => {
  mlp = lab.capture("mlp");
  transformer = lab.capture("transformer");
  await board.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await board.stop();
  lab.end();
});

/** Operators by SQL: name, how many, core, time. */
const sql = (name: string, instance: string) =>
  `SELECT ${name} AS name, count(DISTINCT ${instance}) AS n, pcore_idx AS core, sum(end_ts - start_ts) AS ns FROM Instruction WHERE opcode <> 'EVENT_SEMAPHORE' GROUP BY 1, 3 ORDER BY 1, 3`;
// The sample models name their HLO instructions by the paths of layers.
const PATH = "CASE WHEN coalesce(layer, '') NOT IN ('', 'Unknown') THEN layer WHEN hlo_name LIKE '%/%' THEN hlo_name END";
const FRAMEWORK = sql(`coalesce(regexp_replace(regexp_replace(${PATH}, '^.*/', ''), '\\.[0-9]+$', ''), '(no operator)')`, PATH);
const HLO = sql("CASE WHEN coalesce(hlo_name, '') = '' THEN '(no operator)' ELSE regexp_replace(hlo_name, '\\.[0-9]+$', '') END", "hlo_name");

async function shown(tab: Tab): Promise<string[][]> {
  await tab.frame.locator(".tb-table select").selectOption("100");
  return (await tab.cells()).map((row) => [(row[0] ?? "").split("\n")[0] ?? "", row[1] ?? "", row[3] ?? "", row[4] ?? ""]);
}

describe("captured models", () => {
  for (const [tool, statement] of [["operator-framework", FRAMEWORK], ["operator-hlo", HLO]] as const)
    it(`${tool} has the figures of a query`, async () => {
      const tab = await Tab.at(browser, board);
      for (const run of [transformer, mlp]) {
        await tab.open(basename(run), tool);
        await tab.frame.locator(".tb-table tbody tr").nth(2).waitFor();
        const wanted = lab.query(run, statement).map((row) => [String(row.name), String(row.name === "(no operator)" ? 0 : row.n), String(row.core), String(row.ns)]);
        expect(wanted.length).toBeGreaterThan(3);
        const order = (list: string[][]) => [...list].sort((a, b) => (a[0]! + a[2]! < b[0]! + b[2]! ? -1 : 1));
        await expect.poll(async () => order(await shown(tab))).toEqual(order(wanted));
        const shares = (await tab.cells()).reduce((sum, row) => sum + Number.parseFloat(row[5] ?? ""), 0);
        expect(Math.abs(shares - 100)).toBeLessThan(0.5);
      }
      await tab.picture(`tb-captured-${tool}`);
      await tab.close();
    });

  it("operator-timeline has layers above operators, and a click tells a slice", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(basename(transformer), "operator-timeline");
    const labels = tab.frame.locator(".tl-label .tl-name");
    await expect.poll(async () => (await labels.allTextContents()).filter((text) => text !== "")).toEqual(expect.arrayContaining(["Process Overview", "Compute Busy", "Process Execution", "Framework Ops", "HLO Ops"]));
    await tab.picture("tb-captured-operator-timeline");
    await tab.frame.getByLabel("Search slices").fill("layernorm");
    await tab.frame.getByRole("button", { name: "Next match" }).click();
    const panel = tab.frame.getByRole("region", { name: "Selected slice" });
    await expect.poll(async () => (await panel.locator("dd").allTextContents())[0]).toMatch(/layernorm/);
    // The slice begins when the first of its instructions does.
    const start = Number((await panel.locator("dd").allTextContents())[2]?.replace(/[^0-9]/g, ""));
    const [row] = lab.query(transformer, `SELECT count(*) AS n FROM Instruction WHERE start_ts = ${start} OR end_ts = ${start} OR dma_trigger_start_ts = ${start}`);
    expect(Number(row?.n)).toBeGreaterThan(0);
    await tab.close();
  });

  it("trace shows what the host did while it was captured", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(basename(mlp), "trace");
    const labels = tab.frame.locator(".tl-label .tl-name");
    await expect.poll(() => labels.allTextContents()).toEqual([expect.stringMatching(/^Process \d+$/), "IO Data Transfer", "NeuronDevice Execution", "CC Synchronization", "Process /host:CPU", "worker#0"]);
    await tab.frame.getByLabel("Search slices").fill("execution 1");
    await tab.frame.getByRole("button", { name: "Next match" }).click();
    await tab.frame.getByText("1 item selected.").waitFor();
    await tab.picture("tb-captured-trace");
    await tab.close();
  });

  it("overview, memory and roofline are the widgets of the viewer", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(basename(transformer), "overview");
    const [summary] = lab.query(transformer, "SELECT hardware_flops AS f FROM Summary");
    expect(Number(summary?.f)).toBeGreaterThan(0);
    const grid = tab.frame.locator('[data-widget="Overall Summary"]');
    await grid.getByRole("searchbox").fill("hardware flops");
    const flops = Number(summary?.f);
    const text = `${Number((flops / 1e6).toPrecision(4))} MFLOP`;
    await grid.getByText(text, { exact: true }).first().waitFor();
    await tab.frame.locator('[data-widget="Performance"] svg').first().waitFor();
    await tab.picture("tb-overview");
    await tab.tools.selectOption("memory");
    await tab.frame.locator('[data-widget="Memory Viewer"] svg, [data-widget="Memory Viewer"] canvas').first().waitFor();
    await tab.picture("tb-memory");
    await tab.tools.selectOption("roofline");
    await tab.frame.getByRole("img", { name: /Roofline of [1-9]/ }).waitFor();
    await tab.picture("tb-roofline");
    await tab.close();
  });

  it("device is the Device Viewer: its timeline, search, details and layouts", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(basename(transformer), "device");
    await expect.poll(() => tab.frame.locator(".tl-label .tl-name").allTextContents()).toEqual(expect.arrayContaining(["TensorMatrix", "Vector"]));
    await tab.frame.getByRole("button", { name: "Add widget" }).waitFor();
    const table = tab.frame.locator('[data-widget="Operator Table"]');
    await table.getByText("layernorm").first().waitFor();
    await tab.picture("tb-device");
    await tab.close();
  });

  it("shows runs that appear, and those that grow, while it is open", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open(basename(mlp), "operator-hlo");
    const late = join(lab.logdir, "late");
    mkdirSync(late);
    for (const end of ["neff", "ntff"]) cpSync(capture(`attn-tkg.${end}`), join(late, `a.${end}`));
    await expect.poll(() => tab.runs.locator("option").allInnerTexts(), { timeout: 20_000 }).toContain("late");
    await tab.open("late", "operator-hlo");
    await tab.frame.locator(".tb-table tbody tr td").first().waitFor({ timeout: 60_000 });
    const count = async () => Number(/of (\d+) entries/.exec(await tab.frame.locator(".tb-table [role=status]").innerText())?.[1]);
    await expect.poll(count).toBeGreaterThan(0);
    // Another trace of it: another profile, which the selector then has.
    for (const end of ["neff", "ntff"]) cpSync(capture(`moe-dge.${end}`), join(late, `b.${end}`));
    await expect.poll(() => tab.frame.getByLabel("Profile:").locator("option").count(), { timeout: 60_000 }).toBe(3);
    await tab.close();
  });

  it("starts its server again when that was killed, and leaves none behind", async () => {
    const ask = async () => (await board.get("app/api/v1/runs")).status;
    expect(await ask()).toBe(200);
    const [first] = board.children();
    if (!first) throw new Error("no server is running");
    process.kill(first, "SIGKILL");
    await expect.poll(ask).toBe(200);
    const [second] = board.children();
    expect(second).not.toBe(first);
    await board.stop("SIGKILL");
    const runs = () => {
      try {
        process.kill(second ?? 0, 0);
        return true;
      } catch {
        return false;
      }
    };
    await expect.poll(runs, { timeout: 10_000 }).toBe(false);
    await board.start();
    await pause(1);
  });
});
