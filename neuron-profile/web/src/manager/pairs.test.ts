import { describe, expect, it } from "vitest";
import { pairs } from "./pairs";

const of = (...names: string[]) => {
  const { pairs: found, left } = pairs(names.map((name) => ({ name })));
  return { found: found.map(({ neff, ntff }) => `${ntff.name}<${neff.name}`), left };
};

describe("pairs of files", () => {
  it("are made by name", () => {
    expect(of("a.neff", "a.ntff", "b.ntff", "b.neff").found).toEqual(["a.ntff<a.neff", "b.ntff<b.neff"]);
    expect(of("file.neff", "profile_rank_0.ntff", "profile_rank_1.NTFF").found).toEqual(["profile_rank_0.ntff<file.neff", "profile_rank_1.NTFF<file.neff"]);
  });

  it("say what is left over", () => {
    expect(of("a.ntff").left).toEqual(["a.ntff has no NEFF: add the program that it was captured with"]);
    expect(of("a.neff", "b.txt").left).toEqual(["b.txt is neither a NEFF nor an NTFF", "a.neff has no NTFF"]);
    expect(of("x.neff", "y.neff", "z.ntff").found).toEqual([]);
  });
});
