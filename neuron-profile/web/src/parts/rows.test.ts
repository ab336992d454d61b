import { describe, expect, it } from "vitest";
import { type Col, cellText, flat, kept, sum } from "./rows";

interface Node {
  name: string;
  n: number | null;
  below?: Node[];
}

const columns: Col<Node>[] = [
  { id: "name", title: "Name", value: (row) => row.name },
  { id: "n", title: "N", value: (row) => row.n, text: (value) => `${value} ns`, sum: true },
];
const tree: Node[] = [
  { name: "model", n: 7, below: [{ name: "attention", n: 3 }, { name: "mlp", n: 4, below: [{ name: "Up proj", n: null }] }] },
  { name: "other", n: 1 },
];
const below = (row: Node) => row.below ?? [];
const names = (filter: string) => flat(kept(tree, below, columns, filter)).map(({ row, depth }) => `${depth}${row.name}`);

describe("rows of a tree", () => {
  it("stay with their parents", () => {
    expect(names("")).toEqual(["0model", "1attention", "1mlp", "2Up proj", "0other"]);
    expect(names("UP PROJ")).toEqual(["0model", "1mlp", "2Up proj"]);
    expect(names("mlp")).toEqual(["0model", "1mlp", "2Up proj"]);
    expect(names("3 ns")).toEqual(["0model", "1attention"]);
    expect(names("nothing")).toEqual([]);
  });

  it("add up", () => {
    const all = kept(tree, below, columns, "");
    expect(sum(columns[1]!, all)).toBe(8);
    expect(sum(columns[0]!, all)).toBe(null);
    expect(cellText(columns[1]!, { name: "", n: null })).toBe("–");
  });
});
