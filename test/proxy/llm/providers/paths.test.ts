import { describe, expect, test } from '@jest/globals';

import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { type Case, made, services } from './provider-case.ts';

type Row = readonly [what: string, row: Case, target: string];

const usual: readonly Row[] = [
  ['openai: chat', { service: 'openai', type: 'completions', model: 'gpt-4o' }, '/v1/chat/completions'],
  ['openai: messages', { service: 'openai', type: 'responses', model: 'gpt-4o' }, '/v1/responses'],
  ['openai: embeddings', { service: 'openai', type: 'embeddings', model: 'e' }, '/v1/embeddings'],
  ['openai: rerank', { service: 'openai', type: 'rerank', model: 'r' }, '/v1/rerank'],
  [
    'openai: realtime keeps its query',
    { service: 'openai', type: 'realtime', model: 'gpt-realtime', client: '/v1/realtime?model=gpt-realtime' },
    '/v1/realtime?model=gpt-realtime',
  ],
  [
    'openai: realtime of a client of Azure',
    {
      service: 'openai',
      type: 'realtime',
      model: 'gpt-realtime',
      client: '/openai/realtime?api-version=2025-04-01-preview&deployment=gpt-realtime&x=1',
    },
    '/v1/realtime?model=gpt-realtime&x=1',
  ],
  [
    'azure: realtime of a dated version',
    { service: 'azureDated', type: 'realtime', model: 'rt', client: '/v1/realtime?model=rt' },
    '/openai/realtime?deployment=rt&api-version=2024-10-21',
  ],
  [
    'azure: realtime',
    { service: 'azure', type: 'realtime', model: 'rt', client: '/v1/realtime?model=rt' },
    '/openai/v1/realtime?model=rt',
  ],
  ['anthropic: messages', { service: 'anthropic', type: 'messages', model: 'claude-x' }, '/v1/messages'],
  ['anthropic: translated chat', { service: 'anthropic', type: 'completions', model: 'claude-x' }, '/v1/messages'],
  [
    'anthropic: token count',
    { service: 'anthropic', type: 'anthropicTokenCount', model: 'claude-x' },
    '/v1/messages/count_tokens',
  ],
  ['copilot: chat', { service: 'copilot', type: 'completions', model: 'gpt-4o' }, '/chat/completions'],
  ['copilot: messages', { service: 'copilot', type: 'messages', model: 'claude-x' }, '/v1/messages'],
  ['copilot: responses', { service: 'copilot', type: 'responses', model: 'gpt-5' }, '/responses'],
  ['copilot: embeddings', { service: 'copilot', type: 'embeddings', model: 'e' }, '/embeddings'],
  ['copilot: rerank', { service: 'copilot', type: 'rerank', model: 'e' }, '/rerank'],
  [
    'gemini: native',
    { service: 'gemini', type: 'generateContent', model: 'gemini-2.5-pro' },
    '/v1beta/models/gemini-2.5-pro:generateContent',
  ],
  [
    'gemini: native stream',
    { service: 'gemini', type: 'generateContent', model: 'gemini-2.5-pro', streaming: true },
    '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  ],
  [
    'gemini: count',
    { service: 'gemini', type: 'geminiCountTokens', model: 'gemini-2.5-pro' },
    '/v1beta/models/gemini-2.5-pro:countTokens',
  ],
  [
    'gemini: its own collection',
    { service: 'gemini', type: 'generateContent', model: 'models/gemini-2.5-pro' },
    '/v1beta/models/gemini-2.5-pro:generateContent',
  ],
  [
    'gemini: tuned models',
    { service: 'gemini', type: 'generateContent', model: 'tunedModels/mine' },
    '/v1beta/tunedModels/mine:generateContent',
  ],
  [
    'gemini: any other collection is a part of the name',
    { service: 'gemini', type: 'generateContent', model: 'files/a%2F..b' },
    '/v1beta/models/files%2Fa%252F..b:generateContent',
  ],
  ['gemini: embeddings', { service: 'gemini', type: 'embeddings', model: 'e' }, '/v1beta/openai/embeddings'],
  [
    'vertex: Gemini',
    { service: 'vertex', type: 'generateContent', model: 'gemini-2.5-pro' },
    '/v1/projects/p1/locations/us-central1/publishers/google/models/gemini-2.5-pro:generateContent',
  ],
  [
    'vertex: Gemini by its full name, streamed',
    {
      service: 'vertex',
      type: 'generateContent',
      model: 'projects/x/publishers/google/models/gemini-2.5-pro',
      streaming: true,
    },
    '/v1/projects/p1/locations/us-central1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  ],
  [
    'vertex: Gemini count',
    { service: 'vertexGlobal', type: 'geminiCountTokens', model: 'google/gemini-2.5-pro' },
    '/v1/projects/p1/locations/global/publishers/google/models/gemini-2.5-pro:countTokens',
  ],
  [
    'vertex: Claude with a date',
    { service: 'vertex', type: 'messages', model: 'claude-sonnet-4-20250514' },
    '/v1/projects/p1/locations/us-central1/publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict',
  ],
  [
    'vertex: Claude of the publisher, streamed',
    { service: 'vertex', type: 'messages', model: 'publishers/anthropic/models/claude-x', streaming: true },
    '/v1/projects/p1/locations/us-central1/publishers/anthropic/models/claude-x:streamRawPredict',
  ],
  [
    'vertex: Claude of the vendor, translated',
    { service: 'vertex', type: 'completions', model: 'anthropic/claude-x' },
    '/v1/projects/p1/locations/us-central1/publishers/anthropic/models/claude-x:rawPredict',
  ],
  [
    'vertex: Claude count',
    { service: 'vertex', type: 'anthropicTokenCount', model: 'claude-x' },
    '/v1/projects/p1/locations/us-central1/publishers/anthropic/models/count-tokens:rawPredict',
  ],
  [
    'vertex: anything else',
    { service: 'vertexEu', type: 'completions', model: 'meta/llama-4' },
    '/v1/projects/p1/locations/eu/endpoints/openapi/chat/completions',
  ],
  ['azure: by model', { service: 'azure', type: 'completions', model: 'gpt-4o' }, '/openai/v1/chat/completions'],
  ['azure: v1', { service: 'azureV1', type: 'embeddings', model: 'e' }, '/openai/v1/embeddings'],
  [
    'azure: preview',
    { service: 'azurePreview', type: 'responses', model: 'gpt-4o' },
    '/openai/v1/responses?api-version=preview',
  ],
  [
    'azure: deployments',
    { service: 'azureDated', type: 'completions', model: 'my deployment' },
    '/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21',
  ],
  [
    'azure: the configured model is the deployment',
    { service: 'azureDated', type: 'completions', model: 'alias', settings: { model: 'prod' } },
    '/openai/deployments/prod/chat/completions?api-version=2024-10-21',
  ],
  [
    'azure: responses have no deployment',
    { service: 'azureDated', type: 'responses', model: 'gpt-4o' },
    '/openai/responses?api-version=2024-10-21',
  ],
  [
    'azure: the query of the client follows',
    { service: 'azureDated', type: 'completions', model: 'm', client: '/x?trace=1' },
    '/openai/deployments/m/chat/completions?api-version=2024-10-21&trace=1',
  ],
  [
    'azure: Foundry takes its own name for the project',
    { service: 'foundry', type: 'completions', model: 'gpt-4o' },
    '/api/projects/acme/openai/v1/chat/completions',
  ],
  [
    'azure: Foundry with a project',
    { service: 'foundryProject', type: 'responses', model: 'gpt-4o' },
    '/api/projects/lab/openai/v1/responses',
  ],
  [
    'azure: Claude in Foundry',
    { service: 'foundryProject', type: 'messages', model: 'Claude-Sonnet' },
    '/anthropic/v1/messages',
  ],
  [
    'azure: count of Claude in Foundry',
    { service: 'foundry', type: 'anthropicTokenCount', model: 'claude-x' },
    '/anthropic/v1/messages/count_tokens',
  ],
  [
    'azure: embeddings of a Foundry deployment that is called like Claude',
    { service: 'foundryProject', type: 'embeddings', model: 'claude-x' },
    '/api/projects/lab/openai/v1/embeddings',
  ],
  [
    'azure: rerank of a Foundry deployment that is called like Claude',
    { service: 'foundry', type: 'rerank', model: 'claude-x' },
    '/api/projects/acme/openai/v1/rerank',
  ],
  [
    'azure: Claude is nothing special at OpenAI resources',
    { service: 'azure', type: 'completions', model: 'claude-x' },
    '/openai/v1/chat/completions',
  ],
  [
    'azure: AI services',
    { service: 'aiServices', type: 'completions', model: 'gpt-4o' },
    '/openai/v1/chat/completions',
  ],
  ['custom: chat', { service: 'custom', type: 'completions', model: 'm' }, '/v1/chat/completions'],
  ['custom: messages', { service: 'custom', type: 'messages', model: 'm' }, '/v1/messages'],
  ['custom: embeddings', { service: 'custom', type: 'embeddings', model: 'm' }, '/v1/embeddings'],
  ['custom: count', { service: 'custom', type: 'anthropicTokenCount', model: 'm' }, '/v1/messages/count_tokens'],
  [
    'custom: Gemini',
    { service: 'customGemini', type: 'generateContent', model: 'm' },
    '/v1beta/models/m:generateContent',
  ],
  [
    'custom: Gemini count',
    { service: 'customGemini', type: 'geminiCountTokens', model: 'm' },
    '/v1beta/models/m:countTokens',
  ],
  [
    'custom: paths as written',
    { service: 'customPaths', type: 'completions', model: 'm', client: '/x?a=b', settings: { pathPrefix: '/no' } },
    '/compatibility/v1/chat/completions?a=b',
  ],
  ['custom: one path of several', { service: 'customPaths', type: 'rerank', model: 'm' }, '/v2/rerank'],
];

describe('the path of a request', () => {
  test.each(usual)('%s', (_what, row, target) => expect(made(row).exchange.request.target).toBe(target));

  test.each([
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', 'anthropic.claude-3-5-sonnet-20241022-v2:0'],
    [
      'arn:aws:bedrock:us-west-2:1:application-inference-profile/abc',
      'arn:aws:bedrock:us-west-2:1:application-inference-profile%2Fabc',
    ],
    ['a%2Fb', 'a%252Fb'],
    ['a\u0001b', 'a%01b'],
    ['a?b#c', 'a%3Fb%23c'],
    ['ä b', '%C3%A4%20b'],
  ])('names %j of a Bedrock model %s', (model, name) => {
    const { provider } = made({ service: 'bedrock', type: 'detect' });
    const request = { routeType: 'completions', model, streaming: false } as const;
    expect(provider.path(request, provider.plan(request), undefined)).toBe(`/model/${name}/converse`);
    const streamed = { ...request, streaming: true };
    expect(provider.path(streamed, provider.plan(streamed), undefined)).toBe(`/model/${name}/converse-stream`);
  });

  test.each([
    ['embeddings', '/model/m/invoke'],
    ['anthropicTokenCount', '/model/m/count-tokens'],
    ['rerank', '/rerank'],
  ] as const)('asks Bedrock for %s at %s', (routeType, path) => {
    const { provider } = made({ service: 'bedrock', type: 'detect' });
    expect(provider.path({ routeType, model: 'm', streaming: false }, { kind: 'local' }, undefined)).toBe(path);
  });

  test.each(['', '.', '..'])('is refused for a model that is called %j', (model) => {
    expect(() => made({ service: 'gemini', type: 'generateContent', model })).toThrow(LlmFailure);
  });

  test('cannot be led elsewhere by the name of a model', () => {
    const { exchange } = made({ service: 'gemini', type: 'generateContent', model: '../../x?key=1#' });
    expect(exchange.request.target).toBe('/v1beta/models/..%2F..%2Fx%3Fkey=1%23:generateContent');
  });
});

describe('the host of a request', () => {
  test.each([
    ['openai', 'completions', 'api.openai.com'],
    ['anthropic', 'messages', 'api.anthropic.com'],
    ['copilot', 'completions', 'api.githubcopilot.com'],
    ['gemini', 'generateContent', 'generativelanguage.googleapis.com'],
    ['vertexGlobal', 'completions', 'aiplatform.googleapis.com'],
    ['vertexEu', 'completions', 'aiplatform.eu.rep.googleapis.com'],
    ['vertex', 'completions', 'us-central1-aiplatform.googleapis.com'],
    ['vertex', 'rerank', 'discoveryengine.googleapis.com'],
    ['bedrock', 'completions', 'bedrock-runtime.us-west-2.amazonaws.com'],
    ['bedrock', 'rerank', 'bedrock-agent-runtime.us-west-2.amazonaws.com'],
    ['azure', 'completions', 'acme.openai.azure.com'],
    ['foundry', 'completions', 'acme.services.ai.azure.com'],
    ['aiServices', 'completions', 'acme.cognitiveservices.azure.com'],
    ['custom', 'completions', undefined],
  ] as const)('%s, %s: %s', (service, routeType, host) => {
    const { provider } = made({ service, type: 'detect' });
    expect(provider.hostOf({ routeType, model: 'm', streaming: false })).toBe(host);
    expect(provider.hosts.includes(host ?? '')).toBe(host !== undefined);
  });

  test('every provider has a name for telemetry', () => {
    const names = Object.keys(services).map(
      // `as`: the keys of the same record.
      (service) => made({ service: service as keyof typeof services, type: 'detect' }).provider.identity,
    );
    expect([...new Set(names)]).toEqual([
      'openai',
      'anthropic',
      'gcp.gemini',
      'gcp.vertex_ai',
      'aws.bedrock',
      'azure',
      'copilot',
      'mine',
      'cohere',
    ]);
  });
});
