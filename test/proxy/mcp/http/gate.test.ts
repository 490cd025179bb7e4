import { describe, expect, test } from '@jest/globals';

import { refuse, type Reason } from '../../../../proxy/exchange/refusal.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { rebindingRefusal } from '../../../../proxy/mcp/http/dns-rebinding.ts';
import { rpcEnvelopeFor } from '../../../../proxy/mcp/http/refusals.ts';
import { isForTargetItself } from '../../../../proxy/mcp/http/well-known.ts';
import type { McpServer, McpTarget } from '../../../../src/config/ir/index.ts';
import { harness, INITIALIZE, post } from './harness.ts';

function refused(authority: string, ...origins: string[]): boolean {
  const headers = Headers.from(origins.map((origin) => ['origin', origin] as const));
  return rebindingRefusal({ clientAuthority: authority, request: { headers } }) !== null;
}

describe('the protection against DNS rebinding', () => {
  test.each(['localhost', 'LocalHost:80', '127.0.0.1', '127.0.0.1:3000', '[::1]', '[::1]:1'])(
    'lets %s pass',
    (host) => {
      expect(refused(host)).toBe(false);
    },
  );

  test.each([
    '',
    'evil.test',
    'localhost.evil.test',
    'localhost:x',
    '127.0.0.2',
    '127.0.0.1.evil.test',
    '[::2]',
    'a@localhost',
    '0.0.0.0',
  ])('refuses %j', (host) => expect(refused(host)).toBe(true));

  test.each(['http://localhost', 'https://LOCALHOST:8443/', 'http://127.0.0.1:5173', 'http://[::1]:1'])(
    'lets the origin %s pass',
    (origin) => {
      expect(refused('localhost', origin)).toBe(false);
    },
  );

  test.each([
    'null',
    '',
    'http://evil.test',
    'ftp://localhost',
    'http://a@localhost',
    'http://localhost/x',
    'http://localhost?x',
    'http://localhost#x',
    'localhost',
  ])('refuses the origin %j', (origin) => expect(refused('localhost', origin)).toBe(true));

  test('refuses several origins', () => {
    expect(refused('localhost', 'http://localhost', 'http://localhost')).toBe(true);
  });

  test('answers 403 before anything else is looked at', async () => {
    await using gw = await harness({ dnsRebindingProtection: true });
    const answer = await post(gw.url, 'no message', { origin: 'http://evil.test' });
    expect(answer.status).toBe(403);
    expect(answer.text).toMatch(/^MCP DNS rebinding protection:/);
    expect(answer.headers.get('x-gw-reason')).toBe('MCP');
    expect((await post(gw.url, INITIALIZE, { accept: '*/*' })).status).toBe(406);
  });
});

describe('documents of the only target', () => {
  const at = { kind: 'host', target: { kind: 'tcp', host: 'a', port: 1 } } as const;
  const target = (server: McpServer): McpTarget => ({ name: 'a', key: 'k/a', server, policies: {}, defaults: {} });
  const http = target({ kind: 'streamable', at, path: '/mcp' });
  const program = target({ kind: 'stdio', command: 'x', args: [], env: {}, clearEnv: false });
  const asks = (path: string, method = 'GET', clientAuthority = 'gw.test') => ({
    clientAuthority,
    request: { method, target: path, headers: new Headers() },
  });
  const backend = (...targets: McpTarget[]) => ({ targets, dnsRebindingProtection: false });

  test.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp?x',
    '/.well-known/oauth-authorization-server/mcp',
  ])('%s goes to it', (path) => {
    expect(isForTargetItself(asks(path), backend(http))).toBe(true);
    expect(isForTargetItself(asks(path, 'OPTIONS'), backend(http))).toBe(true);
    expect(isForTargetItself(asks(path, 'POST'), backend(http))).toBe(false);
    expect(isForTargetItself(asks(path), backend(http, http))).toBe(false);
    expect(isForTargetItself(asks(path), backend(program))).toBe(false);
    expect(isForTargetItself(asks(path), backend())).toBe(false);
    expect(isForTargetItself(asks(path), { ...backend(http), dnsRebindingProtection: true })).toBe(false);
    const local = asks(path, 'GET', 'localhost:3000');
    expect(isForTargetItself(local, { ...backend(http), dnsRebindingProtection: true })).toBe(true);
  });

  test.each([
    '/mcp',
    '/.well-known/oauth-protected-resourceful',
    '/x/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/../../admin',
    '/.well-known/oauth-protected-resource/..',
    '/.well-known/oauth-protected-resource/..;/admin',
    '/.well-known/oauth-protected-resource/..\\..\\admin',
    '/.well-known/oauth-protected-resource/%2E%2e/admin',
    '/.well-known/oauth-protected-resource/..%2fadmin',
    '/.well-known/oauth-protected-resource/%252e%252e/admin',
  ])('%s does not', (path) => expect(isForTargetItself(asks(path), backend(http))).toBe(false));
});

test('errors that know nothing of MCP are told in its words', () => {
  const told = (status: number, reason: Reason): object | undefined =>
    rpcEnvelopeFor(refuse(status, reason, 'no'))?.(status, 'no');
  expect(told(429, 'RateLimit')).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no' } });
  expect(told(504, 'Timeout')).toMatchObject({ error: { code: -32_603 } });
  expect(told(406, 'MCP')).toBeUndefined();
});
