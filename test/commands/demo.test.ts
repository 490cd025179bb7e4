/** How a demo ends, whatever it is doing. */
import { expect, test } from '@jest/globals';
import { eventually } from '../e2e/clients.ts';
import { finished, startGwctl } from './gwctl.ts';

/** Sends Ctrl-C as soon as the program listens for it, which is before it has begun to start anything. */
const CTRL_C = `process.on('newListener', function tell(name) {
  if (name !== 'SIGINT') return;
  process.off('newListener', tell);
  setImmediate(() => process.kill(process.pid, 'SIGINT'));
})`;

function demo(env: Readonly<Record<string, string>> = {}) {
  const child = startGwctl(['demo', '--plain', '--no-traffic'], { env });
  const heard = { out: '' };
  child.stdout.on('data', (text: Buffer) => (heard.out += text.toString()));
  return { child, heard, done: finished(child) };
}

test('Ctrl-C while it starts ends it before it has started', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(CTRL_C)}`;
  const { done } = demo({ NODE_OPTIONS: `--import=${preload}` });
  expect(await done).toMatchObject({ code: 130, stdout: '' });
});

test('Ctrl-C ends it, and what is open does not keep it', async () => {
  const { child, heard, done } = demo();
  await eventually('the banner', () => heard.out.includes('Requests (Ctrl-C ends the demo)'));
  const base = /gateway {3}(\S+)/.exec(heard.out)?.[1] ?? '';
  const slow = fetch(`${base}/slow?ms=60000`).catch(() => null);
  const stream = await fetch(`${base}/stream`).catch(() => null);
  child.kill('SIGINT');
  expect((await done).code).toBe(0);
  await Promise.all([slow, stream?.body?.cancel().catch(() => {})]);
});

test('a second Ctrl-C ends it at once', async () => {
  const { child, heard, done } = demo();
  await eventually('the banner', () => heard.out.includes('Requests (Ctrl-C ends the demo)'));
  child.kill('SIGINT');
  child.kill('SIGTERM');
  // The first may be done before the second is heard.
  expect([0, 143]).toContain((await done).code);
});
