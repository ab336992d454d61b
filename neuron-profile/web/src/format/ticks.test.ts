import { expect, it } from "vitest";
import { decades, ticks } from "./ticks";

it("ticks are round and within the range", () => {
  expect(ticks(0, 100, 5)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(ticks(31, 69, 4)).toEqual([40, 50, 60]);
  expect(ticks(0, 2_069_853, 5)).toEqual([0, 500_000, 1_000_000, 1_500_000, 2_000_000]);
  expect(ticks(5, 5, 4)).toEqual([]);
  expect(decades(3, 900)).toEqual([1, 10, 100, 1000]);
});
