// Each gesture and key of the timeline on a real capture, read back from the state that results.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type World, open, plot, settled, show, state } from "./support";

let world: World;
beforeAll(async () => {
  world = await open();
}, 120_000);
afterAll(() => world?.close());

const at = (box: { x: number; y: number; width: number; height: number }, x: number, y: number) =>
  [box.x + box.width * x, box.y + box.height * y] as const;

async function drag(page: Page, from: readonly [number, number], to: readonly [number, number], button: "left" | "middle" | "right" = "left") {
  await page.mouse.move(...from);
  await page.mouse.down({ button });
  await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
  await page.mouse.move(...to);
  await page.mouse.up({ button });
  await settled(page);
}

async function press(page: Page, key: string) {
  await page.keyboard.press(key);
  await settled(page);
  return state(page);
}

describe("zoom and pan", () => {
  it("by drag, wheel, axis, keys, back and forward, double click", async () => {
    const { page, errors } = await show(world, world.ids["attn-tkg"]);
    const box = await plot(page);
    const { total } = await state(page);

    await drag(page, at(box, 0.25, 0.5), at(box, 0.5, 0.6));
    let now = await state(page);
    expect(now.from / total).toBeCloseTo(0.25, 2);
    expect(now.to / total).toBeCloseTo(0.5, 2);
    // A link opens exactly this view.
    await page.waitForFunction((wanted) => location.hash.includes(`t=${wanted}`), String(Math.floor(now.from)).slice(0, 4));

    // The moment under the pointer stays there.
    await page.mouse.move(...at(box, 0.3, 0.5));
    const before = now.from + 0.3 * (now.to - now.from);
    await page.mouse.wheel(0, -240);
    await settled(page);
    now = await state(page);
    expect((now.to - now.from) / total).toBeLessThan(0.2);
    expect(now.from + 0.3 * (now.to - now.from)).toBeCloseTo(before, -2);

    // The axis drags time: to the right means earlier.
    let last = now;
    await drag(page, [box.x + 600, box.y + box.height + 12], [box.x + 700, box.y + box.height + 12]);
    now = await state(page);
    expect(now.from).toBeCloseTo(last.from - (100 / box.width) * (last.to - last.from), 0);
    expect(now.to - now.from).toBeCloseTo(last.to - last.from, 3);

    last = now;
    await page.keyboard.down("Shift");
    await page.mouse.move(...at(box, 0.3, 0.5));
    await page.mouse.wheel(0, 100);
    await page.keyboard.up("Shift");
    await settled(page);
    now = await state(page);
    expect(now.from).toBeGreaterThan(last.from);
    expect(now.to - now.from).toBeCloseTo(last.to - last.from, 3);

    // Keys: steps that follow the zoom.
    await page.locator(".tl-plot").focus();
    for (const [key, away] of [["d", 0.15], ["a", -0.15], ["ArrowRight", 0.15], ["ArrowLeft", -0.15]] as const) {
      last = now;
      now = await press(page, key);
      expect(now.from - last.from, key).toBeCloseTo(away * (last.to - last.from), 0);
    }
    for (const [key, factor] of [["w", 1.5], ["s", 1 / 1.5], ["ArrowUp", 1.5], ["ArrowDown", 1 / 1.5], ["+", 1.5], ["-", 1 / 1.5]] as const) {
      last = now;
      now = await press(page, key);
      expect((last.to - last.from) / (now.to - now.from), key).toBeCloseTo(factor, 2);
    }

    last = now;
    now = await press(page, "0");
    expect([now.from, now.to]).toEqual([0, total]);
    now = await press(page, "[");
    expect([now.from, now.to]).toEqual([last.from, last.to]);
    now = await press(page, "]");
    expect([now.from, now.to]).toEqual([0, total]);
    now = await press(page, "[");
    await page.mouse.dblclick(...at(box, 0.6, 0.97));
    await settled(page);
    now = await state(page);
    expect([now.from, now.to]).toEqual([0, total]);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("by the minimap", async () => {
    const { page } = await show(world, world.ids["moe-dge"]);
    const map = (await page.locator(".tl-map").boundingBox())!;
    const { total } = await state(page);
    const y = map.y + map.height / 2;
    await drag(page, [map.x + map.width * 0.2, y], [map.x + map.width * 0.4, y]);
    let now = await state(page);
    expect(now.from / total).toBeCloseTo(0.2, 2);
    expect(now.to / total).toBeCloseTo(0.4, 2);
    // The window is dragged as a whole, and by an edge.
    await drag(page, [map.x + map.width * 0.3, y], [map.x + map.width * 0.5, y]);
    now = await state(page);
    expect(now.from / total).toBeCloseTo(0.4, 2);
    expect(now.to / total).toBeCloseTo(0.6, 2);
    await drag(page, [map.x + map.width * 0.6, y], [map.x + map.width * 0.7, y]);
    now = await state(page);
    expect(now.from / total).toBeCloseTo(0.4, 2);
    expect(now.to / total).toBeCloseTo(0.7, 2);
    await page.context().close();
  });
});

describe("rows", () => {
  it("scroll, are pinned, hidden, moved and made higher", async () => {
    const { page, errors } = await show(world, world.ids["attn-tkg"], { height: 500, settings: { expandedDma: true } });
    const box = await plot(page);
    const first = await state(page);
    expect(first.rows.slice(0, 2)).toEqual(["DMA-E81(nc1)", "DMA-E82(nc1)"]);

    await page.mouse.move(box.x - 60, box.y + 100);
    await page.mouse.wheel(0, 200);
    await settled(page);
    expect((await state(page)).scroll).toBe(200);
    await page.locator(".tl-plot").focus();
    expect((await press(page, "PageDown")).scroll).toBeGreaterThan(300);
    expect((await press(page, "PageUp")).scroll).toBe(200);

    const label = (key: string) => page.locator(`[data-row="${key}"]`);
    await label("lane:DMA-E70/0").hover();
    await page.getByRole("button", { name: "pin DMA-E70(nc0)" }).click();
    await settled(page);
    expect((await state(page)).pinned).toEqual(["DMA-E70(nc0)"]);
    // It stays at the top while the others scroll.
    expect((await label("lane:DMA-E70/0").boundingBox())!.y).toBeCloseTo(box.y, 0);
    await page.mouse.move(box.x - 60, box.y + 100);
    await page.mouse.wheel(0, -2000);
    await settled(page);
    expect((await state(page)).scroll).toBe(0);

    await label("lane:DMA-E82/1").hover();
    await page.getByRole("button", { name: "hide DMA-E82(nc1)" }).click();
    await settled(page);
    expect((await state(page)).rows).not.toContain("DMA-E82(nc1)");
    await page.getByRole("button", { name: /hidden row/ }).click();
    await settled(page);
    expect((await state(page)).rows).toContain("DMA-E82(nc1)");

    const from = (await label("lane:DMA-E84/1").boundingBox())!;
    const to = (await label("lane:DMA-E81/1").boundingBox())!;
    await drag(page, [from.x + 60, from.y + 12], [to.x + 60, to.y + 12]);
    const free = (await state(page)).keys.filter((key) => key !== "lane:DMA-E70/0");
    expect(free.slice(0, 3)).toEqual(["lane:DMA-E84/1", "lane:DMA-E81/1", "lane:DMA-E82/1"]);

    const edge = (await label("lane:DMA-E84/1").boundingBox())!;
    await drag(page, [edge.x + 60, edge.y + edge.height], [edge.x + 60, edge.y + edge.height + 30]);
    expect((await label("lane:DMA-E84/1").boundingBox())!.height).toBeCloseTo(edge.height + 30, 0);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("are reached by keys alone", async () => {
    const { page } = await show(world, world.ids["attn-tkg"]);
    const first = (await state(page)).rows;
    await page.locator('.tl-label[tabindex="0"]').focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("data-row"))).toBe("lane:Sync/1");
    await page.keyboard.press("p");
    await settled(page);
    expect((await state(page)).pinned).toEqual(["Sync(nc1)"]);
    await page.locator('[data-row="lane:Tensor/0"]').focus();
    await page.keyboard.press("Alt+ArrowUp");
    await settled(page);
    const { keys } = await state(page);
    expect(keys.indexOf("lane:Tensor/0")).toBe(keys.indexOf("lane:Tensor/1") - 1);
    await page.locator('[data-row="lane:Tensor/1"]').focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await settled(page);
    expect((await state(page)).rows).not.toContain("Tensor(nc1)");
    expect((await state(page)).rows.length).toBe(first.length - 1);
    await page.context().close();
  });

  it("are drawn when something changes, never else", async () => {
    const { page } = await show(world, world.ids["attn-tkg"]);
    await page.waitForTimeout(500);
    const { drawn } = await state(page);
    await page.waitForTimeout(700);
    expect((await state(page)).drawn).toBe(drawn);
    // A pointer that moves is looked up, and draws nothing anew.
    const box = await plot(page);
    for (let i = 0; i < 10; i += 1) await page.mouse.move(box.x + 100 + 20 * i, box.y + 120);
    expect((await state(page)).drawn).toBe(drawn);
    await page.context().close();
  });

  it("of DMA engines are one for each core until they are unfolded", async () => {
    const { page } = await show(world, world.ids["attn-tkg"]);
    expect((await state(page)).rows.slice(0, 2)).toEqual(["DMA ×5(nc1)", "DMA ×16(nc0)"]);
    await page.locator('[data-row="lanes:DMA/0"]').hover();
    await page.getByRole("button", { name: "show the rows of DMA ×16(nc0)" }).click();
    await settled(page);
    expect((await state(page)).rows.filter((row) => row.startsWith("DMA-E")).length).toBe(21);
    await page.context().close();
  });
});

describe("annotations, selection and ruler", () => {
  const list = (page: Page) =>
    page.locator(".tl-handle").evaluateAll((all) =>
      all.map((one) => ({ label: one.getAttribute("aria-label"), time: Number(one.getAttribute("aria-valuenow")) })),
    );

  it("are made, dragged with snapping, renamed and deleted", async () => {
    const { page, errors } = await show(world, world.ids["attn-tkg"], { settings: { snap: true } });
    const box = await plot(page);
    const { total } = await state(page);
    await page.mouse.click(box.x + box.width * 0.7, box.y + box.height * 0.9, { button: "right" });
    await settled(page);
    let marks = await list(page);
    expect(marks.length).toBe(1);
    expect(marks[0]!.time / total).toBeCloseTo(0.7, 1);

    // Dragged near the begin of an event it sticks to it.
    const edge = await page.evaluate(() => {
      const stage = (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline;
      const lane = stage.subject.lanes.find((one) => one.name === "Sync" && one.core === 0)!.number;
      const all = stage.frame!.stacked(lane)!;
      return all.start[all.count - 1]!;
    });
    const x = box.x + (edge / total) * box.width;
    await drag(page, [box.x + (marks[0]!.time / total) * box.width, box.y + 300], [x + 2, box.y + 300]);
    marks = await list(page);
    expect(Math.abs(marks[0]!.time - edge)).toBeLessThanOrEqual((8 / box.width) * total);
    const edges = await page.evaluate((time) => {
      const stage = (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline;
      return stage.subject.lanes.some((one) => {
        const all = stage.frame!.stacked(one.number);
        return all && [...all.start, ...all.end].includes(time);
      });
    }, marks[0]!.time);
    expect(edges).toBe(true);

    await page.locator(".tl-mark-name").dblclick();
    await page.keyboard.type("warm <b>up</b>");
    await page.keyboard.press("Enter");
    await settled(page);
    expect((await list(page))[0]!.label).toContain("warm <b>up</b>");
    expect(await page.locator(".tl-mark-name b").count()).toBe(0);

    // A region with the right button, and its deletion by key.
    await drag(page, at(box, 0.2, 0.9), at(box, 0.4, 0.9), "right");
    marks = await list(page);
    expect(marks.length).toBe(3);
    await page.locator(".tl-handle").last().focus();
    await page.keyboard.press("Delete");
    await settled(page);
    expect((await list(page)).length).toBe(1);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("measure, and select lanes and time", async () => {
    const { page } = await show(world, world.ids["attn-tkg"]);
    const box = await plot(page);
    const { total, rows } = await state(page);
    await page.keyboard.down("Alt");
    await drag(page, at(box, 0.1, 0.95), at(box, 0.6, 0.95));
    await page.keyboard.up("Alt");
    expect(await page.locator(".tl-ruler").textContent()).toMatch(/1[78]\d(\.\d)? µs/);
    await page.keyboard.press("Escape");
    expect(await page.locator(".tl-ruler").count()).toBe(0);

    const label = async (name: string) => (await page.locator(`[data-row="lane:${name}/0"]`).boundingBox())!;
    const [top, bottom] = [await label("Vector"), await label("Scalar")];
    expect(rows).toContain("Vector(nc0)");
    await page.keyboard.down("Shift");
    await drag(page, [box.x + box.width * 0.3, top.y + 5], [box.x + box.width * 0.5, bottom.y + 15]);
    await page.keyboard.up("Shift");
    expect(await page.locator(".tl-selection").count()).toBe(1);
    // The box and its lanes are in the link.
    await page.waitForFunction(() => location.hash.includes("b="));
    const [range, lanes] = decodeURIComponent(/b=([^&]*)/.exec(await page.evaluate(() => location.hash))![1]!).split("/");
    const [from, to] = range!.split("-").map(Number) as [number, number];
    expect(from / total).toBeCloseTo(0.3, 2);
    expect(to / total).toBeCloseTo(0.5, 2);
    const names = await page.evaluate((wanted) => {
      const stage = (document.querySelector(".tl") as Element & { timeline: import("../../src/timeline/stage").Stage }).timeline;
      return wanted.map((number) => `${stage.subject.lanes[number]!.name}/${stage.subject.lanes[number]!.core}`);
    }, lanes!.split(",").map(Number));
    expect(names.sort()).toEqual(["Scalar/0", "Scalar/1", "Vector/0"]);
    await page.locator(".tl-plot").focus();
    await page.keyboard.press("Escape");
    expect(await page.locator(".tl-selection").count()).toBe(0);
    await page.context().close();
  });
});
