// Log directories that somebody else wrote: nothing breaks, nothing leaks. And
// none at all.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "../browser";
import { Board, Lab, Tab } from "./board";
import { OPERATORS, originals } from "./samples";

const lab = new Lab();
const prefix = "/x/y";
const board = new Board(lab, ["--load_fast", "true", "--path_prefix", prefix], encodeURI(prefix));
const outside = mkdtempSync(join(tmpdir(), "outside-"));
let browser: Browser;

const SECRET = "do-not-tell";
const MARKUP = '<img src=x onerror="window.hit=1">';

beforeAll(async () => {
  originals(lab);
  const run = (name: string) => `plugins/neuron/${name}`;
  lab.write(`${run("broken")}/neuron_framework_op.json`, '{"ops": [{"name": "a",');
  lab.write(`${run("broken")}/neuron_hlo_op.json`, JSON.stringify([{ name: "fine", time_ns: 7 }]));
  lab.write(`${run("broken")}/neuron_op_timeline.json`, "[{]");
  lab.write(`${run("huge")}/neuron_framework_op.json`, "[");
  truncateSync(join(lab.logdir, run("huge"), "neuron_framework_op.json"), 4 * 2 ** 30);
  lab.write(`${run("bomb")}/neuron_hlo_op.json.gz`, gzipSync(Buffer.alloc(100 << 20, " ")));
  lab.write(`${run("odd # % name ü")}/neuron_hlo_op.json`, JSON.stringify([{ name: "odd", time_ns: 1 }]));
  const named = MARKUP.replace("/", "");
  lab.write(`${run(named)}/neuron_hlo_op.json`, JSON.stringify([{ name: MARKUP, time_ns: 5, fused: [MARKUP] }]));
  lab.write(`${run(named)}/neuron_trace.json`, JSON.stringify([{ ph: "X", pid: MARKUP, tid: MARKUP, name: MARKUP, ts: 0, dur: 1, args: { [MARKUP]: MARKUP } }]));
  writeFileSync(join(outside, "neuron_hlo_op.json"), JSON.stringify([{ name: SECRET, time_ns: 1 }]));
  mkdirSync(join(lab.logdir, run("linked")), { recursive: true });
  symlinkSync(join(outside, "neuron_hlo_op.json"), join(lab.logdir, run("linked"), "neuron_hlo_op.json"));
  symlinkSync(outside, join(lab.logdir, run("away")));
  lab.write(`${run("linked")}/neuron_framework_op.json`, "[]");
  lab.write("traces/bad.neff", "no neff");
  lab.write("traces/bad.ntff", "no ntff");
  execFileSync("mkfifo", [join(lab.logdir, run("linked"), "neuron_trace.json")]);
  await board.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await board.stop();
  lab.end();
  rmSync(outside, { recursive: true, force: true });
});

describe("a hostile log directory", () => {
  it("tells of each file what is wrong, and shows all others", async () => {
    const tab = await Tab.at(browser, board);
    await tab.open("broken", "operator-framework");
    await tab.frame.getByText(/neuron_framework_op\.json: .*line 1 column/).waitFor();
    await tab.picture("tb-broken");
    await tab.tools.selectOption("operator-hlo");
    await expect.poll(async () => (await tab.cells())[0]?.[0]).toBe("fine");
    await tab.tools.selectOption("operator-timeline");
    await tab.frame.getByText(/neuron_op_timeline\.json: .*line 1 column/).waitFor();
    for (const [run, tool] of [["huge", "operator-framework"], ["bomb", "operator-hlo"]] as const) {
      await tab.open(run, tool);
      await tab.frame.getByText(/more than 64 MiB|expected value|control character/).waitFor();
    }
    await tab.open("traces", "device");
    await tab.frame.getByText(/This run cannot be shown/).waitFor();
    await tab.open(OPERATORS, "operator-framework");
    await expect.poll(async () => (await tab.cells()).length).toBe(3);
    await tab.close();
  });

  it("shows markup as text, and odd names", async () => {
    const tab = await Tab.at(browser, board);
    const name = MARKUP.replace("/", "");
    await tab.open(name, "operator-hlo");
    await expect.poll(async () => (await tab.cells())[0]?.[0]).toContain(MARKUP);
    await tab.tools.selectOption("trace");
    await tab.frame.locator(".tl-label .tl-name", { hasText: `Process ${MARKUP}` }).waitFor();
    await tab.frame.getByLabel("Search slices").fill("img");
    await tab.frame.getByRole("button", { name: "Next match" }).click();
    await expect.poll(() => tab.frame.locator(".tb-slice dd").first().textContent()).toBe(MARKUP);
    await tab.picture("tb-markup");
    expect(await tab.frame.locator("body").evaluate(() => "hit" in window)).toBe(false);
    await tab.open("odd # % name ü", "operator-hlo");
    await expect.poll(async () => (await tab.cells())[0]?.[0]).toBe("odd");
    await tab.close();
  });

  it("follows no link, and serves nothing else", async () => {
    const list = await (await board.get("app/api/v1/runs")).text();
    expect(list).not.toContain("away");
    const { runs } = JSON.parse(list) as { runs: { run: string; name: string; tools: string[] }[] };
    const linked = runs.find((one) => one.name === "linked");
    expect(linked?.tools).toEqual(["operator-framework"]);
    for (const of of ["framework", "hlo"]) expect(await (await board.get(`app/api/v1/runs/${linked?.run}/operators?of=${of}`)).text()).not.toContain(SECRET);
    // As they are, without the client making them plain.
    const raw = (path: string, method = "GET") =>
      new Promise<[number, string]>((done, stop) => {
        const whole = `${encodeURI(prefix)}/data/plugin/neuronx/app/${path}`;
        const call = request({ host: "127.0.0.1", port: board.port, path: whole, method }, (answer) => {
          let text = "";
          answer.on("data", (bytes: Buffer) => (text += bytes.toString()));
          answer.on("end", () => done([answer.statusCode ?? 0, text]));
        });
        call.on("error", stop);
        call.end();
      });
    for (const path of ["../../../../etc/passwd", "assets/..%2f..%2fetc%2fpasswd", "api/v1/runs/..%2f..%2fetc", "api/v1/profiles/..%2f..", "%00"]) {
      const [status, text] = await raw(path);
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(text).not.toContain("root:");
    }
    for (const [path, method] of [["api/v1/uploads?name=a", "POST"], ["api/v1/jobs", "POST"], ["api/v1/profiles/x", "DELETE"], ["api/v1/profiles/x", "PATCH"]] as const)
      expect((await raw(path, method))[0], `${method} ${path}`).toSatisfy((status: number) => status === 403 || status === 405);
  });
});

describe("a log directory without data", () => {
  it("says so in the words that people know, with the fix", async () => {
    const empty = new Board(lab, [], "", join(lab.dir, "empty"));
    mkdirSync(join(lab.dir, "empty"));
    await empty.start();
    expect(await empty.active()).toBe(false);
    const tab = await Tab.at(browser, empty);
    await tab.frame.getByText("No Neuron data found.").waitFor();
    await tab.frame.getByText("Please ensure the logdir is valid and that Neuron packages are installed correctly.").waitFor();
    await tab.frame.getByText("--tensorboard-dir").waitFor();
    await tab.picture("tb-nodata");
    // The first run is shown as soon as it is there.
    mkdirSync(join(lab.dir, "empty/plugins/neuron/first"), { recursive: true });
    writeFileSync(join(lab.dir, "empty/plugins/neuron/first/neuron_hlo_op.json"), JSON.stringify([{ name: "op", time_ns: 1 }]));
    await expect.poll(async () => (await tab.cells())[0]?.[0], { timeout: 20_000 }).toBe("op");
    await expect.poll(() => empty.active(), { timeout: 20_000 }).toBe(true);
    await tab.close();
    await empty.stop();
  });
});
