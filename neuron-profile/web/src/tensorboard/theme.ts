// Dark or light as TensorBoard is: it says so by a class of its own page, which
// has the same origin. Elsewhere as the system is.

import { useEffect } from "react";
import { useSettings } from "../state/settings";

function above(): HTMLElement | null {
  try {
    return window.parent === window ? null : window.parent.document.body;
  } catch {
    // A page of another origin around TensorBoard's.
    return null;
  }
}

export function useTensorBoardTheme() {
  const theme = useSettings((s) => s.theme);
  useEffect(() => {
    const body = above();
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const put = () => {
      const dark = theme === "auto" ? (body ? body.classList.contains("dark-mode") : system.matches) : theme === "dark";
      document.documentElement.dataset.theme = dark ? "dark" : "light";
    };
    put();
    const watch = new MutationObserver(put);
    if (body) watch.observe(body, { attributes: true, attributeFilter: ["class"] });
    system.addEventListener("change", put);
    return () => {
      watch.disconnect();
      system.removeEventListener("change", put);
    };
  }, [theme]);
}
