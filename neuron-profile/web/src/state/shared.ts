// Whether this page is a file with a profile inside, which no server stands
// behind; and what is in it.

export interface Shared {
  id: string;
  name: string;
  /** Version of the program that wrote it. */
  made_by: string;
  /** The stretch whose events are here, ns. */
  window: { from: number; to: number; whole: boolean; events: number };
  /** What is seen first: a part of a link, without `#`. */
  view: string;
  /** What the profile has and the file has not, in words. */
  left_out: string[];
}

let here: Shared | null = null;

/** The file that this page is; null where a server gave it. */
export const shared = (): Shared | null => here;

export function becomeShared(file: Shared) {
  here = file;
}
