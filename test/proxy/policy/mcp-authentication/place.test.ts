import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { oauthPlace, publicAddress, resourceMetadataUrl } from '../../../../proxy/policy/mcp-authentication/place.ts';
import { traced } from '../../exchange/build.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

describe('a path of OAuth', () => {
  test.each([
    [RESOURCE, 'resource', ''],
    [`${RESOURCE}/`, 'resource', '/'],
    [`${RESOURCE}/a/mcp`, 'resource', '/a/mcp'],
    [`/a/mcp${RESOURCE}`, 'resource', '/a/mcp'],
    [`${SERVER}/mcp`, 'server', '/mcp'],
    [`/mcp${SERVER}`, 'server', '/mcp'],
    [`${SERVER}/mcp/client-registration`, 'client-registration', '/mcp'],
    [`/mcp${SERVER}/client-registration`, 'client-registration', '/mcp'],
    [`${SERVER}/client-registration`, 'client-registration', ''],
    [`${SERVER}/mcp/token`, 'token', '/mcp'],
    [`${SERVER}/mcp/authorize`, 'authorize', '/mcp'],
    [`${RESOURCE}/mcp/token`, 'resource', '/mcp/token'],
  ])('%s is %s', (path, kind, resource) => {
    expect(oauthPlace(path, true)).toMatchObject({ kind, at: { resource } });
  });

  test.each([
    '/mcp',
    '/client-registration',
    `${RESOURCE}x`,
    `/a${SERVER}/mcp`,
    '/.well-known/oauth-',
    '/.well-known/openid-configuration',
    `${SERVER.toUpperCase()}/mcp`,
    '*',
    '',
  ])('%j is none', (path) => {
    expect(oauthPlace(path, true)).toBeNull();
  });

  test('belongs to the metadata where the endpoints of the provider are not behind the gateway', () => {
    expect(oauthPlace(`${SERVER}/mcp/token`, false)).toMatchObject({ kind: 'server', at: { resource: '/mcp/token' } });
  });
});

describe('the public address', () => {
  const at = (asked: string, now: string, headers: Headers = new Headers()): string => {
    const { exchange } = traced({ target: asked, authority: 'mcp.test', headers });
    exchange.request.target = now;
    exchange.request.authority = 'inner.test';
    return resourceMetadataUrl(publicAddress(exchange, null));
  };

  test.each([
    ['/mcp', '/mcp', `http://mcp.test${RESOURCE}/mcp`],
    ['/mcp?q=1', '/mcp', `http://mcp.test${RESOURCE}/mcp`],
    ['/tools/mcp', '/mcp', `http://mcp.test/tools${RESOURCE}/mcp`],
    ['/t"/mcp', '/mcp', `http://mcp.test/t%22${RESOURCE}/mcp`],
    ['/mcp', '/inner/mcp', `http://mcp.test${RESOURCE}/mcp`],
    ['/one', '/two', `http://mcp.test${RESOURCE}/one`],
    ['/a\\b<c>', '/a\\b<c>', `http://mcp.test${RESOURCE}/a%5Cb%3Cc%3E`],
    ['*', '*', `http://mcp.test${RESOURCE}`],
  ])('of %s, rewritten to %s, is %s', (asked, now, url) => {
    expect(at(asked, now)).toBe(url);
  });

  test('has the scheme that a proxy in front tells, and no other word of it', () => {
    const told = (value: string): string => at('/mcp', '/mcp', Headers.from([['x-forwarded-proto', value]]));
    expect(told('https')).toMatch(/^https:\/\/mcp\.test\//);
    expect(told(' HTTPS , http')).toMatch(/^https:\/\//);
    for (const value of ['', 'ftp', 'https://evil.test', 'http, https'])
      expect(told(value)).toMatch(/^http:\/\/mcp\.test\//);
  });
});
