// The size of an element, as it changes.

import { type RefObject, useEffect, useState } from "react";

export function useSize(element: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const now = element.current;
    if (!now) return;
    const measure = () => {
      const next = { width: now.clientWidth, height: now.clientHeight };
      setSize((before) => (before.width === next.width && before.height === next.height ? before : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(now);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
