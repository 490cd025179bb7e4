import { describe, expect, test } from '@jest/globals';

import { LentCredentials } from '../../../../proxy/exchange/lent-credentials.ts';
import { withTarget } from '../../../../proxy/llm/target.ts';
import { type Case, made } from './provider-case.ts';

type Row = readonly [what: string, row: Case, headers: Readonly<Record<string, string>>];

const version = { 'anthropic-version': '2023-06-01' };

const rows: readonly Row[] = [
  [
    'anthropic: a key moves to its header',
    { service: 'anthropic', type: 'messages', model: 'm', headers: { authorization: 'Bearer sk-ant-api03-x' } },
    { 'x-api-key': 'sk-ant-api03-x', ...version },
  ],
  [
    'anthropic: a key takes the place of the client’s',
    {
      service: 'anthropic',
      type: 'messages',
      model: 'm',
      headers: { 'x-api-key': 'theirs', authorization: 'bearer ours' },
    },
    { 'x-api-key': 'ours', ...version },
  ],
  [
    'anthropic: an OAuth token stays, without a key beside it',
    {
      service: 'anthropic',
      type: 'messages',
      model: 'm',
      headers: { 'x-api-key': 'theirs', authorization: 'Bearer sk-ant-oat01-x' },
    },
    { authorization: 'Bearer sk-ant-oat01-x', ...version },
  ],
  [
    'anthropic: a configured place stays',
    {
      service: 'anthropic',
      type: 'messages',
      model: 'm',
      authLocated: true,
      headers: { 'x-api-key': 'theirs', authorization: 'Bearer ours' },
    },
    { authorization: 'Bearer ours', ...version },
  ],
  [
    'anthropic: the client’s own key passes where there is no other',
    { service: 'anthropic', type: 'messages', model: 'm', headers: { 'x-api-key': 'theirs' } },
    { 'x-api-key': 'theirs', ...version },
  ],
  [
    'anthropic: the version is the gateway’s, and nothing of browsers is left',
    {
      service: 'anthropic',
      type: 'messages',
      model: 'm',
      headers: {
        'anthropic-version': '2020-01-01',
        'anthropic-beta': 'b',
        origin: 'https://app.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x',
        'sec-fetch-mode': 'cors',
        'sec-fetch-site': 'cross-site',
      },
    },
    { ...version, 'anthropic-beta': 'b' },
  ],
  [
    'gemini: a key moves to its header',
    { service: 'gemini', type: 'generateContent', model: 'm', headers: { authorization: 'Bearer AIzaXYZ' } },
    { 'x-goog-api-key': 'AIzaXYZ' },
  ],
  [
    'gemini: for translated chats too',
    { service: 'gemini', type: 'geminiCountTokens', model: 'm', headers: { authorization: 'Bearer AIzaXYZ' } },
    { 'x-goog-api-key': 'AIzaXYZ' },
  ],
  [
    'gemini: a token stays',
    { service: 'gemini', type: 'generateContent', model: 'm', headers: { authorization: 'Bearer ya29.x' } },
    { authorization: 'Bearer ya29.x' },
  ],
  [
    'gemini: a key stays where OpenAI is spoken',
    { service: 'gemini', type: 'embeddings', model: 'm', headers: { authorization: 'Bearer AIzaXYZ' } },
    { authorization: 'Bearer AIzaXYZ' },
  ],
  [
    'gemini: a configured place stays',
    {
      service: 'gemini',
      type: 'generateContent',
      model: 'm',
      authLocated: true,
      headers: { authorization: 'Bearer AIzaXYZ' },
    },
    { authorization: 'Bearer AIzaXYZ' },
  ],
  [
    'azure: a key moves to its header',
    { service: 'azure', type: 'completions', model: 'm', headers: { authorization: 'Bearer 0123abc' } },
    { 'api-key': '0123abc' },
  ],
  [
    'azure: a token stays',
    { service: 'azure', type: 'completions', model: 'm', headers: { authorization: 'Bearer eyJh.eyJp.sig' } },
    { authorization: 'Bearer eyJh.eyJp.sig' },
  ],
  [
    'azure: a configured place stays',
    { service: 'azure', type: 'completions', model: 'm', authLocated: true, headers: { authorization: 'Bearer 0123' } },
    { authorization: 'Bearer 0123' },
  ],
  [
    'azure: Claude in Foundry wants the version',
    { service: 'foundry', type: 'messages', model: 'claude-x', headers: { 'anthropic-version': 'old' } },
    version,
  ],
  ['azure: others do not', { service: 'foundry', type: 'completions', model: 'gpt-4o' }, {}],
  [
    'bedrock: headers of agents would break the signature',
    {
      service: 'bedrock',
      type: 'responses',
      model: 'm',
      headers: { conversation_id: '1', session_id: '2', 'x-other': '3' },
    },
    { 'x-other': '3' },
  ],
  [
    'bedrock: elsewhere they pass',
    { service: 'bedrock', type: 'detect', model: 'm', headers: { conversation_id: '1' } },
    { conversation_id: '1' },
  ],
  [
    'custom: messages have a version, the client’s if it has one',
    { service: 'custom', type: 'messages', model: 'm', headers: { authorization: 'Bearer k' } },
    { authorization: 'Bearer k', ...version },
  ],
  [
    'openai: a key stays',
    { service: 'openai', type: 'completions', model: 'm', headers: { authorization: 'Bearer sk-x' } },
    { authorization: 'Bearer sk-x' },
  ],
];

describe('the headers of a request', () => {
  test.each(rows)('%s', (_what, row, headers) => {
    expect(Object.fromEntries(made(row).exchange.request.headers)).toEqual(headers);
  });

  test('a credential that was moved is hidden, and taken off with the others', () => {
    const { exchange } = made({
      service: 'anthropic',
      type: 'messages',
      model: 'm',
      headers: { authorization: 'Bearer ours' },
    });
    const { lent, request } = exchange;
    expect(lent?.hidesHeader('x-api-key')).toBe(true);
    lent?.withdraw(request);
    expect(request.headers.has('x-api-key')).toBe(false);
  });

  test('a key that was configured for its header is not dropped for a token of the client', () => {
    const { provider, request, plan, exchange } = made({ service: 'anthropic', type: 'detect', authLocated: true });
    const { headers } = exchange.request;
    exchange.lent = new LentCredentials();
    exchange.lent.lendHeader(exchange.request, 'x-api-key');
    headers.set('x-api-key', 'ours');
    headers.set('authorization', 'Bearer theirs');
    provider.headers(exchange, request, plan);
    expect(headers.get('x-api-key')).toBe('ours');
  });
});

describe('keys of clients', () => {
  const keyed = '/v1beta/models/m:generateContent?key=theirs&x=1&%6Bey=theirs&api-key=theirs&access_token=theirs';
  const row = { service: 'gemini', type: 'generateContent', model: 'm', client: keyed } as const;

  test('in the query stay with the gateway where it has a credential of its own', () => {
    const { request } = made({ ...row, hasCredential: true }).exchange;
    expect(request.target).toBe('/v1beta/models/m:generateContent?x=1');
  });

  test('in the query go on where it has none', () => {
    expect(made(row).exchange.request.target).toContain('?key=theirs&x=1');
  });

  test.each(['passthrough', 'detect', 'realtime'] as const)('in the query of %s stay with it, too', (type) => {
    const client = '/v1/files?key=theirs';
    expect(made({ service: 'openai', type, client, hasCredential: true }).exchange.request.target).not.toContain('key');
  });

  test.each([
    ['realtime, openai-insecure-api-key.sk-theirs, openai-beta.realtime-v1', 'realtime, openai-beta.realtime-v1'],
    ['openai-insecure-api-key.sk-theirs', undefined],
    ['realtime', 'realtime'],
  ])('among the protocols of a web socket, %p, stay with it', (asked, left) => {
    const headers = { 'sec-websocket-protocol': asked };
    const session = { service: 'openai', type: 'realtime', headers, upgrade: 'websocket' } as const;
    const { request } = made({ ...session, hasCredential: true }).exchange;
    expect(request.headers.get('sec-websocket-protocol')).toBe(left);
    expect(made(session).exchange.request.headers.get('sec-websocket-protocol')).toBe(asked);
  });

  test('of the gateway are left where they were written', () => {
    const { request: facts, plan, exchange, compiled } = made({ ...row, hasCredential: true });
    const lent = new LentCredentials();
    lent.lendParameter(exchange.request, 'key');
    exchange.lent = lent;
    exchange.request.target = '/x?key=ours&access_token=theirs';
    withTarget(exchange, { service: compiled, facts, plan });
    expect(exchange.request.target).toBe('/v1beta/models/m:generateContent?key=ours');
  });
});

describe('credentials that nobody configured', () => {
  test.each([
    ['vertex', { main: { kind: 'gcp', token: { kind: 'accessToken' } }, credentials: [] }],
    ['bedrock', { main: { kind: 'aws', credentials: { kind: 'ambient' }, region: 'us-west-2' }, credentials: [] }],
    ['azure', { main: { kind: 'azure', source: { kind: 'implicit' } }, credentials: [] }],
    ['copilot', { main: { kind: 'copilot' }, credentials: [] }],
    ['openai', undefined],
    ['anthropic', undefined],
    ['gemini', undefined],
    ['custom', undefined],
  ] as const)('%s', (service, auth) => {
    expect(made({ service, type: 'detect' }).provider.defaultAuth).toEqual(auth);
  });
});
