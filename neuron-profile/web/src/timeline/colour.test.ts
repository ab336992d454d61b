import { describe, expect, it } from "vitest";
import { colourOf, contrast, css, hash, inkOn, mix, nameless, oklch, pack, palette, parse, unpack } from "./colour";

// Backgrounds of the timeline, see styles/theme.css.
const backgrounds = { dark: parse("#171e27"), light: parse("#ffffff") };

describe("colours of names", () => {
  it("are the same for a name whenever it comes", () => {
    // Computed apart from this code: another value would recolour every saved picture.
    expect(hash("MATMUL")).toBe(1081464997);
    expect(colourOf("MATMUL", "dark")).toBe(colourOf(`MAT${"MUL"}`, "dark"));
  });

  it("stand out from the background in both themes", () => {
    for (const shade of ["dark", "light"] as const) {
      for (const colour of [...palette(shade), nameless(shade)]) {
        expect(contrast(unpack(colour), backgrounds[shade]), `${css(colour)} on ${shade}`).toBeGreaterThanOrEqual(3);
      }
    }
  });

  it("carry labels that can be read", () => {
    for (const shade of ["dark", "light"] as const) {
      for (const colour of palette(shade)) {
        expect(contrast(unpack(colour), parse(inkOn(colour))), css(colour)).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it("are 54, all different, and names spread over them", () => {
    for (const shade of ["dark", "light"] as const) expect(new Set(palette(shade)).size).toBe(54);
    const used = new Map<number, number>();
    for (let i = 0; i < 5_400; i += 1) {
      const colour = colourOf(`layer.${i}`, "dark");
      used.set(colour, (used.get(colour) ?? 0) + 1);
    }
    expect(used.size).toBe(54);
    expect(Math.max(...used.values())).toBeLessThan(170);
  });

  it("of the opcodes of picture 23 and 03 differ from each other", () => {
    const names = ["MATMUL", "LDWEIGHTS", "TENSOR_TENSOR", "ACTIVATE", "COPY", "TENSOR_SCALAR"];
    expect(new Set(names.map((name) => colourOf(name, "dark"))).size).toBe(names.length);
  });
});

describe("colour arithmetic", () => {
  it("reads and writes", () => {
    expect(css(pack(parse("#c8965a")))).toBe("#c8965a");
    expect(parse("rgb(1, 2, 3)")).toEqual({ r: 1, g: 2, b: 3 });
    expect(parse("#fff")).toEqual({ r: 255, g: 255, b: 255 });
    expect(parse("nonsense")).toEqual({ r: 0, g: 0, b: 0 });
    expect(pack({ r: 1, g: 2, b: 3 })).toBe(0xff030201);
  });

  it("mixes, and knows contrast and OKLCH", () => {
    expect(css(mix(pack(parse("#000000")), pack(parse("#ffffff")), 0.5))).toBe("#808080");
    expect(contrast(parse("#000"), parse("#fff"))).toBeCloseTo(21, 5);
    // Published values of the OKLCH page of CSS Color 4: sRGB red is oklch(0.628 0.2577 29.23).
    const red = oklch(0.62796, 0.25768, 29.234);
    expect([red.r, red.g, red.b].map(Math.round)).toEqual([255, 0, 0]);
    expect(css(pack(oklch(1, 0, 0)))).toBe("#ffffff");
  });
});
