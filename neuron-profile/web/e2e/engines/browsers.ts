// Firefox and WebKit as Debian has them, on a screen that nobody sees. WebGL2 is drawn in software, or is switched off.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Wire, overHttp, overMarionette } from "./session";

export interface Started {
  wire: Wire;
  end(): Promise<void>;
}

export interface Engine {
  name: string;
  /** The programs that have to be there. */
  programs: readonly string[];
  start(webgl: boolean): Promise<Started>;
}

/** Whether all that an engine needs is installed. */
export const isThere = (engine: Engine) => engine.programs.every((name) => spawnSync("which", [name]).status === 0);

/** What ends a program, and waits for its end. */
function ender(child: ChildProcess): () => Promise<void> {
  const ended = new Promise<void>((done) => child.on("exit", () => done()));
  return () => {
    child.kill();
    return ended;
  };
}

/** Waits for what is not there yet. */
async function until<T>(what: string, look: () => Promise<T | null> | T | null): Promise<T> {
  const last = Date.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > last) throw new Error(`no ${what} within 30 s`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** A screen; its name and its end. */
async function screen(): Promise<{ display: string; end: () => Promise<void> }> {
  const child = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1700x1100x24", "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const end = ender(child);
  const number = await new Promise<string>((done, stop) => {
    child.stdio[3]?.once("data", (bytes: Buffer) => done(bytes.toString().trim()));
    child.once("exit", (code) => stop(new Error(`Xvfb ended with ${code}`)));
    child.once("error", stop);
  });
  return { display: `:${number}`, end };
}

/** A port that is free now. */
const freePort = () =>
  new Promise<number>((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });

/** Starts a session of what listens, with a window as large as most are. */
async function begin(wire: Wire, capabilities: object): Promise<void> {
  await wire.send("NewSession", { capabilities: { alwaysMatch: capabilities } });
  await wire.send("SetTimeouts", { script: 40_000, pageLoad: 40_000 });
  await wire.send("SetWindowRect", { x: 0, y: 0, width: 1600, height: 1000 });
}

const firefox: Engine = {
  name: "Firefox",
  programs: ["firefox-esr", "Xvfb"],
  async start(webgl) {
    const shown = await screen();
    const profile = mkdtempSync(join(tmpdir(), "neuron-firefox-"));
    const wanted = { "marionette.port": 0, "webgl.disabled": !webgl, "webgl.force-enabled": webgl };
    writeFileSync(join(profile, "user.js"), Object.entries(wanted).map(([name, value]) => `user_pref("${name}", ${value});\n`).join(""));
    const child = spawn("firefox-esr", ["--no-remote", "--marionette", "--profile", profile, "about:blank"], {
      env: { ...process.env, DISPLAY: shown.display, HOME: profile },
      stdio: "ignore",
    });
    const stop = ender(child);
    let wire: Wire | null = null;
    const end = async () => {
      wire?.end();
      await stop();
      await shown.end();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    };
    try {
      const at = join(profile, "MarionetteActivePort");
      const port = await until("port of Firefox", () => (existsSync(at) ? Number(readFileSync(at, "utf8")) || null : null));
      wire = await overMarionette(port);
      await begin(wire, {});
      return { wire, end };
    } catch (error) {
      await end();
      throw error;
    }
  },
};

const webkit: Engine = {
  name: "WebKit",
  programs: ["WebKitWebDriver", "Xvfb"],
  async start(webgl) {
    const shown = await screen();
    const port = await freePort();
    const child = spawn("WebKitWebDriver", [`--port=${port}`], { env: { ...process.env, DISPLAY: shown.display }, stdio: "ignore" });
    const stop = ender(child);
    const wire = overHttp(`http://127.0.0.1:${port}`);
    const end = async () => {
      // The window ends with its session, not with the driver.
      await wire.send("DeleteSession", {}).catch(() => undefined);
      await stop();
      await shown.end();
    };
    try {
      await until("WebKitWebDriver", () => fetch(`http://127.0.0.1:${port}/status`).then((answer) => answer.ok || null, () => null));
      await begin(wire, { "webkitgtk:browserOptions": { args: ["--automation", `--enable-webgl=${webgl}`] } });
      return { wire, end };
    } catch (error) {
      await end();
      throw error;
    }
  },
};

export const ENGINES: readonly Engine[] = [firefox, webkit];
