// CSV as RFC 4180 has it. A text that a spreadsheet would take for a formula
// gets an apostrophe in front, since names come from outside.

import type { Value } from "../api/types";

function cell(value: Value | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows under a line of column names. */
export function csv(columns: readonly string[], rows: readonly (readonly (Value | undefined)[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Reads what `csv` wrote. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let value = "";
    if (text[at] === '"') {
      for (at++; at < text.length; at++) {
        if (text[at] !== '"') value += text[at];
        else if (text[at + 1] === '"') {
          value += '"';
          at++;
        } else break;
      }
      at++;
    } else {
      const end = /[,\r\n]/.exec(text.slice(at));
      const length = end ? end.index : text.length - at;
      value = text.slice(at, at + length);
      at += length;
    }
    row.push(value);
    if (text[at] === ",") {
      at++;
      if (at === text.length) row.push("");
      continue;
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}
