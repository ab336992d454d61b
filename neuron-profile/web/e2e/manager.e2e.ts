// The list of profiles: upload, progress, rename, tags, deletion; and sources
// that are attached to a profile.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProfileList } from "../src/api/types";
import { Viewer, launch } from "./browser";
import { Server, capture } from "./server";

const server = new Server();
let browser: Browser;

beforeAll(async () => {
  server.store("moe-dge");
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await server.end();
});

const list = async () => (await server.get<ProfileList>("/profiles")).profiles;

describe("the list of profiles", () => {
  it("takes files, stores them in the background and shows the profile", async () => {
    const viewer = await Viewer.open(browser, server.url("/"));
    await viewer.page.getByRole("button", { name: "Upload" }).click();
    const files = ["attn-tkg.neff", "attn-tkg.ntff"].map(capture);
    await viewer.page.getByLabel("NEFF and NTFF files").setInputFiles(files);
    await viewer.page.getByRole("textbox", { name: "Name" }).fill("<i>sent</i>");
    await viewer.page.getByRole("textbox", { name: /^Tags/ }).fill("one, two");
    await viewer.picture("upload-dark");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    await viewer.page.getByRole("region", { name: "Uploads" }).getByText("is stored").waitFor();
    await expect.poll(async () => (await list()).map((one) => [one.display_name, one.tags])).toContainEqual(["<i>sent</i>", ["one", "two"]]);
    // The list hears of it by itself.
    await viewer.page.getByRole("grid").getByText("<i>sent</i>").waitFor();
    await viewer.picture("uploaded-dark");
    await viewer.page.getByRole("region", { name: "Uploads" }).getByRole("button", { name: "Open" }).click();
    await viewer.widget("Operator Table").getByText(/CallImpl/).first().waitFor();
    await viewer.close();
  });

  it("says why files are not taken", async () => {
    const viewer = await Viewer.open(browser, server.url("/"));
    await viewer.page.getByRole("button", { name: "Upload" }).click();
    await viewer.page.getByLabel("NEFF and NTFF files").setInputFiles([
      { name: "a.neff", mimeType: "application/octet-stream", buffer: Buffer.from("no neff") },
      { name: "a.ntff", mimeType: "application/octet-stream", buffer: Buffer.from("no ntff") },
      { name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("x") },
    ]);
    await viewer.page.getByText("b.txt is neither a NEFF nor an NTFF").waitFor();
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    await viewer.page.getByRole("region", { name: "Uploads" }).getByText("failed", { exact: true }).waitFor();
    await viewer.close();
  });

  it("renames, tags, searches and deletes with confirmation", async () => {
    const viewer = await Viewer.open(browser, server.url("/"));
    await viewer.page.getByRole("button", { name: "Rename moe-dge" }).click();
    await viewer.page.getByRole("dialog").getByRole("textbox").fill("experts");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await viewer.page.getByRole("button", { name: "Tags of experts" }).click();
    await viewer.page.getByRole("dialog").getByRole("textbox").fill("nightly");
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await list()).map((one) => [one.display_name, one.tags])).toContainEqual(["experts", ["nightly"]]);
    await viewer.page.getByRole("searchbox").fill("nightly");
    await viewer.page.getByText("1 rows").waitFor();
    await viewer.page.getByRole("button", { name: "Delete experts" }).click();
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect((await list()).some((one) => one.display_name === "experts")).toBe(true);
    await viewer.page.getByRole("button", { name: "Delete experts" }).click();
    await viewer.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect.poll(async () => (await list()).some((one) => one.display_name === "experts")).toBe(false);
    await viewer.close();
  });
});

describe("folders and favourites", () => {
  it("hold for everybody: they are tags of the server", async () => {
    const id = server.store("attn-fused-bf16-512");
    await fetch(server.url(`/api/v1/profiles/${id}`), { method: "PATCH", body: JSON.stringify({ display_name: "shelved" }), headers: { "content-type": "application/json" } });
    const list = await Viewer.open(browser, server.url("/"));
    const { page } = list;
    await page.getByText("shelved").first().waitFor();
    await page.getByRole("button", { name: "Make shelved a favourite" }).click();
    await page.getByRole("button", { name: "shelved is a favourite" }).waitFor();
    await page.getByRole("button", { name: "Folders of shelved" }).click();
    await page.getByRole("textbox", { name: "New folder" }).fill("<b>runs</b> of may");
    await page.getByRole("textbox", { name: "New folder" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    const shelves = page.getByRole("navigation", { name: "Shelves" });
    await shelves.getByRole("button", { name: /<b>runs<\/b> of may/ }).click();
    await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
    await shelves.getByRole("button", { name: /^Favourites/ }).click();
    await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
    expect((await server.get<{ tags: string[] }>(`/profiles/${id}`)).tags.sort()).toEqual(["favourite", "folder/<b>runs</b> of may"]);
    await list.picture("manager-folders-dark");
    // Seen profiles are on a shelf of this browser.
    await page.getByText("shelved").first().click();
    await page.waitForURL((url) => url.pathname === `/profile/${id}`);
    await list.widget("Operator Table").locator(".grid-row").first().waitFor();
    await page.getByRole("button", { name: "neuron-profile" }).click();
    await shelves.getByRole("button", { name: /^Recently viewed 1/ }).click();
    await expect.poll(() => page.locator(".grid-row").count()).toBe(1);
    await list.close();
  });
});

describe("sources", () => {
  it("are attached, show the cost of lines, and lead to their instructions", async () => {
    const id = server.store("attn-tkg", "--force");
    const { files } = await server.get<{ files: { name: string; count: number }[] }>(`/profiles/${id}/sources`);
    const file = files.filter((one) => one.count > 0).sort((a, b) => b.count - a.count)[0];
    expect(file).toBeDefined();
    const name = file?.name ?? "";
    const { lines } = await server.get<{ lines: { line: number; count: number }[] }>(`/profiles/${id}/sources/${encodeURIComponent(name)}/lines`);
    const last = Math.max(...lines.map((one) => one.line));
    const text = Array.from({ length: last + 3 }, (_, i) => `x${i + 1} = nl.load(a[${i}])  # </script><b>`).join("\n");
    const viewer = await Viewer.open(browser, server.url(`/profile/${id}#l=Code`));
    const code = viewer.widget("Code Editor");
    await code.getByRole("button", { name: new RegExp(name.split("/").pop() ?? "") }).first().click();
    await code.locator("input[type=file]").setInputFiles({ name: "kernel.py", mimeType: "text/plain", buffer: Buffer.from(text) });
    const top = lines.sort((a, b) => a.line - b.line)[0];
    await code.locator(".cm-content").waitFor();
    // The margin has the instructions of lines that are in sight.
    await viewer.page.waitForTimeout(500);
    await viewer.picture("code-attached-dark");
    expect(await code.locator(".cost").count()).toBeGreaterThan(0);
    // From an event to its line, and from the line to its events.
    const found = await server.get<{ total: number; rows: { row: number }[] }>(`/profiles/${id}/search?q=${encodeURIComponent(`nki_source_location="${name}:${top?.line}"`)}&tables=Instruction`);
    expect(found.total).toBe(top?.count);
    const other = await Viewer.open(browser, server.url(`/profile/${id}#l=Code&e=Instruction/${found.rows[0]?.row}`));
    await other.widget("Event Details").getByRole("button", { name: new RegExp(`:${top?.line}$`) }).first().click();
    await other.widget("Code Editor").locator(".line-clicked, .line-selected").first().click();
    await other.page.waitForFunction((line) => decodeURIComponent(location.hash).includes(`:${line}`), top?.line);
    await other.page.waitForTimeout(400);
    await other.picture("code-linked-dark");
    await other.close();
    await viewer.close();
  });
});
