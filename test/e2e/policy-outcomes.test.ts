import { generateKeyPairSync, sign } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { tcpUpstream } from './clients.ts';
import { type Ask, ask, Cleanup, startGateway, upstream, type RunningGateway } from './gateway.ts';

const SECRET = 'hunter2';
/** No credential, but nothing to tell of either. */
const VALUE = 'any-value';
const issuer = generateKeyPairSync('ed25519');
const CLAIMS = { iss: 'https://issuer.test', aud: 'shop', exp: 9_999_999_999 };
const SIGNED = token((text) => sign(null, Buffer.from(text), issuer.privateKey));
const FORGED = token(() => Buffer.alloc(64, 7));

function token(signature: (text: string) => Buffer): string {
  const parts = [{ alg: 'EdDSA', kid: 'a' }, CLAIMS].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const text = parts.join('.');
  return `${text}.${signature(text).toString('base64url')}`;
}

function JWT(mode: string): string {
  const jwks = JSON.stringify({ keys: [{ ...issuer.publicKey.export({ format: 'jwk' }), kid: 'a' }] });
  return `jwtAuth: {${mode} issuer: "https://issuer.test", audiences: [shop], jwks: '${jwks}'}`;
}

/** What one request makes a policy say. */
interface Case extends Ask {
  /** The policy of the route; `backend:` in front makes it one of the backend. */
  readonly policy: string;
  readonly path?: string;
  readonly status: number;
  /** The event: its kind, what was done, and a part of the words. */
  readonly said: readonly [kind: string, result: 'apply' | 'skip' | 'event' | 'allow' | 'deny', words: RegExp];
  readonly severity: TraceEvent['severity'];
  /** How often it was asked before. */
  readonly after?: number;
}

const cases: Readonly<Record<string, Case>> = {
  'cors without an origin': {
    policy: 'cors: {allowOrigins: ["https://a.test"]}',
    status: 200,
    said: ['cors', 'skip', /no Origin/],
    severity: 'info',
  },
  'cors of an origin that is allowed': {
    policy: 'cors: {allowOrigins: ["https://a.test"]}',
    headers: { origin: 'https://a.test' },
    status: 200,
    said: ['cors', 'apply', /headers for https:\/\/a\.test added/],
    severity: 'info',
  },
  'cors of another origin': {
    policy: 'cors: {allowOrigins: ["https://a.test"]}',
    headers: { origin: 'https://b.test' },
    status: 200,
    said: ['cors', 'skip', /https:\/\/b\.test is not allowed/],
    severity: 'warn',
  },
  'csrf of a request that changes nothing': {
    policy: 'csrf: {}',
    status: 200,
    said: ['csrf', 'skip', /GET changes nothing/],
    severity: 'info',
  },
  'csrf that passes': {
    policy: 'csrf: {}',
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    status: 200,
    said: ['csrf', 'apply', /its own page/],
    severity: 'info',
  },
  'csrf that refuses': {
    policy: 'csrf: {}',
    method: 'POST',
    headers: { origin: 'https://evil.test' },
    status: 403,
    said: ['csrf', 'apply', /not that of the request/],
    severity: 'error',
  },
  'an API key that is known': {
    policy: `apiKey: {location: {header: {name: x-key}}, keys: [{key: ${SECRET}, metadata: {team: red}}]}`,
    headers: { 'x-key': SECRET },
    status: 200,
    said: ['api_key', 'apply', /accepted, with \{"team":"red"\}/],
    severity: 'info',
  },
  'an API key that is not': {
    policy: `apiKey: {location: {header: {name: x-key}}, keys: [{key: ${SECRET}}]}`,
    headers: { 'x-key': `${SECRET}x` },
    status: 401,
    said: ['api_key', 'apply', /not known/],
    severity: 'error',
  },
  'an API key that nobody needs': {
    policy: `apiKey: {mode: optional, keys: [{key: ${SECRET}}]}`,
    status: 200,
    said: ['api_key', 'skip', /no key/],
    severity: 'info',
  },
  'a login that is wrong': {
    policy: `basicAuth: {htpasswd: "ann:{SHA}87u9ZqY9S/F0eUBXjsPQEDUw4h0="}`,
    headers: { authorization: basic('ann', `${SECRET}x`) },
    status: 401,
    said: ['basic_auth', 'apply', /wrong/],
    severity: 'error',
  },
  'a login': {
    policy: `basicAuth: {htpasswd: "ann:{SHA}87u9ZqY9S/F0eUBXjsPQEDUw4h0="}`,
    headers: { authorization: basic('ann', SECRET) },
    status: 200,
    said: ['basic_auth', 'apply', /"ann" has logged in/],
    severity: 'info',
  },
  'no login': {
    policy: `basicAuth: {htpasswd: "ann:{SHA}87u9ZqY9S/F0eUBXjsPQEDUw4h0="}`,
    status: 401,
    said: ['basic_auth', 'apply', /no credentials/],
    severity: 'error',
  },
  'a token that nobody signed': {
    policy: JWT(''),
    headers: { authorization: `Bearer ${FORGED}` },
    status: 401,
    said: ['jwt', 'apply', /.+from route default/],
    severity: 'error',
  },
  'a token': {
    policy: JWT(''),
    headers: { authorization: `Bearer ${SIGNED}` },
    status: 200,
    said: ['jwt', 'apply', /accepted, claims \{"iss":/],
    severity: 'info',
  },
  'no token': { policy: JWT('mode: optional,'), status: 200, said: ['jwt', 'skip', /no token/], severity: 'info' },
  'rules that let pass': {
    policy: `authorization: {rules: ['request.path == "/rules"']}`,
    path: '/rules',
    status: 200,
    said: ['authorization', 'allow', /request\.path/],
    severity: 'success',
  },
  'rules that refuse': {
    policy: `authorization: {rules: [{deny: 'request.method == "GET"'}]}`,
    status: 403,
    said: ['authorization', 'deny', /request\.method/],
    severity: 'error',
  },
  'a limit that holds': {
    policy: 'localRateLimit: [{maxTokens: 2, tokensPerFill: 2, fillInterval: 1h}]',
    status: 200,
    said: ['local_rate_limit', 'apply', /admitted: bucket 0: 1 of 2 left/],
    severity: 'info',
  },
  'a limit that is reached': {
    policy: 'localRateLimit: [{maxTokens: 1, tokensPerFill: 1, fillInterval: 1h}]',
    after: 1,
    status: 429,
    said: ['local_rate_limit', 'apply', /refused: bucket 0 is empty, holds 1/],
    severity: 'error',
  },
  'a limit whose condition does not hold': {
    policy: `localRateLimit: {conditional: [{condition: 'request.method == "PUT"', maxTokens: 1, fillInterval: 1h}]}`,
    status: 200,
    said: ['local_rate_limit', 'skip', /no condition holds/],
    severity: 'info',
  },
  'a buffer that suffices': {
    policy: 'buffer: {request: {maxBytes: 5}}',
    method: 'POST',
    body: 'hello',
    status: 200,
    said: ['buffer', 'apply', /request: 5 bytes/],
    severity: 'info',
  },
  'a buffer that does not': {
    policy: 'buffer: {request: {maxBytes: 4}}',
    method: 'POST',
    body: 'hello',
    status: 413,
    said: ['buffer', 'apply', /over the limit, refused/],
    severity: 'error',
  },
  'a buffer for nothing': {
    policy: 'buffer: {request: {maxBytes: 4}}',
    status: 200,
    said: ['buffer', 'skip', /no body/],
    severity: 'info',
  },
  'a response that is buffered': {
    policy: 'buffer: {response: {maxBytes: 1000}}',
    status: 200,
    said: ['buffer', 'apply', /response: \d+ bytes/],
    severity: 'info',
  },
  'a response that is too large': {
    policy: 'buffer: {response: {maxBytes: 1}}',
    status: 502,
    said: ['buffer', 'apply', /response: over the limit/],
    severity: 'error',
  },
  'a response that is empty': {
    policy: 'buffer: {response: {maxBytes: 1}}',
    method: 'HEAD',
    status: 200,
    said: ['buffer', 'skip', /response has no body/],
    severity: 'info',
  },
  'a transformation that changes something': {
    policy: `transformations: {request: {add: {x-new: '"${VALUE}"'}, remove: [x-old]}}`,
    headers: { 'x-old': VALUE },
    status: 200,
    said: ['transformation', 'apply', /added x-new; removed x-old/],
    severity: 'info',
  },
  'a transformation that changes nothing': {
    policy: 'transformations: {request: {remove: [x-old]}}',
    status: 200,
    said: ['transformation', 'apply', /request: nothing changed/],
    severity: 'info',
  },
  'a transformation of the response': {
    policy: `transformations: {response: {set: {':status': '418'}}}`,
    status: 418,
    said: ['transformation', 'apply', /response: changed :status/],
    severity: 'info',
  },
  'a delay': { policy: 'delay: {duration: 1ms}', status: 200, said: ['delay', 'apply', /^1ms/], severity: 'info' },
  'a delay that is cut': {
    policy: 'delay: {duration: 1h}, timeout: {requestTimeout: 5ms}',
    status: 504,
    said: ['delay', 'apply', /cut by the request timeout/],
    severity: 'error',
  },
  'a timeout': {
    policy: 'timeout: {requestTimeout: 3s}',
    status: 200,
    said: ['timeout', 'apply', /request 3s/],
    severity: 'info',
  },
  'a timeout that is over': {
    policy: 'timeout: {requestTimeout: 5ms}',
    path: '/slow',
    status: 504,
    said: ['timeout', 'apply', /while the backend was waited for/],
    severity: 'error',
  },
  'a call that takes too long': {
    policy: 'timeout: {backendRequestTimeout: 5ms}',
    path: '/slow',
    status: 504,
    said: ['timeout', 'apply', /upstream call timeout while/],
    severity: 'error',
  },
  retries: {
    policy: 'retry: {attempts: 2, codes: [503]}',
    status: 200,
    said: ['retry', 'apply', /up to 2 more/],
    severity: 'info',
  },
  'a retry and its reason': {
    policy: 'retry: {attempts: 2, codes: [503]}',
    path: '/503',
    status: 503,
    said: ['retry', 'event', /attempt 1 of 3 failed: status 503$/],
    severity: 'warn',
  },
  'the last retry': {
    policy: 'retry: {attempts: 2, codes: [503]}',
    path: '/503',
    status: 503,
    said: ['retry', 'event', /attempt 3 of 3 failed: status 503; none is left/],
    severity: 'error',
  },
  'a retry that is not wanted': {
    policy: `retry: {attempts: 2, codes: [503], precondition: 'request.method == "PUT"'}`,
    status: 200,
    said: ['retry', 'skip', /precondition does not hold/],
    severity: 'info',
  },
  'header changes': {
    policy: `requestHeaderModifier: {set: {authorization: ${SECRET}}, add: {x-b: "${VALUE}"}}`,
    status: 200,
    said: ['request_header_modifier', 'apply', /add x-b; set authorization/],
    severity: 'info',
  },
  'header changes of the response': {
    policy: 'responseHeaderModifier: {remove: [server]}',
    status: 200,
    said: ['response_header_modifier', 'apply', /remove server/],
    severity: 'info',
  },
  'a rewrite': {
    policy: 'urlRewrite: {path: {full: /new}}',
    status: 200,
    said: ['url_rewrite', 'apply', /path \/[a-z-]+ → \/new/],
    severity: 'info',
  },
  'a rewrite that is impossible': {
    policy: 'urlRewrite: {path: {prefix: /new}}',
    path: '/exact',
    status: 500,
    said: ['url_rewrite', 'apply', /did not match by path prefix/],
    severity: 'error',
  },
  'a redirect': {
    policy: 'requestRedirect: {scheme: https}',
    status: 302,
    said: ['request_redirect', 'apply', /302 to https:/],
    severity: 'info',
  },
  'an answer': {
    policy: 'directResponse: {status: 204}',
    status: 204,
    said: ['direct_response', 'apply', /204 with 0 bytes/],
    severity: 'info',
  },
  'a mirror': {
    policy: 'requestMirror: {backend: {host: "BACKEND"}, percentage: 1}',
    status: 200,
    said: ['request_mirror', 'apply', /100% to 127/],
    severity: 'info',
  },
  'a mirror that is not drawn': {
    policy: 'requestMirror: {backend: {host: "BACKEND"}, percentage: 0}',
    status: 200,
    said: ['request_mirror', 'skip', /not drawn/],
    severity: 'info',
  },
  'a service that allows': {
    policy: `extAuthz: {host: "BACKEND", protocol: {http: {path: '"/200"'}}}`,
    status: 200,
    said: ['ext_auth', 'apply', /allowed/],
    severity: 'info',
  },
  'a service that denies': {
    policy: `extAuthz: {host: "BACKEND", protocol: {http: {path: '"/401"'}}}`,
    status: 401,
    said: ['ext_auth', 'apply', /denied/],
    severity: 'error',
  },
  'a service whose condition does not hold': {
    policy: `extAuthz: {conditional: [{condition: 'request.method == "PUT"', host: "NOBODY"}]}`,
    status: 200,
    said: ['ext_auth', 'skip', /no condition holds/],
    severity: 'info',
  },
  'health by an expression': {
    policy: `backend: health: {unhealthyExpression: 'response.code == 503u'}`,
    path: '/503',
    status: 503,
    said: ['health', 'event', /counts as a failure/],
    severity: 'warn',
  },
  'a service that cannot be asked': {
    policy: 'extAuthz: {host: "NOBODY", protocol: {http: {}}}',
    status: 403,
    said: ['ext_auth', 'apply', /.+/],
    severity: 'error',
  },
  'a service that nobody waits for': {
    policy: 'extAuthz: {host: "NOBODY", protocol: {http: {}}, failureMode: allow}',
    status: 200,
    said: ['ext_auth', 'event', /let pass/],
    severity: 'warn',
  },
  'a processor that is down': {
    policy: 'extProc: {host: "NOBODY"}',
    status: 500,
    said: ['ext_proc', 'apply', /.+/],
    severity: 'error',
  },
  'a remote limit that is down': {
    policy: `remoteRateLimit: {host: "NOBODY", domain: d, descriptors: [{entries: [{key: k, value: '"${VALUE}"'}]}]}`,
    status: 500,
    said: ['remote_rate_limit', 'apply', /refused with 500/],
    severity: 'error',
  },
  'a remote limit of something else': {
    policy: `remoteRateLimit: {host: "NOBODY", domain: d, descriptors: [{entries: [{key: k, value: 'request.headers["x-none"]'}]}]}`,
    status: 200,
    said: ['remote_rate_limit', 'skip', /no descriptor has its values/],
    severity: 'info',
  },
  'rules of a backend': {
    policy: `backend: authorization: {rules: [{deny: 'request.method == "GET"'}]}`,
    status: 403,
    said: ['authorization', 'deny', /request\.method/],
    severity: 'error',
  },
  'credentials for a backend': {
    policy: `backend: backendAuth: {key: ${SECRET}}`,
    status: 200,
    said: ['backend_auth', 'apply', /.+/],
    severity: 'info',
  },
  'an affinity': {
    policy: `backend: sessionAffinity: {source: 'request.path'}`,
    status: 200,
    said: ['session_affinity', 'apply', /bound to 127/],
    severity: 'info',
  },
  'an affinity without a value': {
    policy: `backend: sessionAffinity: {source: 'request.headers["x-none"]'}`,
    status: 200,
    said: ['session_affinity', 'skip', /no value/],
    severity: 'info',
  },
};

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

const names = Object.keys(cases);
const pathOf = (index: number): string => cases[names[index] ?? '']?.path ?? `/case-${'abcdefghij'[index % 10]}`;

function config(backend: string, nobody: string): string {
  const routes = names.map((name, index) => {
    const { policy = '', path } = cases[name] ?? {};
    const [own, of] = policy.startsWith('backend: ') ? ['', policy.slice(9)] : [policy, ''];
    const match = path === '/exact' ? '{exact: /exact}' : `{pathPrefix: ${pathOf(index)}}`;
    return `- {name: r${index}, hostnames: [c${index}.test], matches: [{path: ${match}}], policies: {${own}}, backends: [{host: "${backend}", policies: {${of}}}]}`;
  });
  return `gateways: {default: {port: 80}}\nroutes:\n${routes.join('\n')}\n`
    .replaceAll('BACKEND', backend)
    .replaceAll('NOBODY', nobody);
}

describe('what policies tell a watcher', () => {
  const cleanup = new Cleanup();
  let gateway: RunningGateway;

  beforeAll(async () => {
    const backend = await upstream((request, response) => {
      if (request.url === '/slow') return;
      request.resume();
      response.statusCode = request.url === '/503' ? 503 : request.url === '/401' ? 401 : 200;
      response.end(request.method === 'HEAD' ? undefined : 'an answer of some length');
    });
    cleanup.add(backend);
    const nobody = await tcpUpstream((socket) => socket.destroy());
    cleanup.add(nobody);
    gateway = cleanup.add(await startGateway(config(`127.0.0.1:${backend.port}`, `127.0.0.1:${nobody.port}`)));
  });
  afterAll(() => cleanup.run());

  /** The events of one request, and its status. */
  async function watched(request: () => ReturnType<typeof ask>) {
    const trace = await fetch(`${gateway.admin}/debug/trace`);
    const [text, { status }] = await Promise.all([trace.text(), request()]);
    const lines = text.split('\n').filter((line) => line.startsWith('data: '));
    // `as`: the server writes what the protocol says.
    return { text, status, events: lines.map((line) => JSON.parse(line.slice(6)) as TraceEvent) };
  }

  test.each(names.map((name, index): [string, number] => [name, index]))('%s', async (name, index) => {
    const wanted = cases[name];
    if (wanted === undefined) throw new Error('every name has its case');
    const { said, severity, after = 0, headers = {}, ...how } = wanted;
    const request = () =>
      ask(gateway.port(80), pathOf(index), { ...how, headers: { ...headers, host: `c${index}.test` } });
    for (let i = 0; i < after; i++) await request();
    const { text, status, events } = await watched(request);
    expect(status).toBe(wanted.status);
    expect(events.flatMap(outcomeOf)).toContainEqual({
      kind: said[0],
      result: said[1],
      words: expect.stringMatching(said[2]),
      severity,
    });
    expect(JSON.stringify(events.flatMap(outcomeOf))).not.toContain(VALUE);
    expect(text).not.toContain(SECRET);
    for (const each of [SIGNED, FORGED]) expect(text).not.toContain(each.split('.')[2]);
    expect(text).not.toContain(Buffer.from(`ann:${SECRET}`).toString('base64'));
  });
});

function outcomeOf({ message, severity, scope }: TraceEvent) {
  if (scope !== undefined) return [];
  switch (message.type) {
    case 'policy': {
      const { kind, result } = message;
      return [{ kind, result: result.type, words: result.type === 'skip' ? result.reason : result.details, severity }];
    }
    case 'policyEvent':
      return [{ kind: message.kind, result: 'event', words: JSON.stringify(message.details).slice(1, -1), severity }];
    case 'authorizationResult':
      return [{ kind: 'authorization', result: message.result, words: JSON.stringify(message.rules), severity }];
    default:
      return [];
  }
}
