import { describe, expect, test } from '@jest/globals';

import { idleMcpPolicies } from '../../../proxy/policy/idle-mcp-policies.ts';
import { loadConfig } from '../../../src/config/index.ts';

const RULES = 'mcpAuthorization: {rules: ["true"]}';
const SERVERS = 'mcp: {targets: [{name: a, stdio: {cmd: x}}]}';
const HOST = 'host: "127.0.0.1:1"';

async function idleOf(text: string) {
  const source = { kind: 'text', text: `gateways: {default: {port: 80}}\n${text}`, name: 'config.yaml' } as const;
  const { config } = await loadConfig(source, { env: {} });
  return idleMcpPolicies(config).map(({ at, policy }) => `${at.kind} ${at.name} ${policy}`);
}

const onGateway = `policies:
- name: {name: p, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  policy: {${RULES}}`;

describe('rules of MCP without effect', () => {
  test.each([
    [`routes: [{policies: {${RULES}}, backends: [{${HOST}}]}]`, ['route default/route0 mcpAuthorization']],
    [`routes: [{name: r, backends: [{${HOST}, policies: {${RULES}}}]}]`, ['route default/r mcpAuthorization']],
    [`backends: [{name: b, ${HOST}, policies: {${RULES}}}]`, ['backend b mcpAuthorization']],
    [`routes: [{backends: [{${HOST}}]}]\n${onGateway}`, ['policy default/p mcpAuthorization']],
    [
      `routes: [{backends: [{backend: b}]}]\nbackends: [{name: b, ${HOST}}]\n${onGateway.replace(/target:.*/, 'target: {backend: {backend: {name: b, namespace: default}}}')}`,
      ['policy default/p mcpAuthorization'],
    ],
  ])('are told of %s', async (text, found) => {
    expect(await idleOf(text)).toEqual(found);
  });

  test.each([
    `routes: [{policies: {${RULES}}, backends: [{${HOST}}, {${SERVERS}}]}]`,
    `routes: [{backends: [{${SERVERS}, policies: {${RULES}}}]}]`,
    `routes: [{policies: {${RULES}}, backends: [{backend: b}]}]\nbackends: [{name: b, ${SERVERS}, policies: {${RULES}}}]`,
    `routes: [{policies: {${RULES}}, backends: [{routeGroup: g}]}]\nrouteGroups: [{name: g, routes: [{backends: [{${SERVERS}}]}]}]`,
    `${SERVERS}\n${onGateway}`,
    `${SERVERS}\n${onGateway.replace(/target:.*/, 'target: {backend: {backend: {name: mcp, namespace: default, section: a}}}')}`,
    // That it is attached to nothing is told by itself.
    onGateway.replace(/target:.*/, 'target: {route: {name: nope, namespace: default}}'),
  ])('are not told of %s', async (text) => {
    expect(await idleOf(text)).toEqual([]);
  });
});
