// A page with a profile inside: what it answers is what the server answers, and
// it works from a file, without a server.

import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answers } from "../src/share/answers";
import type { Index } from "../src/share/index";
import { answersOf } from "../src/share/page";
import { Viewer, launch } from "./browser";
import { Server, binary, site } from "./server";

const server = new Server();
let browser: Browser;
let id = "";
let total = 0;
let whole = "";
let part = "";

/** Writes a page; gives its path. */
function written(name: string, ...args: string[]): string {
  const path = join(server.data, name);
  execFileSync(binary, ["export", id, "--format", "html", "-o", path, "--data-path", server.data, ...args], { env: { ...process.env, NEURON_PROFILE_WEB: site }, stdio: ["ignore", "ignore", "inherit"] });
  return path;
}

/** The answers of a page, without a browser. */
function inside(path: string): { index: Index; answers: Answers } {
  const text = readFileSync(path, "utf8");
  const element = (name: string) => new RegExp(`<script type="[^"]*" id="${name}">([^<]*)</script>`).exec(text)?.[1] ?? "";
  const index = JSON.parse(element("profile-index")) as Index;
  return { index, answers: answersOf(index, element("profile-archive")) };
}

beforeAll(async () => {
  id = server.store("attn-tkg");
  await server.start();
  browser = await launch();
  total = (await server.get<{ total_ns: number }>(`/profiles/${id}`)).total_ns;
  await fetch(server.url(`/api/v1/documents/${id}/(current)`), {
    method: "PUT",
    body: JSON.stringify({ version: 1, annotations: [{ id: "a", name: "first tokens", from: 80_000, to: 90_000, colour: "#c8965a", source: "user" }], saved: 5 }),
  });
  whole = written("whole.html");
  part = written("part.html", "--from", "60000", "--to", "120000");
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

/** Every number as near as sums in another order are, all else equal. */
function near(found: unknown, wanted: unknown, place: string): void {
  if (typeof wanted === "number" && typeof found === "number") {
    if (Math.abs(found - wanted) > 1e-9 * Math.max(1, Math.abs(wanted))) expect(found, place).toBe(wanted);
    return;
  }
  if (Array.isArray(wanted) && Array.isArray(found)) {
    expect(found.length, place).toBe(wanted.length);
    wanted.forEach((one, i) => near(found[i], one, `${place}[${i}]`));
    return;
  }
  if (wanted && typeof wanted === "object" && found && typeof found === "object") {
    expect(Object.keys(found).sort(), place).toEqual(Object.keys(wanted).sort());
    for (const [key, one] of Object.entries(wanted)) near((found as Record<string, unknown>)[key], one, `${place}.${key}`);
    return;
  }
  expect(found, place).toEqual(wanted);
}

/** Words and the reals of series of a binary answer. */
function numbers(bytes: ArrayBuffer): number[] {
  const view = new DataView(bytes);
  if (view.getUint32(0, true) !== 0x3153564e) return [...new Uint32Array(bytes)];
  const out: number[] = [];
  for (let at = 0; at < 32; at += 4) out.push(view.getUint32(at, true));
  for (let i = 0, at = 32; i < view.getUint32(4, true); i += 1) {
    const count = view.getUint32(at + 4, true);
    out.push(view.getUint32(at, true), count);
    for (let n = 0; n < 3 * count; n += 1) out.push(view.getFloat64(at + 8 + 8 * n, true));
    for (let n = 0; n < count; n += 1) out.push(view.getUint32(at + 8 + 24 * count + 4 * n, true));
    at += 8 + 28 * count + (count % 2) * 4;
  }
  return out;
}

async function same(answers: Answers, path: string): Promise<void> {
  const [here, there] = await Promise.all([answers.answer(path, {}), fetch(server.url(`/api/v1${path}`))]);
  expect(here.status, `${path}: ${here.ok ? "" : await here.clone().text()}`).toBe(there.status);
  if (!there.ok) return;
  if (there.headers.get("content-type")?.includes("octet-stream")) near(numbers(await here.arrayBuffer()), numbers(await there.arrayBuffer()), path);
  else if (there.headers.get("content-type")?.includes("json")) near(await here.json(), await there.json(), path);
  else expect(await here.text(), path).toBe(await there.text());
}

const enc = encodeURIComponent;

/** What widgets ask of a range. */
function ofRange(from: number, to: number): string[] {
  const range = `from=${from}&to=${to}`;
  return [
    ...["layer", "operator", "source", "opcode", "queue"].map((by) => `operators?by=${by}&${range}`),
    `operators?by=layer&${range}&limit=5&sort=count`,
    `operators?by=layer&${range}&under=1&depth=1&sort=name`,
    `operators?by=source&${range}&depth=0&sort=bytes&limit=20`,
    `layers?${range}&width=512`,
    `selection?${range}`,
    `selection?${range}&lanes=0,3`,
    `summary?${range}`,
    `viewport?${range}&width=512`,
    `viewport?${range}&width=33&lanes=2`,
    `viewport?${range}&width=512&events=40`,
    `spans?${range}&limit=256`,
    `spans?${range}&limit=16384&lanes=1,2,3`,
    `matches?${range}&width=512&tables=Instruction&q=${enc("opcode=MATMUL")}`,
    `search?${range}&limit=20&offset=3&q=${enc("engine=Tensor duration_ns>=50")}`,
  ];
}

describe("a page with all events answers as the server", () => {
  it("what is not of a range", async () => {
    const { answers } = inside(whole);
    const rows = await server.get<{ rows: { row: number }[] }>(`/profiles/${id}/search/Instruction?opcode=MATMUL&limit=3`);
    const at = rows.rows[2]!.row;
    const paths = ["", "/tables", "/series", "/summary", "/findings", "/kinds?limit=50000", "/kinds?from=7&limit=5", "/kinds/3", "/sources", `/events/Instruction/${at}`, `/events/Instruction/${at}/chain?depth=40`, "/events/DmaPacket/17"];
    paths.push("/tables/TensorInfo?limit=10000", "/tables/Metadata?limit=1", "/tables/LayerSummary?limit=10000", "/tables/Instruction?from=90&limit=20", "/tables/Nothing", "/events/Instruction/99999999");
    paths.push("/search/SemaphoreUpdate?timestamp=60000..70000&limit=100", "/search/Instruction?engine=Vector&pc=..40&limit=30", `/search/Instruction?${enc("operands~")}=fp32&limit=10&from=50`, "/search/Instruction?none=1");
    for (const path of paths) await same(answers, `/profiles/${id}${path}`);
    await same(answers, `/documents/${id}/(current)`);
    await same(answers, `/documents/${id}/nothing`);
  });

  it.each([["the whole", 0, 0], ["a part", 60_000, 120_000], ["a few instructions", 100_000, 100_700]])("%s", async (_what, from, to) => {
    const { answers } = inside(whole);
    for (const path of ofRange(from, to || total)) await same(answers, `/profiles/${id}/${path}`);
    const { series } = await server.get<{ series: { id: string }[] }>(`/profiles/${id}/series`);
    for (let first = 0; first < series.length; first += 64) {
      const ids = series.slice(first, first + 64).map((one) => one.id);
      await same(answers, `/profiles/${id}/series/data?from=${from}&to=${to || total}&width=256&ids=${enc(ids.join(","))}`);
    }
  });

  it.each([
    "opcode=MATMUL",
    "opcode!=MATMUL engine=Tensor",
    "layer~CALLIMPL OR variable~output",
    "operands=/\\$S\\[4[0-9]\\]/",
    "NOT (engine=Tensor OR engine=Vector) duration_ns=100..200",
    "queue_idx>=3 transfer_bytes<4096",
    "\"dma\" opcode!=/^E/",
    "pc=12",
    "none=3",
    "(opcode=MATMUL",
    "opcode>5",
    "duration_ns~5",
  ])("the search %s", async (query) => {
    await same(inside(whole).answers, `/profiles/${id}/search?limit=25&q=${enc(query)}`);
  });
});

describe("a page with a window", () => {
  it("answers within it as the server, and says elsewhere what is not there", async () => {
    const { index, answers } = inside(part);
    expect(index.window).toMatchObject({ from: 60_000, to: 120_000, whole: false });
    expect(index.left_out.join()).toContain("Events before 60000 ns");
    for (const path of ofRange(64_000, 110_000)) {
      // A search of a part of a profile says that it is one.
      if (!path.startsWith("search")) await same(answers, `/profiles/${id}/${path}`);
    }
    await same(answers, `/profiles/${id}/series/data?from=64000&to=110000&width=256&ids=mfu.0,dma_throughput.0,dma_active.0,pending_dma.0,mfu_cumulative.0`);
    // Sums and metrics of the whole are kept.
    for (const path of [`operators?by=layer&from=0&to=${total}`, `summary?from=0&to=${total}`, `selection?from=0&to=${total}`]) await same(answers, `/profiles/${id}/${path}`);
    const asked = async (path: string) => (await answers.answer(`/profiles/${id}/${path}`, {})).status;
    expect(await asked("operators?by=layer&from=0&to=1000")).toBe(410);
    expect(await asked("viewport?from=0&to=1000&width=512")).toBe(410);
    expect(await asked("viewport?from=0&to=1000000&width=512")).toBe(200);
    expect(await asked("events/Instruction/0")).toBe(410);
    expect(await asked("query?sql=SELECT")).toBe(501);
    const change = await answers.answer(`/profiles/${id}`, { method: "PATCH", body: "{}" });
    expect(change.status).toBe(405);
  });

  it("holds no more events than it was told to", async () => {
    const { index } = inside(written("few.html", "--events", "500"));
    expect(index.window.events).toBeLessThanOrEqual(500);
    expect(index.window.events).toBeGreaterThan(100);
    expect(index.window.from).toBe(0);
  });
});

describe("from a file", () => {
  it("shows everything, asks nobody, and keeps annotations", async () => {
    expect(statSync(whole).size).toBeLessThan(8e6);
    const viewer = await Viewer.open(browser, pathToFileURL(whole).href);
    const { page } = viewer;
    const asked: string[] = [];
    page.on("request", (request) => !/^(blob|data):/.test(request.url()) && asked.push(request.url()));
    await viewer.widget("Operator Table").getByText(/CallImpl/).first().waitFor();
    await page.waitForFunction(() => (document.querySelector(".tl") as unknown as { timeline: { ui: { getState(): { settled: boolean } }; times: { firstPaint: number | null } } })?.timeline?.times.firstPaint);
    await page.getByText("file", { exact: true }).waitFor();
    await viewer.picture("share-dark");
    await viewer.add("Search");
    await viewer.widget("Search").getByRole("textbox").first().waitFor();
    await page.evaluate(() => {
      location.hash = "";
    });
    await viewer.add("Annotations");
    await viewer.widget("Annotations").locator('input[value="first tokens"], :text("first tokens")').first().waitFor();
    for (const [title, shows] of [
      ["Overall Summary", /Tensor engine/],
      ["Current Selection Summary", /Tensor engine/],
      ["Performance", /Use of engines/],
      ["Recommendations", /rule|At stake/],
      ["Roofline", /FLOP\/B/],
      ["Flame View", /all \(/],
      ["Memory Viewer", /State buffer/],
      ["Tensor Viewer", /Variable name/i],
    ] as const) {
      await viewer.add(title);
      await viewer.widget(title).getByText(shows).first().waitFor({ timeout: 15_000 });
    }
    await viewer.add("Database Viewer");
    await viewer.widget("Database Viewer").getByText(/start_ts/).first().waitFor();
    expect(await page.getByRole("button", { name: "All profiles" }).count()).toBe(0);
    expect(asked).toEqual([]);
    await viewer.close();
  });

  it("leads to the event of a link, with what it depends on", async () => {
    const first = await server.get<{ rows: { row: number }[] }>(`/profiles/${id}/search/Instruction?opcode=MATMUL&limit=1`);
    const viewer = await Viewer.open(browser, `${pathToFileURL(whole).href}#e=Instruction/${first.rows[0]!.row}&t=60000-120000`);
    const details = viewer.widget("Event Details");
    await details.locator(".grid-row").first().waitFor();
    await details.getByRole("tab", { name: /Dependencies/ }).click();
    await details.locator(".ends button").first().waitFor();
    await viewer.close();
  });

  it("with a part of the events says so", async () => {
    const viewer = await Viewer.open(browser, pathToFileURL(part).href, "light");
    const { page } = viewer;
    await viewer.widget("Operator Table").getByText(/CallImpl/).first().waitFor();
    await page.getByText("file with a part").waitFor();
    await page.getByRole("button", { name: /notes about this profile/ }).click();
    await page.getByText(/Not in this file: Events before 60000 ns/).waitFor();
    await page.keyboard.press("Escape");
    await page.evaluate(() => (document.querySelector(".tl") as unknown as { timeline: { show(from: number, to: number): void } }).timeline.show(10_000, 11_000));
    await viewer.widget("Operator Table").getByText(/not in this file/).first().waitFor();
    await viewer.picture("share-part-light");
    await viewer.close();
  });

  it("is saved by the viewer as it is seen", async () => {
    const viewer = await Viewer.open(browser, server.url(`/profile/${id}#t=60000-120000`));
    const { page } = viewer;
    await viewer.widget("Operator Table").locator(".grid-row").first().waitFor();
    await page.getByRole("button", { name: /^Save what is seen/ }).click();
    const waits = page.waitForEvent("download");
    await page.getByRole("dialog").getByRole("link", { name: "Save as HTML" }).click();
    const saved = join(server.data, "saved.html");
    await (await waits).saveAs(saved);
    expect(inside(saved).index).toMatchObject({ id, view: "t=60000-120000", window: { whole: true } });
    await viewer.close();
    const again = await Viewer.open(browser, pathToFileURL(saved).href);
    await again.widget("Operator Table").locator(".grid-row").first().waitFor();
    expect(await again.page.evaluate(() => location.hash)).toBe("#t=60000-120000");
    await again.close();
  });
});
