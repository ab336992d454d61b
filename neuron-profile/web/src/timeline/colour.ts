// Colours of names: stable (the hash of the name decides, never the order of arrival), and readable on the
// background of both themes. Colours are made in OKLCH, where equal steps look equal, and kept as sRGB.

/** 0xAABBGGRR: what an ImageData holds in a little-endian word, and four bytes of a vertex. */
export type Packed = number;

export interface Rgb {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

export type Shade = "dark" | "light";

export const pack = ({ r, g, b }: Rgb, alpha = 255): Packed =>
  ((alpha << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;

export const unpack = (colour: Packed): Rgb => ({
  r: colour & 255,
  g: (colour >>> 8) & 255,
  b: (colour >>> 16) & 255,
});

export const css = (colour: Packed): string => {
  const { r, g, b } = unpack(colour);
  return `#${[r, g, b].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
};

/** Reads `#rgb`, `#rrggbb` or `rgb(r, g, b)`; black for anything else. */
export function parse(text: string): Rgb {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1];
  if (hex) {
    const long = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
    const value = Number.parseInt(long, 16);
    return { r: value >> 16, g: (value >> 8) & 255, b: value & 255 };
  }
  const parts = /^rgba?\(([^)]*)\)$/i.exec(text.trim())?.[1]?.split(/[\s,/]+/).map(Number) ?? [];
  const part = (at: number) => (Number.isFinite(parts[at]) ? Math.min(Math.max(parts[at]!, 0), 255) : 0);
  return { r: part(0), g: part(1), b: part(2) };
}

/** `share` of `b` over `a`: what translucency gives, without the cost of blending. */
export function mix(a: Packed, b: Packed, share: number): Packed {
  const [x, y] = [unpack(a), unpack(b)];
  const of = (from: number, to: number) => from + (to - from) * share;
  return pack({ r: of(x.r, y.r), g: of(x.g, y.g), b: of(x.b, y.b) });
}

/** FNV-1a over UTF-16 units, with a final mix: short names that differ in one letter land far apart. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 0x01000193);
  }
  value ^= value >>> 16;
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

const gamma = (value: number): number => {
  const one = Math.min(Math.max(value, 0), 1);
  return 255 * (one <= 0.0031308 ? 12.92 * one : 1.055 * one ** (1 / 2.4) - 0.055);
};

/** Lightness 0 to 1, chroma, hue in degrees. What sRGB cannot show loses chroma until it can. */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const turn = (hue * Math.PI) / 180;
  for (let c = chroma; ; c *= 0.9) {
    const [a, b] = [c * Math.cos(turn), c * Math.sin(turn)];
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
    const fits = [red, green, blue].every((value) => value >= -0.0005 && value <= 1.0005);
    if (fits || c < 0.005) return { r: gamma(red), g: gamma(green), b: gamma(blue) };
  }
}

function luminance({ r, g, b }: Rgb): number {
  const linear = (value: number) => {
    const one = value / 255;
    return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Contrast of WCAG 2: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Hues of names; with the three tones of each there are 54 colours. */
const HUES = 18;

/** Lightness and chroma of the tones: pastel on dark as in the guide's pictures, saturated on white. */
const TONES: Readonly<Record<Shade, readonly (readonly [number, number])[]>> = {
  dark: [
    [0.83, 0.085],
    [0.73, 0.12],
    [0.89, 0.06],
  ],
  light: [
    [0.6, 0.14],
    [0.52, 0.15],
    [0.64, 0.12],
  ],
};

const palettes = new Map<Shade, readonly Packed[]>();

/** All colours of names of a theme. */
export function palette(shade: Shade): readonly Packed[] {
  let made = palettes.get(shade);
  if (!made) {
    made = TONES[shade].flatMap(([lightness, chroma], tone) =>
      Array.from({ length: HUES }, (_, hue) =>
        // Tones are turned against each other, so that no hue is in two of them.
        pack(oklch(lightness, chroma, ((hue + tone / 3) * 360) / HUES)),
      ),
    );
    palettes.set(shade, made);
  }
  return made;
}

/** The colour of a name. */
export function colourOf(name: string, shade: Shade): Packed {
  const all = palette(shade);
  return all[hash(name) % all.length]!;
}

/** What has no name, no layer, no operator. */
export const nameless = (shade: Shade): Packed =>
  pack(shade === "dark" ? { r: 0x6c, g: 0x76, b: 0x82 } : { r: 0x8a, g: 0x93, b: 0x9e });

/** Black or white, whatever is read better on the colour. */
export function inkOn(colour: Packed): string {
  const on = unpack(colour);
  // Plain black: one of the two has 4.58 at least on any colour, a softer black has not.
  const light = { r: 255, g: 255, b: 255 };
  return contrast(on, { r: 0, g: 0, b: 0 }) >= contrast(on, light) ? "#000000" : "#ffffff";
}
