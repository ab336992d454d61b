// Rules that find regions, pure.

export interface Region {
  name: string;
  path: string;
  from: number;
  to: number;
}

/** Runs of the same path, joined where no more than `gap` ns lie between; in order of time. */
export function groupRuns(bars: readonly Region[], gap: number): Region[] {
  const open = new Map<string, Region>();
  const out: Region[] = [];
  for (const bar of [...bars].sort((a, b) => a.from - b.from)) {
    const run = open.get(bar.path);
    if (run && bar.from - run.to <= gap) {
      run.to = Math.max(run.to, bar.to);
      continue;
    }
    const made = { name: bar.name, path: bar.path, from: bar.from, to: bar.to };
    open.set(bar.path, made);
    out.push(made);
  }
  return out.sort((a, b) => a.from - b.from);
}

/** `hsl(H S% L%)` as `#rrggbb`, which fields for colours want. */
export function hslToHex(text: string): string {
  const found = /hsl\((\d+) (\d+)% (\d+)%\)/.exec(text);
  if (!found) return "#888888";
  const [hue, saturation, light] = [Number(found[1]), Number(found[2]) / 100, Number(found[3]) / 100];
  const channel = (n: number) => {
    const k = (n + hue / 30) % 12;
    const value = light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255).toString(16).padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
