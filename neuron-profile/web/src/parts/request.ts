// A request of a component: asked again when its key changes, cancelled when
// nobody waits, the old answer kept until the new one is there.

import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, isAbort, reason } from "../api/client";

export interface Answer<T> {
  data: T | null;
  error: string | null;
  /** Status of the error, 0 for none. */
  status: number;
  loading: boolean;
  reload(): void;
}

/** Asks when `key` changes, after `delay` ms without a change; a key of null asks nothing. */
export function useRequest<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>, delay = 0): Answer<T> {
  const [state, setState] = useState<{ data: T | null; error: string | null; status: number; loading: boolean }>({
    data: null,
    error: null,
    status: 0,
    loading: key !== null,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (key === null) {
      setState({ data: null, error: null, status: 0, loading: false });
      return;
    }
    const stop = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    const timer = setTimeout(async () => {
      try {
        const data = await latest.current(stop.signal);
        if (!stop.signal.aborted) setState({ data, error: null, status: 0, loading: false });
      } catch (error) {
        if (isAbort(error) || stop.signal.aborted) return;
        const status = error instanceof ApiError ? error.status : 0;
        setState({ data: null, error: reason(error), status, loading: false });
      }
    }, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key, turn, delay]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return { ...state, reload };
}
