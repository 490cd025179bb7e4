import type { Clock } from '../exchange/wait.ts';

interface Due {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * Time that passes only when everybody waits for it: what is due first is called first, without waiting. Work that
 * needs no time comes before every deadline.
 */
export function virtualClock(): Clock {
  let now = performance.now();
  let ticking = false;
  const waiting = new Set<Due>();
  const tick = (): void => {
    const [first] = [...waiting].toSorted((a, b) => a.at - b.at);
    ticking = first !== undefined;
    if (first === undefined) return;
    waiting.delete(first);
    now = Math.max(now, first.at);
    first.callback();
    setImmediate(tick);
  };
  return {
    now: () => now,
    schedule(callback, delayMs) {
      const due = { at: now + Math.max(0, delayMs), callback };
      waiting.add(due);
      if (!ticking) setImmediate(tick);
      ticking = true;
      return () => void waiting.delete(due);
    },
  };
}
