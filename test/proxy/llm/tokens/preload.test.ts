import { describe, expect, test } from '@jest/globals';

import { aiProviders } from '../../../../proxy/engine/load.ts';
import { preloadEncodings } from '../../../../proxy/llm/tokens/preload.ts';
import { loadConfig } from '../../../../src/config/index.ts';

async function configOf(yaml: string) {
  return (await loadConfig({ kind: 'text', text: yaml, name: 'test.yaml' }, { env: {} })).config;
}

async function loadedFor(text: string): Promise<readonly string[]> {
  const names: string[] = [];
  await preloadEncodings(aiProviders(await configOf(text)), (name) => {
    names.push(name);
    return Promise.resolve(() => 1);
  });
  return names.toSorted();
}

const route = (...backends: readonly string[]): string =>
  `gateways: {default: {port: 80}}\nroutes: [{backends: [${backends.map((each) => `{ai: ${each}}`).join(', ')}]}]\n`;

describe('the tables of tokens that a configuration needs', () => {
  test.each([
    ['none where nobody counts', route('{name: a, provider: {openAI: {model: gpt-4o}}}'), []],
    ['none without models', 'gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "a:1"}]}]\n', []],
    ['the one of the model', route('{name: a, tokenize: true, provider: {openAI: {model: gpt-4}}}'), ['cl100k_base']],
    [
      'each but once',
      route(
        '{name: a, tokenize: true, provider: {openAI: {model: gpt-4o}}}',
        '{name: b, tokenize: true, provider: {openAI: {model: gpt-5}}}',
        '{name: c, tokenize: true, provider: {anthropic: {}}}',
      ),
      ['cl100k_base', 'o200k_base'],
    ],
    [
      'the newer where any of OpenAI may be asked for',
      route('{name: a, tokenize: true, provider: {openAI: {}}}'),
      ['o200k_base'],
    ],
    [
      'those of models, by their names',
      'gateways: {default: {port: 80}}\nllm: {models: [{name: gpt-4o, provider: openAI, params: {apiKey: k, tokenize: true}}]}\n',
      ['o200k_base'],
    ],
  ])('are %s', async (_what, text, names) => {
    expect(await loadedFor(text)).toEqual(names);
  });

  test('are loaded, and count', async () => {
    await expect(
      preloadEncodings(aiProviders(await configOf(route('{name: a, tokenize: true, provider: {openAI: {}}}')))),
    ).resolves.toBeUndefined();
  });
});
