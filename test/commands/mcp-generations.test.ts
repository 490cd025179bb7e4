/** `gwctl mcp` finds out by itself what stands behind the gateway. */
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type RunningGateway, startGateway } from '../e2e/gateway.ts';
import { type RunningServer, startEverything } from '../mcp/everything.ts';
import { startModern } from '../mcp/modern-server.ts';
import { gwctl } from './gwctl.ts';

const MODERN = join(import.meta.dirname, '../mcp/modern-server.ts');
const EVERYTHING = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

let servers: RunningServer[];
let gateway: RunningGateway;
beforeAll(async () => {
  servers = await Promise.all([startModern(), startModern('stateless'), startEverything(), startEverything('sse')]);
  const [alone, both, streamable, sse] = servers.map(({ url }) => url);
  const program = (path: string, ...args: string[]): string =>
    `stdio: {cmd: "${process.execPath}", args: ["${[path, ...args].join('", "')}"]}`;
  const targets = [
    `{name: new, mcp: {host: "${alone}"}}`,
    `{name: new, mcp: {host: "${both}"}}`,
    `{name: new, ${program(MODERN, 'modern')}}`,
    `{name: old, mcp: {host: "${streamable}"}}`,
    `{name: old, sse: {host: "${sse}"}}`,
    `{name: old, ${program(EVERYTHING, 'stdio')}}`,
    `{name: new, mcp: {host: "${alone}"}}, {name: old, mcp: {host: "${streamable}"}}`,
  ];
  const binds = targets.map(
    (all, i) =>
      `- {port: ${80 + i}, listeners: [{routes: [{name: r${i}, backends: [{mcp: {prefixMode: always, targets: [${all}]}}]}]}]}`,
  );
  gateway = await startGateway(`binds:\n${binds.join('\n')}`);
});
afterAll(async () => {
  await gateway.close();
  await Promise.all(servers.map((server) => server.close()));
});

test.each([
  ['a modern server', 80, ['new']],
  ['a server of both generations', 81, ['new']],
  ['a modern program', 82, ['new']],
  ['an older server', 83, ['old']],
  ['one of the older transport', 84, ['old']],
  ['an older program', 85, ['old']],
  ['an older and a modern one', 86, ['new', 'old']],
])('%s is listed and called', async (_what, port, targets) => {
  const url = `http://127.0.0.1:${gateway.port(port)}/mcp`;
  const listed = await gwctl(['mcp', 'tools', '--url', url, '-o', 'name']);
  expect(listed.code).toBe(0);
  const names = listed.stdout.trim().split('\n');
  for (const target of targets) {
    expect(names).toContain(`${target}_echo`);
    const argument = target === 'old' ? 'message=x y' : 'text=x y';
    const called = await gwctl(['mcp', 'call', `${target}_echo`, argument, '--url', url]);
    expect([called.code, called.stderr]).toEqual([0, '']);
    expect(called.stdout).toContain('x y');
  }
});

test('what a tool of a modern server wants to know is not asked where nobody sits', async () => {
  const url = `http://127.0.0.1:${gateway.port(80)}/mcp`;
  const { code, stdout, stderr } = await gwctl(['mcp', 'call', 'new_ask', '--url', url]);
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(/elicitation/);
});
