import { expect, test } from '@jest/globals';

import { mayKeep } from '../../../../../proxy/mcp/targets/negotiate/kept-addresses.ts';

test('subscriptions of a session are kept up to a number, and no huge ones', () => {
  const kept = new Set<string>();
  for (let i = 0; i < 10_000; i++) if (mayKeep(kept, `demo://${i}`)) kept.add(`demo://${i}`);
  expect(kept.size).toBe(1000);
  expect(mayKeep(kept, 'demo://0')).toBe(true);
  expect(mayKeep(new Set(), `demo://${'x'.repeat(10_000)}`)).toBe(false);
});
