import { createDecipheriv } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { SessionIds } from '../../../../proxy/mcp/session/id.ts';
import { processNameOf } from '../../../../proxy/mcp/session/process-name.ts';
import type { TargetState } from '../../../../proxy/mcp/targets/contract.ts';
import { Secret } from '../../../../src/shared/secret.ts';

const KEY = '0123456789abcdef'.repeat(4);
const key = new Secret(KEY);
const plain = new SessionIds({ key: undefined, backend: '/mcp', targets: ['a', 'b'] });
const sealed = new SessionIds({ key, backend: '/mcp', targets: ['a', 'b'] });
const home = { process: '0123456789abcdef', thread: 3, life: 'aaaabbbb' };
const born = { home, bound: true, principal: null };
const states = (a: TargetState | null, b: TargetState | null): ReadonlyMap<string, TargetState | null> =>
  new Map([
    ['a', a],
    ['b', b],
  ]);
const both = states({ session: 'x', pinned: '10.0.0.1:80' }, { session: 'y' });
const idOf = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url');

describe('an id without a key', () => {
  test('is JSON that tells the sessions of the targets', () => {
    const id = plain.encode(both, null);
    expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(JSON.parse(Buffer.from(id, 'base64url').toString())).toEqual({
      t: 'mcp',
      s: [
        { t: 'a', s: 'x', b: '10.0.0.1:80' },
        { t: 'b', s: 'y' },
      ],
    });
    expect(plain.decode(id)).toEqual({ states: both, home: null, bound: false, client: null });
  });

  test('is random where a target gave no session, or a thread has it', () => {
    const without = plain.encode(states({ session: 'x' }, null), null);
    expect(JSON.parse(Buffer.from(without, 'base64url').toString())).toMatchObject({
      r: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(plain.encode(states({ session: 'x' }, null), null)).not.toBe(without);
    for (const bound of [true, false]) {
      const owned = plain.encode(both, { home, bound, principal: null });
      expect(plain.encode(both, { home, bound, principal: null })).not.toBe(owned);
      expect(plain.decode(owned)).toEqual({ states: both, home, bound, client: null });
    }
  });

  test.each([
    ['another target', { t: 'mcp', s: [{ t: 'a' }, { t: 'c' }] }],
    ['a target twice', { t: 'mcp', s: [{ t: 'a' }, { t: 'a' }] }],
    ['a target less', { t: 'mcp', s: [{ t: 'a' }] }],
    ['a target more', { t: 'mcp', s: [{ t: 'a' }, { t: 'b' }, { t: 'b' }] }],
    ['names for some', { t: 'mcp', s: [{ t: 'a' }, { s: 'x' }] }],
    ['a session that breaks headers', { t: 'mcp', s: [{ t: 'a', s: 'x\r\ny: z' }, { t: 'b' }] }],
    ['an address that is none', { t: 'mcp', s: [{ t: 'a', b: 'evil.example:80' }, { t: 'b' }] }],
    ['an owner that is none', { t: 'mcp', s: [{ t: 'a' }, { t: 'b' }], o: '../1' }],
    ['a home that is none', { t: 'mcp', s: [{ t: 'a' }, { t: 'b' }], h: 7 }],
    ['a client that is none', { t: 'mcp', s: [{ t: 'a' }, { t: 'b' }], p: 'a"b' }],
    ['an empty client', { t: 'mcp', s: [{ t: 'a' }, { t: 'b' }], p: '' }],
    ['entries that are none', { t: 'mcp', s: [1, null] }],
  ])('with %s is unknown', (_what, content) => {
    expect(plain.decode(idOf(content))).toBe('unknown');
  });

  test('of an older form names its targets by their order', () => {
    expect(plain.decode(idOf({ t: 'mcp', s: [{ s: 'x' }, {}] }))).toMatchObject({
      states: states({ session: 'x' }, { session: undefined }),
    });
  });

  test.each([
    '',
    'no id',
    '1b671a64-40d5-491e-99b0-da01ff1f3341',
    idOf({ t: 'http', backend: 'x' }),
    idOf([]),
    idOf({ t: 'mcp' }),
    `${plain.encode(both, null)}=`,
    `${plain.encode(both, null)}A`,
    idOf({ t: 'mcp', s: [], pad: 'x'.repeat(65536) }),
  ])('that is none is undecodable: %.40s', (id) => {
    expect(plain.decode(id)).toBe('undecodable');
  });

  test('may be any text', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof plain.decode(text) === 'string'));
    fc.assert(
      fc.property(fc.json(), (text) => typeof plain.decode(Buffer.from(text).toString('base64url')) === 'string'),
    );
  });
});

describe('an id with a key', () => {
  test('is nonce, content and tag', () => {
    const id = sealed.encode(both, born);
    const bytes = Buffer.from(id, 'base64');
    expect(bytes.toString('base64')).toBe(id);
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(KEY, 'hex'), bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from('mcp session of /mcp'));
    decipher.setAuthTag(bytes.subarray(-16));
    const content = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
    expect(JSON.parse(content)).toMatchObject({ t: 'mcp', o: '0123456789abcdef.3.aaaabbbb' });
    expect(sealed.decode(id)).toEqual({ states: both, home, bound: true, client: null });
    expect(sealed.encode(both, born)).not.toBe(id);
  });

  test('opens in every replica with the key, and for no other backend, key or targets', () => {
    const id = sealed.encode(both, null);
    const same = { key, backend: '/mcp', targets: ['b', 'a'] };
    expect(new SessionIds(same).decode(id)).toMatchObject({ home: null });
    expect(new SessionIds({ ...same, backend: '/other' }).decode(id)).toBe('unknown');
    expect(new SessionIds({ ...same, key: new Secret('f'.repeat(64)) }).decode(id)).toBe('unknown');
    expect(new SessionIds({ ...same, targets: ['a'] }).decode(id)).toBe('unknown');
  });

  test('cannot be changed in any bit', () => {
    const bytes = Buffer.from(sealed.encode(both, null), 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(sealed.decode(changed.toString('base64'))).toBe('unknown');
    }
  });

  test.each([
    '',
    'x',
    'AAAA',
    `${plain.encode(both, null)}-`,
    Buffer.alloc(28).toString('base64'),
    `${sealed.encode(both, null)} `,
  ])('that is none is undecodable: %.40s', (id) => {
    expect(sealed.decode(id)).toBe('undecodable');
  });

  test('may be any text', () => {
    fc.assert(fc.property(fc.base64String(), (text) => typeof sealed.decode(text) === 'string'));
  });
});

test.each([
  ['hardly anything where everybody reads it', plain, 3],
  ['enough where nobody does', sealed, 22],
])('an id tells of its client %s', (_what, ids, length) => {
  const principal = 'abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE';
  const facts = ids.decode(ids.encode(both, { ...born, principal }));
  expect(facts).toMatchObject({ client: principal.slice(0, length) });
  expect(ids.mark(principal)).toBe(principal.slice(0, length));
  expect(ids.mark(null)).toBeNull();
});

test('a process has one name, and another process another', () => {
  const secret = new SharedArrayBuffer(48);
  const other = new SharedArrayBuffer(48);
  new Uint8Array(other)[0] = 1;
  expect(processNameOf(secret)).toBe(processNameOf(secret));
  expect(processNameOf(secret)).toMatch(/^[0-9a-f]{16}$/);
  expect(processNameOf(other)).not.toBe(processNameOf(secret));
});
