/** User names, passwords and keys that are malformed, hostile or too long, and files of them that are. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

import { afterEach, describe, expect, test } from '@jest/globals';

import { hasTool, RawClient } from './clients.ts';
import { type Answer, type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A gateway with one route, and what of its requests reaches the upstream. */
async function gatewayWith(policies: string) {
  let reached = 0;
  const server = cleanup.add(
    await upstream((request, response) => {
      reached += 1;
      echo(request, response);
    }),
  );
  const backend = `backends: [{host: "127.0.0.1:${server.port}"}]`;
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}\nroutes:\n- ${backend}\n  policies: {${policies}}\n`),
  );
  const port = running.port(80);
  /** Bytes as they are, one for each character. */
  const raw = async (head: string): Promise<string> => {
    const client = new RawClient(port);
    client.write(Buffer.from(`${head}\r\nhost: shop.test\r\nconnection: close\r\n\r\n`, 'latin1'));
    await client.closed;
    return client.text;
  };
  return { ...running, raw, reached: () => reached, ask: (path: string, wanted?: Ask) => ask(port, path, wanted) };
}

/** As it stands in YAML between quotes, where `$` begins a variable. */
function yaml(text: string): string {
  return JSON.stringify(text).replaceAll('$', '$$$$');
}

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');
const basic = (text: string | Uint8Array): Ask => ({ headers: { authorization: `Basic ${base64(text)}` } });

/** `secret`, by crypt(3). */
const DES = 'abNANd1rDfiNc';
const SHA = '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=';
const INVALID = 'basic authentication failure: invalid credentials';
const MISSING = 'basic authentication failure: no basic authentication credentials found';

function refused(answer: Answer, body: string): void {
  expect(answer).toMatchObject({
    status: 401,
    body,
    headers: { 'www-authenticate': 'Basic realm="Restricted"', 'x-gw-reason': 'BasicAuth' },
  });
}

describe('a name and a password', () => {
  const users = ['ann', 'gr\u00fc\u00df', 'a b', 'percent%40'].map((name) => `${name}:${SHA}`).join('\n');

  test.each([
    ['with a zero byte in the name', 'ann\0:secret'],
    ['with a zero byte behind the password', 'ann:secret\0'],
    ['with a line break', 'ann:secret\n'],
    ['with a line break before the name', '\r\nann:secret'],
    ['with a space before the name', ' ann:secret'],
    ['with a space behind the password', 'ann:secret '],
    ['without a name', ':secret'],
    ['without a password', 'ann:'],
    ['without both', ':'],
    ['without a colon', 'annsecret'],
    ['with a colon more', 'ann::secret'],
    ['with another case', 'Ann:secret'],
    ['with the hash for a password', `ann:${SHA}`],
    ['with another way to write the same letters', 'gru\u0308\u00df:secret'],
    ['with a name of objects', '__proto__:secret'],
    ['with another name of objects', 'constructor:secret'],
    ['with 512 bytes of password', `ann:${'x'.repeat(512)}`],
    ['with 513 bytes of password', `ann:${'x'.repeat(513)}`],
    ['with 30 kB of name', `${'a'.repeat(30_000)}:secret`],
  ])('%s are refused', async (_what, text) => {
    const { ask, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}}`);
    refused(await ask('/', basic(text)), INVALID);
    expect(reached()).toBe(0);
  });

  test.each([
    ['in Latin-1', Buffer.from('gr\u00fc\u00df:secret', 'latin1')],
    ['in UTF-8 that is cut', Buffer.from('ann\u00fc:secret').subarray(0, 4)],
    ['in UTF-16', Buffer.from('ann:secret', 'utf16le')],
    ['with overlong bytes', Buffer.from([0x61, 0xc0, 0xba, 0x62])],
  ])('%s are refused', async (_what, bytes) => {
    const { ask, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}}`);
    refused(await ask('/', basic(bytes)), INVALID);
    expect(reached()).toBe(0);
  });

  test.each([
    'YW5uOnNlY3JldA',
    'YW5uOnNlY3JldA=',
    'YW5u\u00fcOnNlY3JldA==',
    'YW5uOnNlY3JldA== x',
    '!!!!',
    '=',
    'ann:secret',
  ])('spelled %s are refused', async (spelled) => {
    const { raw, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}}`);
    const answer = await raw(`GET / HTTP/1.1\r\nauthorization: Basic ${spelled}`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toContain(INVALID);
    expect(reached()).toBe(0);
  });

  test.each([
    ['in UTF-8', 'gr\u00fc\u00df:secret'],
    ['with a space in the name', 'a b:secret'],
    ['with a percent sign in the name', 'percent%40:secret'],
  ])('%s let in', async (_what, text) => {
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}}`);
    const answer = await ask('/', basic(text));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).headers).not.toHaveProperty('authorization');
  });

  test('may follow the scheme in any case, once and behind one space', async () => {
    const { raw, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}}`);
    const good = base64('ann:secret');
    const wrong = base64('ann:guess');
    for (const scheme of ['Basic', 'basic', 'BASIC', 'bAsIc'])
      expect(await raw(`GET / HTTP/1.1\r\nauthorization: ${scheme} ${good}`)).toMatch(/^HTTP\/1\.1 200 /);
    for (const value of [`Basic  ${good}`, `Basic ${good}, Basic ${good}`])
      expect(await raw(`GET / HTTP/1.1\r\nauthorization: ${value}`)).toContain(INVALID);
    for (const value of [`Basic\t${good}`, `Basic${good}`, `Bearer ${good}`, 'Basic', 'Basic ', ''])
      expect(await raw(`GET / HTTP/1.1\r\nauthorization: ${value}`)).toContain(MISSING);
    expect(reached()).toBe(4);
    const twice = await raw(`GET / HTTP/1.1\r\nauthorization: Basic ${good}\r\nauthorization: Basic ${wrong}`);
    expect(twice).toMatch(/^HTTP\/1\.1 200 /);
    expect(twice).not.toMatch(new RegExp(`${good}|${wrong}`));
    const turned = await raw(`GET / HTTP/1.1\r\nauthorization: Basic ${wrong}\r\nauthorization: Basic ${good}`);
    expect(turned).toContain(INVALID);
    expect(reached()).toBe(5);
  });

  test('of 40 kB are refused, of 64 kB not even read', async () => {
    const { ask, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}}`);
    refused(await ask('/', basic(`ann:${'x'.repeat(30_000)}`)), INVALID);
    expect((await ask('/', basic(`ann:${'x'.repeat(64 * 1024)}`))).status).toBe(431);
    expect(reached()).toBe(0);
    expect((await ask('/', basic('ann:secret'))).status).toBe(200);
  });

  test('that are wrong are refused though none would do', async () => {
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(users)}, mode: optional}`);
    expect((await ask('/')).status).toBe(200);
    refused(await ask('/', basic('ann:guess')), INVALID);
    refused(await ask('/', basic('nobody:guess')), INVALID);
  });

  test('may be guessed at a hundred times at once, and its owner still gets in', async () => {
    const slow = '$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a';
    const { ask, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(`ann:${slow}`)}}`);
    const guesses = await Promise.all(Array.from({ length: 100 }, (_, i) => ask('/', basic(`user${i}:guess${i}`))));
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401]));
    expect(reached()).toBe(0);
    expect((await ask('/', basic('ann:secret'))).status).toBe(200);
  });
});

describe('a realm', () => {
  test.each([
    ['quotes and backslashes', String.raw`a "b" \c`, String.raw`Basic realm="a \"b\" \\c"`],
    ['umlauts', 'gr\u00fc\u00df', `Basic realm="${Buffer.from('gr\u00fc\u00df').toString('latin1')}"`],
  ])('may hold %s', async (_what, realm, expected) => {
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: "ann:${DES}", realm: ${yaml(realm)}}`);
    expect((await ask('/')).headers['www-authenticate']).toBe(expected);
  });

  test('never ends the header that it stands in', async () => {
    const { raw } = await gatewayWith(`basicAuth: {htpasswd: "ann:${DES}", realm: "a\u010d\u010ax-evil: 1"}`);
    expect(await raw('GET / HTTP/1.1')).not.toMatch(/^x-evil/m);
    await expect(gatewayWith(`basicAuth: {htpasswd: "ann:${DES}", realm: "a\\r\\nx-evil: 1"}`)).rejects.toThrow(
      /realm/,
    );
  });
});

describe('a file of passwords', () => {
  /** Made by htpasswd of Apache 2.4, and by crypt(3); all of `secret`. */
  const made = {
    bcrypt: '$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a',
    'MD5 of Apache': '$apr1$RVuXe5ck$a7dMb7Dig1KVt0lLMchKN1',
    MD5: '$1$abcdefgh$cHJi5PXp/ki/ktXzqlk6I1',
    SHA,
    DES,
  };

  test('may hold lines of every kind', async () => {
    const lines = Object.entries(made).map(([_kind, hash], i) => `user${i}:${hash}`);
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(lines.join('\n'))}}`);
    for (const i of lines.keys()) {
      expect((await ask('/', basic(`user${i}:secret`))).status).toBe(200);
      refused(await ask('/', basic(`user${i}:Secret`)), INVALID);
      refused(await ask('/', basic(`user${i}:`)), INVALID);
    }
  });

  test('keeps its good lines whatever the others are, and tells of those without their words', async () => {
    const lines = [
      '# a comment',
      '',
      'plain:hunter2',
      'nocolon',
      `:${SHA}`,
      'empty:',
      'cut:$2y$05$abcdefghijklmnopqrstuu',
      'dear:$2y$31$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a',
      `rounds:$6$rounds=999999999$abcdefgh$${'a'.repeat(86)}`,
      'argon:$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA',
      'salted:{SSHA}0c0blFTXXNuAMHECS4uxrj3ZieMoWImr',
      `twice:${made.DES.slice(0, -1)}x`,
      `  spaced:${SHA}  `,
      `noted:${SHA}:a note`,
      `twice:${SHA}`,
      'a'.repeat(100_000),
    ];
    const { ask, log, raw } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(lines.join('\n'))}}`);
    const login = async (name: string, password: string): Promise<number> =>
      (await ask('/', basic(`${name}:${password}`))).status;
    for (const name of ['spaced', 'noted', 'twice']) expect(await login(name, 'secret')).toBe(200);
    expect(await login('plain', 'hunter2')).toBe(401);
    for (const name of ['', 'empty', 'cut', 'dear', 'rounds', 'argon', 'salted', 'nocolon', '# a comment'])
      for (const password of ['', 'secret', 'a']) expect(await login(name, password)).toBe(401);
    expect(await raw('GET / HTTP/1.1')).toContain(MISSING);
    const told = log.filter((line) => line.includes('htpasswd'));
    expect(told.join('\n')).toMatch(/line 3 has no hash of a known form for the user "plain"/);
    expect(log.join('\n')).not.toMatch(/hunter2|argon2id|SSHA/);
  });

  test.each([
    ['nothing', ''],
    ['blanks', ' \n\t\n'],
    ['comments', '# ann:x\n'],
    ['binary', '\u0001\u0002\uffff'],
  ])('of %s lets nobody in', async (_what, text) => {
    const { ask, reached } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(text)}}`);
    for (const credentials of ['ann:', ':', 'ann:x', '# ann:x']) refused(await ask('/', basic(credentials)), INVALID);
    refused(await ask('/'), MISSING);
    expect(reached()).toBe(0);
  });
});

(hasTool('openssl') ? describe : describe.skip)('lines that OpenSSL made', () => {
  test('may be those of a gateway', async () => {
    const passwords = ['secret', 'gr\u00fc\u00df', 'a:b:c', 'p'.repeat(100)];
    const lines = ['-apr1', '-1', '-5', '-6'].flatMap((kind, k) =>
      execFileSync('openssl', ['passwd', kind, '-stdin'], { input: `${passwords.join('\n')}\n` })
        .toString()
        .trim()
        .split('\n')
        .map((hash, p) => `user${k}-${p}:${hash}`),
    );
    expect(lines).toHaveLength(16);
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: ${yaml(lines.join('\r\n'))}}`);
    const logins = lines.map((_line, i) => ask('/', basic(`user${Math.floor(i / 4)}-${i % 4}:${passwords[i % 4]}`)));
    expect(new Set((await Promise.all(logins)).map(({ status }) => status))).toEqual(new Set([200]));
    const swapped = lines.map((_line, i) =>
      ask('/', basic(`user${Math.floor(i / 4)}-${i % 4}:${passwords[(i + 1) % 4]}`)),
    );
    expect(new Set((await Promise.all(swapped)).map(({ status }) => status))).toEqual(new Set([401]));
  });
});

describe('a key', () => {
  const UNKNOWN = 'api key authentication failure: invalid credentials';
  const NONE = 'api key authentication failure: no API Key found';
  const keys = 'keys: [{key: k1}, {key: "gr\u00fc\u00df"}, {key: "a b:c,d;e=f"}]';

  test.each([
    ['with a zero byte', '/?key=k1%00'],
    ['with a line break', '/?key=k1%0d%0a'],
    ['with a space', '/?key=k1+'],
    ['in capitals', '/?key=K1'],
    ['with half an escape', '/?key=k1%'],
    ['with a broken escape', '/?key=k%G1'],
    ['with bytes of no text', '/?key=%ff%fe'],
    ['in Latin-1', '/?key=gr%fc%df'],
    ['of nothing', '/?key='],
    ['that is its hash', `/?key=sha256:${createHash('sha256').update('k1').digest('hex')}`],
    ['of 20 kB', `/?key=${'k'.repeat(20_000)}`],
    ['behind a wrong one', '/?key=k2&key=k1'],
    ['named like every object', '/?key=__proto__'],
  ])('%s is refused', async (_what, path) => {
    const { ask, reached } = await gatewayWith(`apiKey: {${keys}, location: {queryParameter: {name: key}}}`);
    const answer = await ask(path);
    expect([answer.status, answer.body, answer.headers['x-gw-reason']]).toEqual([401, UNKNOWN, 'APIKeyAuth']);
    expect(reached()).toBe(0);
  });

  test('may hold anything, where its place can', async () => {
    const { ask } = await gatewayWith(`apiKey: {${keys}, location: {queryParameter: {name: key}}}`);
    for (const path of [
      '/?key=k1',
      '/?key=%6b%31',
      '/?key=gr%c3%bc%c3%9f',
      '/?key=a+b%3Ac,d%3Be=f',
      '/?key=a%20b:c,d;e=f',
    ])
      expect((await ask(path)).status).toBe(200);
  });

  test('in a header is read as UTF-8, and a zero byte is not even read', async () => {
    const { raw, reached } = await gatewayWith(`apiKey: {${keys}, location: {header: {name: x-key}}}`);
    expect(await raw(`GET / HTTP/1.1\r\nx-key: ${Buffer.from('gr\u00fc\u00df').toString('latin1')}`)).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expect(await raw('GET / HTTP/1.1\r\nx-key: k1\0')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw('GET / HTTP/1.1\r\nx-key:')).toContain(UNKNOWN);
    expect(await raw('GET / HTTP/1.1\r\nx-key: k2\r\nx-key: k1')).toContain(UNKNOWN);
    expect(await raw('GET / HTTP/1.1\r\nx-key: k1, k1')).toContain(UNKNOWN);
    expect(await raw(`GET / HTTP/1.1\r\nx-key: ${'k'.repeat(64 * 1024)}`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await raw('GET / HTTP/1.1\r\nx-kez: k1')).toContain(NONE);
    expect(reached()).toBe(1);
    const twice = await raw('GET / HTTP/1.1\r\nx-key: k1\r\nx-key: k2');
    expect(twice).toMatch(/^HTTP\/1\.1 200 /);
    expect(twice).not.toContain('x-key');
  });

  const digest = createHash('sha256').update('k1').digest('hex');
  test.each([
    ['without its kind', digest],
    ['of another kind', `md5:${digest.slice(32)}`],
    ['of a kind in capitals', `SHA256:${digest}`],
    ['that is short', `sha256:${digest.slice(1)}`],
    ['that is long', `sha256:${digest}0`],
    ['that is no number', `sha256:${digest.slice(1)}g`],
    ['in base64', `sha256:${createHash('sha256').update('k1').digest('base64')}`],
    ['with a line break', `sha256:${digest}\n`],
    ['of no digits', 'sha256:'],
    ['of a key without a character', `sha256:${createHash('sha256').digest('hex')}`],
  ])('cannot be given by a hash %s', async (_what, keyHash) => {
    const failure = await gatewayWith(`apiKey: {keys: [{keyHash: ${yaml(keyHash)}}]}`).catch(String);
    expect(failure).toMatch(/keyHash/);
    expect(failure).toContain('******');
    expect(failure).not.toContain(digest.slice(40, 60));
  });

  test.each([
    ['twice', '[{key: k1}, {key: k1}]', /same key/],
    ['and its hash', `[{key: k1}, {keyHash: "sha256:${digest.toUpperCase()}"}]`, /same key/],
    ['and a hash at once', `[{key: k1, keyHash: "sha256:${digest}"}]`, /exactly one|keyHash/],
    ['of nothing', '[{key: ""}]', /key/],
    ['that is none', '[{metadata: {a: 1}}]', /key/],
    ['that is a number', '[{key: 12345}]', /key/],
  ])('cannot be listed %s', async (_what, list, message) => {
    await expect(gatewayWith(`apiKey: {keys: ${list}}`)).rejects.toThrow(message);
  });

  test('opens nothing where none is listed', async () => {
    const { ask, reached } = await gatewayWith('apiKey: {keys: [], location: {queryParameter: {name: key}}}');
    expect((await ask('/?key=')).status).toBe(401);
    expect((await ask('/?key=undefined')).status).toBe(401);
    expect((await ask('/')).status).toBe(401);
    expect(reached()).toBe(0);
  });
});

test('a configuration that is refused tells the log why, and none of its secrets', async () => {
  const running = await gatewayWith('apiKey: {keys: [{key: hunter2}]}');
  await running.reload(
    'gateways: {default: {port: 80}}\nroutes: [{policies: {apiKey: {keys: [{key: hunter2, mode: x}]}}}]\n',
  );
  await running.logged('failed to reload', 'unknown key');
  const dump = await (await fetch(`${running.admin}/config_dump`)).text();
  expect(running.log.join('\n') + dump).not.toContain('hunter2');
});
