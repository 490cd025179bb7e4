import type { Body } from './body.ts';
import type { Exchange } from './exchange.ts';
import { Patience } from './patience.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Clock } from './wait.ts';
import { watchedBody } from './watched-body.ts';

const stalled = refuse(504, 'Timeout', 'response body not received in time');

/** How long a response may be held back from its client. */
export interface HoldLimits {
  readonly clock: Clock;
  /** Longest time without a byte from the upstream, milliseconds. */
  readonly streamIdleTimeoutMs: number;
}

interface Held<T> {
  readonly result: T;
  /** What to answer when it could not be read. */
  readonly refusalFor: (error: Error) => Refusal;
}

/**
 * Reads the body of a response before its head goes out: until the deadline of the request, which is for that head, and
 * as long as the client is there and the upstream sends something now and then.
 */
export async function holdResponse<T>(
  exchange: Exchange,
  body: Body,
  { limits, read }: { limits: HoldLimits; read: (body: Body, patience: Patience) => T | Promise<T> },
): Promise<Held<T>> {
  const { clock, streamIdleTimeoutMs } = limits;
  const patience = new Patience(exchange, clock);
  let movedAt = clock.now();
  let unschedule = clock.schedule(look, streamIdleTimeoutMs);
  function look(): void {
    const left = movedAt + streamIdleTimeoutMs - clock.now();
    if (left <= 0) patience.end(stalled);
    else unschedule = clock.schedule(look, left);
  }
  const watched = watchedBody(body, () => (movedAt = clock.now()));
  const result = await read(watched, patience);
  unschedule();
  patience.release();
  const refusalFor = (error: Error): Refusal =>
    patience.refusal ?? refuse(502, 'UpstreamFailure', `response body was cut: ${error.message}`);
  return { result, refusalFor };
}
