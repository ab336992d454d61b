// What the hover box says, in the guide's order (pictures 04 and 05): first what is in hand, then, once it is there,
// what the event's row says.

import type { Fields, Value } from "../api/types";
import type { Hit } from "./hit";
import { unitOf } from "./scene/series";
import { commas, duration, moment, quantity } from "./ticks";
import { TITLES } from "./warnings";

export type Line = readonly [label: string, value: string];

const has = (value: Value | undefined): value is Exclude<Value, null> =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

/** Longest value of a line: what a person reads in passing. */
const LONGEST = 300;

export function shown(value: Value): string {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** Fields of an instruction after time and length. */
const INSTRUCTION: readonly (readonly [string, readonly string[]])[] = [
  ["Opcode", ["opcode"]],
  ["Hierarchy", ["hlo_name", "layer"]],
  ["Layer", ["layer"]],
  ["Instruction Type", ["tensor_instruction_type"]],
  ["Wait", ["evt_wait_time_ns"]],
  ["Compiler PC", ["compiler_pc", "pc"]],
  ["NKI Source Location", ["nki_source_location", "bir_debug_info_source_location"]],
  ["Stack Frame ID(s)", ["stack_frame_ids"]],
];

const DMA: readonly (readonly [string, readonly string[]])[] = [
  ["Variable", ["variable"]],
  ["Queue", ["queue_name"]],
  ["Queue Type", ["queue_type"]],
  ["Size", ["transfer_bytes"]],
  ["Throughput", ["throughput"]],
  ["Block ID", ["block_id"]],
];

const UNITS: Readonly<Record<string, string>> = { Size: "B", Throughput: "B/s", Wait: "ns" };

function listed(fields: Fields, wanted: typeof INSTRUCTION): Line[] {
  const said = new Set<string>();
  return wanted.flatMap(([label, columns]) => {
    const column = columns.find((one) => has(fields[one]));
    // Layer repeats the hierarchy where there is no operator.
    if (column === undefined || said.has(column)) return [];
    said.add(column);
    const value = fields[column] as Value;
    const unit = UNITS[label];
    return [[label, unit && typeof value === "number" ? quantity(value, unit) : shown(value)] as const];
  });
}

/** Lines of an event: `name` and times from what is drawn, the rest from its row. */
export function eventLines(table: string, name: string, start: number, end: number, fields: Fields | null): Line[] {
  const long = fields && (has(fields.operands) ? fields.operands : table === "DmaPacket" ? fields.variable : null);
  const lines: Line[] = [
    ["Name", has(long ?? undefined) ? shown(long as Value) : name],
    ["Time", `${moment(start)} − ${moment(end)}`],
    ["Duration", duration(end - start)],
  ];
  if (!fields) return [...lines, [table === "DmaPacket" ? "Queue" : "Opcode", name]];
  return [...lines, ...listed(fields, table === "DmaPacket" ? DMA : INSTRUCTION)];
}

/** Lines of what is under the pointer, from the data in hand. */
export function hitLines(hit: Hit, name: (kind: number) => string, lane: string, fields: Fields | null, table: string): Line[] {
  if (hit.what === "event") return eventLines(table, name(hit.kind), hit.start, hit.end, fields);
  if (hit.what === "column") {
    const lines: Line[] = [
      ["Name", name(hit.kind)],
      ["Lane", lane],
      ["Time", `${moment(hit.from)} − ${moment(hit.to)}`],
      ["Events", hit.events === 0 ? "none begins here" : `${commas(hit.events)} begin here`],
      ["Busy", quantity(hit.share, "share")],
    ];
    return lines;
  }
  if (hit.what === "layer") {
    const { path, from, to, busy } = hit.bar;
    return [
      ["Layer", shown(path)],
      ["Time", `${moment(from)} − ${moment(to)}`],
      ["Duration", duration(to - from)],
      ["Busy", duration(busy)],
    ];
  }
  if (hit.what === "warning") {
    const { kind, from, to, text } = hit.warning;
    const when: Line[] = to > from ? [["Time", `${moment(from)} − ${moment(to)}`], ["Duration", duration(to - from)]] : [["Time", moment(from)]];
    return [["Warning", TITLES[kind]], ...when, ["What", shown(text)]];
  }
  if (hit.what === "fault") return [["Error", shown(hit.fault.text)], ["Time", moment(hit.fault.time)]];
  if (hit.what === "series") {
    const one = hit.row.row.series.length === 1;
    const values = hit.values.flatMap(({ series, min, max, mean }): Line[] => {
      const say = (value: number) => quantity(value, unitOf(series));
      if (!one) return [[series.name, say(mean)]];
      if (min === max) return [["Value", say(mean)]];
      return [
        ["Average", say(mean)],
        ["Least", say(min)],
        ["Most", say(max)],
      ];
    });
    const [first] = hit.row.row.series;
    const about: Line[] = first?.description ? [["What", first.description]] : [];
    return [["Name", hit.row.row.label], ["Time", moment(hit.time)], ...values, ...about];
  }
  return [];
}
