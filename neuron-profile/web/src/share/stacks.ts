// Call stacks of an instruction: tables of kernels and of the framework, walked from the innermost frame outwards as
// the server walks them.

import type { CallStack, Fields, Value } from "../api/types";
import type { Table } from "./tables";

/** Frames of one call stack at most, as of the server. */
const MOST = 256;

/** Rows of a name in KernelInstructions that are looked at, as of the server. */
const SAME_NAME = 64;

const text = (value: Value | undefined) => (typeof value === "string" ? value : null);
const number = (value: Value | undefined) => (typeof value === "number" ? value : null);

/** An id of a column, which is a number in tables of kernels and a text in those of the framework. */
const id = (value: Value | undefined) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : number(value));

export class Stacks {
  private readonly parents = new Map<string, Promise<(number | null)[]>>();

  constructor(private readonly tables: ReadonlyMap<string, Table>) {}

  /** The call stacks of a row of Instruction. */
  async of(fields: Fields): Promise<CallStack[]> {
    const name = text(fields.kernel_instruction_name);
    const kernel = name === null ? null : await this.kernel(name, number(fields.pcore_idx));
    const ids = text(fields.stack_frame_ids)?.split(",") ?? [];
    const framework = await Promise.all(ids.map((one) => this.framework(one)));
    return [kernel, ...framework].filter((one) => one !== null);
  }

  /** The row of an id that counts from 1. */
  private async row(name: string, at: number | null): Promise<Fields> {
    const table = this.tables.get(name);
    if (!table || at === null || at < 1 || at > table.here) return {};
    const [fields] = await table.fields([at - 1]);
    return fields ?? {};
  }

  /** Rows from an id upwards; a ring ends where it closes. */
  private async chain(name: string, parent: string, first: number | null): Promise<Fields[]> {
    const table = this.tables.get(name);
    if (!table) return [];
    let parents = this.parents.get(name);
    if (!parents) {
      parents = table.values(parent).then((values) => values.map(id));
      this.parents.set(name, parents);
    }
    const above = await parents;
    const ids: number[] = [];
    for (let at = first; at !== null && at >= 1 && at <= above.length && ids.length < MOST && !ids.includes(at); at = above[at - 1]!) ids.push(at);
    return Promise.all(ids.map((at) => this.row(name, at)));
  }

  private async kernel(name: string, core: number | null): Promise<CallStack | null> {
    const table = this.tables.get("KernelInstructions");
    if (!table) return null;
    const places: number[] = [];
    const names = await table.values("kernel_instruction_name");
    for (let at = 0; at < names.length && places.length < SAME_NAME; at += 1) if (names[at] === name) places.push(at);
    const rows = await table.fields(places);
    // Of its own core, else of the first: one document may stand for all.
    const row = rows.find((one) => number(one.pcore_idx) === core) ?? rows[0];
    if (!row) return null;
    const frames = await this.chain("KernelStackFrames", "parent_stack_frame_id", number(row.stack_frame_id));
    const loops = await this.chain("KernelIterationVariables", "parent_iteration_variable_id", number(row.iteration_variables_id));
    return {
      of: "kernel",
      name,
      frames: frames.map((frame, at) => ({
        function: text(frame.fully_qualified_function_name),
        file: text(frame.file_path),
        line: at === 0 ? number(row.line_number) : null,
        begins: number(frame.line_number),
      })),
      loops: loops.map((loop) => ({
        variable: text(loop.variable_name),
        value: number(loop.variable_value),
        file: text(loop.file_path),
        line: number(loop.line_number),
      })),
    };
  }

  private async framework(name: string): Promise<CallStack | null> {
    const stack = await this.chain("StackFrame", "parent_frame_id", id(name));
    if (stack.length === 0) return null;
    const frames = stack.map(async (frame) => {
      const place = await this.row("StackFrameFileLocation", number(frame.file_location_id));
      const file = await this.row("StackFrameFileName", number(place.file_name_id));
      const called = await this.row("StackFrameFunctionName", number(place.function_name_id));
      return { function: text(called.name), file: text(file.name), line: number(place.line_number), begins: null };
    });
    return { of: "framework", name, frames: await Promise.all(frames), loops: [] };
  }
}
