// What the timeline shows besides events: colours and their legend, rows of layers and series, matches of a search;
// and pictures of all of it in both themes, to be looked at.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type World, open, out, settled, show, state } from "./support";

let world: World;
beforeAll(async () => {
  world = await open();
}, 120_000);
afterAll(() => world?.close());

type Hosted = Element & { timeline: import("../../src/timeline/stage").Stage };

async function get<T>(path: string): Promise<T> {
  const answer = await fetch(`${process.env.NEURON_PROFILE_SERVER}/api/v1${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as T;
}

describe("colours", () => {
  it("have a legend with the shares that the sums of the lanes have", async () => {
    const id = world.ids["moe-dge"];
    const { page, errors } = await show(world, id, { settings: { expandedDma: true }, height: 1400 });
    await page.locator(".tl-plot").focus();
    await page.keyboard.press("l");
    await page.waitForSelector(".tl-legend li");
    await page.waitForTimeout(400);
    const shown = await page.locator(".tl-legend li").evaluateAll((all) =>
      all.map((one) => [one.querySelector("span")!.textContent!, Number.parseFloat(one.querySelector("em")!.textContent!)] as const),
    );
    const { lanes } = await get<{ lanes: { lane: number; names: { name: string; busy_ns: number }[] }[] }>(
      `/profiles/${id}/selection?from=0&to=275780`,
    );
    const seen = await page.evaluate(() => (document.querySelector(".tl") as Hosted).timeline.frame!.rows.flatMap((row) => row.row.lanes));
    const sums = new Map<string, number>();
    let total = 0;
    for (const lane of lanes.filter((one) => seen.includes(one.lane))) {
      for (const { name, busy_ns } of lane.names) {
        sums.set(name, (sums.get(name) ?? 0) + busy_ns);
        total += busy_ns;
      }
    }
    expect(shown.length).toBeGreaterThan(6);
    // Columns have the name that covers most of them: near the exact sums, not the same.
    for (const [label, share] of shown.slice(0, 4)) expect(share, label).toBeCloseTo((100 * (sums.get(label) ?? 0)) / total, -1);
    expect(shown[0]![0]).toBe([...sums].sort((a, b) => b[1] - a[1])[0]![0]);

    // Pointing at one dims the others; another scheme gives other colours.
    const colours = () => page.evaluate(() => new Set([...(document.querySelector(".tl") as Hosted).timeline.list.rects()].map((one) => one.colour)).size);
    const pixels = () => page.locator(".tl-plot").screenshot();
    const plain = await pixels();
    await page.locator(".tl-legend li").first().locator("button").hover();
    await settled(page);
    expect((await pixels()).equals(plain)).toBe(false);
    const many = await colours();
    await page.locator(".tl-legend select").selectOption("engine");
    await settled(page);
    expect(await colours()).not.toBe(many);
    await page.waitForFunction(() => location.hash.includes("c=engine"));
    expect(errors).toEqual([]);
    await page.context().close();
  });
});

describe("rows", () => {
  it("of layers say what the interface says", async () => {
    const id = world.ids["attn-tkg"];
    const { page, errors } = await show(world, id, { settings: { layerRows: true } });
    await page.waitForFunction(() => (document.querySelector(".tl") as Hosted).timeline.ui.getState().rows.some((row) => row.kind === "layers"));
    await settled(page);
    const { rows, texts } = await state(page);
    const { rows: wanted } = await get<{ rows: { core: number; depth: number; bars: { name: string; from: number; to: number }[] }[] }>(
      `/profiles/${id}/layers?from=0&to=359874&width=512`,
    );
    expect(rows.filter((row) => row.startsWith("Layer "))).toHaveLength(wanted.length);
    const longest = wanted[0]!.bars.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
    expect(texts.some((text) => longest.name.startsWith(text.replace("…", "")))).toBe(true);
    expect(errors).toEqual([]);
    await page.screenshot({ path: join(out, "timeline-layers.png") });
    await page.context().close();
  });

  it("of series say under the pointer what the interface says", async () => {
    const id = world.ids["moe-dge"];
    const { page } = await show(world, id, { height: 1300 });
    for (const series of ["pending_dma.0", "dma_throughput.0", "tensor_matrix.0"]) {
      const row = (await page.locator(`[data-row="series:${series}"]`).boundingBox())!;
      for (const x of [400, 700, 1000]) {
        await page.mouse.move(x, row.y + row.height / 2);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const { hover } = await state(page);
        if (hover?.what !== "series") throw new Error(`no series at ${series} ${x}`);
        const [value] = hover.values;
        const column = 2 ** (await page.evaluate(() => (document.querySelector(".tl") as Hosted).timeline.data.level));
        const from = Math.floor(hover.time / column) * column;
        const bytes = await (
          await fetch(`${process.env.NEURON_PROFILE_SERVER}/api/v1/profiles/${id}/series/data?ids=${series}&from=${from}&to=${from + column}&width=1`)
        ).arrayBuffer();
        const view = new DataView(bytes);
        expect(view.getUint32(36, true), `${series} at ${hover.time}`).toBe(1);
        expect([value!.min, value!.max, value!.mean]).toEqual([40, 48, 56].map((at) => view.getFloat64(at, true)));
      }
    }
    await page.context().close();
  });
});

describe("warnings", () => {
  it("are bands where the hardware was throttled or lost records, and say so", async () => {
    const id = world.ids["attn-tkg"];
    const { rows: limits } = await get<{ rows: { k: number; n: number }[] }>(`/profiles/${id}/tables/Throttle?limit=10000`).catch(() => ({ rows: [] }));
    const { rows: faults } = await get<{ rows: { timestamp: number; type: string; description: string }[] }>(`/profiles/${id}/tables/Error?limit=10000`);
    // The capture has records with the mark of a loss (README of the real profiles).
    expect(faults.some((one) => one.type === "Warnings")).toBe(true);
    const { page, errors } = await show(world, id, {});
    await page.waitForFunction(() => (document.querySelector(".tl") as Hosted).timeline.data.warnings.length > 0);
    const seen = await page.evaluate(() => (document.querySelector(".tl") as Hosted).timeline.data.warnings.map((one) => one.kind));
    expect(seen.filter((kind) => kind === "loss")).toHaveLength(faults.filter((one) => one.type === "Warnings").length);
    expect(seen.includes("throttling")).toBe(limits.some(({ k, n }) => k < n));
    // Lost records are no errors of the program: they have bands, not the row of errors.
    expect((await state(page)).keys.includes("errors")).toBe(faults.some((one) => one.type !== "Warnings"));
    const text = await page.evaluate(() => (document.querySelector(".tl") as Hosted).timeline.frame!.warnings.find((one) => one.kind === "loss")?.text);
    expect(text).toContain("lost about here");
    await page.screenshot({ path: join(out, "timeline-warnings.png") });
    expect(errors).toEqual([]);
    await page.context().close();
  });
});

describe("search", () => {
  it("shows where the matches are", async () => {
    const id = world.ids["attn-tkg"];
    const { page, errors } = await show(world, id, { hash: "#q=Instruction%3Aopcode%3DACTIVATE" });
    const hit = await page.evaluate(() => (document.querySelector(".tl") as Hosted).timeline.theme.hit);
    await page.waitForFunction((colour) => [...(document.querySelector(".tl") as Hosted).timeline.list.rects()].some((one) => one.colour === colour), hit);
    const at = await page.evaluate((colour) => {
      const stage = (document.querySelector(".tl") as Hosted).timeline;
      const rows = new Set<string>();
      for (const one of stage.list.rects()) {
        if (one.colour !== colour) continue;
        rows.add(stage.frame!.rows.find((row) => one.y0 >= row.top && one.y0 < row.top + row.row.height)!.row.label);
      }
      return [...rows].sort();
    }, hit);
    const found = await get<{ statistics: { lanes: { lane: number }[] } }>(`/profiles/${id}/search?q=opcode%3DACTIVATE&tables=Instruction`);
    const { lanes } = await get<{ lanes: { name: string; core: number }[] }>(`/profiles/${id}`);
    expect(at).toEqual(found.statistics.lanes.map(({ lane }) => `${lanes[lane]!.name}(nc${lanes[lane]!.core})`).sort());
    expect(errors).toEqual([]);
    await page.screenshot({ path: join(out, "timeline-search.png") });
    await page.context().close();
  });
});

describe("pictures", () => {
  for (const theme of ["dark", "light"]) {
    it(`of the ${theme} theme`, async () => {
      const { page } = await show(world, world.ids["moe-dge"], { settings: { theme, expandedDma: false } });
      await page.locator(".tl-plot").focus();
      await page.keyboard.press("l");
      await page.mouse.click(500, 300, { button: "right" });
      await page.mouse.move(640, 120);
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(out, `timeline-${theme}.png`) });
      const shade = await page.evaluate(() => (document.querySelector(".tl") as Hosted).timeline.theme.shade);
      expect(shade).toBe(theme);
      await page.context().close();
    });
  }
});
