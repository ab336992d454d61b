// The words of a search (HTTP.md, Search), by the grammar of the server
// (src/analysis/search). Regular expressions are the browser's.

import type { Value } from "../api/types";
import { Refusal } from "./refusal";
import { range } from "./tables";

export type Test =
  | { what: "is"; text: string }
  | { what: "has"; text: string }
  | { what: "matches"; pattern: RegExp }
  | { what: "between"; low: number; lowIn: boolean; high: number; highIn: boolean };

export type Expression =
  | { what: "and" | "or"; list: Expression[] }
  | { what: "not"; one: Expression }
  | { what: "one"; column: string | null; test: Test; not: boolean };

const [CONDITIONS, LEVELS] = [64, 16];

const SIGNS = ["!=", "!~", ">=", "<=", "=", "~", ">", "<"] as const;

type Token = { at: number } & (
  | { kind: "(" | ")" | "AND" | "OR" | "NOT" }
  | { kind: "sign"; text: string }
  | { kind: "word" | "quoted" | "regex"; text: string }
);

const wrong = (at: number, reason: string) => new Refusal(400, `q at letter ${at + 1}: ${reason}`);

/** The text up to the closing mark, and where it ends. */
function until(query: string, at: number, mark: string): [string, number] {
  let out = "";
  for (let i = at + 1; i < query.length; i += 1) {
    const letter = query[i]!;
    if (letter === mark) return [out, i + 1];
    if (letter !== "\\") {
      out += letter;
      continue;
    }
    i += 1;
    const next = query[i];
    if (next === undefined) break;
    out += next === mark || (mark === '"' && next === "\\") ? next : `\\${next}`;
  }
  throw wrong(at, `the closing ${mark} is missing`);
}

function tokens(query: string): Token[] {
  const out: Token[] = [];
  let at = 0;
  while (at < query.length) {
    const letter = query[at]!;
    if (/\s/.test(letter)) {
      at += 1;
      continue;
    }
    const sign = SIGNS.find((one) => query.startsWith(one, at));
    if (letter === "(" || letter === ")") {
      out.push({ at, kind: letter });
      at += 1;
    } else if (letter === '"' || letter === "/") {
      const [text, end] = until(query, at, letter);
      out.push({ at, kind: letter === '"' ? "quoted" : "regex", text });
      at = end;
    } else if (sign) {
      out.push({ at, kind: "sign", text: sign });
      at += sign.length;
    } else {
      const word = /^[^\s()"=<>!~/]*/.exec(query.slice(at))![0];
      if (word === "") throw wrong(at, `put '${letter}' in quotes`);
      out.push(word === "AND" || word === "OR" || word === "NOT" ? { at, kind: word } : { at, kind: "word", text: word });
      at += word.length;
    }
  }
  return out;
}

function regex(at: number, pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    try {
      return new RegExp(pattern);
    } catch (error) {
      throw wrong(at, `the regular expression is wrong: ${error instanceof Error ? error.message : error}`);
    }
  }
}

export function parse(query: string): Expression {
  const all = tokens(query);
  let next = 0;
  let conditions = 0;
  const where = () => all[next]?.at ?? query.length;
  const takes = (kind: Token["kind"]) => all[next]?.kind === kind && ((next += 1), true);
  const joined = (what: "and" | "or", list: Expression[]): Expression => (list.length === 1 ? list[0]! : { what, list });

  const or = (level: number): Expression => {
    const list = [and(level)];
    while (takes("OR")) list.push(and(level));
    return joined("or", list);
  };
  const and = (level: number): Expression => {
    const list = [not(level)];
    for (;;) {
      const word = takes("AND");
      const token = all[next];
      if (!word && (!token || token.kind === "OR" || token.kind === ")")) return joined("and", list);
      list.push(not(level));
    }
  };
  const not = (level: number): Expression => {
    if (level > LEVELS) throw wrong(where(), `at most ${LEVELS} levels of brackets and NOT`);
    if (takes("NOT")) return { what: "not", one: not(level + 1) };
    if (!takes("(")) return condition();
    const inner = or(level + 1);
    if (!takes(")")) throw wrong(where(), "a closing bracket is missing");
    return inner;
  };
  const condition = (): Expression => {
    conditions += 1;
    if (conditions > CONDITIONS) throw wrong(where(), `at most ${CONDITIONS} conditions`);
    const missing = wrong(where(), "a condition is missing");
    const first = all[next++];
    const sign = all[next];
    if (!first || !("text" in first) || first.kind === "sign") throw missing;
    if (sign?.kind !== "sign") {
      const test: Test = first.kind === "regex" ? { what: "matches", pattern: regex(first.at, first.text) } : { what: "has", text: first.text };
      return { what: "one", column: null, test, not: false };
    }
    if (first.kind === "regex") throw missing;
    next += 1;
    const noValue = wrong(where(), `a value is missing after ${first.text}${sign.text}`);
    const value = all[next++];
    if (!value || !("text" in value) || value.kind === "sign") throw noValue;
    return { what: "one", column: first.text, test: test(sign.text, value), not: sign.text.startsWith("!") };
  };
  const test = (sign: string, value: Token & { text: string }): Test => {
    if (value.kind === "regex") {
      if (sign !== "=" && sign !== "!=") throw wrong(value.at, "a regular expression stands after = or !=");
      return { what: "matches", pattern: regex(value.at, value.text) };
    }
    if (sign === "=" || sign === "!=") return { what: "is", text: value.text };
    if (sign === "~" || sign === "!~") return { what: "has", text: value.text };
    const limit = value.text.trim() === "" ? Number.NaN : Number(value.text);
    if (Number.isNaN(limit)) throw wrong(value.at, `"${value.text}" is no number`);
    const open = { what: "between" as const, low: Number.NEGATIVE_INFINITY, lowIn: true, high: Number.POSITIVE_INFINITY, highIn: true };
    return sign.startsWith(">") ? { ...open, low: limit, lowIn: sign === ">=" } : { ...open, high: limit, highIn: sign === "<=" };
  };

  const out = or(0);
  if (next < all.length) throw wrong(where(), "this closing bracket has no opening one");
  return out;
}

/** All conditions of an expression. */
export function conditionsOf(of: Expression): Extract<Expression, { what: "one" }>[] {
  if (of.what === "one") return [of];
  if (of.what === "not") return conditionsOf(of.one);
  return of.list.flatMap(conditionsOf);
}

function fits(test: Test, value: Value): boolean {
  if (typeof value === "string") {
    if (test.what === "is") return value === test.text;
    if (test.what === "has") return value.toLowerCase().includes(test.text.toLowerCase());
    return test.what === "matches" && test.pattern.test(value);
  }
  const number = typeof value === "boolean" ? Number(value) : value;
  if (typeof number !== "number") return false;
  if (test.what === "between") return (number > test.low || (test.lowIn && number === test.low)) && (number < test.high || (test.highIn && number === test.high));
  if (test.what !== "is") return false;
  const flag = test.text === "true" ? 1 : test.text === "false" ? 0 : null;
  const wanted = flag ?? (test.text.trim() === "" ? Number.NaN : Number(test.text));
  if (!Number.isNaN(wanted)) return number === wanted;
  const limits = range(test.text);
  return limits !== null && number >= limits.low && number <= limits.high;
}

/** Whether a row meets an expression; `value` gives a field of it, `texts` all its texts. */
export function holds(of: Expression, value: (column: string) => Value, texts: () => readonly Value[]): boolean {
  switch (of.what) {
    case "and":
      return of.list.every((one) => holds(one, value, texts));
    case "or":
      return of.list.some((one) => holds(one, value, texts));
    case "not":
      return !holds(of.one, value, texts);
    default: {
      const found = of.column === null ? texts().some((text) => fits(of.test, text)) : fits(of.test, value(of.column));
      return found !== of.not;
    }
  }
}
