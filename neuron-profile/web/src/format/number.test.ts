import { describe, expect, it } from "vitest";
import { NONE, bandwidth, bytes, change, count, flops, moment, percent, quantity, time } from "./number";

describe("numbers", () => {
  it("have a fitting unit", () => {
    expect(time(0)).toBe("0 ns");
    expect(time(999)).toBe("999 ns");
    expect(time(1500)).toBe("1.5 µs");
    expect(time(2_069_853)).toBe("2.07 ms");
    expect(time(3e9)).toBe("3 s");
    expect(time(1_172_273, "ms")).toBe("1.172273 ms");
    expect(time(-1500)).toBe("-1.5 µs");
    expect(bytes(1536)).toBe("1.5 KiB");
    expect(bytes(0)).toBe("0 B");
    expect(bandwidth(185.6e9)).toBe("185.6 GB/s");
    expect(flops(64.694e9)).toBe("64.69 GFLOP");
    expect(percent(0.20041)).toBe("20.04 %");
    expect(percent(0.00001)).toBe("0.001 %");
    expect(count(2463353)).toBe("2,463,353");
    expect(moment(1_234_567.4)).toBe("1,234,567 ns");
  });

  it("say nothing where there is nothing", () => {
    for (const nothing of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY])
      expect([time(nothing), bytes(nothing), percent(nothing), count(nothing)]).toEqual([NONE, NONE, NONE, NONE]);
  });

  it("follow the schema's unit", () => {
    expect(quantity(0.002, "s")).toBe("2 ms");
    expect(quantity(0.5, "%")).toBe("50 %");
    expect(quantity(12, null)).toBe("12");
    expect(quantity(109.837, null)).toBe("109.837");
  });

  it("change by a part of the first", () => {
    expect(change(100, 112.5)).toBe("+12.5 %");
    expect(change(100, 50)).toBe("-50 %");
    expect(change(0, 3)).toBe(NONE);
    expect(change(0, 0)).toBe("0 %");
  });
});
