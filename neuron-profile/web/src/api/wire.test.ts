import { describe, expect, it } from "vitest";
import { WireError, decodeSpans, decodeViewport } from "./wire";

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

/** Events of a lane as HTTP.md describes them. */
function spans(lane: number, events: [row: bigint, start: bigint, end: bigint, kind: number][]) {
  const view = new DataView(new ArrayBuffer(16 + 28 * events.length + 4 * (events.length % 2)));
  [..."NVE1"].forEach((letter, i) => {
    view.setUint8(i, letter.charCodeAt(0));
  });
  for (const [i, word] of [1, lane, events.length].entries()) view.setUint32(4 + 4 * i, word, true);
  events.forEach(([row, start, end, kind], i) => {
    [row, start, end].forEach((long, field) => view.setBigUint64(16 + 8 * (field * events.length + i), long, true));
    view.setUint32(16 + 24 * events.length + 4 * i, kind, true);
  });
  return view.buffer;
}

const joined = async (...parts: ArrayBuffer[]) => await new Blob(parts).arrayBuffer();

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
    expect(view.events).toEqual([]);
  });

  it("reads the events behind the columns", async () => {
    const lanes = answer([{ lane: 3, columns: [[1n, 2n, 3, 4, 5]] }]);
    const events = spans(3, [[2n ** 40n, 5n, 6n, 7], [8n, 9n, 10n, 11], [12n, 13n, 14n, 15]]);
    const view = decodeViewport(await joined(lanes, events));
    expect(view.lanes.map((lane) => lane.lane)).toEqual([3]);
    expect(view.events).toEqual([
      {
        lane: 3,
        count: 3,
        rows: Float64Array.of(2 ** 40, 8, 12),
        start: Float64Array.of(5, 9, 13),
        end: Float64Array.of(6, 10, 14),
        kinds: Uint32Array.of(7, 11, 15),
      },
    ]);
    expect(decodeSpans(events)).toEqual(view.events);
  });

  it("refuses what is cut off, at any byte", () => {
    const whole = answer([{ lane: 3, columns: [[1n, 2n, 3, 4, 5], [6n, 7n, 8, 9, 10]] }]);
    for (let end = 0; end < whole.byteLength; end++)
      expect(() => decodeViewport(whole.slice(0, end))).toThrow(WireError);
  });

  it("refuses events that are cut off, at any byte", async () => {
    const lanes = answer([{ lane: 3, columns: [[1n, 2n, 3, 4, 5]] }]);
    const whole = await joined(lanes, spans(3, [[1n, 2n, 3n, 4], [5n, 6n, 7n, 8]]));
    for (let end = lanes.byteLength + 1; end < whole.byteLength; end++)
      expect(() => decodeViewport(whole.slice(0, end))).toThrow(WireError);
    expect(() => decodeSpans(lanes)).toThrow("no events");
  });

  it("refuses another magic", () => {
    expect(() => decodeViewport(new ArrayBuffer(64))).toThrow("not a timeline");
  });
});
