// The built program: stores captures in a data path of its own and serves them.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../../..");

/** The program that is tested: NEURON_BIN_DIR, as for the other tests. */
export const binary = join(process.env.NEURON_BIN_DIR ?? join(root, "target/debug"), "neuron-profile");

/** A file of the captures that are in the repository. */
export const capture = (name: string) => join(root, "tests/fixtures/profiles", name);

/** A sample model, as `cargo xtask models` writes them. */
export const model = (name: string) => join(process.env.NEURON_MODELS ?? join(root, "target/models"), `${name}.neff`);

/** The viewer as it was built last, not as it was when the program was. */
export const site = join(root, "neuron-profile/web/dist/site");

export class Server {
  /** More of the command line, and what the printed link has behind the port. */
  constructor(
    private readonly more: readonly string[] = [],
    private readonly web = site,
  ) {}

  link = "";
  readonly data = mkdtempSync(join(tmpdir(), "neuron-viewer-"));
  #child: ChildProcess | null = null;
  port = 0;

  /** Stores a capture; gives its id. */
  store(name: string, ...args: string[]): string {
    const command = ["view", "-n", capture(`${name}.neff`), "-s", capture(`${name}.ntff`), "--ingest-only", "--display-name", name, "--data-path", this.data, ...args];
    const text = execFileSync(binary, command, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const id = /"(n_[0-9a-f]{40})"/.exec(text)?.[1];
    if (!id) throw new Error(`no id in: ${text}`);
    return id;
  }

  /** Stores a run of inspect and what is beside it; gives the ids, the run first. */
  storeRun(folder: string, ...args: string[]): string[] {
    const command = ["view", "-d", capture(folder), "--ingest-only", "--data-path", this.data, ...args];
    const text = execFileSync(binary, command, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const ids = [...text.matchAll(/"(n_[0-9a-f]{40})"/g)].map((found) => found[1]!);
    if (ids.length === 0) throw new Error(`no id in: ${text}`);
    return ids;
  }

  /** Captures a model on a simulated instance and stores what came of it; gives the id. */
  captureModel(name: string): string {
    const trace = join(this.data, `${name}.ntff`);
    const env = { ...process.env, NEURON_SIM_DIR: join(this.data, "sim") };
    execFileSync(binary, ["capture", "-n", model(name), "-s", trace, "--source", "sim:trn1.2xlarge"], { cwd: this.data, env, stdio: "ignore" });
    const command = ["view", "-n", model(name), "-s", trace, "--ingest-only", "--display-name", name, "--data-path", this.data];
    const id = /"(n_[0-9a-f]{40})"/.exec(execFileSync(binary, command, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))?.[1];
    if (!id) throw new Error(`no profile of ${name}`);
    return id;
  }

  async start(): Promise<void> {
    const child = spawn(binary, ["view", "--port", String(this.port), "--data-path", this.data, ...this.more], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NEURON_PROFILE_WEB: this.web },
    });
    this.#child = child;
    this.port = await new Promise<number>((done, stop) => {
      let said = "";
      child.stdout?.on("data", (bytes: Buffer) => {
        said += bytes.toString();
        const found = /http:\/\/[^:\s]+:(\d+)(\S*)\n/.exec(said);
        if (!found) return;
        this.link = found[2] ?? "";
        done(Number(found[1]));
      });
      child.on("exit", (code) => stop(new Error(`the server ended with ${code}`)));
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.on("exit", done));
    child.kill("SIGTERM");
    await ended;
    this.#child = null;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.data, { recursive: true, force: true });
  }

  url(path: string): string {
    return `http://localhost:${this.port}${path}`;
  }

  /** An answer of the interface, asked for without the viewer. */
  async get<T>(path: string): Promise<T> {
    const response = await fetch(this.url(`/api/v1${path}`));
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}
