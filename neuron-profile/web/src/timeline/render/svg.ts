// Display lists as an SVG document: vectors and real text, from the same lists that the screen shows.

import { type Packed, css } from "../colour";
import type { DisplayList } from "../display-list";
import { MONO, head } from "./overlay";

/** A list with its place in the picture. */
export interface Part {
  readonly list: DisplayList;
  readonly x: number;
  readonly y: number;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Text for XML: markup as text, and without the control characters that XML has no way to write. */
export function escape(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"']/g, (c) => ESCAPES[c]!);
}

const ANCHOR = { left: "start", center: "middle", right: "end" } as const;
const number = (value: number): string => String(Math.round(value * 100) / 100);

function partOf({ list, x, y }: Part, place: number): string[] {
  const out = [`<g transform="translate(${number(x)} ${number(y)})">`];
  for (const [at, section] of list.sections.entries()) {
    if (section.count === 0) continue;
    const id = `c${place}-${at}`;
    const { clip } = section;
    out.push(
      `<clipPath id="${id}"><rect x="${number(clip.x)}" y="${number(clip.y)}" width="${number(clip.width)}" height="${number(clip.height)}"/></clipPath>`,
      `<g clip-path="url(#${id})" shape-rendering="crispEdges">`,
    );
    // One path for each run of a colour keeps the order of drawing and the file small.
    let colour: Packed | null = null;
    let path = "";
    const flush = () => {
      if (colour === null || path === "") return;
      const alpha = section.blend ? ` fill-opacity="${number((colour >>> 24) / 255)}"` : "";
      out.push(`<path fill="${css(colour)}"${alpha} d="${path}"/>`);
      path = "";
    };
    for (const rect of list.rects(section)) {
      if (rect.colour !== colour) flush();
      colour = rect.colour;
      path += `M${number(rect.x0)} ${number(rect.y0)}H${number(rect.x1)}V${number(rect.y1)}H${number(rect.x0)}z`;
    }
    flush();
    out.push("</g>");
  }
  for (const line of list.lines) {
    const points = line.points.map(number).join(" ");
    const dash = line.dash ? ` stroke-dasharray="${line.dash.map(number).join(" ")}"` : "";
    out.push(`<polyline fill="none" stroke="${escape(line.colour)}" stroke-width="${number(line.width)}"${dash} points="${points}"/>`);
    if (line.arrow) {
      const tip = head(line.points, 5 * line.width).map(number).join(" ");
      out.push(`<polygon fill="${escape(line.colour)}" points="${tip}"/>`);
    }
  }
  for (const text of list.texts) {
    const bold = text.bold ? ' font-weight="bold"' : "";
    out.push(
      `<text x="${number(text.x)}" y="${number(text.y)}" font-size="${number(text.size)}" fill="${escape(text.colour)}" text-anchor="${ANCHOR[text.align]}"${bold}>${escape(text.text)}</text>`,
    );
  }
  out.push("</g>");
  return out;
}

/** A whole document of `width` by `height`. */
export function svg(parts: readonly Part[], width: number, height: number, background: Packed, title: string): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${number(width)}" height="${number(height)}" viewBox="0 0 ${number(width)} ${number(height)}" font-family='${escape(MONO).replaceAll("&quot;", '"')}' dominant-baseline="central">`,
    `<title>${escape(title)}</title>`,
    `<rect width="100%" height="100%" fill="${css(background)}"/>`,
    ...parts.flatMap(partOf),
    "</svg>",
    "",
  ].join("\n");
}
