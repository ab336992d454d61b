// What tables of the viewer hold, by their CSV.

import { readFileSync } from "node:fs";
import type { Download } from "playwright-core";
import { parseCsv } from "../src/format/csv";
import type { Viewer } from "./browser";

export async function rowsOf(download: Download): Promise<Record<string, string>[]> {
  const [head, ...rows] = parseCsv(readFileSync(await download.path(), "utf8"));
  return rows.map((row) => Object.fromEntries((head ?? []).map((name, i) => [name, row[i] ?? ""])));
}

/** All rows of the table of a widget, whether they are in sight or not. */
export async function table(viewer: Viewer, title: string): Promise<Record<string, string>[]> {
  const waits = viewer.page.waitForEvent("download");
  await viewer.widget(title).getByRole("button", { name: /as CSV$/ }).click();
  return rowsOf(await waits);
}
