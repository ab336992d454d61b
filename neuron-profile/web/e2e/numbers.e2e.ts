// The numbers of every widget beside those of `neuron-profile query`, in three
// viewports where a widget follows the viewport. A widget with nothing in it
// fails.

import { execFileSync } from "node:child_process";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { time } from "../src/format/number";
import { Viewer, launch } from "./browser";
import { Server, binary } from "./server";
import { rowsOf, table } from "./tables";

const server = new Server();
let browser: Browser;
const ids: Record<string, string> = {};
const totals: Record<string, number> = {};

beforeAll(async () => {
  for (const name of ["attn-tkg", "moe-dge"]) ids[name] = server.store(name);
  await server.start();
  browser = await launch();
  for (const name of Object.keys(ids)) totals[name] = (await server.get<{ total_ns: number }>(`/profiles/${ids[name]}`)).total_ns;
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

type Fields = Record<string, string | number | null>;

/** A question to the command, which knows nothing of the server. */
function query(name: string, sql: string): Fields[] {
  const text = execFileSync(binary, ["query", ids[name]!, sql, "--output-format", "json", "--data-path", server.data], { encoding: "utf8", maxBuffer: 1 << 28 });
  return JSON.parse(text) as Fields[];
}
const one = (name: string, sql: string) => Number(Object.values(query(name, sql)[0] ?? {})[0]);

/** Runs of the iterations of loops with this variable, walked here from each instruction outwards. */
function iterations(name: string, variable: string, gap: number): { path: string; from: number; to: number }[] {
  const loops = new Map(query(name, "SELECT * FROM KernelIterationVariables").map((row) => [row.iteration_variable_id, row]));
  const paths = new Map<unknown, string[]>();
  for (const row of query(name, "SELECT * FROM KernelInstructions")) {
    const outwards: string[] = [];
    for (let loop = loops.get(row.iteration_variables_id!); loop; loop = loops.get(loop.parent_iteration_variable_id!)) outwards.push(`${loop.variable_name} = ${loop.variable_value}`);
    const path = outwards.reverse().flatMap((one, i) => (one.startsWith(`${variable} = `) ? [outwards.slice(0, i + 1).join(" / ")] : []));
    paths.set(row.kernel_instruction_name, path);
  }
  const open = new Map<string, { path: string; from: number; to: number }>();
  const out: { path: string; from: number; to: number }[] = [];
  for (const row of query(name, "SELECT kernel_instruction_name, start_ts, end_ts FROM Instruction ORDER BY start_ts, end_ts")) {
    const [from, to] = [Number(row.start_ts), Number(row.end_ts)];
    for (const path of paths.get(row.kernel_instruction_name) ?? []) {
      const run = open.get(path);
      if (run && from - run.to <= gap) run.to = Math.max(run.to, to);
      else {
        const made = { path, from, to };
        open.set(path, made);
        out.push(made);
      }
    }
  }
  return out.sort((a, b) => a.from - b.from || a.to - b.to || (a.path < b.path ? -1 : 1));
}

const VIEWPORTS: [name: string, from: number, to: number][] = [
  ["attn-tkg", 0, 0],
  ["attn-tkg", 60_000, 120_000],
  ["moe-dge", 150_000, 151_500],
];

describe.each(VIEWPORTS)("%s from %d to %d", (name, from, end) => {
  const to = () => (end === 0 ? totals[name]! : end);
  /** Events that begin in the viewport. */
  const begin = () => `start_ts >= ${from} AND start_ts < ${to()}`;
  let viewer: Viewer;

  beforeAll(async () => {
    viewer = await Viewer.open(browser, server.url(`/profile/${ids[name]}${end === 0 ? "" : `#t=${from}-${end}`}`));
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
  });
  afterAll(() => viewer.close());

  it("Operator Table", async () => {
    const rows = await table(viewer, "Operator Table");
    const cores = query(name, `SELECT count(*) AS n, sum(coalesce(raw_flops, 0)) AS flops FROM Instruction WHERE ${begin()} GROUP BY pcore_idx`);
    const tops = rows.filter((row) => row.depth === "0" || row.level === "0");
    expect(rows.length).toBeGreaterThan(1);
    const counts = (tops.length > 0 ? tops : rows).map((row) => Number(row.count));
    for (const core of cores) expect(counts).toContain(Number(core.n));
  });

  it("Current Selection Summary: metrics and events", async () => {
    await viewer.add("Current Selection Summary");
    await viewer.widget("Current Selection Summary").locator(".grid-row").first().waitFor();
    const metrics = await table(viewer, "Current Selection Summary");
    const values = (label: string) => metrics.filter((row) => row.name === label).map((row) => Number(row.raw));
    const engines = query(name, `SELECT engine, count(*) AS n FROM Instruction WHERE ${begin()} GROUP BY engine`);
    expect(engines.length).toBeGreaterThan(1);
    for (const { engine, n } of engines) {
      const label = `${engine === "GpSimd" ? "Gpsimd" : engine} engine instruction count`;
      const found = metrics.filter((row) => row.name?.toLowerCase() === label.toLowerCase()).map((row) => Number(row.raw));
      expect(found, label).toContain(n);
    }
    const dma = query(name, `SELECT count(*) AS n, sum(transfer_bytes) AS b FROM DmaPacket WHERE ${begin()}`)[0]!;
    const named = (pattern: RegExp) => metrics.filter((row) => pattern.test(row.name ?? "")).map((row) => Number(row.raw));
    expect(named(/^DMA packet count$/i)).toContain(Number(dma.n));
    expect(named(/^DMA packet bytes$/i)).toContain(Number(dma.b ?? 0));
    expect(named(/^Matmul instruction count$/i)).toContain(one(name, `SELECT count(*) FROM Instruction WHERE opcode = 'MATMUL' AND ${begin()}`));
    expect(values("Total time")[0] ?? values("total time")[0]).toBeCloseTo((to() - from) / 1e9, 12);

    await viewer.widget("Current Selection Summary").getByRole("tab", { name: "Events" }).click();
    await viewer.widget("Current Selection Summary").locator(".grid-row").first().waitFor();
    const events = await table(viewer, "Current Selection Summary");
    const lanes = query(name, `SELECT timeline_track AS t, pcore_idx AS c, count(*) AS n, sum(end_ts - start_ts) AS time FROM Instruction WHERE ${begin()} GROUP BY 1, 2`);
    for (const lane of lanes) expect(events.some((row) => Number(row.count) === lane.n && Number(row.time_ns) === lane.time), `${lane.t} ${lane.c}`).toBe(true);
  });

  it("Flame View", async () => {
    await viewer.add("Flame View");
    const tree = await server.get<{ nodes: { parent: number | null; busy_ns: number }[] }>(`/profiles/${ids[name]}/operators?by=opcode&from=${from}&to=${to()}&limit=3000`);
    const widget = viewer.widget("Flame View");
    await widget.getByRole("combobox", { name: "Flame of" }).selectOption("opcode");
    const busy = tree.nodes.reduce((sum, node) => (node.parent === null ? sum + node.busy_ns : sum), 0);
    expect(busy).toBeGreaterThan(0);
    await expect.poll(async () => (await widget.getByRole("button", { name: /^all \(/ }).innerText()).trim()).toBe(`all (${shortTime(busy)})`);
  });

  it("Hierarchy", async () => {
    await viewer.add("Hierarchy");
    const widget = viewer.widget("Hierarchy");
    const layers = await server.get<{ rows: { depth: number; bars: { name: string; from: number; to: number }[] }[] }>(`/profiles/${ids[name]}/layers?from=${from}&to=${to()}&width=1000`);
    expect(layers.rows.length).toBeGreaterThan(0);
    await widget.locator("canvas").focus();
    await viewer.page.keyboard.press("ArrowDown");
    const first = layers.rows[0]!.bars[0]!;
    await widget.getByText(`Model: ${first.name}`, { exact: false }).or(widget.getByText(`Model (nc0): ${first.name}`, { exact: false })).first().waitFor({ state: "attached" });
    const known = query(name, `SELECT DISTINCT layer FROM Instruction WHERE layer IS NOT NULL AND start_ts < ${to()} AND end_ts >= ${from}`).map((row) => String(row.layer));
    expect(known.some((layer) => layer.split("/").includes(first.name)), first.name).toBe(true);
  });

  it("Performance", async () => {
    await viewer.add("Performance");
    const widget = viewer.widget("Performance");
    const sources = query(name, `SELECT timeline_track AS t, count(nki_source_location) AS kernel, count(*) - count(nki_source_location) AS own FROM Instruction WHERE ${begin()} GROUP BY 1`);
    expect(sources.length).toBeGreaterThan(1);
    for (const { t, kernel, own } of sources) {
      await expect.poll(() => titles(viewer, "Performance"), { timeout: 15_000 }).toContain(`${t}, with a source line: ${Number(kernel).toLocaleString("en-US")}`);
      expect(await titles(viewer, "Performance")).toContain(`${t}, made by the compiler: ${Number(own).toLocaleString("en-US")}`);
    }
    expect((await widget.innerText()).includes(shortTime(to() - from))).toBe(true);
    const busy = (await titles(viewer, "Performance")).filter((text) => /, busy: /.test(text));
    expect(busy.length).toBe(one(name, "SELECT count(DISTINCT (pcore_idx * 1000 + engine_idx)) FROM DmaPacket"));
  });

  it("Roofline", async () => {
    await viewer.add("Roofline");
    const widget = viewer.widget("Roofline");
    await widget.getByRole("checkbox", { name: "Visible range only" }).check();
    await widget.getByRole("img", { name: /Roofline of \d+ points/ }).waitFor();
    const wanted = one(name, `SELECT sum(coalesce(raw_flops, 0)) FROM Instruction WHERE opcode = 'MATMUL' AND ${begin()}`);
    const tree = await server.get<{ nodes: { parent: number | null; flops: number }[] }>(`/profiles/${ids[name]}/operators?by=operator&from=${from}&to=${to()}&limit=2000&sort=flops`);
    expect(tree.nodes.reduce((sum, node) => (node.parent === null ? sum + node.flops : sum), 0)).toBe(wanted);
  });

  it("Search", async () => {
    await viewer.add("Search");
    const widget = viewer.widget("Search");
    await widget.getByRole("tab", { name: "Query" }).click();
    await widget.getByRole("textbox", { name: "Query" }).fill(`opcode=MATMUL start_ts>=${from} start_ts<${to()}`);
    await widget.getByRole("textbox", { name: "Query" }).press("Enter");
    const [found] = query(name, `SELECT count(*) AS n, sum(duration_ns) AS time, min(duration_ns) AS least, max(duration_ns) AS most FROM Instruction WHERE opcode = 'MATMUL' AND ${begin()}`);
    expect(Number(found!.n)).toBeGreaterThan(0);
    await widget.getByRole("tab", { name: `Results (${Number(found!.n).toLocaleString("en-US")})` }).waitFor();
    await widget.getByRole("tab", { name: "Statistics" }).click();
    await widget.getByText(shortTime(Number(found!.time))).first().waitFor();
  });

  it("Event Details and Dependency Chain", async () => {
    const [row] = query(name, `SELECT file_row_index() AS place, * FROM Instruction WHERE opcode = 'MATMUL' AND ${begin()} ORDER BY start_ts, id LIMIT 1`);
    await viewer.page.evaluate((place) => {
      location.hash = `${location.hash || "#"}&e=Instruction/${place}`;
    }, row!.place);
    // The layout comes back as it was left, with either widget behind another.
    await viewer.page.reload();
    await viewer.add("Event Details");
    const details = viewer.widget("Event Details");
    await details.locator(".grid-row").first().waitFor();
    const shown = Object.fromEntries((await table(viewer, "Event Details")).map((line) => [line.field, line.value]));
    for (const field of ["start_ts", "end_ts"]) expect(shown[field]).toBe(`${Number(row![field]).toLocaleString("en-US")} ns`);
    expect([shown.opcode, shown.engine]).toEqual([row!.opcode, row!.engine]);
    expect(shown.pc).toBe(String(row!.pc));
    // Who called it: functions and loop iterations, each up to the outermost.
    await details.getByRole("tab", { name: "Call stack" }).click();
    const [made] = query(name, `SELECT * FROM KernelInstructions WHERE kernel_instruction_name = '${row!.kernel_instruction_name}'`);
    const upwards = (first: unknown, table: string, id: string, parent: string, text: (row: Fields) => string) => {
      const all = new Map(query(name, `SELECT * FROM ${table}`).map((each) => [each[id], each]));
      const out: string[] = [];
      for (let at = all.get(first as number); at; at = all.get(at[parent] ?? null)) out.push(text(at));
      return out;
    };
    const functions = upwards(made!.stack_frame_id, "KernelStackFrames", "stack_frame_id", "parent_stack_frame_id", (each) => String(each.fully_qualified_function_name));
    const loops = upwards(made!.iteration_variables_id, "KernelIterationVariables", "iteration_variable_id", "parent_iteration_variable_id", (each) => `${each.variable_name} = ${each.variable_value}`);
    const kernel = details.getByRole("region", { name: "Call stack of the kernel" });
    expect(await kernel.locator("li > span.mono").allTextContents()).toEqual([...functions, ...loops]);
    const place = String(row!.nki_source_location);
    expect(await kernel.locator("li button").first().getAttribute("title")).toBe(place);
    expect([functions.length, loops.length].every((count) => count > 0)).toBe(true);
    if (name === "moe-dge") {
      const calls = await details.getByRole("region", { name: "Call stack of the framework" }).locator("li > span.mono").allTextContents();
      expect([calls[0], calls.at(-1)]).toEqual(["__call__", "<module>"]);
    }
    await viewer.add("Dependency Chain");
    await viewer.widget("Dependency Chain").locator(".grid-row").first().waitFor();
    const [last] = (await table(viewer, "Dependency Chain")).slice(-1);
    const starts = (await table(viewer, "Dependency Chain")).map((step) => Number(step.start_ts));
    expect(starts).toContain(Number(row!.start_ts));
    expect(last).toBeDefined();
  });
});

/** What the parts of drawings say to who points at them. */
const titles = (viewer: Viewer, widget: string) => viewer.widget(widget).locator("svg title").allTextContents();

/** A length as the viewer writes it: four digits with a fitting unit. */
function shortTime(ns: number): string {
  const [size, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  const value = ns / (size as number);
  const places = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(value)));
  return `${value.toFixed(places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")} ${unit}`;
}

describe("the whole profile", () => {
  const name = "moe-dge";
  let viewer: Viewer;
  beforeAll(async () => {
    viewer = await Viewer.open(browser, server.url(`/profile/${ids[name]}`));
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
  });
  afterAll(() => viewer.close());

  it("Overall Summary", async () => {
    await viewer.add("Overall Summary");
    await viewer.widget("Overall Summary").locator(".grid-row").first().waitFor();
    const shown = (await table(viewer, "Overall Summary")).map((row) => row.raw);
    const [wanted] = query(name, "SELECT * FROM Summary");
    const numbers = Object.values(wanted!).filter((value) => typeof value === "number");
    expect(numbers.length).toBeGreaterThan(80);
    for (const value of numbers) expect(shown).toContain(String(value));
  });

  it("Tensor Viewer", async () => {
    await viewer.add("Tensor Viewer");
    await viewer.widget("Tensor Viewer").locator(".grid-row").first().waitFor();
    const shown = (await table(viewer, "Tensor Viewer")).map((row) => `${row.variable_name} ${row.size}`).sort();
    expect(shown.length).toBeGreaterThan(3);
    expect(shown).toEqual(query(name, "SELECT variable_name, size FROM TensorInfo").map((row) => `${row.variable_name} ${row.size}`).sort());
    const loads = (rows: { load_to_sbuf_dma_count?: unknown }[]) => rows.reduce((sum, row) => sum + Number(row.load_to_sbuf_dma_count), 0);
    expect(loads(await table(viewer, "Tensor Viewer"))).toBe(one(name, "SELECT sum(load_to_sbuf_dma_count) FROM TensorInfo"));
  });

  it("Memory Viewer", async () => {
    await viewer.add("Memory Viewer");
    const wanted = one(name, "SELECT count(*) FROM SbufAllocation WHERE partition = 0 AND coalesce(pcore_idx, 0) = 0");
    expect(wanted).toBeGreaterThan(0);
    await viewer.widget("Memory Viewer").getByRole("img", { name: `${wanted} allocations by address and time` }).waitFor();
  });

  it("Memory Viewer: the program's own tensors, and the time of one", async () => {
    const scratch = await Viewer.open(browser, server.url(`/profile/${ids["attn-tkg"]}`));
    await scratch.add("Memory Viewer");
    const widget = scratch.widget("Memory Viewer");
    await widget.getByRole("img", { name: /^Scratchpad Usage/ }).waitFor();
    const waits = scratch.page.waitForEvent("download");
    await widget.getByRole("button", { name: "Save Scratch tensors as CSV" }).click();
    const shown = (await rowsOf(await waits)).map((row) => `${row.variable_name} ${row.start_ts} ${row.end_ts}`).sort();
    const wanted = query("attn-tkg", "SELECT variable_name, start_ts, end_ts FROM ScratchpadTensor");
    expect(wanted.length).toBe(20);
    expect(shown).toEqual(wanted.map((row) => `${row.variable_name} ${row.start_ts} ${row.end_ts}`).sort());
    const first = wanted.find((row) => String(row.variable_name).includes("Clone0_"))!;
    await widget.getByText(String(first.variable_name)).first().click();
    const range = { start: Number(first.start_ts), end: Number(first.end_ts) };
    await scratch.page.waitForFunction(({ start, end }) => {
      const [from, to] = (new URLSearchParams(location.hash.slice(1)).get("t") ?? "").split("-").map(Number);
      return from! <= start && from! > start - 500 && to! >= end && to! < end + 500;
    }, range);
    await scratch.close();
  });

  it("Region Highlighter", async () => {
    await viewer.add("Region Highlighter");
    const button = viewer.widget("Region Highlighter").getByRole("button", { name: /^Mark \d+ regions/ });
    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(Number(/\d+/.exec(await button.innerText())?.[0])).toBeGreaterThan(0);
  });

  it("Region Highlighter: iterations of a kernel's loop", async () => {
    const variable = name === "moe-dge" ? "k" : "kv_h";
    const wanted = iterations(name, variable, 1000);
    expect(wanted.length).toBeGreaterThan(20);
    await viewer.add("Region Highlighter");
    const widget = viewer.widget("Region Highlighter");
    await widget.getByLabel("Regions of").selectOption({ label: `iterations of ${variable}` });
    await widget.getByRole("button", { name: `Mark ${Math.min(wanted.length, 200)} regions` }).click();
    await widget.getByText("Lengths of regions").waitFor();
    const dots = await widget.locator("circle title").allTextContents();
    const first = wanted.slice(0, 200).map((one) => `${one.path}: ${time(one.to - one.from)} from ${time(one.from)}`);
    expect(dots.length).toBeGreaterThan(4);
    expect(first).toEqual(expect.arrayContaining(dots));
    await viewer.picture("regions-of-loops-dark");
    await viewer.page.getByRole("button", { name: "Undo: generate regions" }).click();
    await widget.getByLabel("Regions of").selectOption({ label: "functions of kernels" });
    await expect.poll(() => widget.getByRole("button", { name: /^Mark \d+ regions/ }).isEnabled()).toBe(true);
  });

  it("Annotations: the metrics between two", async () => {
    await viewer.add("Annotations");
    const widget = viewer.widget("Annotations");
    for (const [i, range] of ["20000-30000", "180000-190000"].entries()) {
      const [from, to] = range.split("-").map(Number) as [number, number];
      await viewer.page.evaluate(([from, to]) => (document.querySelector(".tl") as unknown as { timeline: { show(from: number, to: number): void } }).timeline.show(from, to), [from, to] as const);
      await widget.getByRole("button", { name: "Create" }).click();
      await expect.poll(() => widget.locator(".grid-row [type=color]").count()).toBe(i + 1);
    }
    const marks = (await table(viewer, "Annotations")).filter((row) => row.timestamp);
    const [a, b] = marks.map((row) => Number(row.timestamp)) as [number, number];
    expect([a, b]).toEqual([25_000, 185_000]);
    const wanted = one(name, `SELECT count(*) FROM DmaPacket WHERE start_ts >= ${a} AND start_ts < ${b}`);
    // The one that was made last is active, and active ones are unfolded.
    const told = [String(wanted), wanted.toLocaleString("en-US")];
    await expect.poll(async () => (await table(viewer, "Annotations")).some((row) => /packet count/i.test(row.name ?? "") && Object.values(row).some((value) => told.includes(value)))).toBe(true);
  });

  it("Recommendations", async () => {
    await viewer.add("Recommendations");
    const { findings } = await server.get<{ findings: { sql: string }[] }>(`/profiles/${ids[name]}/findings`);
    expect(findings.length).toBeGreaterThan(0);
    await expect.poll(() => viewer.widget("Recommendations").locator("article").count()).toBe(findings.length);
    // Each names the statement that shows it, which the command runs as well.
    for (const { sql } of findings) expect(Array.isArray(query(name, sql))).toBe(true);
  });

  it("Profile Comparison", async () => {
    await viewer.add("Profile Comparison");
    const widget = viewer.widget("Profile Comparison");
    await widget.locator(".grid-row").first().waitFor();
    const shown = (await table(viewer, "Profile Comparison")).flatMap((row) => Object.values(row));
    for (const other of ["moe-dge", "attn-tkg"]) expect(shown).toContain(String(one(other, "SELECT count(*) FROM DmaPacket")));
  });

  it("Database Viewer: rows, and SQL", async () => {
    await viewer.add("Database Viewer");
    const widget = viewer.widget("Database Viewer");
    await widget.getByRole("combobox", { name: "Table" }).selectOption("OpcodeSummary");
    await widget.locator(".grid-row").first().waitFor();
    const rows = await table(viewer, "Database Viewer");
    expect(rows.length).toBe(one(name, "SELECT count(*) FROM OpcodeSummary"));
    await widget.getByRole("tab", { name: "SQL" }).click();
    const sql = "SELECT engine, count(*) AS n, sum(duration_ns) AS t FROM Instruction GROUP BY engine ORDER BY engine";
    await widget.getByRole("textbox", { name: "Question in SQL" }).fill(sql);
    await widget.getByRole("textbox", { name: "Question in SQL" }).press("Control+Enter");
    await widget.locator(".grid-row").first().waitFor();
    const wanted = query(name, sql).map((row) => `${row.engine} ${row.n} ${row.t}`);
    await expect.poll(async () => (await table(viewer, "Database Viewer")).map((row) => `${row.engine} ${row.n} ${row.t}`)).toEqual(wanted);
    await widget.getByRole("textbox", { name: "Question in SQL" }).fill("SELECT nothing FROM Instruction");
    await widget.getByRole("button", { name: "Run" }).click();
    await widget.getByText(/nothing/).last().waitFor();
    await widget.getByRole("textbox", { name: "Question in SQL" }).fill("DELETE FROM Instruction");
    await widget.getByRole("button", { name: "Run" }).click();
    await widget.getByRole("alert").waitFor();
  });

  it("Code Editor", async () => {
    const lines = query(name, "SELECT nki_source_location AS place, count(*) AS n FROM Instruction WHERE nki_source_location IS NOT NULL GROUP BY 1 ORDER BY 2 DESC");
    // A marked region may still narrow the view.
    await viewer.page.evaluate(() => (document.querySelector(".tl") as unknown as { timeline: { show(from: number, to: number): void; subject: { total: number } } }).timeline.show(0, 1e12));
    const [first] = lines;
    const [, file, line] = /^(.+):(\d+)$/.exec(String(first!.place))!;
    await viewer.add("Code Editor");
    const widget = viewer.widget("Code Editor");
    await widget.getByRole("button", { name: new RegExp(file!.split("/").pop()!) }).first().click();
    await widget.locator(".grid-row").first().waitFor();
    await expect.poll(async () => (await table(viewer, "Code Editor")).some((row) => row.line === line && Number(row.count) === first!.n)).toBe(true);
  });
});
