import { describe, expect, test } from '@jest/globals';

import { parseTarget } from '../../../proxy/backends/dynamic-backend.ts';
import { endpointIdentities } from '../../../proxy/backends/endpoint-identity.ts';
import { EndpointStore } from '../../../proxy/backends/endpoint-store.ts';
import { EndpointView } from '../../../proxy/backends/endpoint-view.ts';
import { upstreamProtocol, type ProtocolFacts } from '../../../proxy/backends/protocol.ts';
import { explainFailure, refusalOf } from '../../../proxy/backends/refusal.ts';
import {
  type BackendDeps,
  type BackendTable,
  type BackendTarget,
  compileBackends,
} from '../../../proxy/backends/resolve.ts';
import type { PickFacts, Picked, Refused } from '../../../proxy/backends/resolved.ts';
import { UpstreamError, type UpstreamFailureKind } from '../../../proxy/backends/upstream.ts';
import type { GatewayConfig, HostTarget, NamedBackend, Service, Workload } from '../../../src/config/ir/index.ts';
import { backendDefaults, contexts } from './rig.ts';

const processConfig: GatewayConfig['process'] = {
  enableIpv6: true,
  dns: { lookupFamily: 'Auto' },
  adminAddr: { kind: 'off' },
  statsAddr: { kind: 'off' },
  readinessAddr: { kind: 'off' },
  env: {},
  sensitiveHeaders: [],
  terminationMaxDeadlineMs: 0,
  terminationMinDeadlineMs: 0,
  workerThreads: 1,
  logging: { level: 'info', format: 'text' },
  metrics: { add: [], remove: [] },
  telemetry: { serviceName: 'gwctl', attributes: [] },
  histograms: 'classic',
  mcpSessions: { ttlMs: 1_800_000 },
  backend: backendDefaults,
};

const frontend: GatewayConfig['frontend'] = {
  http: {
    maxBufferSize: 1,
    http1MaxHeaders: 1,
    http1IdleTimeoutMs: 1,
    http1HeaderCase: 'lowercase',
    streamIdleTimeoutMs: 1,
    forwardedHeaders: 'off',
  },
  tls: { handshakeTimeoutMs: 1 },
  connect: { mode: 'deny' },
  accessLog: { add: [], remove: [] },
};

function config(parts: Partial<GatewayConfig> = {}): GatewayConfig {
  return {
    process: processConfig,
    binds: [],
    routeGroups: [],
    backends: [],
    policies: [],
    frontend,
    services: [],
    workloads: [],
    ...parts,
  };
}

function table(parts: Partial<GatewayConfig>, deps: Partial<BackendDeps> = {}): BackendTable {
  const whole = config(parts);
  const store = new EndpointStore(64);
  const rows = store.acquireAll(endpointIdentities(whole));
  return compileBackends(whole, { rows, view: new EndpointView(store.buffer), contexts, ...deps });
}

const facts: PickFacts = {
  authority: 'client.test',
  scheme: 'http',
  clientVersion: 'HTTP/1.1',
  grpc: false,
  upgrade: false,
  downstreamTls: false,
};

function picked(result: Picked | Refused): Picked {
  if (result.kind === 'refused') throw new Error(result.refusal.message);
  return result;
}

function refusal(result: Picked | Refused): unknown[] {
  return result.kind === 'refused' ? [result.refusal.status, result.refusal.message] : ['picked'];
}

function named(name: string, target: HostTarget): NamedBackend {
  return { name, backend: { kind: 'host', key: `/${name}`, target }, policies: {} };
}

describe('a host backend', () => {
  const reference: BackendTarget = { kind: 'reference', backend: '/shop' };
  const tcp = (host: string, port: number): HostTarget => ({ kind: 'tcp', host, port });

  test.each([
    ['a name on the default port', tcp('shop.test', 80), 'shop.test'],
    ['a name on another port', tcp('shop.test', 8080), 'shop.test:8080'],
    ['an IP address', tcp('10.0.0.1', 80), null],
    ['an IPv6 address', tcp('::1', 80), null],
    ['a unix socket', { kind: 'unix', path: '/run/a.sock' } as const, null],
  ])('%s gives the upstream authority', (_name, target, authority) => {
    const backend = table({ backends: [named('shop', target)] }).resolve(reference, {});
    expect(picked(backend.pick(facts)).authorityHost).toBe(authority);
    expect(picked(backend.pick(facts)).origin.address).toEqual(target);
  });

  test('over TLS has another default port', () => {
    const tls = { backendTLS: { verify: 'none' } } as const;
    const backend = table({ backends: [named('shop', tcp('shop.test', 443))] }).resolve(reference, tls);
    expect(picked(backend.pick(facts)).authorityHost).toBe('shop.test');
  });

  test('picks the same object again and again', () => {
    const backend = table({ backends: [named('shop', tcp('shop.test', 80))] }).resolve(reference, {});
    expect(backend.pick(facts)).toBe(backend.pick({ ...facts, authority: 'other.test' }));
  });

  test('is one object for equal policies, and another pool for different ones', () => {
    const backends = table({ backends: [named('shop', tcp('shop.test', 80))] });
    const plain = backends.resolve(reference, {});
    expect(backends.resolve({ ...reference }, {})).toBe(plain);
    const keys = [
      {},
      { tcp: { connectTimeoutMs: 5 } },
      { backendTLS: { verify: 'none' } as const },
      { backendTLS: { verify: 'chain' } as const },
      { http: { version: 'HTTP/2.0' } as const },
    ].map((policies) => picked(backends.resolve(reference, policies).pick(facts)).origin.key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(backends.originKeys().has(key)).toBe(true);
  });

  test('is found by both spellings; a reference to nothing is an error', () => {
    const backends = table({ backends: [named('shop', tcp('shop.test', 80))] });
    expect(backends.resolve({ kind: 'reference', backend: 'shop' }, {}).key).toBe('/shop');
    expect(() => backends.resolve({ kind: 'reference', backend: 'shpo' }, {})).toThrow('backend shpo does not exist');
  });

  test('takes raw bytes without offering HTTP', () => {
    const backends = table({ backends: [named('shop', tcp('shop.test', 443))] });
    const tunnel = picked(backends.resolve(reference, { backendTLS: { verify: 'none' } }).pickTunnel(null));
    expect(tunnel.origin.tls?.alpn).toEqual([]);
  });
});

describe('a dynamic backend', () => {
  const target: BackendTarget = { kind: 'inline', backend: { kind: 'dynamic', key: 'r/backend0' } };
  const rows = new Map([['dynamic/r/backend0', 0]]);
  const dynamic = () => table({}, { rows }).resolve(target, {});

  test.each([
    ['shop.test', 'http', 'shop.test', 80],
    ['Shop.test:81', 'http', 'shop.test', 81],
    ['shop.test', 'https', 'shop.test', 443],
    ['[::1]:81', 'http', '::1', 81],
    ['10.0.0.1', 'http', '10.0.0.1', 80],
  ] as const)('dials %s of a %s request at %s port %s', (authority, scheme, host, port) => {
    const pick = picked(dynamic().pick({ ...facts, authority, scheme }));
    expect(pick.origin).toMatchObject({ address: { kind: 'tcp', host, port }, ephemeral: true });
  });

  test.each([
    '',
    ':80',
    'user@shop.test',
    'shop.test:0',
    'shop.test:x',
    'shop.test:70000',
    '[::1',
    '[shop]:80',
    'a b',
    'a/b',
  ])('refuses %j', (authority) => {
    expect(refusal(dynamic().pick({ ...facts, authority }))).toEqual([400, 'invalid request']);
  });

  test('needs a port for raw bytes', () => {
    expect(refusal(dynamic().pickTunnel('shop.test'))).toEqual([400, 'invalid request']);
    expect(refusal(dynamic().pickTunnel(null))).toEqual([400, 'invalid request']);
    expect(picked(dynamic().pickTunnel('shop.test:22')).origin.address).toMatchObject({ port: 22 });
  });

  test('parses any text without harm', () => {
    for (const text of ['[', ']', '[]', '[]:1', '::', '::1', 'a:b:c', '\0', 'é', 'a'.repeat(10_000)]) {
      expect(parseTarget(text, 80)).toBeNull();
    }
  });
});

const workload = (uid: string, change: Partial<Workload> = {}): Workload => ({
  uid,
  name: uid,
  namespace: 'apps',
  workloadIps: [`10.0.0.${uid.length}`],
  services: { 'apps/shop.test': { '80': 8080 } },
  network: '',
  node: '',
  clusterId: '',
  serviceAccount: '',
  trustDomain: '',
  workloadName: '',
  workloadType: '',
  canonicalName: '',
  canonicalRevision: '',
  protocol: 'TCP',
  networkMode: 'Standard',
  status: 'Healthy',
  capacity: 1,
  locality: { region: '', zone: '', subzone: '' },
  ...change,
});

const service: Service = {
  name: 'shop',
  namespace: 'apps',
  hostname: 'shop.test',
  vips: [],
  ports: { '80': 9090 },
  appProtocols: {},
  subjectAltNames: [],
};

describe('a service', () => {
  const target: BackendTarget = { kind: 'service', hostname: 'shop.test', namespace: 'apps', port: 80 };

  function addresses(workloads: Workload[], change: Partial<Service> = {}, deps: Partial<BackendDeps> = {}): string[] {
    let at = 0;
    const backend = table(
      { services: [{ ...service, ...change }], workloads },
      { random: () => ((at++ >> 1) % 8) / 8, ...deps },
    ).resolve(target, {});
    const found = new Set<string>();
    for (let i = 0; i < 8; i++) {
      const { address } = picked(backend.pick(facts)).origin;
      if (address.kind === 'tcp') found.add(`${address.host}:${address.port}`);
    }
    return [...found].sort();
  }

  test('spreads over its workloads, at the ports they map', () => {
    const other = workload('bb', { services: { 'apps/shop.test': { '80': 0 } } });
    const unmapped = workload('ccc', { services: { 'apps/shop.test': {} } });
    const elsewhere = workload('dddd', { services: { 'apps/other.test': { '80': 1 } } });
    expect(addresses([workload('a'), other, unmapped, elsewhere])).toEqual([
      '10.0.0.1:8080',
      '10.0.0.2:9090',
      '10.0.0.3:9090',
    ]);
  });

  test('leaves out drained workloads, and unhealthy ones unless it wants all', () => {
    const workloads = [workload('a'), workload('bb', { status: 'Unhealthy' }), workload('ccc', { capacity: 0 })];
    expect(addresses(workloads)).toEqual(['10.0.0.1:8080']);
    const loadBalancer = { routingPreferences: [], mode: 'Standard', healthPolicy: 'AllowAll' } as const;
    expect(addresses(workloads, { loadBalancer })).toEqual(['10.0.0.1:8080', '10.0.0.2:8080']);
  });

  test('prefers near workloads when it knows its own place, and not otherwise', () => {
    const locality = { region: 'r1', zone: 'z1', subzone: '', node: '', cluster: '', network: '' };
    const near = workload('a', { locality: { region: 'r1', zone: 'z1', subzone: '' } });
    const far = workload('bb', { locality: { region: 'r2', zone: 'z1', subzone: '' } });
    const loadBalancer = {
      routingPreferences: ['Region', 'Zone'],
      mode: 'Failover',
      healthPolicy: 'OnlyHealthy',
    } as const;
    expect(addresses([far, near], { loadBalancer }, { locality })).toEqual(['10.0.0.1:8080']);
    expect(addresses([far], { loadBalancer }, { locality })).toEqual(['10.0.0.2:8080']);
    expect(addresses([far, near], { loadBalancer })).toHaveLength(2);
  });

  test('speaks the protocol that its port declares', () => {
    const parts = { services: [{ ...service, appProtocols: { '80': 'Grpc' as const } }], workloads: [workload('a')] };
    expect(picked(table(parts).resolve(target, {}).pick(facts)).origin.protocol).toBe('http2');
  });

  test('names the endpoint that it picked', () => {
    const backend = table({ services: [service], workloads: [workload('a')] }).resolve(target, {});
    expect(picked(backend.pick(facts))).toMatchObject({
      endpoint: { identity: 'service/apps/shop.test:80/a', name: 'a' },
      authorityHost: null,
      autoAuthority: 'shop.test',
    });
  });

  test('dials host names of workloads; a wildcard takes the host of a request that it covers', () => {
    const fixed = workload('a', { workloadIps: [], hostname: 'a.shop.test' });
    expect(addresses([fixed])).toEqual(['a.shop.test:8080']);
    const wildcard = workload('a', { workloadIps: [], hostname: '*.shop.test' });
    const backend = table({ services: [service], workloads: [wildcard] }).resolve(target, {});
    const pick = picked(backend.pick({ ...facts, authority: 'eu.Shop.test:99' }));
    expect(pick.origin).toMatchObject({ address: { host: 'eu.shop.test', port: 8080 }, ephemeral: true });
    expect(refusal(backend.pick(facts))).toEqual([503, 'no healthy backends']);
    expect(refusal(backend.pick({ ...facts, authority: '.shop.test' }))).toEqual([503, 'no healthy backends']);
  });

  test('verifies certificates of addresses by its own name and identities', () => {
    const parts = {
      services: [{ ...service, subjectAltNames: ['spiffe://td/ns/apps/sa/shop'] }],
      workloads: [workload('a')],
    };
    const tls = picked(
      table(parts)
        .resolve(target, { backendTLS: { verify: 'full' } })
        .pick(facts),
    ).origin.tls;
    expect(tls).toMatchObject({ servername: 'shop.test', subjectAltNames: ['spiffe://td/ns/apps/sa/shop'] });
  });

  test('without workloads has no healthy backends; without a definition or the port it is not found', () => {
    expect(
      refusal(
        table({ services: [service] })
          .resolve(target, {})
          .pick(facts),
      ),
    ).toEqual([503, 'no healthy backends']);
    expect(refusal(table({}).resolve(target, {}).pick(facts))).toEqual([500, 'service not found']);
    const otherPort = table({ services: [service] }).resolve({ ...target, port: 81 }, {});
    expect(refusal(otherPort.pick(facts))).toEqual([500, 'service not found']);
  });
});

describe('backends that no connection leads to', () => {
  test('internal and invalid ones refuse', () => {
    const internal: BackendTarget = { kind: 'inline', backend: { kind: 'internal', key: 'admin', path: '/ui' } };
    const backend = table({}).resolve(internal, {});
    expect([backend.internalPath, ...refusal(backend.pickTunnel(null))]).toEqual(['/ui', 500, 'invalid backend type']);
    expect(refusal(table({}).resolve({ kind: 'invalid' }, {}).pick(facts))).toEqual([500, 'backend does not exist']);
  });
});

describe('identities', () => {
  test('cover named, inline, mirrored, grouped and service backends', () => {
    const inline = (key: string) =>
      ({ kind: 'host', key, target: { kind: 'tcp', host: '10.0.0.1', port: 80 } }) as const;
    const backendOf = (key: string) =>
      ({ weight: 1, index: 0, target: { kind: 'inline', backend: inline(key) }, policies: {} }) as const;
    const mirror = { requestMirror: [{ backend: { kind: 'inline', backend: inline('m') }, percentage: 1 }] } as const;
    const route = {
      key: 'r',
      name: 'r',
      namespace: 'd',
      hostnames: [],
      matches: [],
      policies: mirror,
      backends: [backendOf('r/backend0')],
    };
    const found = endpointIdentities(
      config({
        backends: [named('shop', { kind: 'unix', path: '/a.sock' })],
        routeGroups: [{ name: 'g', routes: [route] }],
        services: [service],
        workloads: [workload('a')],
      }),
    );
    expect([...found].sort()).toEqual([
      'backend//shop//a.sock',
      'backend/m/10.0.0.1:80',
      'backend/r/backend0/10.0.0.1:80',
      'service/apps/shop.test:80/a',
    ]);
  });
});

describe('the HTTP version', () => {
  const base: ProtocolFacts = {
    policy: undefined,
    appProtocol: undefined,
    grpc: false,
    upgrade: false,
    downstreamTls: false,
    clientVersion: 'HTTP/1.1',
    backendTls: false,
  };
  const cases: [string, Partial<ProtocolFacts>, string][] = [
    ['the policy says', { policy: 'HTTP/1.1', appProtocol: 'Http2', clientVersion: 'HTTP/2.0' }, 'http1'],
    ['the policy says 2', { policy: 'HTTP/2.0' }, 'http2'],
    ['the app protocol says', { appProtocol: 'Http11', clientVersion: 'HTTP/2.0' }, 'http1'],
    ['the app protocol is gRPC', { appProtocol: 'Grpc' }, 'http2'],
    ['gRPC from a TLS client', { grpc: true, downstreamTls: true }, 'http2'],
    ['gRPC to a TLS backend', { grpc: true, backendTls: true }, 'http2'],
    ['a TLS backend', { backendTls: true, clientVersion: 'HTTP/2.0' }, 'auto'],
    ['an HTTP/2 client over TLS', { downstreamTls: true, clientVersion: 'HTTP/2.0' }, 'http1'],
    ['an HTTP/2 client without TLS', { clientVersion: 'HTTP/2.0' }, 'http2'],
    ['an HTTP/1.0 client', { clientVersion: 'HTTP/1.0' }, 'http1'],
    ['an upgrade to a TLS backend', { upgrade: true, backendTls: true }, 'http1'],
  ];

  test.each(cases)('%s', (_name, change, expected) => {
    expect(upstreamProtocol({ ...base, ...change })).toBe(expected);
  });
});

describe('what a client is told of a failed call', () => {
  const cases: [UpstreamFailureKind, number, string][] = [
    ['dns', 503, 'backends required DNS resolution which failed'],
    ['connectTimeout', 504, 'upstream call timeout'],
    ['connect', 503, 'upstream call failed: why'],
    ['reset', 503, 'upstream call failed: why'],
    ['tls', 503, 'upstream call failed: why'],
  ];

  test.each(cases)('%s is %s %s', (kind, status, message) => {
    const error = new UpstreamError(kind, 'why', { peer: '10.9.8.7:80', cause: new Error('inner') });
    expect(refusalOf(error)).toMatchObject({ status, message });
    expect(explainFailure(error)).toMatch(/^10\.9\.8\.7:80: why/);
  });
});
