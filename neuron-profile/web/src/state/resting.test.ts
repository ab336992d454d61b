import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useResting } from "./resting";
import { useView } from "./view";

describe("the range of a view that rests", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("is that of a profile at once, and that of a movement when it is over", () => {
    useView.getState().begin(1000);
    expect(useResting.getState()).toEqual({ from: 0, to: 1000, total: 1000 });
    const seen: number[] = [];
    const stop = useResting.subscribe(({ from }) => seen.push(from));
    for (let step = 1; step <= 20; step += 1) {
      useView.getState().zoomTo(step, step + 100);
      vi.advanceTimersByTime(16);
    }
    expect(seen).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(seen).toEqual([20]);
    stop();
  });
});
