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
  return { ...explanation, text: renderExplanation(question, explanation, plainPaint) };
}

const cart = (key: string): Partial<ExplainQuestion> => ({ method: 'POST', headers: [['X-Api-Key', key]] });

describe('explaining a request', () => {
  test('names listener, route, policies and backends, and why other routes lost', async () => {
    const { text } = await explain('/cart/1', cart('k1'));
    expect(text).toBe(golden('explain/forwarded.txt', text));
  });

  test('names the policy that denies, and answers as the gateway would', async () => {
    const denied = await explain('/cart/1', cart('k2'));
    expect(denied.answer).toMatchObject({ by: 'gateway', status: 403, reason: 'Authorization' });
    expect(denied.policies.find(({ outcome }) => outcome === 'denied')?.kind).toBe('authorization');
    expect(denied.text).toBe(golden('explain/denied.txt', denied.text));
    expect(await explain('/cart/1', cart('nobody'))).toMatchObject({ answer: { status: 401, reason: 'APIKeyAuth' } });
  });

  test('does not wait, and answers for a policy', async () => {
    const slow = await explain('/slow');
    expect(slow.answer).toMatchObject({ by: 'policy', status: 204 });
    expect(slow.backend).toBeNull();
  });

  test('asks no service, and says so', async () => {
    const asked = await explain('/asked');
    expect(asked.policies).toContainEqual(expect.objectContaining({ kind: 'extAuthz', outcome: 'notAsked' }));
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
