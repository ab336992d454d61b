// Several profiles in one page stand in frames; this keeps their ranges
// together, as the page that holds them wants it.

import { useView } from "../state/view";

export type Follow = "off" | "absolute" | "relative";

interface Message {
  kind: "range";
  profile: string;
  from: number;
  to: number;
  /** The same as parts of the whole. */
  part: [number, number];
}

const CHANNEL = "neuron-profile.ranges";

/** How ranges are shared; the page that holds the frames sets it. */
export const followKey = "neuron-profile.follow";

const mode = (): Follow => {
  const text = sessionStorage.getItem(followKey);
  return text === "absolute" || text === "relative" ? text : "off";
};

/** Tells others of the range of this profile and hears theirs, in frames only. */
export function followOthers(profile: string): () => void {
  if (window.parent === window || typeof BroadcastChannel === "undefined") return () => {};
  const channel = new BroadcastChannel(CHANNEL);
  let heard = false;
  channel.onmessage = (event: MessageEvent<Message>) => {
    const message = event.data;
    const how = mode();
    if (message.kind !== "range" || message.profile === profile || how === "off") return;
    const { total, zoomTo } = useView.getState();
    heard = true;
    if (how === "absolute") zoomTo(message.from, message.to);
    else zoomTo(message.part[0] * total, message.part[1] * total);
    heard = false;
  };
  const stop = useView.subscribe((now, before) => {
    if (heard || (now.from === before.from && now.to === before.to)) return;
    const { from, to, total } = now;
    channel.postMessage({ kind: "range", profile, from, to, part: [from / total, to / total] } satisfies Message);
  });
  return () => {
    stop();
    channel.close();
  };
}
