import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '../../../src/config/index.ts';
import { nearest } from '../../../src/config/load/suggest.ts';
import { parseAddress } from '../../../src/config/normalize/address.ts';
import { parseHostTarget } from '../../../src/config/normalize/host-target.ts';

describe('the host of a backend', () => {
  test.each([
    ['localhost:80', { kind: 'tcp', host: 'localhost', port: 80 }],
    ['API.Example.com:443', { kind: 'tcp', host: 'api.example.com', port: 443 }],
    ['10.0.0.1:65535', { kind: 'tcp', host: '10.0.0.1', port: 65535 }],
    ['[::1]:80', { kind: 'tcp', host: '::1', port: 80 }],
    ['[2001:DB8::1]:1', { kind: 'tcp', host: '2001:db8::1', port: 1 }],
    ['my_service.local.:80', { kind: 'tcp', host: 'my_service.local.', port: 80 }],
    ['unix:/run/x.sock', { kind: 'unix', path: '/run/x.sock' }],
  ])('%s is understood', (text, target) => {
    expect(parseHostTarget(text)).toEqual(target);
  });

  test.each([
    ['localhost', 'port is missing'],
    ['localhost:', 'port number'],
    ['localhost:0', 'port number'],
    ['localhost:65536', 'port number'],
    ['localhost:80x', 'port number'],
    [':80', 'host name'],
    ['http://a:80', 'without a scheme'],
    ['::1:80', 'port number'],
    ['[::1]', 'port is missing'],
    ['[nope]:80', 'IPv6 address in the brackets'],
    ['a b:80', 'host name'],
    ['-a:80', 'host name'],
    [`${'a'.repeat(254)}:80`, 'host name'],
    ['unix:', 'absolute path'],
    ['unix:relative', 'absolute path'],
    [`unix:/${'a'.repeat(107)}`, 'at most 107 bytes'],
  ])('%s is refused with a reason', (text, reason) => {
    expect(parseHostTarget(text)).toContain(reason);
  });
});

describe('the address of a local server', () => {
  test.each([
    ['off', { kind: 'off' }],
    ['localhost:15000', { kind: 'tcp', hosts: ['127.0.0.1', '::1'], port: 15000 }],
    ['0.0.0.0:0', { kind: 'tcp', hosts: ['0.0.0.0'], port: 0 }],
    ['[::]:15020', { kind: 'tcp', hosts: ['::'], port: 15020 }],
    ['unix:/run/admin.sock', { kind: 'unix', path: '/run/admin.sock' }],
  ])('%s is understood', (text, address) => {
    expect(parseAddress(text, true)).toEqual(address);
  });

  test('localhost is only the first family without IPv6', () => {
    expect(parseAddress('localhost:1', false)).toEqual({ kind: 'tcp', hosts: ['127.0.0.1'], port: 1 });
  });

  test.each([
    '',
    'on',
    ':80',
    '80',
    'example.com:80',
    '::1:80',
    '[::1]',
    '[x]:80',
    '1.2.3.4:99999',
    'unix:',
    '1.2.3:80',
    'localhost:1e3',
  ])('%j is refused', (text) => {
    expect(typeof parseAddress(text, true)).toBe('string');
  });
});

describe('scalars', () => {
  async function load(yaml: string): Promise<unknown> {
    try {
      return (
        await loadConfig(
          { kind: 'text', text: `gateways: {default: {port: 1}}\n${yaml}`, name: 't' },
          { env: {}, cpus: 1 },
        )
      ).config;
    } catch (error) {
      return error instanceof ConfigError ? error.issues.map((issue) => issue.message).join('\n') : error;
    }
  }
  const timeout = (value: string) => load(`routes: [{policies: {timeout: {requestTimeout: ${value}}}}]`);
  const size = (value: string) => load(`frontendPolicies: {http: {maxBufferSize: ${value}}}`);

  test.each([
    ['1s', 1000],
    ['300ms', 300],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['.5s', 500],
    ['2us', 0.002],
    ['2µs', 0.002],
    ['500us', 0.5],
    ['99999h', 359_996_400_000],
    ['1h1m1s1ms', 3_661_001],
  ])('the duration %s', async (text, ms) => {
    expect(await timeout(text)).toMatchObject({
      binds: [{ listeners: [{ routes: [{ policies: { timeout: { requestTimeoutMs: ms } } }] }] }],
    });
  });

  test.each(['5', '5 s', '-1s', '1d', 's', '""', '"1s "', '1e3s', '0', '0s', `"${'1h'.repeat(17)}"`, 'true', '[]'])(
    'the duration %s is refused',
    async (text) => {
      expect(await timeout(text)).toContain('expected a duration');
    },
  );

  test.each([
    ['1', 1],
    ['2097152', 2_097_152],
    ['"1024"', 1024],
    ['1k', 1000],
    ['1.5Ki', 1536],
    ['2Mi', 2_097_152],
    ['1G', 1e9],
  ])('the size %s', async (text, bytes) => {
    expect(await size(text)).toMatchObject({ frontend: { http: { maxBufferSize: bytes } } });
  });

  test.each(['-1', '1.5', '1MB', '2 Mi', '""', '0.3', 'Mi', '9999Pi', `"${'1'.repeat(33)}"`])(
    'the size %s is refused',
    async (text) => {
      expect(typeof (await size(text))).toBe('string');
    },
  );

  test('a delay is a duration, or else an expression', async () => {
    const delayed = (text: string) => load(`routes: [{policies: {delay: {duration: ${text}}}}]`);
    const holding = (delay: object) => ({ binds: [{ listeners: [{ routes: [{ policies: { delay } }] }] }] });
    expect(await delayed('1m30s')).toMatchObject(holding({ kind: 'fixed', durationMs: 90_000 }));
    expect(await delayed('size(request.path) * 10')).toMatchObject(
      holding({ kind: 'expression', expression: 'size(request.path) * 10' }),
    );
    expect(await delayed('"100"')).toMatchObject(holding({ kind: 'expression', expression: '100' }));
    expect(await delayed('-5s')).toContain('column');
    expect(await delayed('100')).toContain('expected a duration with a unit, such as 250ms, or an expression');
  });

  test('a direct response holds at most 4096 characters', async () => {
    expect(
      await load(`routes: [{policies: {directResponse: {status: 200, body: "${'x'.repeat(4096)}"}}}]`),
    ).toHaveProperty('binds');
    expect(await load(`routes: [{policies: {directResponse: {status: 200, body: "${'x'.repeat(4097)}"}}}]`)).toContain(
      'at most 4096',
    );
  });
});

describe('the nearest word', () => {
  test.each([
    ['hostname', 'hostnames'],
    ['hots', 'host'],
    ['Backends', 'backends'],
    ['request_timeout', 'requestTimeout'],
    ['polices', 'policies'],
    ['rouets', 'routes'],
  ])('%s is meant as %s', (word, meant) => {
    expect(nearest(word, ['host', 'hostnames', 'backends', 'requestTimeout', 'policies', 'routes'])).toBe(meant);
  });

  test.each(['xyz', 'zebra', '', 'a'.repeat(1000)])('%j is meant as nothing known', (word) => {
    expect(nearest(word, ['host', 'hostnames', 'backends'])).toBeUndefined();
  });
});
