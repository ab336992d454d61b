// The range of the view once it rests. A pan or a zoom moves the view with every frame; what sums over the range, and
// what is read rather than watched, follows when the movement is over, so that a frame is the timeline's alone.

import { create } from "zustand";
import { type Range, type ViewState, useView } from "./view";

/** Milliseconds without a step after which a view rests. */
const REST = 80;

const rangeOf = ({ from, to, total }: ViewState): Resting => ({ from, to, total });

export interface Resting extends Range {
  /** Length of the profile, ns. */
  total: number;
}

export const useResting = create<Resting>(() => rangeOf(useView.getState()));

let timer: ReturnType<typeof setTimeout> | undefined;

useView.subscribe((now, before) => {
  if (now.from === before.from && now.to === before.to && now.total === before.total) return;
  clearTimeout(timer);
  const take = () => useResting.setState(rangeOf(useView.getState()));
  // Another profile has another range from the start.
  if (now.total !== before.total) take();
  else timer = setTimeout(take, REST);
});
