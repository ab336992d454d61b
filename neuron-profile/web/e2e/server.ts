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

/** The viewer as it was built last, not as it was when the program was. */
const site = join(root, "neuron-profile/web/dist/site");

export class Server {
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

  async start(): Promise<void> {
    const child = spawn(binary, ["view", "--port", String(this.port), "--data-path", this.data], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NEURON_PROFILE_WEB: site },
    });
    this.#child = child;
    this.port = await new Promise<number>((done, stop) => {
      let said = "";
      child.stdout?.on("data", (bytes: Buffer) => {
        said += bytes.toString();
        const port = /localhost:(\d+)/.exec(said)?.[1];
        if (port) done(Number(port));
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
