// Two pages and a comparison: `/`, `/profile/ID`, `/compare?ids=A,B`.

import { create } from "zustand";
import { inTensorBoard } from "./api/root";

export type Place = { page: "manager" } | { page: "profile"; id: string } | { page: "compare"; ids: string[] } | { page: "unknown" };

/** The place that a path and its query name. */
export function place(path: string, search = ""): Place {
  if (path === "/" || path === "/index.html") return { page: "manager" };
  const profile = /^\/profile\/([^/]+)\/?$/.exec(path);
  if (profile) return { page: "profile", id: decodeURIComponent(profile[1]!) };
  if (path === "/compare") {
    const ids = new URLSearchParams(search).get("ids") ?? "";
    return { page: "compare", ids: ids.split(",").filter((id) => id !== "") };
  }
  return { page: "unknown" };
}

const here = (): Place =>
  typeof window === "undefined" ? { page: "manager" } : place(window.location.pathname, window.location.search);

export const useRouter = create<{ place: Place }>(() => ({ place: here() }));

/** Goes to a page of the viewer. */
export function go(url: string) {
  if (inTensorBoard) return;
  history.pushState(null, "", url);
  useRouter.setState({ place: here() });
}

/** Follows the browser's back and forward. */
export function startRouter() {
  window.addEventListener("popstate", () => useRouter.setState({ place: here() }));
}
