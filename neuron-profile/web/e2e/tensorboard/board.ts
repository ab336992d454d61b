// A real TensorBoard on a log directory of its own, and its page in a browser.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, FrameLocator } from "playwright-core";
import { expect } from "vitest";
import { Viewer } from "../browser";
import { binary } from "../server";

const tensorboard = process.env.NEURON_TENSORBOARD ?? "tensorboard";
const models = process.env.NEURON_MODELS ?? "";

/** What TensorBoard itself says in its console, whatever is in its tabs. */
const OWN = /Three\.js|Lit is in dev mode|favicon|reading 'dispatchEvent'/;

async function free(): Promise<number> {
  return new Promise((done, stop) => {
    const server = createServer();
    server.on("error", stop);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address && typeof address === "object" ? done(address.port) : stop(new Error("no port"))));
    });
  });
}

export const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** A directory for all that a test makes. */
export class Lab {
  readonly dir = mkdtempSync(join(tmpdir(), "nb-"));
  readonly logdir = join(this.dir, "logs");
  readonly env = {
    ...process.env,
    NEURON_SIM_DIR: join(this.dir, "sim"),
    NEURON_PROFILE_CACHE: join(this.dir, "cache"),
    XDG_DATA_HOME: join(this.dir, "data"),
  };

  constructor() {
    mkdirSync(this.logdir, { recursive: true });
  }

  write(path: string, content: string | Uint8Array): void {
    const whole = join(this.logdir, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, content);
  }

  /** Captures a sample model into the log directory; gives the directory of the run. */
  capture(model: string): string {
    const args = ["capture", "--source", "sim:trn1.2xlarge", "-n", join(models, `${model}.neff`), "-s", join(this.dir, `${model}.ntff`), "--tensorboard-dir", this.logdir];
    const said = execFileSync(binary, args, { env: this.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    const run = /^(.+): run for TensorBoard$/m.exec(said)?.[1];
    if (!run) throw new Error(`no run in: ${said}`);
    return run;
  }

  /** Rows of a query about the profile that is stored in a run. */
  query(run: string, sql: string): Record<string, unknown>[] {
    const id = readdirSync(join(run, "profiles"))[0] ?? "";
    const args = ["query", id, sql, "--output-format", "json", "--data-path", run];
    return JSON.parse(execFileSync(binary, args, { env: this.env, encoding: "utf8" })) as Record<string, unknown>[];
  }

  end(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export class Board {
  #child: ChildProcess | null = null;
  port = 0;
  said = "";

  constructor(
    readonly lab: Lab,
    readonly args: readonly string[] = [],
    readonly prefix = "",
    readonly logdir = lab.logdir,
  ) {}

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  url(path = ""): string {
    return `http://localhost:${this.port}${this.prefix}/${path}`;
  }

  async start(): Promise<void> {
    this.port = await free();
    const args = ["--logdir", this.logdir, "--host", "127.0.0.1", "--port", String(this.port), ...this.args];
    const child = spawn(tensorboard, args, { env: this.lab.env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    for (const pipe of [child.stdout, child.stderr]) pipe?.on("data", (bytes: Buffer) => (this.said += bytes.toString()));
    for (let tries = 0; tries < 600; tries++) {
      if (child.exitCode !== null) throw new Error(`TensorBoard ended: ${this.said}`);
      try {
        if ((await fetch(this.url("data/plugins_listing"))).ok) return;
      } catch {
        // Not yet.
      }
      await pause(100);
    }
    throw new Error(`TensorBoard does not answer: ${this.said}`);
  }

  async get(path: string): Promise<Response> {
    return fetch(this.url(`data/plugin/neuronx/${path}`));
  }

  async active(): Promise<boolean> {
    const listing = (await (await fetch(this.url("data/plugins_listing"))).json()) as Record<string, { enabled: boolean; tab_name: string }>;
    expect(listing.neuronx?.tab_name).toBe("Neuron");
    return listing.neuronx?.enabled === true;
  }

  /** Ids of the processes that TensorBoard has started and that are ours. */
  children(): number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => {
        try {
          const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
          return Number(parent) === this.pid && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("--until-stdin-closes");
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.on("exit", done));
    child.kill(signal);
    await ended;
  }
}

/** The tab in a page of TensorBoard. */
export class Tab extends Viewer {
  static async at(browser: Browser, board: Board, scheme: "dark" | "light" = "light"): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1500, height: 900 }, colorScheme: scheme, acceptDownloads: true });
    const page = await context.newPage();
    const tab = new Tab(page, new URL(board.url()).host);
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    await page.goto(board.url(`?darkMode=${scheme === "dark"}#neuronx`));
    return tab;
  }

  get frame(): FrameLocator {
    return this.page.frameLocator("iframe").first();
  }

  get tools() {
    return this.frame.getByLabel("Tool:");
  }

  get runs() {
    return this.frame.getByLabel("Run:");
  }

  async open(run: string, tool: string): Promise<void> {
    await this.runs.selectOption({ label: run });
    await this.tools.selectOption(tool);
    await this.frame.locator(`main[aria-label="${tool}"]`).waitFor();
  }

  /** Cells of the table that is shown, row by row. */
  async cells(): Promise<string[][]> {
    return this.frame.locator(".tb-table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())));
  }

  override async close(): Promise<void> {
    await this.page.context().close();
    expect(this.wrong.filter((text) => !OWN.test(text))).toEqual([]);
  }
}
