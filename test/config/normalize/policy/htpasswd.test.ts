import { describe, expect, test } from '@jest/globals';

import { parseHtpasswd } from '../../../../src/config/normalize/policy/htpasswd.ts';

function read(text: string) {
  const { users, problems } = parseHtpasswd(text);
  return {
    users: users.map(({ name, scheme, hash }) => `${name} ${scheme} ${hash.reveal()}`),
    problems: problems.map(({ line, message }) => `${line} ${message}`),
  };
}

describe('the lines of an htpasswd file', () => {
  test('are users with hashes, between comments and empty lines', () => {
    const text = '# staff\r\n\n  ann:abNANd1rDfiNc\r\nbob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=:Bob the builder\n';
    expect(read(text)).toEqual({
      users: ['ann des abNANd1rDfiNc', 'bob sha1 {SHA}5en6G6MezRroT3XKqkdPOmY/BfQ='],
      problems: [],
    });
  });

  test.each([
    ['$apr1$RVuXe5ck$a7dMb7Dig1KVt0lLMchKN1', 'md5'],
    ['$1$5ROy4Im6$A8VC/eTOwKeWd8EJMaO4/1', 'md5'],
    ['$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a', 'bcrypt'],
    ['$2x$17$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a', 'bcrypt'],
    ['$5$Utf9GOt3BDnJcyHO$xK6JENT9eoWW1.NKdnoIBPCSIGOON5g3IQ/BhSpWPJ5', 'sha2'],
    ['$5$rounds=999999$$xK6JENT9eoWW1.NKdnoIBPCSIGOON5g3IQ/BhSpWPJ5', 'sha2'],
  ])('%s is a hash: %s', (hash, scheme) => {
    expect(read(`ann:${hash}`).users).toEqual([`ann ${scheme} ${hash}`]);
  });

  test.each([
    ['plain text', 'secret'],
    ['a cost that takes minutes', '$2y$18$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a'],
    ['rounds that take minutes', '$5$rounds=9999999$ab$xK6JENT9eoWW1.NKdnoIBPCSIGOON5g3IQ/BhSpWPJ5'],
    ['a scheme from elsewhere', '$argon2id$v=19$m=4096,t=3,p=1$c2FsdA$aGFzaA'],
    ['a hash that was cut off', '$apr1$RVuXe5ck$a7dMb7Dig1KVt0lLMc'],
    ['an empty salt', '$apr1$$a7dMb7Dig1KVt0lLMchKN1'],
    ['nothing', ''],
  ])('with %s let nobody in, and the message holds none of it', (_what, hash) => {
    const { users, problems } = read(`\nann:${hash}`);
    expect(users).toEqual([]);
    expect(problems).toEqual(['2 has no hash of a known form for the user "ann"']);
  });

  test.each(['ann', ':abNANd1rDfiNc', 'a\u0000nn:abNANd1rDfiNc'])('that are none (%j) are told', (line) => {
    expect(read(line).problems).toEqual(['1 is not user:hash']);
  });

  test('that name a user again replace the earlier line', () => {
    expect(read('ann:abNANd1rDfiNc\nann:arlEKn0OzVJn.')).toEqual({
      users: ['ann des arlEKn0OzVJn.'],
      problems: ['2 is another line of the user "ann", and the one that counts'],
    });
  });
});
