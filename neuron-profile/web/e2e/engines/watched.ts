// The built viewer with a script before all others that notes what goes wrong in the page: no command of a driver tells
// that of every engine, and of a page that is just loading.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { site } from "../server";

const LISTENER = `
const wrong = (window.wrong = []);
addEventListener("error", (event) => wrong.push(event.message ?? "not loaded: " + (event.target.src ?? event.target.href)), true);
addEventListener("unhandledrejection", (event) => wrong.push("not caught: " + event.reason));
addEventListener("securitypolicyviolation", (event) => wrong.push("policy: " + event.violatedDirective + " " + event.blockedURI));
const said = console.error;
console.error = (...args) => { wrong.push(args.join(" ")); said(...args); };
new PerformanceObserver((list) => {
  for (const { name } of list.getEntries()) {
    const url = new URL(name, location.href);
    if (/^(https?|wss?):/.test(url.protocol) && url.host !== location.host) wrong.push("a request to " + url.host);
  }
}).observe({ type: "resource", buffered: true });
`;

/** Makes the copy; gives where it is, and its end. */
export function watched(): { web: string; end: () => void } {
  const web = mkdtempSync(join(tmpdir(), "neuron-watched-"));
  cpSync(site, web, { recursive: true });
  const page = readFileSync(join(site, "index.html"), "utf8");
  writeFileSync(join(web, "index.html"), page.replace("<head>", '<head><script src="/assets/listen.js"></script>'));
  writeFileSync(join(web, "assets/listen.js"), LISTENER);
  return { web, end: () => rmSync(web, { recursive: true, force: true }) };
}
