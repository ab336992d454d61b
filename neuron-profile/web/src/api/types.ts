// What the HTTP interface answers (HTTP.md, version 1). Times are whole
// nanoseconds from the start of the execution.

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
export type Fields = Record<string, Value>;

/** A profile in the list. */
export interface Entry {
  id: string;
  display_name: string;
  tags: string[];
  neff: string;
  trace: string;
  simulated: boolean;
  /** Of a run of inspect: events of hosts and devices, not of engines. */
  system?: boolean;
  execution: number;
  total_ns: number;
  events: number;
  bytes: number;
  written_at_ns: number;
  written_by: string;
}

export interface ProfileList {
  profiles: Entry[];
  damaged: string[];
}

/** One row of the timeline that has events. `table` holds them, from `first_row`. */
export interface Lane {
  number: number;
  kind: string;
  core: number;
  name: string;
  /** Process of a timeline that others drew. */
  group?: string | null;
  table: string;
  first_row: number;
  rows: number;
  start_ns: number;
  end_ns: number;
}

export interface Profile extends Entry {
  lanes: Lane[];
  /** Names of the first kinds of events; a column of the viewport names its place here. */
  names: string[];
  /** How many kinds there are. */
  kinds?: number;
  tables: Record<string, { rows: number }>;
  absent: Record<string, string> | string[];
  notes: string[];
}

export interface Column {
  name: string;
  type: string;
  unit: string | null;
  description: string;
}

export interface TableInfo {
  name: string;
  rows: number;
  description: string | null;
  columns: Column[];
}

export interface Tables {
  tables: TableInfo[];
  absent: Record<string, string> | string[];
}

export type Row = Fields & { row: number };

export interface Rows {
  table: string;
  rows: Row[];
  next: number | null;
}

/** The other end of a dependence. */
export interface Dependence {
  id: Value;
  table: string;
  row?: number | null;
  dependency_type: string | null;
  gap_time: number | null;
  lane?: number | null;
  engine?: string | null;
  opcode?: string | null;
  pc?: number | null;
  start_ts?: number | null;
  end_ts?: number | null;
  [other: string]: Value | undefined;
}

export interface EventDetail {
  table: string;
  row: number;
  fields: Fields;
  columns: Column[];
  lane?: number | null;
  predecessors: Dependence[];
  successors: Dependence[];
  call_stacks: CallStack[];
}

/** Who called an instruction, the innermost first: functions of its kernel, or of the framework above. */
export interface CallStack {
  of: "kernel" | "framework";
  name: string;
  frames: { function?: string | null; file?: string | null; line?: number | null; begins?: number | null }[];
  loops: { variable?: string | null; value?: number | null; file?: string | null; line?: number | null }[];
}

export interface NameSum {
  name: string;
  count: number;
  time_ns: number;
  busy_ns: number;
}

export interface LaneSum {
  lane: number;
  count: number;
  busy_ns: number;
  names: NameSum[];
}

export interface SelectionSums {
  from: number;
  to: number;
  lanes: LaneSum[];
}
