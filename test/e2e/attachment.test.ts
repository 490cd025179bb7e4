/** Every policy does its work at every place where it may stand, and is refused where it may not. */
import { createServer as createHttpsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { connectProxy } from './connect-proxy.ts';
import { eventually, fixture } from './clients.ts';
import { type Answer, type Ask, ask, Cleanup, echo, startGateway, type Upstream, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const forAll = new Cleanup();
afterAll(() => forAll.run());

/** What backends and the services of policies have seen in the current test. */
let calls: string[] = [];

let backend: Upstream;
let secure: number;
let side: Upstream;
let proxy: Awaited<ReturnType<typeof connectProxy>>;

beforeAll(async () => {
  backend = forAll.add(
    await upstream((request, response) => {
      calls.push('backend');
      if (request.url === '/slow') return;
      if (request.url === '/flaky') response.statusCode = request.headers['x-retry-attempt'] === undefined ? 503 : 200;
      echo(request, response);
    }),
  );
  const https = createHttpsServer({ cert: fixture('a.crt'), key: fixture('a.key') }, echo);
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  forAll.add({ close: () => (https.closeAllConnections(), https.close()) });
  // `as`: a TCP server that listens has an address with a port.
  secure = (https.address() as AddressInfo).port;
  side = forAll.add(
    await upstream((_request, response) => {
      calls.push('side');
      response.end();
    }),
  );
  proxy = forAll.add(await connectProxy());
});

type Asked = (path: string, options?: Ask) => Promise<Answer>;

interface Policy {
  readonly policy: string;
  /** The port that the backend is reached at. */
  readonly target?: () => number;
  readonly works: (asked: Asked) => Promise<void>;
}

const seenHeaders = (answer: Answer) => (JSON.parse(answer.body) as { headers: Record<string, string> }).headers;

/** Where a policy stands: `ROUTE` and so on are the pieces of one configuration. */
interface Pieces {
  readonly gateway?: string;
  readonly listener?: string;
  readonly route?: string;
  readonly reference?: string;
  readonly named?: string;
  readonly targeted?: string;
}

const targetedAt =
  (target: string, phase = '') =>
  (policy: string) => ({
    targeted: `{name: {name: p, namespace: default}, ${phase}target: ${target}, policy: {${policy}}}`,
  });

const routePlaces: Readonly<Record<string, (policy: string) => Pieces>> = {
  'the route': (route) => ({ route }),
  'policies[] at the gateway': targetedAt('{gateway: {gatewayName: default, gatewayNamespace: default}}'),
  'policies[] at a listener': targetedAt(
    '{gateway: {gatewayName: default, gatewayNamespace: default, listenerName: main}}',
  ),
  'policies[] at the route': targetedAt('{route: {name: r, namespace: default}}'),
  'policies[] at the rule': targetedAt('{route: {name: r, namespace: default, ruleName: first}}'),
};

const gatewayPlaces: Readonly<Record<string, (policy: string) => Pieces>> = {
  'the gateway': (gateway) => ({ gateway }),
  'the listener': (listener) => ({ listener }),
  'policies[] at the gateway, gateway phase': targetedAt(
    '{gateway: {gatewayName: default, gatewayNamespace: default}}',
    'phase: gateway, ',
  ),
  'policies[] at a listener, gateway phase': targetedAt(
    '{gateway: {gatewayName: default, gatewayNamespace: default, listenerName: main}}',
    'phase: gateway, ',
  ),
};

const inlineBackendPlaces: Readonly<Record<string, (policy: string) => Pieces>> = {
  'the reference to a backend': (reference) => ({ reference }),
  'the named backend': (named) => ({ named }),
};

const backendTarget: Readonly<Record<string, (policy: string) => Pieces>> = {
  'policies[] at the backend': targetedAt('{backend: {backend: {name: shop, namespace: default}}}'),
};

async function attached(policy: string, pieces: Pieces, port = backend.port): Promise<Asked> {
  const running = cleanup.add(
    await startGateway(
      `
gateways: {default: {port: 80, ${pieces.gateway ?? `listeners: [{name: main${comma(pieces.listener)}}]`}}}
backends: [{name: shop, host: "127.0.0.1:${port}"${policies(pieces.named)}}]
policies: [${pieces.targeted ?? ''}]
routes:
- name: r
  ruleName: first
  backends: [{backend: shop${policies(pieces.reference)}}]
  policies: {${pieces.route ?? ''}}
`
        .replaceAll('SIDE', `127.0.0.1:${side.port}`)
        .replaceAll('PROXY', `127.0.0.1:${proxy.port}`),
    ),
  );
  return (path, options) => ask(running.port(80), path, options);
}

const comma = (text: string | undefined): string => (text === undefined ? '' : `, ${text}`);
const policies = (text: string | undefined): string => (text === undefined ? '' : `, policies: {${text}}`);

const WORK: Readonly<Record<string, Policy>> = {
  cors: {
    policy: 'cors: {allowOrigins: ["https://a.test"]}',
    works: async (asked) => {
      const { headers } = await asked('/', { headers: { origin: 'https://a.test' } });
      expect(headers['access-control-allow-origin']).toBe('https://a.test');
    },
  },
  authorization: {
    policy: `authorization: {rules: ['request.path == "/ok"']}`,
    works: async (asked) => {
      expect([(await asked('/ok')).status, (await asked('/no')).status]).toEqual([200, 403]);
    },
  },
  extAuthz: {
    policy: 'extAuthz: {host: "SIDE", protocol: {http: {}}}',
    works: async (asked) => {
      expect((await asked('/')).status).toBe(200);
      expect(calls).toEqual(['side', 'backend']);
    },
  },
  transformations: {
    policy: `transformations: {request: {set: {x-new: '"in"'}}, response: {set: {x-out: '"out"'}}}`,
    works: async (asked) => {
      const answer = await asked('/');
      expect([seenHeaders(answer)['x-new'], answer.headers['x-out']]).toEqual(['in', 'out']);
    },
  },
  requestHeaderModifier: {
    policy: 'requestHeaderModifier: {set: {x-new: in}}',
    works: async (asked) => expect(seenHeaders(await asked('/'))['x-new']).toBe('in'),
  },
  responseHeaderModifier: {
    policy: 'responseHeaderModifier: {set: {x-out: out}}',
    works: async (asked) => expect((await asked('/')).headers['x-out']).toBe('out'),
  },
  requestRedirect: {
    policy: 'requestRedirect: {scheme: https}',
    works: async (asked) => {
      expect((await asked('/a?b')).headers.location).toBe('https://shop.test/a?b');
      expect(calls).toEqual([]);
    },
  },
  requestMirror: {
    policy: 'requestMirror: {backend: {host: "SIDE"}, percentage: 1}',
    works: async (asked) => {
      expect((await asked('/')).status).toBe(200);
      await eventually('the mirror is called', () => calls.includes('side'));
    },
  },
  csrf: {
    policy: 'csrf: {}',
    works: async (asked) => {
      const options = { method: 'POST', headers: { origin: 'https://evil.test' } };
      expect((await asked('/', options)).body).toBe('CSRF validation failed');
    },
  },
  localRateLimit: {
    policy: 'localRateLimit: [{maxTokens: 1, tokensPerFill: 1, fillInterval: 1h}]',
    works: async (asked) => {
      expect([(await asked('/')).status, (await asked('/')).status]).toEqual([200, 429]);
    },
  },
  timeout: {
    policy: 'timeout: {requestTimeout: 60ms}',
    works: async (asked) => expect((await asked('/slow')).body).toBe('request timeout'),
  },
  retry: {
    policy: 'retry: {codes: [503]}',
    works: async (asked) => {
      const answer = await asked('/flaky');
      expect([answer.status, seenHeaders(answer)['x-retry-attempt']]).toEqual([200, '1']);
    },
  },
  buffer: {
    policy: 'buffer: {request: {maxBytes: 3}}',
    works: async (asked) => expect((await asked('/', { method: 'POST', body: 'four' })).status).toBe(413),
  },
  delay: {
    policy: 'delay: {duration: 60ms}',
    works: async (asked) => {
      const startedAt = performance.now();
      await asked('/');
      // A wait has no upper bound on a busy machine; that it was made is what counts.
      expect(performance.now() - startedAt).toBeGreaterThan(55);
    },
  },
  directResponse: {
    policy: 'directResponse: {status: 418}',
    works: async (asked) => {
      expect((await asked('/')).status).toBe(418);
      expect(calls).toEqual([]);
    },
  },
  urlRewrite: {
    policy: 'urlRewrite: {path: {full: /new}}',
    works: async (asked) => expect((await asked('/old?q')).body).toContain('"url":"/new?q"'),
  },
  backendTLS: {
    policy: 'backendTLS: {insecure: true}',
    target: () => secure,
    works: async (asked) => expect((await asked('/')).status).toBe(200),
  },
  backendTunnel: {
    policy: 'backendTunnel: {proxy: {host: "PROXY"}}',
    works: async (asked) => {
      const before = proxy.asked.length;
      expect((await asked('/')).status).toBe(200);
      expect(proxy.asked).toHaveLength(before + 1);
    },
  },
  backendAuth: {
    policy: 'backendAuth: {key: s3cret}',
    works: async (asked) => expect(seenHeaders(await asked('/')).authorization).toBe('Bearer s3cret'),
  },
  http: {
    policy: 'http: {requestTimeout: 60ms}',
    works: async (asked) => expect((await asked('/slow')).body).toBe('upstream call timeout'),
  },
};

const ROUTE = Object.keys(routePlaces);
const GATEWAY = Object.keys(gatewayPlaces);
const INLINE = Object.keys(inlineBackendPlaces);
const TARGET = Object.keys(backendTarget);
const every = { ...routePlaces, ...gatewayPlaces, ...inlineBackendPlaces, ...backendTarget };

/** The places of each policy; everywhere else it is refused. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  cors: [...ROUTE, ...GATEWAY],
  authorization: Object.keys(every),
  extAuthz: Object.keys(every),
  transformations: Object.keys(every),
  requestHeaderModifier: [...ROUTE, ...INLINE, ...TARGET],
  responseHeaderModifier: [...ROUTE, ...INLINE, ...TARGET],
  requestRedirect: [...ROUTE, ...INLINE, ...TARGET],
  requestMirror: [...ROUTE, ...TARGET],
  csrf: ROUTE,
  localRateLimit: ROUTE,
  timeout: ROUTE,
  retry: ROUTE,
  buffer: ROUTE,
  delay: ROUTE,
  directResponse: ROUTE,
  urlRewrite: ROUTE,
  backendTLS: [...ROUTE, ...INLINE, ...TARGET],
  backendTunnel: [...ROUTE, ...INLINE, ...TARGET],
  backendAuth: [...ROUTE, ...INLINE, ...TARGET],
  http: INLINE,
};

const table = Object.entries(PLACES).flatMap(([name, places]) =>
  Object.entries(every).map(([place, write]) => ({ name, place, write, allowed: places.includes(place) })),
);

describe('a policy works at', () => {
  test.each(table.filter(({ allowed }) => allowed))('$place: $name', async ({ name, write }) => {
    const { policy, target, works } = WORK[name] ?? absent(name);
    calls = [];
    await works(await attached(policy, write(policy), target?.()));
  });
});

describe('a policy is refused at', () => {
  test.each(table.filter(({ allowed }) => !allowed))('$place: $name', async ({ name, write }) => {
    const policy = WORK[name]?.policy ?? '';
    await expect(attached(policy, write(policy))).rejects.toThrow(
      /unknown key|cannot be attached to a backend|has no gateway phase/,
    );
  });
});

function absent(name: string): never {
  throw new Error(`nothing shows that ${name} works`);
}
