import { describe, expect, it } from "vitest";
import { clampScroll, place, rowAt, rowsIn, scrollTo, visible } from "./layout";
import type { Row } from "./rows";

const row = (key: string, height: number, pinned = false): Row => ({
  key,
  kind: "lane",
  label: key,
  lanes: [],
  series: [],
  core: 0,
  rank: 0,
  height,
  pinned,
});
// 30 free rows of 20 px and a pinned one of 40.
const rows = [...Array.from({ length: 30 }, (_, n) => row(`r${n}`, 20)), row("pin", 40, true)];

describe("layout", () => {
  const layout = place(rows);

  it("keeps pinned rows at the top while others scroll", () => {
    expect([layout.pinnedHeight, layout.freeHeight]).toEqual([40, 600]);
    const seen = visible(layout, 200, 130);
    expect(seen[0]).toMatchObject({ top: 0, pinned: true });
    expect(seen[1]!.row.key).toBe("r6");
    expect(seen[1]!.top).toBe(30);
    expect(seen.at(-1)!.row.key).toBe("r14");
  });

  it("finds the row at a point, never one below a pinned row", () => {
    const seen = visible(layout, 200, 130);
    expect(rowAt(seen, layout, 35)!.row.key).toBe("pin");
    expect(rowAt(seen, layout, 41)!.row.key).toBe("r6");
    expect(rowAt(seen, layout, 55)!.row.key).toBe("r7");
    expect(rowAt(visible(place([row("a", 20)]), 200, 0), place([row("a", 20)]), 150)).toBeNull();
    expect(rowsIn(seen, 55, 71).map((one) => one.row.key)).toEqual(["r7", "r8"]);
  });

  it("scrolls no further than there are rows", () => {
    expect(clampScroll(layout, 200, 9_999)).toBe(440);
    expect(clampScroll(layout, 200, -5)).toBe(0);
    expect(clampScroll(layout, 2_000, 50)).toBe(0);
    expect(scrollTo(layout, 200, 0, "r29")).toBe(440);
    expect(scrollTo(layout, 200, 440, "r0")).toBe(0);
    expect(scrollTo(layout, 200, 100, "r7")).toBe(100);
  });
});
