import { describe, expect, it } from "vitest";
import { around, clamp, pan, reveal, span, timeAt, xOf, zoomAround } from "./geometry";

const limits = { total: 1_000_000, minSpan: 10 };

describe("window of time", () => {
  it("maps moments to pixels and back", () => {
    const w = { from: 2_000, to: 6_000 };
    expect(xOf(w, 800, 2_000)).toBe(0);
    expect(xOf(w, 800, 3_000)).toBe(200);
    expect(xOf(w, 800, 7_000)).toBe(1_000);
    for (const x of [0, 13.5, 799]) expect(xOf(w, 800, timeAt(w, 800, x))).toBeCloseTo(x, 9);
  });

  it("keeps the moment under the pointer while zooming", () => {
    const w = { from: 100_000, to: 500_000 };
    const time = 180_000;
    const before = xOf(w, 1_600, time);
    const z = zoomAround(w, time, 4, limits);
    expect(span(z)).toBeCloseTo(100_000, 6);
    expect(xOf(z, 1_600, time)).toBeCloseTo(before, 6);
    // And out again.
    const back = zoomAround(z, time, 1 / 4, limits);
    expect(back.from).toBeCloseTo(w.from, 6);
    expect(back.to).toBeCloseTo(w.to, 6);
  });

  it("stays in the profile and above the narrowest span", () => {
    expect(zoomAround({ from: 0, to: 1_000_000 }, 900_000, 0.5, limits)).toEqual({ from: 0, to: 1_000_000 });
    expect(span(zoomAround({ from: 500, to: 512 }, 506, 1_000, limits))).toBe(10);
    expect(pan({ from: 990_000, to: 999_000 }, 50_000, limits)).toEqual({ from: 991_000, to: 1_000_000 });
    expect(pan({ from: 5, to: 105 }, -50, limits)).toEqual({ from: 0, to: 100 });
    expect(clamp({ from: 500, to: 500 }, limits)).toEqual({ from: 495, to: 505 });
    expect(clamp({ from: Number.NaN, to: Number.NaN }, limits)).toEqual({ from: 0, to: 1_000_000 });
  });

  it("copes with a profile that is shorter than the narrowest span, or empty", () => {
    expect(clamp({ from: 0, to: 4 }, { total: 4, minSpan: 10 })).toEqual({ from: 0, to: 4 });
    expect(clamp({ from: 0, to: 0 }, { total: 0, minSpan: 10 })).toEqual({ from: 0, to: 1 });
  });

  it("shows an event with its edges, and moves no further than needed", () => {
    const w = around(4_000, 4_800, limits);
    expect(w).toEqual({ from: 3_900, to: 4_900 });
    const view = { from: 0, to: 10_000 };
    expect(reveal(view, 400, 500, limits)).toBe(view);
    const moved = reveal(view, 12_000, 12_100, limits);
    expect(span(moved)).toBe(10_000);
    expect(moved.to).toBe(13_100);
    expect(reveal(view, 20_000, 60_000, limits)).toEqual(around(20_000, 60_000, limits));
  });
});
