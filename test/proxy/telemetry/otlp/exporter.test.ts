import { describe, expect, test } from '@jest/globals';

import type { Clock } from '../../../../proxy/exchange/wait.ts';
import { BatchFrame } from '../../../../proxy/telemetry/otlp/encode.ts';
import { EXPORT_LIMITS, Exporter, type Sent } from '../../../../proxy/telemetry/otlp/exporter.ts';
import { LogFilter, Logger } from '../../../../src/shared/log.ts';

const taken: Sent = { kind: 'taken', rejected: 0, message: '' };
const later = (afterMs: number | null = null): Sent => ({ kind: 'later', afterMs, why: 'busy' });

class FakeClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  schedule(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((each) => each !== timer));
  }

  get waiting(): readonly number[] {
    return this.#timers.map(({ at }) => at - this.#now);
  }

  async pass(ms: number): Promise<void> {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

function world(answers: Sent[] = []) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const batches: number[] = [];
  const count = { sent: 0, dropped: 0 };
  const filter = LogFilter.parse('info');
  if (typeof filter === 'string') throw new Error(filter);
  const log = new Logger({ filter, format: 'text', write: (line) => void lines.push(line) }).scope('otlp');
  const frame = new BatchFrame({ resource: [], scope: { name: '', version: '' } });
  const pending: PromiseWithResolvers<Sent>[] = [];
  let hold = false;
  const destination = {
    name: 'collector:4317',
    frame,
    send: (batch: Uint8Array): Promise<Sent> => {
      batches.push(batch.byteLength);
      if (!hold) return Promise.resolve(answers.shift() ?? taken);
      const promise = Promise.withResolvers<Sent>();
      pending.push(promise);
      return promise.promise;
    },
  };
  const exporter = new Exporter(destination, {
    what: 'spans',
    clock,
    log,
    counts: { sent: (items) => (count.sent += items), dropped: (items) => (count.dropped += items) },
    random: () => 1,
  });
  return {
    clock,
    lines,
    batches,
    count,
    exporter,
    destination,
    hold: () => (hold = true),
    answer: (sent: Sent) => pending.shift()?.resolve(sent),
    push: (items: number, size = 10) => {
      for (let i = 0; i < items; i++) exporter.push(new Uint8Array(size));
    },
  };
}

describe('batches', () => {
  test('wait for company, for a second at most', async () => {
    const { clock, push, batches, count } = world();
    push(3);
    await clock.pass(EXPORT_LIMITS.delayMs - 1);
    expect(batches).toHaveLength(0);
    await clock.pass(1);
    expect([batches.length, count.sent]).toEqual([1, 3]);
  });

  test('go at once when they are full', async () => {
    const { push, batches, count } = world();
    push(EXPORT_LIMITS.batchItems);
    await settled();
    expect([batches.length, count.sent]).toEqual([1, EXPORT_LIMITS.batchItems]);
  });

  test('go one after the other, and what comes meanwhile is not forgotten', async () => {
    const { hold, answer, push, batches, count, clock } = world();
    hold();
    push(EXPORT_LIMITS.batchItems);
    push(5);
    await settled();
    expect(batches).toHaveLength(1);
    answer(taken);
    await settled();
    await clock.pass(EXPORT_LIMITS.delayMs);
    expect(batches).toHaveLength(2);
    answer(taken);
    await settled();
    expect(count.sent).toBe(EXPORT_LIMITS.batchItems + 5);
  });

  test('are limited in bytes too', async () => {
    const { push, batches, exporter } = world();
    push(6, EXPORT_LIMITS.batchBytes / 2);
    await exporter.flush();
    expect(batches).toHaveLength(3);
    expect(Math.max(...batches)).toBeLessThanOrEqual(EXPORT_LIMITS.batchBytes + 100);
  });
});

describe('a queue that is full', () => {
  test('loses the oldest, counts them and tells it once', async () => {
    const { hold, answer, push, exporter, count, lines } = world();
    hold();
    push(EXPORT_LIMITS.batchItems);
    await settled();
    push(EXPORT_LIMITS.queueItems + 100);
    expect(count.dropped).toBe(100);
    expect(lines.filter((line) => line.includes('cannot be exported'))).toHaveLength(1);
    const flushed = exporter.flush();
    for (let i = 0; i < 40; i++) {
      answer(taken);
      await settled();
    }
    await flushed;
    expect(count.sent).toBe(EXPORT_LIMITS.batchItems + EXPORT_LIMITS.queueItems);
    expect(lines.at(-1)).toContain('spans are exported again');
    expect(lines.at(-1)).toContain('dropped=100');
  });

  test('is bounded in bytes', async () => {
    const { hold, push, count } = world();
    hold();
    push(1, EXPORT_LIMITS.batchBytes);
    await settled();
    push(20, EXPORT_LIMITS.batchBytes);
    expect(count.dropped).toBe(20 - EXPORT_LIMITS.queueBytes / EXPORT_LIMITS.batchBytes);
  });

  test('never takes what is larger than a batch', async () => {
    const { push, exporter, count, batches } = world();
    push(1, EXPORT_LIMITS.batchBytes + 1);
    await exporter.flush();
    expect([count.dropped, batches.length]).toEqual([1, 0]);
  });
});

describe('a receiver that cannot take a batch', () => {
  test('gets it again after growing pauses', async () => {
    const { clock, push, batches, count, lines } = world([later(), later(), later()]);
    push(1);
    await clock.pass(EXPORT_LIMITS.delayMs);
    const pauses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const [pause = 0] = clock.waiting;
      pauses.push(pause);
      await clock.pass(pause);
    }
    expect(pauses).toEqual([500, 1000, 2000]);
    expect([batches.length, count.sent, count.dropped]).toEqual([4, 1, 0]);
    expect(lines).toHaveLength(2);
  });

  test('is asked again when it wants to be', async () => {
    const { clock, push, batches } = world([later(7000)]);
    push(1);
    await clock.pass(EXPORT_LIMITS.delayMs);
    await clock.pass(6999);
    expect(batches).toHaveLength(1);
    await clock.pass(1);
    expect(batches).toHaveLength(2);
  });

  test('is not asked without a pause when it wants none', async () => {
    const { clock, push, batches } = world([later(0), later(0)]);
    push(1);
    await clock.pass(EXPORT_LIMITS.delayMs);
    expect(batches).toHaveLength(1);
    await clock.pass(EXPORT_LIMITS.minBackoffMs);
    expect(batches).toHaveLength(2);
  });

  test('is given up after two minutes', async () => {
    const { clock, push, count } = world(Array.from({ length: 1000 }, () => later()));
    push(1);
    await clock.pass(EXPORT_LIMITS.delayMs);
    for (let i = 0; i < 40 && count.dropped === 0; i++) await clock.pass(clock.waiting[0] ?? 0);
    expect([count.dropped, clock.now() <= EXPORT_LIMITS.retryForMs + EXPORT_LIMITS.delayMs]).toEqual([1, true]);
  });

  test('that refuses it is not asked again', async () => {
    const { clock, push, batches, count, lines } = world([{ kind: 'refused', why: 'the receiver answered 400' }]);
    push(2);
    await clock.pass(EXPORT_LIMITS.delayMs);
    expect([batches.length, count.dropped]).toEqual([1, 2]);
    expect(lines[0]).toContain('the receiver answered 400');
  });

  test('that did not want some of it is told of', async () => {
    const { clock, push, count, lines } = world([{ kind: 'taken', rejected: 2, message: 'too old' }]);
    push(5);
    await clock.pass(EXPORT_LIMITS.delayMs);
    expect(count).toEqual({ sent: 3, dropped: 2 });
    expect(lines[0]).toContain('too old');
  });
});

describe('the end', () => {
  test('sends what waits at once, and tries a second time without a pause', async () => {
    const { push, exporter, count, batches } = world([later()]);
    push(3);
    await exporter.flush();
    expect([batches.length, count.sent, exporter.idle]).toEqual([2, 3, true]);
  });

  test('does not wait for a pause that has begun', async () => {
    const { clock, push, exporter, count } = world([later(60_000)]);
    push(1);
    await clock.pass(EXPORT_LIMITS.delayMs);
    await exporter.flush();
    expect(count.sent).toBe(1);
  });

  test('counts what nobody took as lost', async () => {
    const { push, exporter, count } = world(Array.from({ length: 10 }, () => later()));
    push(3);
    await exporter.flush();
    expect([count.dropped, exporter.idle]).toEqual([3, true]);
  });

  test('closes with things waiting', async () => {
    const { hold, push, exporter, count, clock } = world();
    hold();
    push(7);
    exporter.close();
    expect([count.dropped, clock.waiting]).toEqual([7, []]);
  });
});
