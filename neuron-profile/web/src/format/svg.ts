// Drawings as files: SVG with its colours resolved, and PNG of it.

import { download } from "./download";

/** An SVG element as a text that stands alone: `var(--x)` as the page has it now. */
export function svgText(element: SVGSVGElement): string {
  const style = getComputedStyle(document.documentElement);
  const { width, height } = element.getBoundingClientRect();
  const copy = element.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  copy.setAttribute("font-family", "sans-serif");
  copy.setAttribute("style", `background:${style.getPropertyValue("--panel").trim()}`);
  return new XMLSerializer()
    .serializeToString(copy)
    .replace(/var\((--[\w-]+)\)/g, (whole, name: string) => style.getPropertyValue(name).trim() || whole);
}

export function saveSvg(name: string, element: SVGSVGElement) {
  download(`${name}.svg`, svgText(element), "image/svg+xml");
}

export async function savePng(name: string, element: SVGSVGElement) {
  const { width, height } = element.getBoundingClientRect();
  const url = URL.createObjectURL(new Blob([svgText(element)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    await new Promise<void>((done, stop) => {
      image.onload = () => done();
      image.onerror = () => stop(new Error("the browser cannot draw this"));
      image.src = url;
    });
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * 2);
    canvas.height = Math.round(height * 2);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (blob) download(`${name}.png`, blob, "image/png");
  } finally {
    URL.revokeObjectURL(url);
  }
}
