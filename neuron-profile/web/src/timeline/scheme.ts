// Which colour an event has: by opcode, operator, layer, engine, or the rules of a person. Kinds have few colours and
// are asked for a hundred thousand times in a frame, so that what was found is kept.

import type { Lane } from "../api/types";
import type { ColourBy, ColourRule } from "../state/settings";
import { type Packed, type Shade, colourOf, mix, nameless, pack, parse } from "./colour";
import type { Kinds } from "./kinds";

export interface SchemeSettings {
  readonly colourBy: ColourBy;
  readonly dmaColourBy: "variable" | "queue" | "engine";
  readonly rules: readonly ColourRule[];
  readonly layerDepth: number;
}

/** The first parts of a layer's path; all of it for depth 0. */
export function layerAt(path: string, depth: number): string {
  if (depth <= 0) return path;
  return path.split("/").filter((part) => part !== "").slice(0, depth).join("/");
}

type Test = (text: string) => boolean;

/** A rule as a test; one whose expression is not one fits nothing. */
function test(rule: ColourRule): Test {
  if (rule.text === "") return () => false;
  if (!rule.regex) {
    const wanted = rule.text.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  try {
    const pattern = new RegExp(rule.text, "i");
    return (text) => pattern.test(text);
  } catch {
    return () => false;
  }
}

/** Opcodes that only wait: grey, so that work is what catches the eye. */
const WAITS = /^(EVENT_SEMAPHORE|PSEUDO_CORE_BARRIER)/;

/** What a legend says of a colour. */
export interface Entry {
  readonly label: string;
  readonly colour: Packed;
}

export class Scheme {
  private readonly tests: readonly { fits: Test; entry: Entry }[];
  private readonly byKind: (Entry | undefined)[] = [];
  private readonly byDma: (Entry | undefined)[] = [];
  private readonly byLane = new Map<number, Entry>();
  private readonly dma = new Set<number>();
  private readonly none: Packed;
  private version: number;
  /** Label of the one entry that stands out; the others are dimmed. */
  private chosen: string | null = null;

  constructor(
    private readonly settings: SchemeSettings,
    private readonly kinds: Kinds,
    lanes: readonly Lane[],
    private readonly shade: Shade,
    private readonly background: Packed,
  ) {
    this.none = nameless(shade);
    this.version = kinds.version;
    this.tests = settings.rules.map((rule) => ({
      fits: test(rule),
      entry: { label: rule.text, colour: pack(parse(rule.colour)) },
    }));
    for (const lane of lanes) {
      if (lane.kind === "dma") this.dma.add(lane.number);
      this.byLane.set(lane.number, this.named(lane.name.replace(/\(nc\d+\)$/, "")));
    }
  }

  /** Dims all but one entry of the legend; null for none. */
  choose(label: string | null): void {
    this.chosen = label;
  }

  private named(label: string | null, instead = "(none)"): Entry {
    if (!label) return { label: instead, colour: this.none };
    return { label, colour: WAITS.test(label) ? this.none : colourOf(label, this.shade) };
  }

  private find(kind: number, dma: boolean): Entry {
    const name = this.kinds.name(kind);
    const { colourBy } = this.settings;
    if (colourBy === "rules") {
      const texts = [name, this.kinds.layer(kind) ?? "", this.kinds.operator(kind) ?? ""];
      const rule = this.tests.find(({ fits }) => texts.some(fits));
      return rule?.entry ?? { label: "(no rule)", colour: this.none };
    }
    // Packets have no layer: the ring is what they come from.
    if (dma || colourBy === "name" || colourBy === "opcode") return this.named(name);
    const layer = this.kinds.layer(kind);
    if (colourBy === "layer") return this.named(layer && layerAt(layer, this.settings.layerDepth), "(no layer)");
    return this.named(this.kinds.operator(kind) ?? layer, "(no operator)");
  }

  /** Name and colour of a kind in a lane. */
  entry(kind: number, lane: number): Entry {
    if (this.version !== this.kinds.version) {
      this.version = this.kinds.version;
      this.byKind.length = 0;
      this.byDma.length = 0;
    }
    const dma = this.dma.has(lane);
    if (dma ? this.settings.dmaColourBy === "engine" : this.settings.colourBy === "engine") {
      return this.byLane.get(lane) ?? { label: "(none)", colour: this.none };
    }
    const known = dma ? this.byDma : this.byKind;
    let entry = known[kind];
    if (!entry) {
      entry = this.find(kind, dma);
      known[kind] = entry;
    }
    return entry;
  }

  colour(kind: number, lane: number): Packed {
    const entry = this.entry(kind, lane);
    if (this.chosen === null || entry.label === this.chosen) return entry.colour;
    return mix(this.background, entry.colour, 0.22);
  }
}
