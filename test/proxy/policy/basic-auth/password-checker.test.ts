import { describe, expect, test } from '@jest/globals';

import { PasswordChecker, type PendingCheck } from '../../../../proxy/policy/basic-auth/password-checker.ts';
import type { HtpasswdUser } from '../../../../src/config/ir/index.ts';
import { parseHtpasswd } from '../../../../src/config/normalize/policy/htpasswd.ts';

function user(line: string): HtpasswdUser {
  const found = parseHtpasswd(line).users[0];
  if (found === undefined) throw new Error(line);
  return found;
}

const ann = user('ann:$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW');

function pending(check: boolean | PendingCheck | null): PendingCheck {
  if (check === null || typeof check === 'boolean') throw new Error(`${check} is no check to wait for`);
  return check;
}

describe('a password checker', () => {
  test('checks once what is asked twice at the same time', async () => {
    const checker = new PasswordChecker();
    const first = pending(checker.check({ name: 'ann', password: 'secret' }, ann));
    const second = pending(checker.check({ name: 'ann', password: 'secret' }, ann));
    expect(second.verdict).toBe(first.verdict);
    expect(await first.verdict).toBe(true);
    expect(checker.check({ name: 'ann', password: 'secret' }, ann)).toBe(true);
  });

  test('forgets a verdict with the line that it was about', async () => {
    const checker = new PasswordChecker();
    await pending(checker.check({ name: 'ann', password: 'secret' }, ann)).verdict;
    const changed = user('ann:$apr1$RVuXe5ck$a7dMb7Dig1KVt0lLMchKN1');
    expect(await pending(checker.check({ name: 'ann', password: 'secret' }, changed)).verdict).toBe(true);
  });

  test('refuses to begin when too many wait, and goes on when they are done', async () => {
    const checker = new PasswordChecker();
    const checks: PendingCheck[] = [];
    for (let guess = 0; ; guess++) {
      const check = checker.check({ name: 'ann', password: `guess ${guess}` }, ann);
      if (check === null) break;
      checks.push(pending(check));
    }
    expect(checks.length).toBeGreaterThan(100);
    expect(checks.length).toBeLessThan(1000);
    expect(await Promise.all(checks.map(({ verdict }) => verdict))).toEqual(checks.map(() => false));
    expect(await pending(checker.check({ name: 'ann', password: 'secret' }, ann)).verdict).toBe(true);
  });

  test('makes room when those that wait leave', async () => {
    const checker = new PasswordChecker();
    const first = pending(checker.check({ name: 'ann', password: 'first' }, ann));
    for (let guess = 0; guess < 1000; guess++) {
      const check = pending(checker.check({ name: 'ann', password: `guess ${guess}` }, ann));
      check.leave();
    }
    expect(await first.verdict).toBe(false);
    const again = pending(checker.check({ name: 'ann', password: 'guess 7' }, ann));
    expect(await again.verdict).toBe(false);
  });
});
