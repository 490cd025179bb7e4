import { describe, expect, test } from '@jest/globals';
import { HeldLog } from '../../src/demo/held-log.ts';

describe('the log behind a screen', () => {
  test('says nothing when nothing was logged', () => {
    expect(new HeldLog().release()).toBe('');
  });

  test('comes out in order, under a line that says what it is', async () => {
    const log = new HeldLog();
    await log.write('one\n');
    await log.write('two\n');
    expect(log.release()).toBe('the log while the screen was open:\none\ntwo\n');
  });

  test('keeps whole lines of the end, however much was logged', async () => {
    const log = new HeldLog();
    for (let at = 0; at < 5000; at += 1) await log.write(`line ${at}\n`);
    const lines = log.release().trimEnd().split('\n');
    expect(lines[0]).toBe('the last lines of the log while the screen was open:');
    expect(lines.at(-1)).toBe('line 4999');
    expect(lines.slice(1).every((line) => /^line \d+$/.test(line))).toBe(true);
    expect(log.release().length).toBeLessThan(20_000);
  });
});
