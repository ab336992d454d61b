// The table of all widgets: sortable, filtered, a tree where rows have children,
// columns that are chosen and sized, only the rows in sight in the page, sums in
// the foot, CSV of what is seen, and wholly usable by keyboard.

import {
  type ColumnDef,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  createExpandedRowModel,
  createSortedRowModel,
  rowExpandingFeature,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { csv } from "../format/csv";
import { downloadCsv } from "../format/download";
import { short } from "../format/words";
import { IconButton, TextField } from "./controls";
import { Icon } from "./icons";
import { Choices } from "./menu";
import { Notice } from "./notice";
import { type Col, type Kept, cellText, flat, kept, sum } from "./rows";

export type { Col } from "./rows";

const features = tableFeatures({
  rowSortingFeature,
  rowExpandingFeature,
  columnVisibilityFeature,
  columnSizingFeature,
  columnResizingFeature,
  sortedRowModel: createSortedRowModel(),
  expandedRowModel: createExpandedRowModel(),
  sortFns,
});

interface Props<T> {
  /** Names the table for screen readers, and its CSV file. */
  name: string;
  columns: readonly Col<T>[];
  rows: readonly T[];
  rowId: (row: T) => string;
  childRows?: (row: T) => readonly T[];
  /** A click, or Enter. */
  onPick?: (row: T) => void;
  /** A double click, or Shift and Enter. */
  onOpen?: (row: T) => void;
  onHover?: (row: T | null) => void;
  selected?: string | null;
  /** The selected row is open, with all below it. */
  openSelected?: boolean;
  /** A cell that is more than its text. */
  cell?: (column: Col<T>, row: T) => ReactNode | undefined;
  tools?: ReactNode;
  empty?: ReactNode;
  /** Levels of a tree that are open at first. */
  open?: number;
  sort?: { id: string; desc: boolean };
  filterable?: boolean;
  plain?: boolean;
}

const none: readonly never[] = [];
const ROW = 23;

export function DataTable<T>(props: Props<T>) {
  const { name, columns, rows, rowId, onPick, onOpen, onHover, selected, plain } = props;
  const [filter, setFilter] = useState("");
  const [active, setActive] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const below = props.childRows ?? (() => none);
  const isTree = props.childRows !== undefined;

  const data = useMemo(() => kept(rows, below, columns, filter), [rows, columns, filter]);
  const defs = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<typeof features, Kept<T>> => ({
          id: column.id,
          accessorFn: (one) => column.value(one.row) ?? undefined,
          header: column.title,
          // A head is read whole: its letters, the arrow and the padding.
          size: Math.max(column.width ?? (column.right ? 80 : 160), column.title.length * 7 + 28),
          minSize: 40,
          sortUndefined: "last",
          sortDescFirst: column.right === true,
        }),
      ),
    [columns],
  );
  const opened = useMemo(() => {
    const ids: Record<string, boolean> = {};
    const walk = (list: readonly Kept<T>[], depth: number) => {
      for (const one of list) {
        if (one.children.length === 0 || (filter === "" && depth >= (props.open ?? 1))) continue;
        ids[rowId(one.row)] = true;
        walk(one.children, depth + 1);
      }
    };
    if (isTree) walk(data, 0);
    return ids;
    // Rows that come anew keep what a person opened; another filter begins anew.
  }, [filter, data.length === 0]);
  const hidden = useMemo(
    () => Object.fromEntries(columns.filter((column) => column.hidden).map((column) => [column.id, false])),
    [columns],
  );
  const table = useTable({
    features,
    columns: defs,
    data,
    getSubRows: (one) => one.children,
    getRowId: (one) => rowId(one.row),
    initialState: {
      sorting: props.sort ? [props.sort] : [],
      expanded: opened,
      columnVisibility: hidden,
    },
    columnResizeMode: "onChange",
    autoResetExpanded: false,
    enableSortingRemoval: true,
  });
  useEffect(() => table.setExpanded(opened), [opened]);

  const selectedRow = props.openSelected ? data.find((one) => rowId(one.row) === selected) : undefined;
  useEffect(() => {
    if (!selectedRow || selectedRow.children.length === 0) return;
    const ids = flat([selectedRow]).map(({ row }) => [rowId(row), true] as const);
    table.setExpanded((before) => (before === true ? true : { ...before, ...Object.fromEntries(ids) }));
  }, [selected, selectedRow?.children.length]);

  const shown = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns]);
  const headers = table.getHeaderGroups()[0]?.headers ?? [];
  // A text that stands last has the rest of the width; numbers stay where they are.
  const lastIsText = byId.get(headers[headers.length - 1]?.column.id ?? "")?.right !== true;
  const template = headers.map((header, i) => (lastIsText && i === headers.length - 1 ? `minmax(${header.getSize()}px,1fr)` : `${header.getSize()}px`)).join(" ");
  const width = headers.reduce((total, header) => total + header.getSize(), 0);
  const at = Math.min(active, shown.length - 1);

  useEffect(() => {
    if (!selected) return;
    const place = shown.findIndex((row) => row.id === selected);
    if (place < 0) return;
    setActive(place);
    virtual.scrollToIndex(place, { align: "auto" });
  }, [selected]);

  const move = (to: number) => {
    const place = Math.max(0, Math.min(shown.length - 1, to));
    setActive(place);
    virtual.scrollToIndex(place, { align: "auto" });
  };
  const keys = (event: KeyboardEvent) => {
    const row = shown[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 200) / ROW) - 2);
    const steps: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(at + page),
      PageUp: () => move(at - page),
      Home: () => move(0),
      End: () => move(shown.length - 1),
      ArrowRight: () => (row.getCanExpand() && !row.getIsExpanded() ? row.toggleExpanded(true) : move(at + 1)),
      ArrowLeft: () => (row.getIsExpanded() ? row.toggleExpanded(false) : move(at - 1)),
      Enter: () => (event.shiftKey && onOpen ? onOpen : onPick)?.(row.original.row),
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    step();
  };
  const save = () => {
    const shownIds = new Set(headers.map((header) => header.column.id));
    const visible = columns.filter((column) => column.title !== "" && (column.always || shownIds.has(column.id)));
    const order = isTree ? flat(data).map(({ row }) => row) : shown.map((row) => row.original.row);
    const text = csv(
      visible.map((column) => column.id),
      order.map((row) => visible.map((column) => column.value(row) ?? null)),
    );
    downloadCsv(`${name}.csv`, text);
  };
  const sums = columns.some((column) => column.sum) && rows.length > 1;

  return (
    <div className="data-table">
      {!plain && (
        <div className="toolbar">
          {props.filterable !== false && <TextField label={`Filter ${name}`} placeholder="Filter" search value={filter} onChange={setFilter} />}
          {props.tools}
          {/* One piece, as wide with two rows as with a thousand: nothing moves under the pointer when rows come. */}
          <span className="table-end">
            <span className="dim count">{rows.length > 0 ? `${shown.length.toLocaleString("en-US")} rows` : ""}</span>
            {isTree && (
              <>
                <IconButton icon="plus" label="Expand all" onClick={() => table.toggleAllRowsExpanded(true)} />
                <IconButton icon="minus" label="Collapse all" onClick={() => table.toggleAllRowsExpanded(false)} />
              </>
            )}
            <Choices
              label="Columns"
              icon="gear"
              options={columns.map((column) => ({ id: column.id, text: column.title }))}
              chosen={(id) => table.getColumn(id)?.getIsVisible() ?? true}
              onToggle={(id, on) => table.getColumn(id)?.toggleVisibility(on)}
            />
            <IconButton icon="download" label={`Save ${name} as CSV`} onClick={save} />
          </span>
        </div>
      )}
      <div
        className="scroller"
        ref={scroller}
        role={isTree ? "treegrid" : "grid"}
        aria-label={name}
        aria-rowcount={shown.length}
        aria-activedescendant={shown.length > 0 ? `${gridId}-${at}` : undefined}
        tabIndex={0}
        onKeyDown={keys}
        onMouseLeave={() => onHover?.(null)}
      >
        <div className="grid-head" role="row" style={{ gridTemplateColumns: template, minWidth: width }}>
          {headers.map((header) => {
            const column = byId.get(header.column.id);
            const sorted = header.column.getIsSorted();
            return (
              <div
                key={header.id}
                role="columnheader"
                className={column?.right ? "right" : undefined}
                aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : "none"}
              >
                <button type="button" title={column?.tip ?? column?.title} onClick={(event) => header.column.toggleSorting(undefined, event.shiftKey)}>
                  <span className={column?.tip ? "label tip" : "label"}>{column?.title}</span>
                  <span className={`sort ${sorted || "off"}`} aria-hidden="true" />
                </button>
                <span
                  className="resizer"
                  aria-hidden="true"
                  onPointerDown={(event) => header.getResizeHandler()(event.nativeEvent)}
                  onMouseDown={header.getResizeHandler()}
                  onDoubleClick={() => header.column.resetSize()}
                />
              </div>
            );
          })}
        </div>
        {shown.length === 0 && <Notice>{filter ? `No row has "${short(filter, 40)}".` : (props.empty ?? "Nothing here.")}</Notice>}
        <div className="grid-body" style={{ height: virtual.getTotalSize(), minWidth: width }}>
          {virtual.getVirtualItems().map((item) => {
            const row = shown[item.index];
            if (!row) return null;
            const state = `grid-row${row.id === selected ? " selected" : ""}${item.index === at ? " active" : ""}`;
            return (

              <div
                key={row.id}
                id={`${gridId}-${item.index}`}
                role="row"
                tabIndex={-1}
                aria-rowindex={item.index + 1}
                aria-level={isTree ? row.depth + 1 : undefined}
                aria-expanded={row.getCanExpand() ? row.getIsExpanded() : undefined}
                aria-selected={row.id === selected}
                className={state}
                style={{ gridTemplateColumns: template, transform: `translateY(${item.start}px)` }}
                onMouseEnter={() => onHover?.(row.original.row)}
                onClick={() => {
                  setActive(item.index);
                  if (onPick) onPick(row.original.row);
                  else if (row.getCanExpand()) row.toggleExpanded();
                }}
                onDoubleClick={() => onOpen?.(row.original.row)}
              >
                {headers.map((header, i) => {
                  const column = byId.get(header.column.id);
                  if (!column) return null;
                  const text = cellText(column, row.original.row);
                  return (
                    <div key={header.id} role="gridcell" className={column.right ? "right" : undefined} title={text.length > 24 ? short(text, 2000) : undefined}>
                      {i === 0 && isTree && (
                        <span className="indent" style={{ width: row.depth * 14 + 16 }}>
                          {row.getCanExpand() && (
                            <button
                              type="button"
                              tabIndex={-1}
                              aria-label={row.getIsExpanded() ? "Collapse" : "Expand"}
                              onClick={(event) => {
                                event.stopPropagation();
                                row.toggleExpanded();
                              }}
                            >
                              <Icon name={row.getIsExpanded() ? "chevron" : "right"} size={12} />
                            </button>
                          )}
                        </span>
                      )}
                      {props.cell?.(column, row.original.row) ?? <span className="cell-text">{short(text, 400)}</span>}
                    </div>
                  );
                })}
              </div>
            );
          })}
        </div>
        {sums && shown.length > 0 && (
          <div className="grid-foot" role="row" style={{ gridTemplateColumns: template, minWidth: width }}>
            {headers.map((header, i) => {
              const column = byId.get(header.column.id);
              const total = column?.sum ? sum(column, data) : null;
              const shownSum = total === null || !column ? "" : column.text ? column.text(total, data[0]!.row) : String(total);
              return (
                <div key={header.id} role="gridcell" className={column?.right ? "right" : undefined}>
                  {i === 0 ? "Sum" : shownSum}
                </div>
              );
            })}
          </div>
        )}
      </div>
    </div>
  );
}
