import { describe, expect, it } from "vitest";
import { groupRuns, hslToHex } from "./region-rules";

const run = (path: string, from: number, to: number) => ({ name: path, path, from, to });

describe("regions", () => {
  it("join runs of one layer over short gaps", () => {
    const bars = [run("a", 0, 10), run("b", 12, 20), run("a", 15, 30), run("a", 100, 110)];
    expect(groupRuns(bars, 5)).toEqual([run("a", 0, 30), run("b", 12, 20), run("a", 100, 110)]);
    expect(groupRuns(bars, 0)).toHaveLength(4);
  });

  it("have colours that a field can show", () => {
    expect(hslToHex("hsl(0 100% 50%)")).toBe("#ff0000");
    expect(hslToHex("hsl(120 100% 25%)")).toBe("#008000");
    expect(hslToHex("hsl(240 0% 50%)")).toBe("#808080");
    expect(hslToHex("nonsense")).toBe("#888888");
  });
});
