// Kinds of events (HTTP.md), and texts as lists show them.

/** What one execution moves and computes; what is not told is 0. */
export interface Work {
  hbm_read?: number;
  hbm_write?: number;
  sbuf_read?: number;
  sbuf_write?: number;
  psum_read?: number;
  psum_write?: number;
  psum_read_sbuf_write?: number;
  spill_save?: number;
  spill_reload?: number;
  flops?: number;
  transpose_flops?: number;
}

export type WorkSum = Required<Work>;

const PARTS = ["hbm_read", "hbm_write", "sbuf_read", "sbuf_write", "psum_read", "psum_write", "psum_read_sbuf_write", "spill_save", "spill_reload", "flops", "transpose_flops"] as const;

export const noWork = (): WorkSum => Object.fromEntries(PARTS.map((part) => [part, 0])) as unknown as WorkSum;

/** Adds `times` a work to a sum. */
export function addWork(sum: WorkSum, work: Work, times: number) {
  for (const part of PARTS) {
    const one = work[part];
    if (one) sum[part] += one * times;
  }
}

/** By the names of the tables. */
export const workFields = (work: Work) => ({
  flops: work.flops ?? 0,
  transpose_flops: work.transpose_flops ?? 0,
  hbm_read_bytes: work.hbm_read ?? 0,
  hbm_write_bytes: work.hbm_write ?? 0,
  sbuf_read_bytes: work.sbuf_read ?? 0,
  sbuf_write_bytes: work.sbuf_write ?? 0,
  psum_read_bytes: work.psum_read ?? 0,
  psum_write_bytes: work.psum_write ?? 0,
  spill_save_bytes: work.spill_save ?? 0,
  spill_reload_bytes: work.spill_reload ?? 0,
});

export interface Kind {
  /** Places of texts; none where beyond them. */
  layer: number;
  operator: number;
  source: number;
  waits: boolean;
  product: boolean;
  work: Work;
}

const NOTHING: Kind = { layer: -1, operator: -1, source: -1, waits: false, product: false, work: {} };

/** Letters of a text in lists, as of the server. */
const LETTERS = 256;

export function cut(text: string): string {
  if (text.length <= LETTERS) return text;
  const letters = [...text];
  return letters.length <= LETTERS ? text : `${letters.slice(0, LETTERS).join("")}…`;
}

export class Kinds {
  constructor(
    readonly names: readonly string[],
    private readonly stored: { texts: readonly string[]; kinds: readonly Kind[] },
  ) {}

  name(place: number): string {
    return this.names[place] ?? "";
  }

  kind(place: number): Kind {
    return this.stored.kinds[place] ?? NOTHING;
  }

  text(place: number): string | null {
    return this.stored.texts[place] ?? null;
  }

  /** A page of the list. */
  list(from: number, limit: number) {
    const [texts, places] = [[] as string[], new Map<string, number>()];
    const place = (text: string | null): number => {
      if (text === null) return -1;
      let at = places.get(text);
      if (at === undefined) {
        at = texts.push(cut(text)) - 1;
        places.set(text, at);
      }
      return at;
    };
    const out = { total: this.names.length, from, texts, name: [] as number[], layer: [] as number[], operator: [] as number[], source: [] as number[], next: null as number | null };
    for (let at = from; at < Math.min(from + limit, this.names.length); at += 1) {
      const kind = this.kind(at);
      out.name.push(place(this.name(at)));
      out.layer.push(place(this.text(kind.layer)));
      out.operator.push(place(this.text(kind.operator)));
      out.source.push(place(this.text(kind.source)));
    }
    if (from + limit < this.names.length) out.next = from + limit;
    return out;
  }

  one(place: number) {
    const kind = this.kind(place);
    return {
      kind: place,
      name: this.names[place],
      layer: this.text(kind.layer),
      operator: this.text(kind.operator),
      source: this.text(kind.source),
      waits: kind.waits,
      work: workFields(kind.work),
    };
  }
}
