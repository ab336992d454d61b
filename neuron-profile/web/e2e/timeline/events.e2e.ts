// What the timeline says of events, compared with the tables of the interface: hover, click, dependencies, walking by
// keys, colours, labels, pictures, a lost graphics context, a server that goes away.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bar, type World, bars, open, out, plot, settled, show, state } from "./support";

let world: World;
beforeAll(async () => {
  world = await open();
}, 120_000);
afterAll(() => world?.close());

interface Row {
  [column: string]: unknown;
}

async function get<T>(path: string): Promise<T> {
  const answer = await fetch(`${process.env.NEURON_PROFILE_SERVER}/api/v1${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as T;
}

interface Lane {
  number: number;
  table: string;
  name: string;
  core: number;
  first_row: number;
  rows: number;
}

const lanesOf = async (id: string) => (await get<{ lanes: Lane[] }>(`/profiles/${id}`)).lanes;
const rowOf = async (id: string, table: string, row: number) =>
  (await get<{ rows: Row[] }>(`/profiles/${id}/tables/${table}?from=${row}&limit=1`)).rows[0]!;

/** Every so many of them. */
const some = (all: Bar[], count: number) => all.filter((_, at) => at % Math.max(1, Math.floor(all.length / count)) === 0).slice(0, count);

async function zoomTo(page: Page, from: number, to: number) {
  await page.evaluate(([a, b]) => (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline.show(a!, b!), [from, to]);
  await settled(page);
}

describe("hover", () => {
  for (const name of ["attn-tkg", "moe-dge"] as const) {
    it(`says of ${name} what the tables say`, async () => {
      const id = world.ids[name];
      const lanes = await lanesOf(id);
      const { page, errors } = await show(world, id, { settings: { expandedDma: true, crosshair: true } });
      const { total } = await state(page);
      await zoomTo(page, total * 0.4, total * 0.42);
      const all = await bars(page);
      expect(all.length).toBeGreaterThan(100);
      let long = 0;
      for (const bar of some(all.filter((one) => one.y < 840 && one.x < 1570), 25)) {
        await page.mouse.move(bar.x, bar.y);
        // The answer is there with the next frame.
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const { hover } = await state(page);
        if (hover?.what !== "event") throw new Error(`nothing at ${JSON.stringify(bar)}`);
        const lane = lanes[hover.lane]!;
        const row = await rowOf(id, lane.table, hover.place);
        expect([hover.start, hover.end]).toEqual([row.start_ts, row.end_ts]);
        // Where bars are wide enough to be told apart it is this one.
        const wide = ((bar.end - bar.start) / (total * 0.02)) * 1450 > 6;
        if (wide) {
          long += 1;
          expect([hover.lane, hover.place]).toEqual([bar.lane, bar.row]);
        }
        const box = page.locator(".tl-hover");
        expect(await box.textContent()).toContain(`${Number(row.start_ts).toLocaleString("en")} ns − ${Number(row.end_ts).toLocaleString("en")} ns`);
        if (lane.table === "Instruction") {
          await page.waitForFunction((opcode) => document.querySelector(".tl-hover")?.textContent?.includes(`Opcode: ${opcode}`), row.opcode);
        }
      }
      expect(long).toBeGreaterThan(4);
      expect(errors).toEqual([]);
      await page.screenshot({ path: join(out, `timeline-hover-${name}.png`) });
      await page.context().close();
    });
  }

  it("draws all events of the tables that are in the window, no more", async () => {
    const id = world.ids["attn-tkg"];
    const { page } = await show(world, id, { settings: { expandedDma: true } });
    const { total } = await state(page);
    const [from, to] = [Math.round(total * 0.6), Math.round(total * 0.63)];
    await zoomTo(page, from, to);
    const drawn = await bars(page);
    const keys = new Set(drawn.filter((bar) => bar.end > from && bar.start < to).map((bar) => `${bar.lane}/${bar.row}`));
    const wanted = new Set<string>();
    for (const lane of await lanesOf(id)) {
      const rows: Row[] = [];
      for (let at = lane.first_row; at < lane.first_row + lane.rows; ) {
        const limit = Math.min(10_000, lane.first_row + lane.rows - at);
        const part = await get<{ rows: Row[] }>(`/profiles/${id}/tables/${lane.table}?from=${at}&limit=${limit}`);
        rows.push(...part.rows);
        at += part.rows.length;
      }
      for (const row of rows) {
        if (Number(row.end_ts) > from && Number(row.start_ts) < to && Number(row.end_ts) > Number(row.start_ts)) wanted.add(`${lane.number}/${row.row}`);
      }
    }
    expect(wanted.size).toBeGreaterThan(200);
    expect([...wanted].filter((key) => !keys.has(key))).toEqual([]);
    expect([...keys].filter((key) => !wanted.has(key))).toEqual([]);
    await page.context().close();
  });
});

describe("focus", () => {
  it("by click, with dependencies, and from event to event by keys", async () => {
    const id = world.ids["attn-tkg"];
    const lanes = await lanesOf(id);
    const { page, errors } = await show(world, id);
    const { total } = await state(page);
    await zoomTo(page, total * 0.7, total * 0.72);
    const tensor = lanes.find((lane) => lane.name === "TensorMatrix" && lane.core === 0)!;
    const all = (await bars(page)).filter((bar) => bar.lane === tensor.number);
    const bar = all[Math.floor(all.length / 2)]!;
    await page.mouse.click(bar.x, bar.y);
    await page.waitForFunction((row) => location.hash.includes(`e=Instruction%2F${row}`), bar.row);
    const detail = await get<{ predecessors: Row[]; successors: Row[] }>(`/profiles/${id}/events/Instruction/${bar.row}`);
    const expected = detail.predecessors.length + detail.successors.length;
    await page.waitForFunction(
      (count) => (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline.frame!.marks.length === count + 1,
      detail.predecessors.filter((one) => one.start_ts !== undefined).length + detail.successors.filter((one) => one.start_ts !== undefined).length,
    );
    let now = await state(page);
    expect(now.marks[0]).toBe("focus");
    expect(expected).toBeGreaterThan(0);
    expect(now.said).toContain(`from ${bar.start.toLocaleString("en")} ns to ${bar.end.toLocaleString("en")} ns`);
    expect(now.said).toContain("TensorMatrix, core 0");
    expect(now.said).toMatch(/\d+ predecessors, \d+ successors/);
    await page.screenshot({ path: join(out, "timeline-focus.png") });

    // The event after it, and back; then the lane below.
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForFunction((row) => location.hash.includes(`e=Instruction%2F${row}`), bar.row + 1);
    await page.keyboard.press("Shift+ArrowLeft");
    await page.waitForFunction((row) => location.hash.includes(`e=Instruction%2F${row}`), bar.row);
    await page.keyboard.press("Shift+ArrowDown");
    await page.waitForFunction(() => !document.querySelector("#tl-said")!.textContent!.includes("TensorMatrix"));
    now = await state(page);
    expect(now.said).toMatch(/on Vector, core [01]/);
    // Zoom to it: it fills most of the plot.
    await page.keyboard.press("Enter");
    await settled(page);
    const [, row] = /e=Instruction%2F(\d+)/.exec(await page.evaluate(() => location.hash))!;
    const fields = await rowOf(id, "Instruction", Number(row));
    now = await state(page);
    expect(now.from).toBeLessThanOrEqual(Number(fields.start_ts));
    expect(now.to).toBeGreaterThanOrEqual(Number(fields.end_ts));
    await page.keyboard.press("Escape");
    expect((await state(page)).said).toBe("");
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("of a dense place is an event that is there", async () => {
    const id = world.ids["moe-dge"];
    const lanes = await lanesOf(id);
    const { page } = await show(world, id);
    const box = await plot(page);
    const label = (await page.locator('[data-row="lanes:DMA/0"]').boundingBox())!;
    const x = box.x + box.width * 0.5;
    await page.mouse.click(x, label.y + label.height - 8);
    await page.waitForFunction(() => location.hash.includes("e=DmaPacket"));
    const [, row] = /e=DmaPacket%2F(\d+)/.exec(await page.evaluate(() => location.hash))!;
    const fields = await rowOf(id, "DmaPacket", Number(row));
    const { total } = await state(page);
    const time = ((x - box.x) / box.width) * total;
    // Within the column that was clicked.
    expect(Number(fields.start_ts)).toBeLessThan(time + total / 500);
    expect(Number(fields.end_ts)).toBeGreaterThan(time - total / 500);
    expect(lanes.some((lane) => lane.table === "DmaPacket")).toBe(true);
    await page.context().close();
  });
});

describe("pictures", () => {
  it("are saved as PNG and SVG of what is seen", async () => {
    const { page } = await show(world, world.ids["attn-tkg"]);
    const save = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      const path = join(out, `timeline-export.${name.endsWith("PNG") ? "png" : "svg"}`);
      await download.saveAs(path);
      expect(download.suggestedFilename()).toMatch(/^attn-tkg\.(png|svg)$/);
      return readFileSync(path);
    };
    const png = await save("Save as PNG");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const box = await plot(page);
    expect(png.readUInt32BE(16)).toBe(Math.round(box.width) + 132);
    expect(png.readUInt32BE(20)).toBe(Math.round(box.height) + 34);
    const svg = (await save("Save as SVG")).toString();
    const { rows } = await state(page);
    for (const row of rows.filter((one) => one.length < 20).slice(0, 8)) expect(svg).toContain(`>${row}<`);
    // It is a document that a browser reads, as large as the PNG.
    const [width, height, broken] = await page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, "image/svg+xml");
      const one = root.documentElement;
      return [one.getAttribute("width"), one.getAttribute("height"), root.querySelector("parsererror") !== null];
    }, svg);
    expect([Number(width), Number(height), broken]).toEqual([png.readUInt32BE(16), png.readUInt32BE(20), false]);
    await page.context().close();
  });
});

describe("what may go wrong", () => {
  it("a graphics context that is lost and comes back", async () => {
    const { page, errors } = await show(world, world.ids["attn-tkg"], { query: "?renderer=webgl" });
    expect((await state(page)).device).toContain("webgl");
    const picture = () => page.locator(".tl-plot").screenshot();
    const before = await picture();
    await page.evaluate(async () => {
      const stage = (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline;
      const lost = stage.loseContext()!;
      await new Promise((done) => setTimeout(done, 300));
      lost.restore();
      await new Promise((done) => setTimeout(done, 300));
    });
    await settled(page);
    expect((await picture()).equals(before)).toBe(true);
    // One that does not come back: the other renderer takes over, with the same picture but for nothing.
    await page.evaluate(async () => {
      (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline.loseContext();
      await new Promise((done) => setTimeout(done, 3500));
    });
    expect((await state(page)).device).toContain("raster");
    expect((await picture()).equals(before)).toBe(true);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("a server that is away for a while: what is there stays, the rest comes later", async () => {
    const { page } = await show(world, world.ids["moe-dge"]);
    const { total, rects } = await state(page);
    expect(rects).toBeGreaterThan(300);
    await page.context().setOffline(true);
    await page.evaluate(([a, b]) => (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline.show(a!, b!), [total * 0.51, total * 0.52]);
    await page.waitForTimeout(500);
    // Coarse, but not blank.
    expect((await state(page)).rects).toBeGreaterThan(50);
    await page.context().setOffline(false);
    await settled(page);
    expect((await bars(page)).length).toBeGreaterThan(50);
    await page.context().close();
  });

  it("sizes and densities of windows", async () => {
    const { page, errors } = await show(world, world.ids["attn-tkg"], { scale: 2, width: 1000, height: 700 });
    const size = () =>
      page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>(".tl-rects")!;
        return [canvas.width / canvas.clientWidth, canvas.height / canvas.clientHeight];
      });
    expect(await size()).toEqual([2, 2]);
    await page.setViewportSize({ width: 700, height: 500 });
    await settled(page);
    const [x, y] = await size();
    expect(x).toBeCloseTo(2, 2);
    expect(y).toBeCloseTo(2, 2);
    expect((await state(page)).rects).toBeGreaterThan(100);
    expect(errors).toEqual([]);
    await page.screenshot({ path: join(out, "timeline-dense.png") });
    await page.context().close();
  });
});
