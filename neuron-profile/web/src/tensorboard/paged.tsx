// A table in pages: so many rows at once, a search, a head that sorts.

import { type ReactNode, useMemo, useState } from "react";
import { csv } from "../format/csv";
import { downloadCsv } from "../format/download";
import { IconButton } from "../parts/controls";
import { type Col, cellText, kept } from "../parts/rows";

const SIZES = [10, 25, 50, 100];

export interface Sorting {
  id: string;
  desc: boolean;
}

const names = new Intl.Collator("en", { numeric: true });

/** Rows in the order of a column; what has no value stands last. */
export function sorted<T>(rows: readonly T[], column: Col<T> | undefined, desc: boolean): T[] {
  if (!column) return [...rows];
  const sign = desc ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a) ?? null, column.value(b) ?? null];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : names.compare(String(x), String(y)));
  });
}

/** The numbers of pages that have a button: the ends, and those around this one; null is a gap. */
export function pageNumbers(page: number, pages: number): (number | null)[] {
  const shown = [...new Set([0, pages - 1, page - 1, page, page + 1])].filter((one) => one >= 0 && one < pages).sort((a, b) => a - b);
  return shown.flatMap((one, i) => (i > 0 && one - shown[i - 1]! > 1 ? [null, one] : [one]));
}

interface Props<T> {
  name: string;
  columns: readonly Col<T>[];
  rows: readonly T[];
  rowId: (row: T) => string;
  cell?: (column: Col<T>, row: T) => ReactNode | undefined;
  first: Sorting;
  picked?: string | null;
  onPick?: (row: T) => void;
}

const none: readonly never[] = [];

export function PagedTable<T>({ name, columns, rows, rowId, cell, first, picked, onPick }: Props<T>) {
  const [size, setSize] = useState(SIZES[0]!);
  const [search, setSearch] = useState("");
  const [sorting, setSorting] = useState(first);
  const [wanted, setPage] = useState(0);
  const found = useMemo(() => kept(rows, () => none, columns, search).map((one) => one.row), [rows, columns, search]);
  const order = useMemo(
    () => sorted(found, columns.find((column) => column.id === sorting.id), sorting.desc),
    [found, columns, sorting],
  );
  const pages = Math.max(1, Math.ceil(order.length / size));
  const page = Math.min(wanted, pages - 1);
  const shown = order.slice(page * size, (page + 1) * size);
  const [from, to] = [order.length === 0 ? 0 : page * size + 1, page * size + shown.length];
  const whole = (value: number) => value.toLocaleString("en-US");
  const save = () =>
    downloadCsv(
      `${name}.csv`,
      csv(
        columns.map((column) => column.id),
        order.map((row) => columns.map((column) => column.value(row) ?? null)),
      ),
    );
  return (
    <div className="tb-table">
      <div className="tb-table-tools">
        <label>
          Show{" "}
          <select value={size} onChange={(event) => (setSize(Number(event.target.value)), setPage(0))}>
            {SIZES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>{" "}
          entries
        </label>
        <span className="spring" />
        <label>
          Search:{" "}
          <input type="search" value={search} spellCheck={false} onChange={(event) => (setSearch(event.target.value), setPage(0))} />
        </label>
        <IconButton icon="download" label={`Save ${name} as CSV`} onClick={save} />
      </div>
      <table aria-label={name}>
        <thead>
          <tr>
            {columns.map((column) => {
              const state = sorting.id !== column.id ? "none" : sorting.desc ? "descending" : "ascending";
              return (
                <th key={column.id} aria-sort={state} className={column.right ? "right" : undefined}>
                  <button type="button" title={column.tip ?? column.title} onClick={() => (setSorting({ id: column.id, desc: state === "ascending" }), setPage(0))}>
                    {column.title}
                    <span className={`tb-arrows ${state}`} aria-hidden="true" />
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={rowId(row)} className={picked === rowId(row) ? "picked" : undefined} onClick={() => onPick?.(row)}>
              {columns.map((column) => (
                <td key={column.id} className={column.right ? "right" : undefined}>
                  {cell?.(column, row) ?? cellText(column, row)}
                </td>
              ))}
            </tr>
          ))}
          {shown.length === 0 && (
            <tr>
              <td colSpan={columns.length} className="dim">
                {search === "" ? "No data available in table" : "No matching records found"}
              </td>
            </tr>
          )}
        </tbody>
      </table>
      <div className="tb-table-tools">
        <span role="status">
          Showing {whole(from)} to {whole(to)} of {whole(order.length)} entries
          {order.length < rows.length ? ` (filtered from ${whole(rows.length)} total entries)` : ""}
        </span>
        <span className="spring" />
        <nav aria-label={`Pages of ${name}`}>
          <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous
          </button>
          {pageNumbers(page, pages).map((one, i) =>
            one === null ? (
              <span key={`gap${i}`}>…</span>
            ) : (
              <button key={one} type="button" aria-current={one === page ? "page" : undefined} onClick={() => setPage(one)}>
                {one + 1}
              </button>
            ),
          )}
          <button type="button" disabled={page >= pages - 1} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </nav>
      </div>
    </div>
  );
}
