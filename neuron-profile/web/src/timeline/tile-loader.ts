// Loads tiles: the most urgent first, a few at a time, and gives up what nobody waits for any more. A tile that fails
// is tried again after a while, so that a server which comes back fills the picture.

import { ApiError } from "../api/client";
import type { Sized, TileCache } from "./tile-cache";
import { type TileKey, keyText } from "./tile-key";

export interface LoaderOptions<T> {
  /** `put` may be called several times: a tile is shown as soon as its first part is there. */
  load(key: TileKey, signal: AbortSignal, put: (tile: T) => void): Promise<void>;
  /** Something new is there to draw. */
  changed(): void;
  failed?(error: unknown): void;
  isRoot?(key: TileKey): boolean;
  /** Milliseconds that a load took, for measurements. */
  took?(milliseconds: number): void;
  /** Tiles that are seen, loaded at a time: browsers open six connections to a host; two are left for everything else. */
  atOnce?: number;
  now?(): number;
}

/** Tiles that may be needed soon, loaded at a time. */
const AHEAD = 2;

/** Milliseconds until a tile that failed is tried again. */
const AGAIN = 1500;

interface Running {
  readonly stop: AbortController;
}

export class TileLoader<T extends Sized> {
  private queue: TileKey[] = [];
  private readonly running = new Map<string, Running>();
  private readonly failedAt = new Map<string, number>();
  /** Tiles that nobody has: of a file with a part of a profile. */
  private readonly gone = new Set<string>();
  private urgent = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    readonly cache: TileCache<T>,
    private readonly options: LoaderOptions<T>,
  ) {}

  /** Whether all that is seen is there. */
  get settled(): boolean {
    return this.running.size === 0 && this.queue.length === 0;
  }

  /** Tiles that are needed now, and those that may be soon. What is neither is given up. */
  want(seen: readonly TileKey[], ahead: readonly TileKey[]): void {
    const all = [...seen, ...ahead];
    const texts = new Set(all.map(keyText));
    this.urgent = new Set(seen.map(keyText));
    for (const [text, one] of this.running) {
      if (texts.has(text)) continue;
      one.stop.abort();
      // Gone at once, so that it is asked for anew if it is wanted again before the abort is through.
      this.running.delete(text);
    }
    this.queue = all.filter((key) => !this.cache.has(key) && !this.running.has(keyText(key)) && !this.gone.has(keyText(key)));
    this.next();
  }

  /** Forgets everything, for another profile. */
  reset(): void {
    this.queue = [];
    for (const one of this.running.values()) one.stop.abort();
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.failedAt.clear();
    this.gone.clear();
    this.cache.clear();
  }

  private now(): number {
    return this.options.now?.() ?? performance.now();
  }

  private next(): void {
    const most = this.options.atOnce ?? 4;
    const waiting: TileKey[] = [];
    while (this.running.size < most) {
      const key = this.queue.shift();
      if (!key) break;
      const text = keyText(key);
      // What may be needed soon waits until all that is seen of this kind is there, and leaves a place free: the
      // processors of the server are for what is looked at.
      if (!this.urgent.has(text) && (this.running.size >= Math.min(AHEAD, Math.max(most - 1, 1)) || this.busy())) {
        waiting.push(key);
        continue;
      }
      const failed = this.failedAt.get(text);
      if (failed !== undefined && this.now() - failed < AGAIN) {
        waiting.push(key);
        this.later();
        continue;
      }
      this.start(key, text);
    }
    this.queue.unshift(...waiting);
  }

  /** Whether something is loaded that is seen. */
  private busy(): boolean {
    for (const text of this.running.keys()) if (this.urgent.has(text)) return true;
    return false;
  }

  private later(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.next();
    }, AGAIN);
  }

  private start(key: TileKey, text: string): void {
    const stop = new AbortController();
    const begun = this.now();
    this.running.set(text, { stop });
    const put = (tile: T) => {
      if (stop.signal.aborted) return;
      this.cache.put(key, tile, this.options.isRoot?.(key) ?? false);
      this.options.changed();
    };
    this.options
      .load(key, stop.signal, put)
      .then(() => {
        this.failedAt.delete(text);
        this.options.took?.(this.now() - begun);
      })
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        if (error instanceof ApiError && error.status === 410) {
          this.gone.add(text);
          if (this.urgent.has(text)) this.options.failed?.(error);
          return;
        }
        this.failedAt.set(text, this.now());
        this.options.failed?.(error);
        // It is wanted still.
        if (this.urgent.has(text)) this.queue.unshift(key);
        else this.queue.push(key);
      })
      .finally(() => {
        if (this.running.get(text)?.stop === stop) this.running.delete(text);
        this.next();
      });
  }
}
