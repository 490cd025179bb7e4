import { describe, expect, test } from '@jest/globals';
import { LogLevels } from '../../../proxy/admin/log-levels.ts';
import { loggingEndpoint } from '../../../proxy/admin/logging.ts';
import type { Clock } from '../../../proxy/exchange/wait.ts';
import { LogFilter } from '../../../src/shared/log.ts';

class FakeClock implements Clock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  schedule(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  get waiting(): number {
    return this.#timers.length;
  }

  pass(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
  }
}

function filter(text: string): LogFilter {
  const parsed = LogFilter.parse(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

function world() {
  const clock = new FakeClock();
  const control = {
    initial: filter('info'),
    current: filter('info'),
    set(next: LogFilter) {
      control.current = next;
    },
  };
  const levels = new LogLevels(control, clock);
  const endpoint = loggingEndpoint(levels);
  const ask = async (method: 'GET' | 'POST', query = '') => {
    const call = { method, query: new URLSearchParams(query) } as Parameters<typeof endpoint.handle>[0];
    const reply = await endpoint.handle(call);
    if (reply.kind !== 'whole') throw new Error('/logging answers in one piece');
    return { status: reply.status, body: String(reply.body) };
  };
  return { clock, control, levels, ask, level: () => String(control.current) };
}

describe('levels that are changed for a while', () => {
  test('go back by themselves, and GET tells to what and when', async () => {
    const { clock, ask, level } = world();
    const answer = await ask('POST', 'reset&level=debug&for=5m');
    expect(answer).toEqual({ status: 200, body: 'current log level is debug\nback to info in 5m0s\n' });
    clock.pass(1000);
    expect((await ask('GET')).body).toBe('current log level is debug\nback to info in 4m59s\n');
    clock.pass(298_999);
    expect(level()).toBe('debug');
    clock.pass(1);
    expect(level()).toBe('info');
    expect((await ask('GET')).body).toBe('current log level is info\n');
  });

  test('stay when a later change without an end comes', async () => {
    const { clock, ask, level } = world();
    await ask('POST', 'level=debug&for=5m');
    expect((await ask('POST', 'level=warn')).body).toBe('current log level is warn\n');
    expect(clock.waiting).toBe(0);
    clock.pass(600_000);
    expect(level()).toBe('warn');
  });

  test('go back past another change for a while to what held before both', async () => {
    const { clock, ask, level } = world();
    await ask('POST', 'level=warn');
    await ask('POST', 'level=debug&for=5m');
    await ask('POST', 'level=trace&for=1m');
    expect(clock.waiting).toBe(1);
    clock.pass(60_000);
    expect(level()).toBe('warn');
    clock.pass(600_000);
    expect(level()).toBe('warn');
  });

  test('go back from a reset too', async () => {
    const { clock, ask, level } = world();
    await ask('POST', 'level=warn');
    await ask('POST', 'reset&for=90s');
    expect(level()).toBe('info');
    clock.pass(90_000);
    expect(level()).toBe('warn');
  });

  test('do not go back once they are closed', async () => {
    const { clock, levels, ask } = world();
    await ask('POST', 'level=debug&for=5m');
    levels.close();
    expect([clock.waiting, levels.pending]).toEqual([0, null]);
  });
});

describe('what /logging refuses', () => {
  test.each(['', '5', 'soon', '-5m', '0s', '0', '25h', '1e9s', `${'9'.repeat(60)}h`])(
    'a duration of %j, and changes nothing',
    async (duration) => {
      const { clock, ask, level } = world();
      const { status, body } = await ask('POST', `level=debug&for=${duration}`);
      expect([status, body.startsWith('Invalid duration provided'), level(), clock.waiting]).toEqual([
        400,
        true,
        'info',
        0,
      ]);
    },
  );

  test('a duration without a change, and a level that is none', async () => {
    const { ask, clock } = world();
    expect((await ask('POST', 'for=5m')).status).toBe(400);
    expect((await ask('POST', 'level=loud&for=5m')).status).toBe(400);
    expect((await ask('GET', 'for=5m')).status).toBe(405);
    expect(clock.waiting).toBe(0);
  });

  test('a refused change leaves a pending return as it is', async () => {
    const { clock, ask, level } = world();
    await ask('POST', 'level=debug&for=5m');
    await ask('POST', 'level=loud');
    clock.pass(300_000);
    expect(level()).toBe('info');
  });
});
