// A session of W3C WebDriver: the few commands that a person at a browser comes down to. WebKit's driver takes them by
// HTTP. Firefox takes the same ones by its own socket (Marionette), which is what geckodriver translates to; no library
// speaks to both without that program, and Debian has none of it.

import { once } from "node:events";
import { type Socket, connect } from "node:net";

/** Sends a command; gives what it answers. */
export interface Wire {
  send(command: Command, parameters: object): Promise<unknown>;
  end(): void;
}

/** Commands by the names that Firefox has for them, with the way and the path of the standard. */
const COMMANDS = {
  NewSession: ["POST", "/session"],
  DeleteSession: ["DELETE", ""],
  SetTimeouts: ["POST", "/timeouts"],
  SetWindowRect: ["POST", "/window/rect"],
  Navigate: ["POST", "/url"],
  Refresh: ["POST", "/refresh"],
  ExecuteAsyncScript: ["POST", "/execute/async"],
  PerformActions: ["POST", "/actions"],
  TakeScreenshot: ["GET", "/screenshot"],
} as const;

export type Command = keyof typeof COMMANDS;

/** To a driver at an address. */
export function overHttp(address: string): Wire {
  let id = "";
  return {
    async send(command, parameters) {
      const [method, path] = COMMANDS[command];
      const answer = await fetch(command === "NewSession" ? address + path : `${address}/session/${id}${path}`, {
        method,
        ...(method === "POST" && { body: JSON.stringify(parameters) }),
      });
      const { value } = (await answer.json()) as { value: { sessionId?: string; error?: string; message?: string } | null };
      if (!answer.ok) throw new Error(`${command}: ${value?.error} ${value?.message}`);
      if (command === "NewSession") id = value?.sessionId ?? "";
      return value;
    },
    end() {},
  };
}

/** To a Firefox that listens at a port: `length:[0, id, command, parameters]`, and `[1, id, error, result]` back. */
export async function overMarionette(port: number): Promise<Wire> {
  const socket: Socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const waiting = new Map<number, (error: { error: string; message: string } | null, result: unknown) => void>();
  let received = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const colon = received.indexOf(":");
      const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || received.length < end) return;
      const message: unknown = JSON.parse(received.subarray(colon + 1, end).toString());
      received = received.subarray(end);
      // What comes first is a greeting.
      if (Array.isArray(message)) waiting.get(message[1])?.(message[2], message[3]);
    }
  });
  socket.on("close", () => {
    for (const [, done] of waiting) done({ error: "closed", message: "Firefox ended the connection" }, null);
  });
  let last = 0;
  return {
    send: (command, parameters) =>
      new Promise((done, stop) => {
        const id = (last += 1);
        waiting.set(id, (error, result) => {
          waiting.delete(id);
          if (error) return stop(new Error(`${command}: ${error.error} ${error.message}`));
          // Results that are one value are wrapped, as the standard has them.
          const { value } = (result ?? {}) as { value?: unknown };
          done(value === undefined ? result : value);
        });
        const text = JSON.stringify([0, id, `WebDriver:${command}`, parameters]);
        socket.write(`${Buffer.byteLength(text)}:${text}`);
      }),
    end: () => socket.destroy(),
  };
}
