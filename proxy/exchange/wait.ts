import type { Exchange } from './exchange.ts';
import type { Refusal } from './refusal.ts';
import { refuse } from './refusal.ts';

/** Time as policies see it; tests bring their own. */
export interface Clock {
  /** Milliseconds, on the scale of `performance.now()`. */
  now(): number;
  /** Calls back once; returns what takes it back. */
  schedule(callback: () => void, delayMs: number): () => void;
}

/** Timers of Node take no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

export const requestTimeout: Refusal = refuse(504, 'Timeout', 'request timeout');
/** Nobody reads it: it is for the log. */
export const clientLeft: Refusal = refuse(499, 'InvalidRequest', 'client went away');

export type Waited = 'elapsed' | 'deadline' | 'clientGone';

/** Waits, but not beyond the exchange's deadline nor its client. */
export function waitWithin(exchange: Exchange, durationMs: number, clock: Clock): Promise<Waited> {
  const left = exchange.deadlineAt === null ? Number.POSITIVE_INFINITY : exchange.deadlineAt - clock.now();
  if (exchange.clientGone) return Promise.resolve('clientGone');
  if (left <= 0) return Promise.resolve('deadline');
  return new Promise((resolve) => {
    const unlisten = exchange.onClientGone(() => {
      unschedule();
      resolve('clientGone');
    });
    const unschedule = clock.schedule(
      () => {
        unlisten();
        resolve(durationMs < left ? 'elapsed' : 'deadline');
      },
      Math.min(durationMs, left),
    );
  });
}
