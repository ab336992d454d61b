// Rows of the tables in a page: by number, and those that meet conditions.

import type { Fields, Value } from "../api/types";
import { type Archive, Column, type Stored, numbers } from "./archive";
import type { StoredTable } from "./index";
import { Refusal, leftOut } from "./refusal";

/** A condition of `search/TABLE` (HTTP.md). */
export type Is = { is: string } | { has: string } | { low: number; high: number };

export class Table {
  private places: Float64Array | null = null;
  private begun = false;
  private readonly columns = new Map<string, Promise<Column | null>>();

  constructor(
    readonly name: string,
    private readonly archive: Archive,
    readonly of: StoredTable,
  ) {}

  private async begin() {
    if (this.begun) return;
    if (this.of.places) this.places = numbers(await this.archive.json<Stored>(this.of.places));
    this.begun = true;
  }

  get here(): number {
    return this.of.here;
  }

  get whole(): boolean {
    return this.of.here === this.of.rows;
  }

  /** Names of columns that have a value somewhere. */
  get names(): string[] {
    return [...new Set(this.of.pieces.flatMap((piece) => Object.keys(piece)))];
  }

  /** The number of the row that stands at a place. */
  async row(place: number): Promise<number> {
    await this.begin();
    return this.places ? this.places[place]! : place;
  }

  /** The first place whose row is not before this one. */
  async place(row: number): Promise<number> {
    await this.begin();
    if (!this.places) return Math.min(row, this.of.here);
    let [low, high] = [0, this.places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.places[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A column of a piece; null where all its rows are null. */
  column(piece: number, name: string): Promise<Column | null> {
    const key = `${piece}/${name}`;
    let known = this.columns.get(key);
    if (!known) {
      const place = this.of.pieces[piece]?.[name];
      known = place ? this.archive.json<Stored>(place).then((stored) => new Column(stored)) : Promise.resolve(null);
      this.columns.set(key, known);
    }
    return known;
  }

  /** Numbers of a column by place; NaN for null. */
  async numbers(name: string): Promise<Float64Array> {
    const out = new Float64Array(this.of.here).fill(Number.NaN);
    for (let piece = 0; piece < this.of.pieces.length; piece += 1) {
      const column = await this.column(piece, name);
      if (!column) continue;
      const first = piece * this.of.piece;
      for (let i = first; i < Math.min(first + this.of.piece, this.of.here); i += 1) {
        const value = column.at(i - first);
        if (typeof value === "number") out[i] = value;
        else if (typeof value === "boolean") out[i] = Number(value);
      }
    }
    return out;
  }

  /** Values of a column by place. */
  async values(name: string): Promise<Value[]> {
    const out: Value[] = [];
    for (let piece = 0; piece < this.of.pieces.length; piece += 1) {
      const column = await this.column(piece, name);
      const count = Math.min(this.of.piece, this.of.here - piece * this.of.piece);
      for (let i = 0; i < count; i += 1) out.push(column ? column.at(i) : null);
    }
    return out;
  }

  /** All fields that are not null of rows at places. */
  async fields(places: readonly number[]): Promise<Fields[]> {
    const out: Fields[] = [];
    for (const place of places) {
      const piece = Math.floor(place / this.of.piece);
      const fields: Fields = {};
      const names = Object.keys(this.of.pieces[piece] ?? {});
      const columns = await Promise.all(names.map((name) => this.column(piece, name)));
      names.forEach((name, i) => {
        const value = columns[i]?.at(place - piece * this.of.piece) ?? null;
        if (value !== null) fields[name] = value;
      });
      out.push(fields);
    }
    return out;
  }

  /** The fields of one row. */
  async one(row: number): Promise<Fields> {
    const place = await this.place(row);
    if (row >= this.of.rows) throw new Refusal(404, `table ${this.name} has ${this.of.rows} rows, no row ${row}`);
    if (place >= this.of.here || (await this.row(place)) !== row) throw leftOut(`Row ${row} of ${this.name}`);
    return (await this.fields([place]))[0]!;
  }

  /** Rows from one on that meet all conditions. */
  async search(from: number, limit: number, conditions: readonly (readonly [string, Is])[]) {
    const places: number[] = [];
    let next: number | null = null;
    const columns = await Promise.all(conditions.map(([name]) => this.values(name)));
    for (let place = await this.place(from); place < this.of.here; place += 1) {
      if (!conditions.every(([, is], i) => meets(columns[i]![place] ?? null, is))) continue;
      if (places.length >= limit) {
        next = (await this.row(places[places.length - 1]!)) + 1;
        break;
      }
      places.push(place);
    }
    const rows = await this.fields(places);
    for (let i = 0; i < rows.length; i += 1) rows[i]!.row = await this.row(places[i]!);
    return { table: this.name, rows, next };
  }
}

function meets(value: Value, is: Is): boolean {
  if (typeof value === "string") return "is" in is ? value === is.is : "has" in is ? value.includes(is.has) : false;
  const number = typeof value === "boolean" ? Number(value) : value;
  if (typeof number !== "number") return false;
  if ("is" in is) return number === (is.is === "true" ? 1 : is.is === "false" ? 0 : Number(is.is));
  return "low" in is && number >= is.low && number <= is.high;
}

/** `10..20`, either end may be left out. */
export function range(text: string): { low: number; high: number } | null {
  const found = /^(.*?)\.\.(.*)$/s.exec(text);
  if (!found || text === "..") return null;
  const end = (part: string, open: number) => (part === "" ? open : Number(part));
  const [low, high] = [end(found[1]!, Number.NEGATIVE_INFINITY), end(found[2]!, Number.POSITIVE_INFINITY)];
  return Number.isNaN(low) || Number.isNaN(high) ? null : { low, high };
}
