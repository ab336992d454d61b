// Rows of a table, pure: which of a tree meet a filter, and sums.

/** A column of a table. `value` sorts, filters, sums and exports; `show` draws. */
export interface Col<T> {
  id: string;
  title: string;
  tip?: string;
  value: (row: T) => string | number | null | undefined;
  text?: (value: number, row: T) => string;
  right?: boolean;
  width?: number;
  /** The sum of the top rows stands in the foot. */
  sum?: boolean;
  /** Not shown until it is asked for. */
  hidden?: boolean;
  /** In CSV even where it is not shown: numbers behind texts. */
  always?: boolean;
}

/** What stands in a cell. */
export function cellText<T>(column: Col<T>, row: T): string {
  const value = column.value(row);
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return column.text ? column.text(value, row) : String(value);
  return value;
}

/** Whether one column of a row has all words. */
function meets<T>(columns: readonly Col<T>[], row: T, words: readonly string[]): boolean {
  return words.every((word) =>
    columns.some((column) => {
      const value = column.value(row);
      if (value === null || value === undefined) return false;
      return String(value).toLowerCase().includes(word) || cellText(column, row).toLowerCase().includes(word);
    }),
  );
}

/** A row of a tree after a filter: with those of its children that stay. */
export interface Kept<T> {
  row: T;
  children: Kept<T>[];
}

/** The rows that meet a filter, with their parents; below a row that meets it, all. */
export function kept<T>(
  rows: readonly T[],
  children: (row: T) => readonly T[],
  columns: readonly Col<T>[],
  filter: string,
): Kept<T>[] {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const whole = (row: T): Kept<T> => ({ row, children: children(row).map(whole) });
  if (words.length === 0) return rows.map(whole);
  const part = (row: T): Kept<T>[] => {
    if (meets(columns, row, words)) return [whole(row)];
    const below = children(row).flatMap(part);
    return below.length > 0 ? [{ row, children: below }] : [];
  };
  return rows.flatMap(part);
}

/** The sum of a column over rows, or null where no row has a number. */
export function sum<T>(column: Col<T>, rows: readonly Kept<T>[]): number | null {
  let total: number | null = null;
  for (const { row } of rows) {
    const value = column.value(row);
    if (typeof value === "number" && Number.isFinite(value)) total = (total ?? 0) + value;
  }
  return total;
}

/** All rows of a tree, parents first, with their depth: for export. */
export function flat<T>(rows: readonly Kept<T>[], depth = 0): { row: T; depth: number }[] {
  return rows.flatMap(({ row, children }) => [{ row, depth }, ...flat(children, depth + 1)]);
}
