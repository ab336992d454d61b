import { describe, expect, it } from "vitest";
import { WireError, decodeViewport } from "./wire";

/** Writes an answer as HTTP.md describes it, independently of the reader. */
function answer(lanes: { lane: number; columns: [row: bigint, busy: bigint, at: number, n: number, name: number][] }[]) {
  const size = lanes.reduce((sum, l) => sum + 8 + 28 * l.columns.length + 4 * (l.columns.length % 2), 32);
  const view = new DataView(new ArrayBuffer(size));
  [..."NVT1"].forEach((letter, i) => {
    view.setUint8(i, letter.charCodeAt(0));
  });
  view.setUint32(4, lanes.length, true);
  view.setUint32(8, 99, true);
  view.setBigUint64(16, 4096n, true);
  view.setBigUint64(24, 32n, true);
  let at = 32;
  for (const { lane, columns } of lanes) {
    view.setUint32(at, lane, true);
    view.setUint32(at + 4, columns.length, true);
    at += 8;
    for (const field of [0, 1] as const)
      for (const column of columns) {
        view.setBigUint64(at, column[field], true);
        at += 8;
      }
    for (const field of [2, 3, 4] as const)
      for (const column of columns) {
        view.setUint32(at, column[field], true);
        at += 4;
      }
    at += 4 * (columns.length % 2);
  }
  return view.buffer;
}

describe("viewport", () => {
  it("reads lanes with an odd and an even number of columns", () => {
    const view = decodeViewport(
      answer([
        { lane: 3, columns: [[2n ** 40n + 7n, 31n, 5, 1, 9]] },
        { lane: 4, columns: [[1n, 2n, 3, 4, 5], [6n, 7n, 8, 9, 10]] },
        { lane: 5, columns: [] },
      ]),
    );
    expect([view.start, view.columnNs, view.columns]).toEqual([4096, 32, 99]);
    expect(view.lanes.map((lane) => [lane.lane, lane.count])).toEqual([[3, 1], [4, 2], [5, 0]]);
    expect(view.lanes[0]!.rows[0]).toBe(2 ** 40 + 7);
    expect([...view.lanes[1]!.busy]).toEqual([2, 7]);
    expect([...view.lanes[1]!.columns]).toEqual([3, 8]);
    expect([...view.lanes[1]!.events]).toEqual([4, 9]);
    expect([...view.lanes[1]!.names]).toEqual([5, 10]);
  });

  it("refuses what is cut off, at any byte", () => {
    const whole = answer([{ lane: 3, columns: [[1n, 2n, 3, 4, 5], [6n, 7n, 8, 9, 10]] }]);
    for (let end = 0; end < whole.byteLength; end++)
      expect(() => decodeViewport(whole.slice(0, end))).toThrow(WireError);
  });

  it("refuses another magic", () => {
    expect(() => decodeViewport(new ArrayBuffer(64))).toThrow("not a timeline");
  });
});
