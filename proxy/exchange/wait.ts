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

/** Waits for work that somebody else does, but not beyond the exchange's deadline nor its client. A failure is an end too. */
export function settledWithin(
  exchange: Exchange,
  work: Promise<unknown>,
  clock: Clock,
): Promise<'settled' | Exclude<Waited, 'elapsed'>> {
  if (exchange.clientGone) return Promise.resolve('clientGone');
  const left = exchange.deadlineAt === null ? null : exchange.deadlineAt - clock.now();
  return new Promise((resolve) => {
    const end = (how: 'settled' | 'deadline' | 'clientGone'): void => {
      unlisten();
      unschedule?.();
      resolve(how);
    };
    const unlisten = exchange.onClientGone(() => end('clientGone'));
    const unschedule = left === null ? null : clock.schedule(() => end('deadline'), left);
    const settled = (): void => end('settled');
    work.then(settled, settled);
  });
}
