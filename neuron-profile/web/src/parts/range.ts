// The range that widgets sum over: the box that was drawn, else what is seen once the view rests.

import { useResting } from "../state/resting";
import { useView } from "../state/view";

export interface Seen {
  from: number;
  to: number;
  /** Whether it is a box, and of which lanes. */
  box: boolean;
  lanes: number[];
  whole: boolean;
}

export function useSeen(): Seen {
  const { from, to, total } = useResting();
  const box = useView((s) => s.selection);
  if (box) return { from: Math.floor(box.from), to: Math.ceil(box.to), box: true, lanes: box.lanes, whole: false };
  return { from: Math.floor(from), to: Math.ceil(to), box: false, lanes: [], whole: from === 0 && to === total };
}
