// Dark or light, as chosen or as the system has it, and the size of text.

import { useEffect } from "react";
import { useSettings } from "../state/settings";

export function useTheme() {
  const theme = useSettings((s) => s.theme);
  const fontSize = useSettings((s) => s.fontSize);
  useEffect(() => {
    const system = window.matchMedia("(prefers-color-scheme: light)");
    const put = () => {
      const light = theme === "light" || (theme === "auto" && system.matches);
      document.documentElement.dataset.theme = light ? "light" : "dark";
    };
    put();
    system.addEventListener("change", put);
    return () => system.removeEventListener("change", put);
  }, [theme]);
  useEffect(() => {
    document.documentElement.style.setProperty("--text-size", `${fontSize}px`);
  }, [fontSize]);
}

/** Dark, light, as the system. */
export function nextTheme() {
  const { theme, set } = useSettings.getState();
  set({ theme: theme === "dark" ? "light" : theme === "light" ? "auto" : "dark" });
}
