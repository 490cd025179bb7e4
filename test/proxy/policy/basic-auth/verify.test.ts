import { execFileSync } from 'node:child_process';

import { describe, expect, test } from '@jest/globals';

import { verify } from '../../../../proxy/policy/basic-auth/verify.ts';
import { parseHtpasswd } from '../../../../src/config/normalize/policy/htpasswd.ts';
import { hasTool } from '../../listener/harness.ts';

const UMLAUTS = 'gr\u00fc\u00df dich';

function matches(password: string, hash: string): boolean {
  const user = parseHtpasswd(`ann:${hash}`).users[0];
  if (user === undefined) throw new Error(`no user in ${hash}`);
  return verify(password, user.hash.reveal(), user.scheme);
}

/** Made by crypt(3) of libxcrypt 4, and (SHA-1) by sha1sum and base64. */
const made: readonly (readonly [string, string])[] = [
  ['secret', 'abNANd1rDfiNc'],
  [UMLAUTS, 'x.jCVuDD/Vlzg'],
  ['secret', '$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW'],
  ['secret', '$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a'],
  ['secret', '$2x$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW'],
  ['gr\u00fc\u00df', '$2a$04$abcdefghijklmnopqrstuumRc74gqYFUERjvXKmveuw.9JxTA5CKu'],
  ['p'.repeat(80), '$2a$04$abcdefghijklmnopqrstuuNt.0ah97gHY3F7JC1Z6EXmQc0bQBhIO'],
  [
    'secret',
    '$6$rounds=1500$abcdefgh$syvtMLFsWsXCpuRPQUwd44b7UM3XmyR5rUqBGVm3nds8aNPU1AsM0TlMXHji8q4Hr8QD7qQ76ry1zJ/Yl5jw.1',
  ],
  ['secret', '$6$$2M9DchxW4txWyTYoZrH9D3VvAAQxBpEezYsLY6Cao.jwzEXpyL9xwip9hiUZX7GqTqe/E/z6iKvZqXUuqniQH.'],
  ['secret', '$1$abcdefgh$cHJi5PXp/ki/ktXzqlk6I1'],
  ['secret', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='],
];

describe('a password', () => {
  test.each(made)('%j is that of %s, and no other is', (password, hash) => {
    expect(matches(password, hash)).toBe(true);
    expect(matches(`x${password}`, hash)).toBe(false);
    expect(matches('', hash)).toBe(false);
  });

  test('beyond ASCII is never that of a hash whose maker got it wrong', () => {
    expect(matches('gr\u00fc\u00df', '$2x$04$abcdefghijklmnopqrstuumRc74gqYFUERjvXKmveuw.9JxTA5CKu')).toBe(false);
  });
});

(hasTool('openssl') ? describe : describe.skip)('a hash that OpenSSL made', () => {
  const passwords = [
    'a',
    'secret',
    UMLAUTS,
    ...[15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 200].map((n) => 'p'.repeat(n)),
  ];

  test.each(['-apr1', '-1', '-5', '-6'])('with %s is that of its password, whatever its length', (kind) => {
    const lines = execFileSync('openssl', ['passwd', kind, '-stdin'], { input: `${passwords.join('\n')}\n` });
    const hashes = lines.toString().trim().split('\n');
    expect(hashes).toHaveLength(passwords.length);
    for (const [index, password] of passwords.entries()) {
      expect(matches(password, hashes[index] ?? '')).toBe(true);
      expect(matches(`${password}x`, hashes[index] ?? '')).toBe(false);
    }
  });
});
