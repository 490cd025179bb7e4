import Anthropic from '@anthropic-ai/sdk';
import { createOpenAI } from '@ai-sdk/openai';
import { GoogleGenAI } from '@google/genai';
import { embedMany } from 'ai';
import { CohereClientV2, CohereError } from 'cohere-ai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
// Google's client looks for the dispatcher that this leaves in the globals, which Node's own leaves in another context.
import 'undici';

import { bodyColumns, type Column, columns } from '../llm/matrix/columns.ts';
import { bodyTable, type BodyWays, embeddingModels, rerankModels } from '../llm/matrix/table.ts';
import { CLIENT_KEY, startWorld, type World } from '../llm/matrix/world.ts';
import { vectorOf } from '../llm/providers/apis/openai.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(() => world.clear());
afterAll(() => world.close());

const openai = () => new OpenAI({ apiKey: CLIENT_KEY, baseURL: `${world.url}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: CLIENT_KEY, baseURL: world.url, maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: CLIENT_KEY, httpOptions: { baseUrl: world.url } });
const cohere = () => new CohereClientV2({ token: CLIENT_KEY, environment: world.url, maxRetries: 0 });

/** Providers that can, or cannot, do something. */
function able(what: keyof BodyWays, way: BodyWays[keyof BodyWays]): string[] {
  return Object.entries(bodyTable).flatMap(([name, ways]) => (ways[what] === way ? [name] : []));
}

function known(name: string): Column {
  const found = [...columns, ...bodyColumns].find((each) => each.name === name);
  if (found === undefined) throw new Error(`no column ${name}`);
  return found;
}

describe('embeddings', () => {
  // One at a time: that is all that Titan and Nova take.
  test.each(embeddingModels)('of %s, as OpenAI’s library asks for them', async (model) => {
    const { data, usage } = await openai().embeddings.create({ model, input: 'two words' });
    expect(data.map(({ embedding }) => embedding)).toEqual([[...vectorOf('two words', 8)]]);
    expect(usage.prompt_tokens).toBe(2);
    world.check();
  });

  test.each(embeddingModels)('of %s, as numbers', async (model) => {
    const body = { model, input: ['three small words'], encoding_format: 'float' as const };
    const { data } = await openai().embeddings.create(body);
    expect(data[0]?.embedding).toEqual([...vectorOf('three small words', 8)]);
    world.check();
  });

  test.each(embeddingModels.filter((name) => !/titan|nova/.test(name)))('of %s, several at once', async (model) => {
    const ai = createOpenAI({ apiKey: CLIENT_KEY, baseURL: `${world.url}/v1` });
    const values = ['one', 'and two', 'and now three'];
    const { embeddings } = await embedMany({ model: ai.textEmbeddingModel(model), values, maxRetries: 0 });
    expect(embeddings).toEqual(values.map((value) => [...vectorOf(value, 8)]));
    world.check();
  });

  test.each(['bedrock-titan', 'bedrock-nova'])('of %s, several at once, are refused', async (model) => {
    const several = openai().embeddings.create({ model, input: ['one', 'two'] });
    await expect(several).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });

  test.each(['openai-embedding', 'vertex-embedding', 'bedrock-titan'])('of %s with a length', async (model) => {
    const { data } = await openai().embeddings.create({ model, input: 'x', dimensions: 256 });
    expect(data[0]?.embedding).toHaveLength(256);
    world.check();
  });

  test.each(able('embeddings', null))('of %s are refused', async (model) => {
    const refused = openai().embeddings.create({ model, input: 'x' });
    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining('cannot take') });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    expect(world.providerOf(known(model)).requests).toEqual([]);
  });
});

describe('rerank', () => {
  const documents = ['the sky is blue', 'cats like fish', 'a blue fish in the blue sky'];

  test.each(rerankModels)('by %s, as Cohere’s library asks for it', async (model) => {
    const { results } = await cohere().rerank({ model, query: 'blue sky fish', documents, topN: 2 });
    expect(results.map(({ index }) => index)).toEqual([2, 0]);
    expect(results[0]?.relevanceScore).toBe(0.75);
    world.check();
  });

  test.each(able('rerank', null))('by %s is refused', async (model) => {
    const refused = cohere().rerank({ model, query: 'x', documents });
    await expect(refused).rejects.toMatchObject({ statusCode: 400 });
    await expect(refused).rejects.toBeInstanceOf(CohereError);
    expect(world.providerOf(known(model)).requests).toEqual([]);
  });
});

describe('counts of tokens', () => {
  const messages = [{ role: 'user' as const, content: 'how many tokens are these' }];

  test.each([...able('anthropicTokenCount', 'native'), ...able('anthropicTokenCount', 'own')])(
    'of %s, as Anthropic’s library asks for them',
    async (model) => {
      expect(await anthropic().messages.countTokens({ model, messages })).toEqual({ input_tokens: 15 });
      expect(world.providerOf(known(model)).requests).toHaveLength(1);
      world.check();
    },
  );

  test.each(able('anthropicTokenCount', 'local'))('of %s are made by the gateway', async (model) => {
    const { input_tokens: count } = await anthropic().messages.countTokens({ model, messages });
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(15);
    expect(world.providerOf(known(model)).requests).toEqual([]);
  });

  test.each(able('geminiCountTokens', 'native'))('of %s, as Google’s library asks for them', async (model) => {
    const { totalTokens } = await google().models.countTokens({ model, contents: 'how many tokens are these' });
    expect(totalTokens).toBe(15);
    world.check();
  });

  test.each(able('geminiCountTokens', null))('of %s for Google’s library are refused', async (model) => {
    const refused = google().models.countTokens({ model, contents: 'x' });
    await expect(refused).rejects.toMatchObject({ name: 'ApiError', status: 400 });
  });
});

describe('the list of models', () => {
  const names = [...columns, ...bodyColumns].map(({ name }) => name).toSorted();

  test('is what OpenAI’s library reads', async () => {
    const ids: string[] = [];
    for await (const { id } of openai().models.list()) ids.push(id);
    expect(ids.toSorted()).toEqual(names);
    expect(await openai().models.retrieve('gemini')).toMatchObject({ id: 'gemini', object: 'model' });
    await expect(openai().models.retrieve('nobody')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('is what Anthropic’s library reads', async () => {
    const ids: string[] = [];
    for await (const { id } of anthropic().models.list()) ids.push(id);
    expect(ids.toSorted()).toEqual(names);
    expect(await anthropic().models.retrieve('gemini')).toMatchObject({ id: 'gemini', type: 'model' });
    await expect(anthropic().models.retrieve('nobody')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });

  test('is what Google’s library reads', async () => {
    const ids: string[] = [];
    for await (const { name } of await google().models.list()) ids.push(name?.replace('models/', '') ?? '');
    expect(ids.toSorted()).toEqual(names);
    expect(await google().models.get({ model: 'gemini' })).toMatchObject({ name: 'models/gemini' });
  });
});
