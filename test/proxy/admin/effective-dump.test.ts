import { describe, expect, test } from '@jest/globals';

import { unloadedDump } from '../../../proxy/admin/config-dump/unloaded.ts';
import { decodeConfigDump } from '../../../src/admin/protocol/decode-config-dump.ts';
import { effectivePolicyRows } from '../../../src/admin/views/policies.ts';
import { routeRows } from '../../../src/admin/views/routes.ts';
import { loadConfig } from '../../../src/config/index.ts';

async function dumpOf(text: string) {
  const loaded = await loadConfig({ kind: 'text', text, name: 'config.yaml' }, { env: {} });
  // As it goes over the wire.
  const dump: unknown = JSON.parse(JSON.stringify(unloadedDump({ config: loaded.config, revision: 'r1' })));
  return decodeConfigDump(dump);
}

async function rowsOf(text: string) {
  return effectivePolicyRows(await dumpOf(text));
}

async function shownOf(text: string): Promise<readonly string[]> {
  return (await rowsOf(text)).map(({ at, policy, from, via }) =>
    [`${at}: ${policy} from ${from}`, ...(via.length === 0 ? [] : [`via ${via.join(' > ')}`])].join(' '),
  );
}

const ON_GATEWAY = 'target: {gateway: {gatewayName: default, gatewayNamespace: default}}';

describe('the policies that hold at a place', () => {
  test('are listed for listeners, routes and backends, each with the resource that says so', async () => {
    expect(
      await shownOf(`
gateways: {default: {port: 80, cors: {allowOrigins: ["*"]}}}
backends: [{name: b, host: "127.0.0.1:1", policies: {http: {requestTimeout: 3s}}}]
routes:
- name: r
  policies: {timeout: {requestTimeout: 1s}}
  backends: [{backend: b, policies: {backendTLS: {insecure: true}}}]
policies:
- {name: {name: all, namespace: default}, ${ON_GATEWAY}, policy: {timeout: {requestTimeout: 2s}}}
- {name: {name: wait, namespace: default}, ${ON_GATEWAY}, policy: {delay: {duration: 1ms}}}
- {name: {name: phase, namespace: default}, ${ON_GATEWAY}, phase: gateway, policy: {transformations: {request: {remove: [x-a]}}}}
`),
    ).toEqual([
      'listener default/default: transformations from policy default/phase on gateway default/default',
      'listener default/default: cors from listener default/default',
      'route default/r: timeout from route default/r',
      'route default/r: delay from policy default/wait on gateway default/default',
      'backend b of route default/r: http from backend /b',
      'backend b of route default/r: backendTLS from route default/r backend 0',
    ]);
  });

  test('keep the rules of all levels, each with its own resource', async () => {
    const [row] = await rowsOf(`
gateways: {default: {port: 80}}
routes: [{name: r, policies: {authorization: {rules: ['request.path == "/a"']}, directResponse: {status: 200}}}]
policies: [{name: {name: p, namespace: default}, ${ON_GATEWAY}, policy: {authorization: {rules: [{deny: 'request.method == "PUT"'}]}}}]
`);
    expect(row).toMatchObject({
      policy: 'authorization',
      from: 'policy default/p on gateway default/default, route default/r',
      settings: {
        rules: [
          { deny: 'request.method == "PUT"', source: 'policy default/p on gateway default/default' },
          { allow: 'request.path == "/a"', source: 'route default/r' },
        ],
      },
    });
  });

  test('are told for each way into a route of a group', async () => {
    expect(
      await shownOf(`
gateways: {default: {port: 80}}
routeGroups:
- {name: g, routes: [{name: child, backends: [{routeGroup: h}]}]}
- {name: h, routes: [{name: leaf, policies: {directResponse: {status: 200}}}, {name: back, matches: [{path: {exact: /x}}], backends: [{routeGroup: g}]}]}
routes:
- {name: one, matches: [{path: {exact: /1}}], policies: {timeout: {requestTimeout: 1s}}, backends: [{routeGroup: g}]}
- {name: two, matches: [{path: {exact: /2}}], backends: [{routeGroup: g}]}
`),
    ).toEqual([
      'route default/one: timeout from route default/one',
      'route default/child: timeout from route default/one via gateway/default/default/one',
      'route default/leaf: timeout from route default/one via gateway/default/default/one > routeGroup/g/default/child',
      'route default/leaf: directResponse from route default/leaf via gateway/default/default/one > routeGroup/g/default/child',
      'route default/leaf: directResponse from route default/leaf via gateway/default/default/two > routeGroup/g/default/child',
      'route default/back: timeout from route default/one via gateway/default/default/one > routeGroup/g/default/child',
    ]);
  });

  test('show no credential, and leave what is large where it is written', async () => {
    const keys = Array.from({ length: 500 }, (_, index) => `{key: SECRET${index}, metadata: {n: ${index}}}`);
    const rows = await rowsOf(`
gateways: {default: {port: 80}}
routes:
- name: r
  policies:
    apiKey: {keys: [{key: SECRET, metadata: {team: red}}]}
    requestHeaderModifier: {set: {authorization: SECRET, x-plain: "1"}}
    directResponse: {status: 200}
policies: [{name: {name: p, namespace: default}, ${ON_GATEWAY}, phase: gateway, policy: {apiKey: {keys: [${keys.join(', ')}]}}}]
`);
    expect(JSON.stringify(rows)).not.toContain('SECRET');
    const settings = (at: string, policy: string) =>
      rows.find((row) => row.at.startsWith(at) && row.policy === policy)?.settings;
    expect(settings('listener', 'apiKey')).toBeNull();
    expect(settings('route', 'apiKey')).toMatchObject({ keys: [{ keyHash: '<redacted>', metadata: { team: 'red' } }] });
    expect(settings('route', 'requestHeaderModifier')).toMatchObject({
      set: { authorization: '<redacted>', 'x-plain': '1' },
    });
  });

  test('are told of TCP routes, and in the list of routes', async () => {
    const dump = await dumpOf(`
gateways: {default: {port: 80}, tcp: {port: 90, listeners: [{name: t, protocol: TCP}]}}
routes: [{name: r, policies: {directResponse: {status: 200}}}]
tcpRoutes: [{name: t, gateways: [tcp], backends: [{host: "127.0.0.1:1"}]}]
policies:
- {name: {name: tls, namespace: default}, target: {gateway: {gatewayName: tcp, gatewayNamespace: default}}, policy: {backendTLS: {insecure: true}}}
- {name: {name: late, namespace: default}, ${ON_GATEWAY}, policy: {timeout: {requestTimeout: 2s}}}
`);
    expect(effectivePolicyRows(dump).map(({ at, policy }) => `${at}: ${policy}`)).toEqual([
      'route default/r: timeout',
      'route default/r: directResponse',
      'backend 127.0.0.1:1 of route default/t: backendTLS',
    ]);
    expect(routeRows(dump).map(({ route, policies }) => [route, ...policies])).toEqual([
      ['r', 'timeout', 'directResponse'],
      ['t', 'backendTLS'],
    ]);
  });

  test('name the service that a policy asks, and how', async () => {
    const rows = await rowsOf(`
gateways: {default: {port: 80}}
frontendPolicies: {networkExtAuthz: {host: "127.0.0.1:5", protocol: {http: {}}}}
routes:
- policies:
    extAuthz: {host: "127.0.0.1:2", protocol: {http: {path: '"/check"'}}, failureMode: allow}
    extProc: {conditional: [{condition: 'request.method == "POST"', host: "127.0.0.1:3", processingOptions: {requestBodyMode: none}}]}
    remoteRateLimit: {host: "127.0.0.1:4", domain: d, descriptors: [{entries: [{key: k, value: '"v"'}]}]}
    directResponse: {status: 200}
`);
    const settings = Object.fromEntries(rows.map((row) => [row.policy, row.settings]));
    expect(settings).toMatchObject({
      extAuthz: { host: '127.0.0.1:2', protocol: { http: { path: '"/check"' } }, failureMode: 'allow' },
      extProc: {
        conditional: [
          {
            condition: 'request.method == "POST"',
            host: '127.0.0.1:3',
            processingOptions: { requestBodyMode: 'none' },
          },
        ],
      },
      remoteRateLimit: { host: '127.0.0.1:4', domain: 'd', failureMode: 'failClosed' },
    });
  });
});
