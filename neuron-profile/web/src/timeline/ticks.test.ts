import { describe, expect, it } from "vitest";
import { commas, duration, moment, niceStep, quantity, ticks, valueTicks } from "./ticks";

describe("time axis", () => {
  it("takes steps of 1, 2 and 5", () => {
    expect([0.2, 1, 1.5, 3, 7, 180_811].map(niceStep)).toEqual([1, 1, 2, 5, 10, 200_000]);
  });

  it("writes plain nanoseconds as the guide's picture 03 does", () => {
    const labels = ticks({ from: 0, to: 2_067_998 }, 1_470, "ns").map((tick) => tick.label);
    expect(labels.slice(0, 4)).toEqual(["0", "200,000", "400,000", "600,000"]);
    expect(labels.at(-1)).toBe("2,000,000");
  });

  it("writes units that keep neighbours apart at every zoom", () => {
    for (const [from, length] of [
      [0, 40],
      [1_234_567, 300],
      [5_000, 9_000],
      [123_456_789, 2_000_000],
      [3e9, 7e9],
      [9e12, 500],
    ] as const) {
      for (const unit of ["ns", "auto"] as const) {
        const all = ticks({ from, to: from + length }, 1_600, unit);
        expect(all.length).toBeGreaterThan(4);
        expect(all.length).toBeLessThan(14);
        expect(new Set(all.map((tick) => tick.label)).size).toBe(all.length);
        for (const tick of all) {
          expect(tick.time).toBeGreaterThanOrEqual(from);
          expect(tick.time).toBeLessThanOrEqual(from + length);
          expect(Number.isInteger(tick.time)).toBe(true);
        }
      }
    }
    const labels = ticks({ from: 0, to: 2e6 }, 800, "auto").map((tick) => tick.label);
    expect(labels).toEqual(["0", "500 µs", "1,000 µs", "1,500 µs", "2,000 µs"]);
    expect(ticks({ from: 1.2e9, to: 1.2e9 + 4e6 }, 800, "auto").map((t) => t.label)[0]).toBe("1,200 ms");
  });

  it("keeps to a unit that was chosen, with the digits that the step needs", () => {
    const labels = (unit: "us" | "ms" | "s", from: number, to: number) => ticks({ from, to }, 600, unit).map((tick) => tick.label);
    expect(labels("us", 1_000_000, 1_000_400)).toEqual(["1,000.0 µs", "1,000.1 µs", "1,000.2 µs", "1,000.3 µs", "1,000.4 µs"]);
    expect(labels("ms", 0, 4_000)).toEqual(["0", "0.001 ms", "0.002 ms", "0.003 ms", "0.004 ms"]);
    expect(labels("s", 2e9, 6e9)[0]).toBe("2 s");
  });

  it("has no ticks for nothing", () => {
    expect(ticks({ from: 5, to: 5 }, 800, "ns")).toEqual([]);
    expect(ticks({ from: 0, to: 5 }, 0, "ns")).toEqual([]);
  });
});

describe("quantities", () => {
  it("writes lengths in the unit that fits", () => {
    expect([0, 444, 1_000, 9_154, 2_067_998, 63_553_542, 1.5e9].map(duration)).toEqual([
      "0 ns",
      "444 ns",
      "1 µs",
      "9.154 µs",
      "2.068 ms",
      "63.55 ms",
      "1.5 s",
    ]);
    expect(duration(999_999)).toBe("1 ms");
    expect(moment(1_176_253)).toBe("1,176,253 ns");
    expect(commas(1_000)).toBe("1,000");
  });

  it("writes values of series", () => {
    expect(quantity(699_051, "B")).toBe("699.1 kB");
    expect(quantity(0.975, "share")).toBe("97.5 %");
    expect(quantity(36.25e9, "B/s")).toBe("36.25 GB/s");
    expect(quantity(12, "-")).toBe("12");
    expect(quantity(Number.NaN, "B")).toBe("–");
    expect(valueTicks(1)).toEqual([0, 0.5, 1]);
    expect(valueTicks(34)).toEqual([0, 10, 20, 30]);
    expect(valueTicks(0)).toEqual([0]);
  });
});
