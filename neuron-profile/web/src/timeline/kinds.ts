// Kinds of events: the name, layer and operator of the places that columns name. Loaded in pages, on first need.

import { ApiError, getJson, isAbort, query } from "../api/client";

interface Page {
  total: number;
  from: number;
  texts: string[];
  name: number[];
  layer: number[];
  operator: number[];
  source: number[];
  next: number | null;
}

const PAGE = 10_000;

/** Kinds that are loaded at most: colours of what lies beyond go by their place (our choice: some 50 MB of text). */
const MOST = 500_000;

export class Kinds {
  private readonly pages = new Map<number, Page>();
  private readonly stop = new AbortController();
  /** Grows with every page: what was made from kinds is stale then. */
  version = 0;
  private known = true;

  constructor(
    private readonly id: string,
    private readonly names: readonly string[],
    private readonly changed: () => void,
  ) {}

  dispose(): void {
    this.stop.abort();
  }

  /** Loads all, a page at a time. */
  async load(): Promise<void> {
    for (let from: number | null = 0; from !== null && from < MOST; ) {
      try {
        const path = `/profiles/${encodeURIComponent(this.id)}/kinds${query({ from, limit: PAGE })}`;
        const page: Page = await getJson<Page>(path, this.stop.signal);
        this.pages.set(Math.floor(from / PAGE), page);
        from = page.next;
        this.version += 1;
        this.changed();
      } catch (error) {
        if (isAbort(error)) return;
        // An older server: names are all there is.
        this.known = !(error instanceof ApiError);
        return;
      }
    }
  }

  private text(place: number, of: "name" | "layer" | "operator" | "source"): string | null {
    const page = this.pages.get(Math.floor(place / PAGE));
    const at = page?.[of][place - page.from];
    return at === undefined || at < 0 ? null : (page?.texts[at] ?? null);
  }

  name(place: number): string {
    return this.text(place, "name") ?? this.names[place] ?? "";
  }

  layer(place: number): string | null {
    return this.text(place, "layer");
  }

  operator(place: number): string | null {
    return this.text(place, "operator");
  }

  /** Whether the server tells layers and operators. */
  get told(): boolean {
    return this.known && this.pages.size > 0;
  }
}
