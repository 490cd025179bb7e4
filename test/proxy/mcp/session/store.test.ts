import { expect, test } from '@jest/globals';

import { type KeptSession, SessionStore } from '../../../../proxy/mcp/session/store.ts';
import { NamedStores } from '../../../../proxy/policy/stores.ts';
import { ManualClock } from './manual-clock.ts';

const MINUTE = 60_000;

class Session implements KeptSession {
  closed = 0;
  left = 0;
  close(): void {
    this.closed += 1;
  }
  leave(): void {
    this.left += 1;
  }
}

function made(max = 100) {
  const clock = new ManualClock();
  return { clock, store: new SessionStore<Session>({ clock, ttlMs: 30 * MINUTE, max }) };
}

test('sessions that lie idle are closed, and those in use are not', () => {
  const { clock, store } = made();
  const [idle, used, held] = [new Session(), new Session(), new Session()];
  store.keep('idle', idle);
  store.keep('used', used);
  store.keep('held', held);
  const release = store.hold('held', 'stream');
  for (let i = 0; i < 4; i++) {
    clock.pass(10 * MINUTE);
    store.find('used');
  }
  expect([idle.closed, used.closed, held.closed]).toEqual([1, 0, 0]);
  expect(store.find('idle')).toBeNull();
  release();
  release();
  clock.pass(31 * MINUTE);
  expect([idle.closed, used.closed, held.closed]).toEqual([1, 1, 1]);
  expect(store.size).toBe(0);
  expect(clock.scheduled).toBe(0);
});

test('a thousand sessions that nobody comes back to leave nothing behind', () => {
  const { clock, store } = made(1000);
  const sessions = Array.from({ length: 1000 }, (_, n) => {
    const session = new Session();
    store.keep(`s${n}`, session);
    return session;
  });
  clock.pass(31 * MINUTE);
  expect(sessions.every(({ closed }) => closed === 1)).toBe(true);
  expect([store.size, clock.scheduled]).toEqual([0, 0]);
});

test('where there are too many, the one that lay idle longest goes', () => {
  const { store } = made(2);
  const [a, b, c, d] = [new Session(), new Session(), new Session(), new Session()];
  store.keep('a', a);
  store.keep('b', b);
  store.find('a');
  store.keep('c', c);
  expect([a.closed, b.closed]).toEqual([0, 1]);
  store.hold('a', 'call');
  store.keep('d', d);
  expect([a.closed, c.closed, d.closed]).toEqual([0, 1, 0]);
});

test('a session that its client ends is not closed twice', () => {
  const { clock, store } = made();
  const session = new Session();
  store.keep('s', session);
  store.keep('s', session);
  expect(store.remove('s')).toBe(session);
  expect(store.remove('s')).toBeNull();
  clock.pass(60 * MINUTE);
  expect(session.closed).toBe(0);
});

test('sessions stay over reloads that leave their backend as it is', () => {
  const { clock } = made();
  const stores = new NamedStores();
  const ask = () => stores.get('mcp /a', () => new SessionStore<Session>({ clock, ttlMs: MINUTE, max: 9 }));
  const session = new Session();
  ask().keep('s', session);
  stores.settle();
  expect(ask().find('s')).toBe(session);
  stores.settle();
  expect(ask().find('s')).toBe(session);
});

test('sessions of a backend that is gone are closed, once their calls have ended', () => {
  const { clock } = made();
  const stores = new NamedStores();
  const store = stores.get('mcp /a', () => new SessionStore<Session>({ clock, ttlMs: MINUTE, max: 9 }));
  const [idle, busy, late, listening] = [new Session(), new Session(), new Session(), new Session()];
  store.keep('listening', listening);
  store.hold('listening', 'stream');
  store.keep('idle', idle);
  store.keep('busy', busy);
  const release = store.hold('busy', 'call');
  stores.settle();
  expect([idle.closed, busy.closed]).toEqual([0, 0]);
  stores.settle();
  expect([idle.closed, busy.closed, listening.closed]).toEqual([1, 0, 1]);
  expect(store.find('busy')).toBeNull();
  release();
  expect(busy.closed).toBe(1);
  store.keep('late', late);
  stores.settle();
  expect(late.closed).toBe(1);
  expect(clock.scheduled).toBe(0);
});

test('every session is left to others when the thread ends', async () => {
  const { clock, store } = made();
  const stores = new NamedStores();
  stores.get('mcp', () => store);
  stores.get('other', () => 1);
  const session = new Session();
  store.keep('s', session);
  store.hold('s', 'stream');
  await stores.close();
  expect([session.closed, session.left, store.size]).toEqual([0, 1, 0]);
  expect(clock.scheduled).toBe(0);
});

test('sessions of a backend that is gone end, whatever they are in the middle of', async () => {
  const { store } = made();
  const stores = new NamedStores();
  stores.get('mcp', () => store);
  stores.settle();
  const session = new Session();
  store.keep('s', session);
  store.hold('s', 'call');
  stores.settle();
  await stores.close();
  expect([session.closed, session.left]).toEqual([1, 0]);
});

test('ids that were ended are remembered, the last of them', () => {
  const { store } = made();
  store.keep('0', new Session());
  for (let n = 0; n < 10_001; n++) store.end(String(n));
  expect([store.size, store.hasEnded('0'), store.hasEnded('1'), store.hasEnded('10000')]).toEqual([
    0,
    false,
    true,
    true,
  ]);
});
