import { describe, expect, test } from '@jest/globals';

import { explainFile } from '../../../proxy/explain/file.ts';
import { loadConfig } from '../../../src/config/index.ts';
import type { ExplainQuestion } from '../../../src/admin/protocol/explanation.ts';
import { plainPaint } from '../../../ui/text/paint.ts';
import { renderExplanation } from '../../../ui/text/explanation.ts';
import { golden } from '../../golden.ts';

const SHOP = `
gateways: {default: {port: 8080, cors: {allowOrigins: ["https://shop.example"]}}}
routes:
- name: cart
  hostnames: [shop.example]
  matches: [{path: {pathPrefix: /cart}, method: POST}]
  policies:
    apiKey: {location: {header: {name: x-api-key}}, keys: [{key: k1, metadata: {team: red}}, {key: k2, metadata: {team: blue}}]}
    authorization: {rules: [{require: 'apiKey.team == "red"'}]}
    localRateLimit: [{maxTokens: 5, tokensPerFill: 5, fillInterval: 1m}]
    requestMirror: {backend: {host: "127.0.0.1:9"}, percentage: 1}
  backends: [{host: "127.0.0.1:9000", weight: 3}, {host: "127.0.0.1:9001"}]
- name: slow
  matches: [{path: {exact: /slow}}]
  policies: {delay: {duration: 1h}, directResponse: {status: 204}}
- name: asked
  matches: [{path: {exact: /asked}}]
  policies: {extAuthz: {host: "127.0.0.1:9", protocol: {http: {}}}}
  backends: [{host: "127.0.0.1:9000"}]
- name: none
  matches: [{path: {exact: /none}}]
`;

async function explain(target: string, more: Partial<ExplainQuestion> = {}, text = SHOP) {
  const { config } = await loadConfig({ kind: 'text', text, name: 'config.yaml' }, { env: {} });
  const question: ExplainQuestion = {
    method: 'GET',
    scheme: 'http',
    authority: 'shop.example',
    target,
    headers: [],
    ...more,
  };
  const explanation = await explainFile(config, question, () => {});
  return { ...explanation, text: renderExplanation(question, explanation, { width: 80, paint: plainPaint }) };
}

const cart = (key: string): Partial<ExplainQuestion> => ({ method: 'POST', headers: [['X-Api-Key', key]] });

describe('explaining a request', () => {
  test('names listener, route, policies and backends, and why other routes lost', async () => {
    const drawn = await explain('/cart/1', cart('k1'));
    const text = drawn.text.replace(/127\.0\.0\.1:900[01]\n$/, '127.0.0.1:9000\n');
    expect(text).toBe(golden('explain/forwarded.txt', text));
  });

  test('names the policy that denies, and answers as the gateway would', async () => {
    const denied = await explain('/cart/1', cart('k2'));
    expect(denied.answer).toMatchObject({ by: 'gateway', status: 403, reason: 'Authorization' });
    expect(denied.policies.find(({ outcome }) => outcome === 'denied')?.kind).toBe('authorization');
    expect(denied.text).toBe(golden('explain/denied.txt', denied.text));
    expect(await explain('/cart/1', cart('nobody'))).toMatchObject({ answer: { status: 401, reason: 'APIKeyAuth' } });
  });

  test('names the model that would serve it, without reading an answer that nobody gives', async () => {
    const text = `
gateways: {default: {port: 8080}}
llm:
  models: [{name: claude, provider: anthropic, params: {apiKey: k}}]
  virtualModels: [{name: v, routing: {conditional: {targets: [{model: claude, when: 'llmRequest.user == "a"'}]}}}]
`;
    const chat = (body: object) =>
      explain(
        '/v1/chat/completions',
        { method: 'POST', body: Buffer.from(JSON.stringify(body)).toString('base64') },
        text,
      );
    const served = await chat({ model: 'v', user: 'a', messages: [] });
    expect(served.answer).toMatchObject({ by: 'backend' });
    expect(served.text).toContain('"v" is served by claude, by the model claude');
    expect(served.text).toContain('api.anthropic.com:443');
    expect((await chat({ model: 'v', user: 'b', messages: [] })).answer).toMatchObject({ by: 'gateway', status: 400 });
  });

  test('does not wait, and answers for a policy', async () => {
    const slow = await explain('/slow');
    expect(slow.answer).toMatchObject({ by: 'policy', status: 204 });
    expect(slow.backend).toBeNull();
  });

  test('asks no service, and says so', async () => {
    const asked = await explain('/asked');
    expect(asked.policies).toContainEqual(expect.objectContaining({ kind: 'ext_auth', outcome: 'notAsked' }));
    expect(asked.answer.by).toBe('backend');
  });

  test('tells what a request without a route or a backend gets', async () => {
    expect(await explain('/nowhere')).toMatchObject({ route: null, answer: { status: 404, reason: 'NotFound' } });
    expect(await explain('/none')).toMatchObject({ answer: { by: 'gateway', status: 500 } });
  });

  test('never shows the credential that it was given', async () => {
    expect(JSON.stringify(await explain('/cart/1', cart('k1')))).not.toContain('"k1"');
  });

  test('counts nothing: the budget is full each time', async () => {
    const texts = await Promise.all(Array.from({ length: 8 }, () => explain('/cart', cart('k1'))));
    expect(new Set(texts.map(({ answer }) => answer.by))).toEqual(new Set(['backend']));
  });

  test('takes the port that is asked for, that of the URL, or the only one', async () => {
    const two =
      'gateways: {default: {port: 8080}, b: {port: 8081}}\nroutes: [{policies: {directResponse: {status: 200}}}]';
    await expect(explain('/', {}, two)).rejects.toThrow(/several ports/);
    expect((await explain('/', { port: 8081 }, two)).bind).toBe('bind/8081');
    expect((await explain('/', { authority: 'a.test:8080' }, two)).bind).toBe('bind/8080');
    await expect(explain('/', { port: 1 }, two)).rejects.toThrow('nothing listens on port 1');
    await expect(explain('/', { scheme: 'https' }, two)).rejects.toThrow('nothing listens for https');
    await expect(explain('/', { port: 8081, source: 'x' }, two)).rejects.toThrow('"x" is not an address');
  });
});

describe('why a rule decides', () => {
  const one = (policies: string, more = '') =>
    `gateways: {default: {port: 80}}\n${more}\nroutes: [{name: r, policies: {${policies}}, backends: [{host: "127.0.0.1:9000"}]}]`;
  const shown = async (text: string, more: Partial<ExplainQuestion> = {}) =>
    explain('/a', { authority: 'shop.example', ...more }, text);

  test('is told by the values of its parts, and by the resource that says so', async () => {
    const rules = `authorization: {rules: [{deny: 'request.headers["x-a"] == "1"'}, {require: 'request.method in ["PUT", "POST"] && request.path == "/b"'}]}`;
    const { policies } = await shown(one(rules));
    expect(policies).toEqual([
      expect.objectContaining({
        kind: 'authorization',
        outcome: 'denied',
        details: 'a require rule does not hold (from route default/r)',
        on: 'request',
        rules: [
          {
            mode: 'deny',
            expression: 'request.headers["x-a"] == "1"',
            source: 'route default/r',
            holds: false,
            decisive: false,
            parts: [
              { expression: 'request.headers["x-a"] == "1"', value: 'fails: no such key: request.headers.x-a' },
              { expression: 'request.headers["x-a"]', value: 'fails: no such key: request.headers.x-a' },
            ],
          },
          expect.objectContaining({
            mode: 'require',
            decisive: true,
            parts: expect.arrayContaining([
              { expression: 'request.method in ["PUT", "POST"]', value: 'false' },
              { expression: 'request.method', value: '"GET"' },
            ]),
          }),
        ],
      }),
    ]);
  });

  test('is told of conditions, too', async () => {
    const limits = `localRateLimit: {conditional: [{condition: 'request.path == "/b"', maxTokens: 1, fillInterval: 1m}, {condition: 'request.path == "/a"', maxTokens: 7, fillInterval: 1m}]}`;
    const { policies } = await shown(one(limits));
    expect(policies).toEqual([
      expect.objectContaining({
        kind: 'local_rate_limit',
        outcome: 'applied',
        details: expect.stringContaining('6 of 7 left'),
        rules: [
          expect.objectContaining({ mode: 'condition', expression: 'request.path == "/b"', holds: false }),
          expect.objectContaining({ mode: 'condition', expression: 'request.path == "/a"', holds: true }),
        ],
      }),
    ]);
  });

  test('hides the credentials that the rule looked at', async () => {
    const rules = `authorization: {rules: ['request.headers["x-session"] == "a" || request.headers.authorization.startsWith("Bearer x") || request.uri == "" || request.headers.exists(name, name == "SECRET")']}`;
    const { policies, text } = await explain(
      '/a?access_token=SECRET',
      {
        headers: [
          ['x-session', 'SECRET'],
          ['authorization', 'Bearer SECRET'],
        ],
      },
      one(rules, 'config: {sensitiveHeaders: [x-session]}'),
    );
    expect(policies[0]).toMatchObject({ outcome: 'denied' });
    const values = policies[0]?.rules.flatMap(({ parts }) => parts.map(({ value }) => value)).join('\n');
    expect(values).not.toContain('SECRET');
    expect(values).toContain('<redacted>');
    expect(text).not.toContain('is "SECRET');
  });

  test('is told of connections, which are closed without a word', async () => {
    const network = `frontendPolicies: {networkAuthorization: {rules: [{deny: 'cidr("10.0.0.0/8").containsIP(source.address)'}]}}`;
    const denied = await shown(one('', network), { source: '10.1.2.3' });
    expect(denied.answer).toMatchObject({
      by: 'gateway',
      status: null,
      message: 'the connection is closed without a word',
    });
    expect(denied.policies).toEqual([
      expect.objectContaining({ kind: 'network_authorization', outcome: 'denied', on: 'connection' }),
    ]);
    expect(denied.text).toContain('source.address is "10.1.2.3"');
    expect((await shown(one('', network), { source: '192.0.2.1' })).answer.by).toBe('backend');
  });
});

describe('time', () => {
  const route = (policies: string) =>
    `gateways: {default: {port: 80}}\nroutes: [{policies: {${policies}}, backends: [{host: "127.0.0.1:9000"}]}]`;

  test('passes in the order of what is due: the shorter of a delay and a deadline wins', async () => {
    const of = async (delay: string) =>
      (await explain('/', {}, route(`timeout: {requestTimeout: 3s}, delay: {duration: ${delay}}`))).answer;
    expect(await of('1h')).toMatchObject({ by: 'gateway', status: 504, reason: 'Timeout' });
    expect((await of('2s')).by).toBe('backend');
  });

  test('does not pass while a body is read', async () => {
    const buffered = await explain(
      '/',
      { method: 'POST', body: Buffer.from('hello').toString('base64') },
      route('timeout: {requestTimeout: 1ms}, buffer: {request: {maxBytes: 4}}'),
    );
    expect(buffered.answer).toMatchObject({ status: 413 });
  });
});

describe('services that would be asked', () => {
  const body = Buffer.from('{"a": 1}').toString('base64');

  test('are named only when their turn comes, and what follows sees the request as it came', async () => {
    const text = `
gateways: {default: {port: 80}}
routes:
- policies:
    timeout: {requestTimeout: 3s}
    extAuthz: {conditional: [{condition: 'request.method == "PUT"', host: "127.0.0.1:1"}]}
    remoteRateLimit: {host: "127.0.0.1:2", domain: d, descriptors: [{entries: [{key: k, value: 'request.headers["x-user"]'}]}]}
    extProc: {host: "127.0.0.1:3"}
    transformations: {request: {set: {x-a: 'string(json(request.body).a)'}}}
  backends: [{host: "127.0.0.1:9000", policies: {backendAuth: {gcp: {}}, requestHeaderModifier: {set: {x-b: "1"}}}}]
`;
    const asked = async (more: Partial<ExplainQuestion>) =>
      (await explain('/', { body, ...more }, text)).policies.map(({ kind, outcome }) => `${kind} ${outcome}`);
    expect(await asked({ method: 'POST' })).toEqual([
      'timeout applied',
      'ext_auth skipped',
      'remote_rate_limit skipped',
      'ext_proc notAsked',
      'transformation applied',
      'backend_auth notAsked',
      'request_header_modifier applied',
    ]);
    expect(await asked({ method: 'PUT', headers: [['x-user', 'ann']] })).toEqual(
      expect.arrayContaining(['ext_auth notAsked', 'remote_rate_limit notAsked', 'ext_proc notAsked']),
    );
  });

  test('are not, where the gateway makes the credentials itself', async () => {
    const { policies } = await explain(
      '/',
      {},
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:9000", policies: {backendAuth: {key: SECRET}}}]}]`,
    );
    expect(policies).toEqual([expect.objectContaining({ kind: 'backend_auth', outcome: 'applied' })]);
    expect(JSON.stringify(policies)).not.toContain('SECRET');
  });
});

describe('a port that carries no requests', () => {
  test('is named', async () => {
    const text = 'gateways: {default: {port: 90, listeners: [{name: t, protocol: TCP}]}}';
    await expect(explain('/', { port: 90 }, text)).rejects.toThrow('port 90 carries connections, not requests');
    await expect(explain('/', {}, text)).rejects.toThrow('nothing listens for http');
  });
});

describe('a long explanation', () => {
  test('breaks lines between words, and leaves out most of many routes', async () => {
    const routes = Array.from(
      { length: 40 },
      (_, index) =>
        `- {name: r${index}, matches: [{path: {exact: /r${index}}}], policies: {directResponse: {status: 200}}}`,
    );
    const { text } = await explain(
      `/${'x'.repeat(200)}`,
      {},
      `gateways: {default: {port: 80}}\nroutes:\n${routes.join('\n')}`,
    );
    expect(text).toContain('… and 15 more, all in -o json');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
