import { beforeEach, describe, expect, it } from "vitest";
import { comparedWith, inOrder, useAnnotations } from "./annotations";
import { readSet } from "./keep";
import { useUndo } from "./undo";
import { formatUrl, parseUrl } from "./url";
import { clamp, useView } from "./view";

describe("the view", () => {
  beforeEach(() => useView.getState().begin(1000));
  const range = () => [useView.getState().from, useView.getState().to];

  it("stays within the profile and keeps its width where it can", () => {
    expect(clamp(-100, 100, 1000, 16)).toEqual({ from: 0, to: 200 });
    expect(clamp(900, 1100, 1000, 16)).toEqual({ from: 800, to: 1000 });
    expect(clamp(-5, 5000, 1000, 16)).toEqual({ from: 0, to: 1000 });
    expect(clamp(500, 500, 1000, 16)).toEqual({ from: 492, to: 508 });
    expect(clamp(200, 100, 1000, 16)).toEqual({ from: 100, to: 200 });
    expect(clamp(Number.NaN, 5, 1000, 16)).toEqual({ from: 0, to: 1000 });
    expect(clamp(0, 1, 1, 1)).toEqual({ from: 0, to: 1 });
  });

  it("goes back and forward through recorded zooms only", () => {
    const { zoomTo, back, forward } = useView.getState();
    zoomTo(100, 500, { record: true });
    zoomTo(200, 300, { record: true });
    zoomTo(210, 290);
    back();
    expect(range()).toEqual([100, 500]);
    back();
    expect(range()).toEqual([0, 1000]);
    back();
    expect(range()).toEqual([0, 1000]);
    forward();
    forward();
    expect(range()).toEqual([210, 290]);
    back();
    zoomTo(0, 50, { record: true });
    expect(useView.getState().future).toEqual([]);
  });

  it("moves to an event that is not seen, and stays for one that is", () => {
    const { zoomTo, reveal } = useView.getState();
    const event = (start: number, end: number) => ({ table: "Instruction", row: 1, lane: 0, start, end, name: "x" });
    zoomTo(0, 100);
    reveal(event(10, 20));
    expect(range()).toEqual([0, 100]);
    reveal(event(500, 520));
    expect(range()).toEqual([460, 560]);
    reveal(event(100, 700));
    const [from, to] = range() as [number, number];
    expect(from <= 100 && to >= 700).toBe(true);
  });
});

describe("annotations", () => {
  beforeEach(() => {
    useAnnotations.getState().begin([]);
    useUndo.getState().clear();
  });
  const names = () => inOrder(useAnnotations.getState().list).map((one) => one.name);

  it("are named by the lowest free number, and every change can be undone", () => {
    const { create, remove, rename } = useAnnotations.getState();
    const first = create({ from: 50 });
    create({ from: 10, to: 20 });
    expect(names()).toEqual(["1", "0"]);
    remove([first.id]);
    create({ from: 30 });
    expect(names()).toEqual(["1", "0"]);
    rename(useAnnotations.getState().active ?? "", "begin");
    useUndo.getState().undo();
    useUndo.getState().undo();
    useUndo.getState().undo();
    expect(names()).toEqual(["1", "0"]);
    expect(useAnnotations.getState().list).toContainEqual(first);
    useUndo.getState().redo();
    expect(names()).toEqual(["1"]);
  });

  it("are compared with the one before, or with the one that was chosen", () => {
    const { create, setDiff, resetDiff, move } = useAnnotations.getState();
    const [a, b, c] = [create({ from: 10 }), create({ from: 20 }), create({ from: 30 })];
    const other = (id: string) => comparedWith(useAnnotations.getState().list, useAnnotations.getState().diff, id)?.id ?? null;
    expect([other(a.id), other(b.id), other(c.id)]).toEqual([null, a.id, b.id]);
    setDiff(c.id, a.id);
    expect(other(c.id)).toBe(a.id);
    resetDiff();
    move(a.id, 25, 22);
    expect(useAnnotations.getState().list[0]).toMatchObject({ from: 22, to: 25 });
    expect([other(b.id), other(a.id), other(c.id)]).toEqual([null, b.id, a.id]);
  });

  it("are read from a stored set, and only what is understood of it", () => {
    expect(readSet(null)).toBe(null);
    expect(readSet({ annotations: 5 })).toBe(null);
    const set = readSet({
      annotations: [{ id: "a", name: 5, from: 9, to: 3, colour: "javascript:1" }, { id: "b" }, null, { id: "c", from: 1, lane: 2, colour: "#AABBCC" }],
      diff: { a: "c", c: 7 },
      saved: 12,
    });
    expect(set?.annotations).toEqual([
      { id: "a", name: "5", from: 3, to: 9, colour: "#c8965a", source: "user" },
      { id: "c", name: "c", from: 1, to: 1, colour: "#AABBCC", lane: 2, source: "user" },
    ]);
    expect([set?.diff, set?.saved]).toEqual([{ a: "c" }, 12]);
  });
});

describe("the URL", () => {
  it("opens exactly what it was written of", () => {
    const state = {
      range: { from: 100.5, to: 2000 },
      event: { table: "Instruction", row: 7 },
      box: { from: 1, to: 9, lanes: [3, 4] },
      search: { table: "all", query: 'opcode=MATMUL AND (layer~"a b" OR operands=/\\$S\\[4/)#&=' },
      colour: "layer" as const,
      annotation: "a1",
      layout: "mine & yours",
      run: `n_${"0a".repeat(20)}/12`,
    };
    expect(parseUrl(formatUrl(state))).toEqual(state);
  });

  it("leaves out what is as usual, and what is not understood", () => {
    const nothing = { range: null, event: null, box: null, search: null, colour: null, annotation: null, layout: null, run: null };
    expect(formatUrl(nothing)).toBe("");
    expect(formatUrl({ ...nothing, colour: "name" })).toBe("");
    expect(parseUrl("#t=5&e=../x/1&b=z&c=pink&q=:&s=../x")).toEqual(nothing);
    expect(parseUrl("")).toEqual(nothing);
  });
});
