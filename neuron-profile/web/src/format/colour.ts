// Colours of names outside the timeline: the same name has the same colour,
// calm in both themes and dark enough text on it.

/** FNV-1a over UTF-16 units. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

/** A colour of a name: hue by the golden angle, so that near hashes lie apart. */
export function colourOf(name: string): string {
  if (name === "") return "hsl(215 12% 62%)";
  const value = hash(name);
  const hue = Math.round((value * 137.508) % 360);
  const saturation = 42 + ((value >>> 9) % 24);
  const light = 68 + ((value >>> 17) % 10);
  return `hsl(${hue} ${saturation}% ${light}%)`;
}
