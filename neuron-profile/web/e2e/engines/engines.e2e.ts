// The viewer in Firefox and in WebKit: what a person does on a real capture, and what the page shows then. Where an
// engine is not installed its tests are skipped; `cargo xtask test` says so by name.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../server";
import { ENGINES, isThere } from "./browsers";
import { KEY, Person } from "./person";
import { watched } from "./watched";

const NAME = "attn-tkg";

const viewer = watched();
const server = new Server([], viewer.web);
let id = "";
const profile = (rest = "") => server.url(`/profile/${id}${rest}`);

beforeAll(async () => {
  id = server.store(NAME);
  server.store("moe-dge");
  await server.start();
  // Sources, so that the Code Editor has more than a table.
  const { files } = await server.get<{ files: { name: string }[] }>(`/profiles/${id}/sources`);
  const text = Array.from({ length: 400 }, (_, i) => `x${i + 1} = nl.load(a[${i}])  # line`).join("\n");
  for (const { name } of files) {
    const stored = await fetch(server.url(`/api/v1/profiles/${id}/sources/${encodeURIComponent(name)}`), { method: "PUT", body: text });
    expect(stored.status).toBe(204);
  }
});
afterAll(async () => {
  await server.end();
  viewer.end();
});

interface Event {
  opcode: string;
  start_ts: number;
}

const eventOf = async (row: number) => (await server.get<{ rows: Event[] }>(`/profiles/${id}/tables/Instruction?from=${row}&limit=1`)).rows[0]!;

/** The range in the address, once it is another one. */
const range = (person: Person, before: string) =>
  person.wait(`another range than ${before}`, (before) => {
    const found = /[#&]t=([^&]*)/.exec(location.hash)?.[1] ?? "";
    return found !== before ? found : null;
  }, before);

const length = (range: string) => {
  const [from, to] = range.split("-").map(Number) as [number, number];
  return to - from;
};

const middle = ({ plot }: Awaited<ReturnType<Person["timeline"]>>) => ({ x: plot.x + plot.width / 2, y: plot.y + plot.height / 2 });

describe.each(ENGINES.map((engine) => [engine.name, engine] as const))("%s", (_, engine) => {
  describe.skipIf(!isThere(engine))("with WebGL2", () => {
    let person: Person;
    beforeAll(async () => {
      person = await Person.at(engine);
    });
    afterAll(() => person?.leave());

    it("lists the profiles and opens one", async () => {
      await person.open(server.url("/"));
      await person.reads("[role=grid]", "moe-dge");
      await person.click([`a[href="/profile/${id}"]`]);
      await person.reads('[data-widget="Operator Table"]', "CallImpl");
    });

    it("draws the timeline, by the graphics card if it is to", async () => {
      for (const renderer of ["webgl", "raster"]) {
        await person.open(profile(`?renderer=${renderer}`));
        const { device, plot } = await person.timeline();
        expect(device).toMatch(new RegExp(`^${renderer}:`));
        expect(await person.colours(plot)).toBeGreaterThan(30);
      }
    });

    it("zooms and moves by wheel, keys and pointer", async () => {
      await person.open(profile("#t=100000-140000"));
      const before = await person.timeline();
      expect([before.from, before.to]).toEqual([100_000, 140_000]);
      await person.wheel(middle(before), -240);
      let now = await range(person, "100000-140000");
      expect(length(now)).toBeLessThan(30_000);
      await person.ask(() => document.querySelector<HTMLElement>(".tl-plot")?.focus());
      for (const [key, factor] of [["w", 1 / 1.5], ["s", 1.5], ["a", 1], ["d", 1]] as const) {
        const last = now;
        await person.type(key);
        now = await range(person, last);
        expect(length(now) / length(last), key).toBeCloseTo(factor, 2);
      }
      const { plot } = await person.timeline();
      await person.drag({ x: plot.x + plot.width * 0.25, y: plot.y + 120 }, { x: plot.x + plot.width * 0.75, y: plot.y + 124 });
      const last = now;
      now = await range(person, last);
      expect(length(now) / length(last)).toBeCloseTo(0.5, 1);
    });

    it("says what is under the pointer, and all of it after a click", async () => {
      await person.open(profile("#t=60000-61000"));
      const { widest } = await person.timeline();
      if (!widest) throw new Error("no instruction is seen");
      const { opcode } = await eventOf(widest.row);
      await person.move(widest);
      await person.reads(".tl-hover", `Opcode: ${opcode}`);
      await person.clickAt(widest);
      await person.wait("the event in the address", (row) => location.hash.includes(`e=Instruction%2F${row}`), widest.row);
      await person.click(["[role=tab]", "Event Details"]);
      await person.reads('[data-widget="Event Details"]', opcode);
    });

    it("finds events and counts them", async () => {
      const { total, rows } = await server.get<{ total: number; rows: { row: number }[] }>(`/profiles/${id}/search?q=opcode%3DMATMUL&tables=Instruction`);
      await person.open(profile());
      await person.add("Search");
      await person.choose('[data-widget="Search"] select[aria-label="Field"]', "opcode");
      await person.fill(['[data-widget="Search"] input[aria-label="Value"]'], `MATMUL${KEY.Enter}`);
      await person.reads('[data-widget="Search"] [role=tab]', `Results (${total.toLocaleString("en-US")})`);
      await person.click(['[data-widget="Search"] .grid-row']);
      await person.wait("the first match in the address", (row) => location.hash.includes(`e=Instruction%2F${row}`), rows[0]!.row);
    });

    it("fills its widgets", async () => {
      await person.open(profile());
      for (const [title, part] of [
        ["Operator Table", ".grid-row"],
        ["Overall Summary", ".grid-row"],
        ["Current Selection Summary", ".grid-row"],
        ["Tensor Viewer", ".grid-row"],
        ["Flame View", "canvas"],
        ["Roofline", "circle"],
        ["Memory Viewer", ".grid-row"],
        ["Code Editor", ".cm-line"],
      ] as const) {
        await person.add(title);
        await person.wait(
          `${part} in ${title}`,
          (title, part) => {
            const widget = document.querySelector(`[data-widget="${title}"]`);
            // The text of a source stands in a tree of its own.
            return [widget, widget?.querySelector(".editor")?.shadowRoot].some((one) => one?.querySelector(part));
          },
          title,
          part,
        );
      }
    });

    it("keeps an annotation", async () => {
      const marks = () => person.wait("annotations", () => {
        const all = [...document.querySelectorAll(".tl-handle")].map((one) => Number(one.getAttribute("aria-valuenow")));
        return all.length > 0 ? all : null;
      });
      await person.open(profile("#t=100000-200000"));
      // Not by the right button: the driver of WebKit says of its release that it was the left one.
      await person.add("Annotations");
      await person.click(['[data-widget="Annotations"] button', "Create"]);
      const made = await marks();
      expect(made).toEqual([150_000]);
      await person.wait("a row of it", () => document.querySelector('[data-widget="Annotations"] .grid-row [type=color]') !== null);
      await person.reload();
      await person.timeline();
      expect(await marks()).toEqual(made);
      // One who was never here has it of the server.
      await expect.poll(async () => JSON.stringify(await server.get(`/documents/${id}/${encodeURIComponent("(current)")}`).catch(() => null))).toContain(String(made[0]));
      await person.open(profile());
      await person.timeline();
      expect(await marks()).toEqual(made);
      await fetch(server.url(`/api/v1/documents/${id}/${encodeURIComponent("(current)")}`), { method: "DELETE" });
    });

    it("is dark and light", async () => {
      await person.open(profile());
      await person.timeline();
      const look = () => person.ask(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor] as const);
      const seen = new Map([await look()]);
      for (let i = 0; i < 2; i += 1) {
        await person.click(["button", "Dark, light"]);
        const [theme, colour] = await look();
        seen.set(theme, colour);
      }
      expect([...seen.keys()].sort()).toEqual(["dark", "light"]);
      expect(new Set(seen.values()).size).toBe(2);
    });

    it("did nothing that it must not do", async () => {
      await person.open(server.url("/"));
      await person.reads("[role=grid]", "moe-dge");
      expect(person.wrong).toEqual([]);
      // What must not happen would have been noted.
      await person.ask(() => {
        window.reportError(new Error("on purpose"));
        return fetch("http://neuron.invalid/").catch(() => undefined);
      });
      await person.open(server.url("/"));
      expect(person.wrong.join("\n")).toMatch(/on purpose/);
      expect(person.wrong.join("\n")).toMatch(/policy: connect-src/);
    });
  });

  describe.skipIf(!isThere(engine))("without WebGL2", () => {
    let person: Person;
    beforeAll(async () => {
      person = await Person.at(engine, false);
    });
    afterAll(() => person?.leave());

    it("draws the timeline all the same", async () => {
      await person.open(profile("#t=60000-61000"));
      expect(await person.ask(() => document.createElement("canvas").getContext("webgl2") === null)).toBe(true);
      const { device, plot, widest } = await person.timeline();
      expect(device).toMatch(/^raster:/);
      expect(await person.colours(plot)).toBeGreaterThan(30);
      if (!widest) throw new Error("no instruction is seen");
      await person.move(widest);
      await person.reads(".tl-hover", `Opcode: ${(await eventOf(widest.row)).opcode}`);
      await person.open(server.url("/"));
      expect(person.wrong).toEqual([]);
    });
  });
});
