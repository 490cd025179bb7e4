import { describe, expect, test } from '@jest/globals';
import { parseMcpAddress } from '../../../../src/config/normalize/mcp/place.ts';

const tcp = (host: string, port: number) => ({ kind: 'tcp', host, port });

describe('the address of an MCP server', () => {
  test.each([
    ['http://localhost', { target: tcp('localhost', 80), tls: false, path: undefined }],
    ['https://api.example.com', { target: tcp('api.example.com', 443), tls: true, path: undefined }],
    ['HTTPS://API.example.com:8443/MCP', { target: tcp('api.example.com', 8443), tls: true, path: '/MCP' }],
    ['http://localhost/', { target: tcp('localhost', 80), tls: false, path: '/' }],
    ['http://localhost?a=1', { target: tcp('localhost', 80), tls: false, path: '/?a=1' }],
    ['http://[::1]:3000/a/b?c=/d', { target: tcp('::1', 3000), tls: false, path: '/a/b?c=/d' }],
    ['localhost:3000', { target: tcp('localhost', 3000), tls: false, path: undefined }],
    ['unix:/run/mcp.sock', { target: { kind: 'unix', path: '/run/mcp.sock' }, tls: false, path: undefined }],
  ])('%s is understood', (host, address) => {
    expect(parseMcpAddress({ host, port: undefined, path: undefined })).toEqual(address);
  });

  test.each([
    ['localhost', 'port is missing'],
    ['localhost:3000/mcp', 'such as http://localhost:3000/mcp'],
    ['ws://localhost', 'starts with http'],
    ['http://', 'such as http'],
    ['http://a b/', 'such as http'],
    ['http://a:b@localhost/', 'without a user'],
    ['http://localhost/#x', 'without a fragment'],
    ['http://localhost/#', 'without a fragment'],
    ['http://localhost:0/', 'port number'],
    ['http://localhost:99999/', 'such as http'],
  ])('%s is refused with a reason', (host, reason) => {
    expect(parseMcpAddress({ host, port: undefined, path: undefined })).toContain(reason);
  });

  test.each([
    ['localhost', tcp('localhost', 1)],
    ['::1', tcp('::1', 1)],
    ['[::1]', tcp('::1', 1)],
    ['10.0.0.1', tcp('10.0.0.1', 1)],
  ])('%s next to a port and a path is a host', (host, target) => {
    expect(parseMcpAddress({ host, port: 1, path: '/x' })).toEqual({ target, tls: false, path: '/x' });
  });

  test.each([
    ['http://localhost', 'without a scheme'],
    ['localhost:80', 'expected'],
    ['a/b', 'host name'],
  ])('%s next to a port and a path is refused', (host, reason) => {
    expect(parseMcpAddress({ host, port: 1, path: '/x' })).toContain(reason);
  });
});
