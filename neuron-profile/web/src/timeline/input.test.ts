import { describe, expect, it } from "vitest";
import { Gestures, type Press, wheel } from "./gestures";
import { type Command, SHORTCUTS, command } from "./keys";

const press = (more: Partial<Press> = {}): Press => ({
  x: 100,
  y: 50,
  area: "plot",
  button: 0,
  shift: false,
  ctrl: false,
  alt: false,
  ...more,
});

describe("pointer", () => {
  it("clicks where it does not move", () => {
    const hand = new Gestures();
    hand.down(press({ ctrl: true }));
    expect(hand.move({ x: 102, y: 51 })).toBeNull();
    expect(hand.up({ x: 102, y: 51 })).toMatchObject({ do: "click", ctrl: true });
    hand.down(press({ button: 2 }));
    expect(hand.up({ x: 100, y: 50 })).toMatchObject({ do: "annotate" });
  });

  it("drags by area, button, modifier and mode", () => {
    const drag = (more: Partial<Press>, mode: Gestures["mode"] = "zoom") => {
      const hand = new Gestures();
      hand.mode = mode;
      hand.down(press(more));
      return [hand.move({ x: 160, y: 70 }), hand.up({ x: 160, y: 70 })];
    };
    expect(drag({})[1]).toMatchObject({ do: "zoom", from: { x: 100 }, to: { x: 160 }, done: true });
    expect(drag({ shift: true })[1]).toMatchObject({ do: "box", from: { y: 50 }, to: { y: 70 } });
    expect(drag({ alt: true })[1]).toMatchObject({ do: "ruler" });
    expect(drag({ button: 2 })[1]).toMatchObject({ do: "region" });
    expect(drag({}, "box")[0]).toMatchObject({ do: "box", done: false });
    expect(drag({ button: 1 })).toEqual([{ do: "pan", dx: 60, dy: 20, first: true }, null]);
    expect(drag({ area: "axis" })).toEqual([{ do: "pan", dx: 60, dy: 0, first: true }, null]);
  });

  it("pans by steps and can be given up", () => {
    const hand = new Gestures();
    hand.down(press({ area: "axis" }));
    expect(hand.move({ x: 110, y: 0 })).toMatchObject({ dx: 10, first: true });
    expect(hand.move({ x: 105, y: 0 })).toMatchObject({ dx: -5, first: false });
    expect(hand.cancel()).toEqual({ do: "cancel" });
    expect(hand.up({ x: 105, y: 0 })).toBeNull();
    expect(hand.cancel()).toBeNull();
  });
});

describe("wheel", () => {
  const turn = (more: object) =>
    ({ deltaX: 0, deltaY: 100, deltaMode: 0, shiftKey: false, ctrlKey: false, altKey: false, ...more }) as const;

  it("zooms, and out again by as much", () => {
    const out = wheel(turn({}), "plot");
    const back = wheel(turn({ deltaY: -100 }), "plot");
    if (out?.do !== "zoom" || back?.do !== "zoom") throw new Error("no zoom");
    expect(out.factor).toBeLessThan(1);
    expect(out.factor * back.factor).toBeCloseTo(1, 9);
  });

  it("pans with shift or sideways, scrolls rows with alt or over labels", () => {
    expect(wheel(turn({ shiftKey: true }), "plot")).toEqual({ do: "pan", pixels: 100 });
    expect(wheel(turn({ deltaX: 30, deltaY: 2 }), "plot")).toEqual({ do: "pan", pixels: 30 });
    expect(wheel(turn({ altKey: true }), "plot")).toEqual({ do: "scroll", pixels: 100 });
    expect(wheel(turn({ deltaMode: 1, deltaY: 3 }), "gutter")).toEqual({ do: "scroll", pixels: 96 });
    expect(wheel(turn({ deltaY: 0 }), "plot")).toBeNull();
  });
});

describe("keys", () => {
  const key = (name: string, more: object = {}) =>
    command({ key: name, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

  it("are those of the guide", () => {
    const wanted: [string, Command][] = [
      ["w", "zoom-in"],
      ["S", "zoom-out"],
      ["a", "pan-left"],
      ["d", "pan-right"],
      ["ArrowLeft", "pan-left"],
      ["ArrowUp", "zoom-in"],
      ["0", "fit"],
      ["Escape", "clear"],
    ];
    for (const [name, what] of wanted) expect(key(name)).toBe(what);
    expect(key("ArrowRight", { shiftKey: true })).toBe("next-event");
    expect(key("+", { shiftKey: true })).toBe("zoom-in");
  });

  it("leave those of the browser and the page alone", () => {
    expect(key("w", { ctrlKey: true })).toBeNull();
    expect(key("ArrowLeft", { altKey: true })).toBeNull();
    expect(key("q")).toBeNull();
    expect(SHORTCUTS.length).toBeGreaterThan(10);
  });
});
