import { expect, test } from '@jest/globals';
import { planCopy } from '../../../ui/terminal/clipboard.ts';

test('copies with OSC 52', () => {
  expect(planCopy('hi ☕', { ssh: false, tmux: false }).sequence).toBe(
    `\u001b]52;c;${Buffer.from('hi ☕').toString('base64')}\u0007`,
  );
});

test('passes through tmux with its escapes doubled', () => {
  expect(planCopy('x', { ssh: false, tmux: true }).sequence).toBe('\u001bPtmux;\u001b\u001b]52;c;eA==\u0007\u001b\\');
});

test('says over SSH whose clipboard it is', () => {
  expect(planCopy('x', { ssh: true, tmux: false }).message).toContain('your own machine');
});

test('refuses what terminals would drop silently', () => {
  const plan = planCopy('x'.repeat(100_000), { ssh: false, tmux: false });
  expect(plan.sequence).toBeUndefined();
  expect(plan.message).toContain('97.7 KiB');
});
