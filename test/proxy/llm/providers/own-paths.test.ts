import { describe, expect, test } from '@jest/globals';

import { type Case, made } from './provider-case.ts';

type Row = readonly [what: string, row: Case, target: string];

const host = { kind: 'tcp', host: 'proxy.test', port: 8080 } as const;

const overridden: readonly Row[] = [
  [
    'an own path takes the place of path and query, whatever else is set',
    {
      service: 'gemini',
      type: 'generateContent',
      model: 'm',
      client: '/x?alt=sse&key=1',
      settings: { path: '/mine?a=b', pathPrefix: '/p', host },
    },
    '/mine?a=b',
  ],
  [
    'an own path holds for what nobody understands, too',
    { service: 'openai', type: 'passthrough', client: '/v1/files', settings: { path: '/mine' } },
    '/mine',
  ],
  [
    'an own host leaves the path to the client',
    { service: 'openai', type: 'completions', model: 'm', client: '/their/own?x=1', settings: { host } },
    '/their/own?x=1',
  ],
  [
    'an own host leaves `alt` to the client as well',
    { service: 'gemini', type: 'generateContent', model: 'm', client: '/g?alt=json&key=1', settings: { host } },
    '/g?alt=json&key=1',
  ],
  [
    'an own host that speaks another format than the client has the paths of the provider',
    { service: 'anthropic', type: 'completions', model: 'm', client: '/v1/chat/completions', settings: { host } },
    '/v1/messages',
  ],
  [
    'an own host for Azure has its paths, which name the deployment',
    { service: 'azureDated', type: 'completions', model: 'm', client: '/v1/chat/completions', settings: { host } },
    '/openai/deployments/m/chat/completions?api-version=2024-10-21',
  ],
  [
    'an own host for Vertex AI has its paths, which name the model that the body does not',
    { service: 'vertex', type: 'messages', model: 'claude-x', client: '/v1/messages', settings: { host } },
    '/v1/projects/p1/locations/us-central1/publishers/anthropic/models/claude-x:rawPredict',
  ],
  [
    'an own host for Vertex AI leaves the path to clients of Vertex AI',
    {
      service: 'vertex',
      type: 'messages',
      model: 'claude-x',
      client: '/v1/projects/q/locations/l/publishers/anthropic/models/claude-x:rawPredict',
      settings: { host },
    },
    '/v1/projects/q/locations/l/publishers/anthropic/models/claude-x:rawPredict',
  ],
  [
    'an own host has the model that serves in the path of the client',
    {
      service: 'gemini',
      type: 'generateContent',
      model: 'gemini-2.5-pro',
      client: '/v1alpha/models/alias:generateContent?x=1',
      settings: { host },
    },
    '/v1alpha/models/gemini-2.5-pro:generateContent?x=1',
  ],
  [
    'an own host that is made like OpenAI has its own paths for clients of Azure',
    {
      service: 'openai',
      type: 'completions',
      model: 'prod',
      client: '/openai/deployments/prod/chat/completions?api-version=2024-10-21&x=1',
      settings: { host },
    },
    '/v1/chat/completions?x=1',
  ],
  [
    'an own host that is made like OpenAI leaves the path of others to them',
    { service: 'openai', type: 'completions', model: 'm', client: '/openai/v1/chat/completions', settings: { host } },
    '/openai/v1/chat/completions',
  ],
  [
    'an own host of Anthropic has its own paths for clients of Vertex AI',
    {
      service: 'anthropic',
      type: 'messages',
      model: 'claude-x',
      client: '/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:rawPredict',
      settings: { host },
    },
    '/v1/messages',
  ],
  [
    'an own host of Azure leaves path and version to clients of Azure, with the model that serves',
    {
      service: 'azure',
      type: 'completions',
      model: 'prod',
      client: '/openai/deployments/alias/chat/completions?api-version=2024-10-21',
      settings: { host },
    },
    '/openai/deployments/prod/chat/completions?api-version=2024-10-21',
  ],
  [
    'the version of Azure’s API goes with the path that it was written for',
    {
      service: 'azureDated',
      type: 'completions',
      model: 'm',
      client: '/openai/deployments/m/chat/completions?api-version=2099-01-01',
    },
    '/openai/deployments/m/chat/completions?api-version=2024-10-21',
  ],
  [
    'and is unknown to Google',
    {
      service: 'gemini',
      type: 'completions',
      model: 'gemini-2.5-pro',
      client: '/openai/deployments/gemini-2.5-pro/chat/completions?api-version=2099-01-01',
    },
    '/v1beta/models/gemini-2.5-pro:generateContent',
  ],
  [
    'what nobody understands goes from clients of Azure to the paths of OpenAI',
    {
      service: 'openai',
      type: 'passthrough',
      client: '/openai/deployments/tts/audio/speech?api-version=2024-10-21',
      settings: { pathPrefix: '/p' },
    },
    '/p/audio/speech',
  ],
  [
    'betas that Anthropic’s library asks for in the query are for Anthropic',
    { service: 'gemini', type: 'messages', model: 'gemini-2.5-pro', client: '/v1/messages?beta=true&x=1' },
    '/v1beta/openai/chat/completions?x=1',
  ],
  [
    'betas are left to Anthropic',
    { service: 'anthropic', type: 'messages', model: 'claude-x', client: '/v1/messages?beta=true' },
    '/v1/messages?beta=true',
  ],
  [
    'an own host with a prefix has the paths of the provider',
    { service: 'openai', type: 'completions', model: 'm', client: '/x', settings: { host, pathPrefix: '/api' } },
    '/api/chat/completions',
  ],
  [
    'custom services always have their paths',
    { service: 'custom', type: 'completions', model: 'm', client: '/x', settings: { host } },
    '/v1/chat/completions',
  ],
  [
    'a prefix takes the place of the base: openai',
    { service: 'openai', type: 'completions', model: 'm', settings: { pathPrefix: '/api/v2' } },
    '/api/v2/chat/completions',
  ],
  [
    'a prefix takes the place of the base: anthropic',
    { service: 'anthropic', type: 'anthropicTokenCount', model: 'm', settings: { pathPrefix: '/a' } },
    '/a/messages/count_tokens',
  ],
  [
    'a prefix takes the place of the base: custom',
    { service: 'custom', type: 'messages', model: 'm', settings: { pathPrefix: '/a' } },
    '/a/messages',
  ],
  [
    'a prefix goes before: Gemini at a custom service',
    { service: 'customGemini', type: 'generateContent', model: 'm', settings: { pathPrefix: '/v1' } },
    '/v1/v1beta/models/m:generateContent',
  ],
  [
    'an empty prefix leaves no base',
    { service: 'openai', type: 'completions', model: 'm', settings: { pathPrefix: '' } },
    '/chat/completions',
  ],
  [
    'a prefix goes before: copilot',
    { service: 'copilot', type: 'messages', model: 'claude-x', settings: { pathPrefix: '/a' } },
    '/a/v1/messages',
  ],
  [
    'a prefix goes before: gemini',
    { service: 'gemini', type: 'generateContent', model: 'm', streaming: true, settings: { pathPrefix: '/a' } },
    '/a/v1beta/models/m:streamGenerateContent?alt=sse',
  ],
  [
    'a prefix goes before: vertex',
    { service: 'vertexGlobal', type: 'completions', model: 'm', settings: { pathPrefix: '/a' } },
    '/a/v1/projects/p1/locations/global/endpoints/openapi/chat/completions',
  ],
  [
    'a prefix goes before: azure',
    { service: 'azureDated', type: 'completions', model: 'm', settings: { pathPrefix: '/a' } },
    '/a/openai/deployments/m/chat/completions?api-version=2024-10-21',
  ],
  [
    'the query of the client is kept',
    { service: 'openai', type: 'completions', model: 'm', client: '/x?a=b&c=d' },
    '/v1/chat/completions?a=b&c=d',
  ],
  [
    '`alt` belongs to the gateway where Gemini is spoken, other parameters do not',
    {
      service: 'gemini',
      type: 'generateContent',
      model: 'm',
      streaming: true,
      client: '/x:streamGenerateContent?alt=json&key=1&alternative=2',
    },
    '/v1beta/models/m:streamGenerateContent?alt=sse&key=1&alternative=2',
  ],
  [
    '`alt` alone leaves no question mark',
    { service: 'gemini', type: 'generateContent', model: 'm', client: '/x:generateContent?alt' },
    '/v1beta/models/m:generateContent',
  ],
  [
    '`alt` is a parameter like others elsewhere',
    { service: 'openai', type: 'completions', model: 'm', client: '/x?alt=sse' },
    '/v1/chat/completions?alt=sse',
  ],
  [
    'what nobody understands keeps its path and query',
    { service: 'openai', type: 'detect', client: '/v1/images/generations?x=1' },
    '/v1/images/generations?x=1',
  ],
  [
    'a prefix takes the place of `/v1` there: openai',
    { service: 'openai', type: 'detect', client: '/v1/images/generations?x=1', settings: { pathPrefix: '/p' } },
    '/p/images/generations?x=1',
  ],
  [
    'a prefix takes the place of `/v1` there: copilot',
    { service: 'copilot', type: 'passthrough', client: '/v1/models', settings: { pathPrefix: '/p' } },
    '/p/models',
  ],
  [
    'a prefix takes the place of `/v1` there: anthropic',
    { service: 'anthropic', type: 'passthrough', client: '/v1/files', settings: { pathPrefix: '/p' } },
    '/p/files',
  ],
  [
    'only a whole segment is `/v1`',
    { service: 'openai', type: 'detect', client: '/v1beta/x', settings: { pathPrefix: '/p' } },
    '/p/v1beta/x',
  ],
  [
    'a prefix goes before there: bedrock',
    { service: 'bedrock', type: 'detect', client: '/model/m/invoke', settings: { pathPrefix: '/p' } },
    '/p/model/m/invoke',
  ],
  [
    'a prefix goes before there: custom',
    { service: 'custom', type: 'passthrough', client: '/v1/x', settings: { pathPrefix: '/p' } },
    '/p/v1/x',
  ],
];

describe('the path of a request to a host, or below a path, of its own', () => {
  test.each(overridden)('%s', (_what, row, target) => expect(made(row).exchange.request.target).toBe(target));
});
