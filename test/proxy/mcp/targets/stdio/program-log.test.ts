import { expect, test } from '@jest/globals';
import { KnownLines } from '../../../../../proxy/mcp/targets/stdio/known-lines.ts';
import { ProgramLog } from '../../../../../proxy/mcp/targets/stdio/program-log.ts';
import { systemClock } from '../../../../../proxy/exchange/wait.ts';
import type { Log } from '../../../../../src/shared/log.ts';

function world() {
  let now = 0;
  const told: string[] = [];
  const clock = { ...systemClock, now: () => now };
  const at =
    (level: string) =>
    (text: string): void =>
      void told.push(`${level} ${text}`);
  const log: Log = {
    enabled: () => true,
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
    scope: 'mcp',
  };
  const known = new KnownLines(clock);
  const program = (...lines: readonly string[]): readonly string[] => {
    told.length = 0;
    const its = new ProgramLog('one', log, clock, known);
    for (const line of lines) its.stderr(Buffer.from(`${line}\n`));
    its.end();
    return [...told];
  };
  return { program, later: (ms: number) => void (now += ms) };
}

test('what programs of a target say again as they start goes to the level debug, for ten minutes', () => {
  const { program, later } = world();
  expect(program('Server 1.0', 'ready')).toEqual(['info Server 1.0', 'info ready']);
  expect(program('Server 1.0', 'ready', 'new')).toEqual(['debug Server 1.0', 'debug ready', 'info new']);
  later(10 * 60_000);
  expect(program('Server 1.0')).toEqual(['info Server 1.0']);
});

test('errors, and what comes after the beginning, are told each time', () => {
  const { program, later } = world();
  const many = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  program('Error: no key', ...many);
  later(1000);
  const again = program('Error: no key', ...many);
  expect([again[0], again[1], again[20]]).toEqual(['info Error: no key', 'debug line 0', 'info line 19']);
});
