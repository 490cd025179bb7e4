import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../../src/config/index.ts';

async function load(modelCatalog: string, files: Readonly<Record<string, string>> = {}) {
  const text = `config: {modelCatalog: ${modelCatalog}}\ngateways: {default: {port: 80}}\n`;
  const readFile = (path: string): Promise<Uint8Array> => {
    const found = files[path];
    return found === undefined
      ? Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }))
      : Promise.resolve(Buffer.from(found));
  };
  return loadConfig({ kind: 'text', text, name: 'c.yaml' }, { env: {}, readFile, directory: '/etc' });
}

const catalog = (model: string, rates: string, more = '') =>
  `{providers: {openai: {models: {${model}: {rates: {${rates}}${more}}}}}}`;

describe('config.modelCatalog', () => {
  test('is laid together from its sources, later ones winning rate by rate', async () => {
    const first = catalog(
      'm',
      'input: "1", output: "2"',
      ', tiers: [{contextOver: 5, rates: {input: "9"}}], tags: [a]',
    );
    const { config, files } = await load(
      `[{file: a.json}, {inline: '${first}'}, {inline: ${catalog('m', 'input: "3"', ', tags: [b]')}}]`,
      {
        '/etc/a.json': '{"providers": {"openai": {"models": {"m": {"rates": {"cacheRead": "0.5"}}, "n": {}}}}}',
      },
    );
    expect(config.modelCatalog).toEqual({
      providers: {
        openai: {
          m: {
            rates: { input: '3', output: '2', cacheRead: '0.5' },
            tiers: [{ contextOver: 5, rates: { input: '9' } }],
            tags: ['a', 'b'],
          },
          n: { rates: {}, tiers: [], tags: [] },
        },
      },
    });
    expect(files).toContain('/etc/a.json');
  });

  test('may be the one that is shipped, and prices of one’s own over it', async () => {
    const { config } = await load(`[{builtin: true}, {inline: ${catalog('gpt-4o', 'input: "1"')}}]`);
    expect(config.modelCatalog?.providers['openai']?.['gpt-4o']?.rates).toMatchObject({ input: '1', output: '10' });
  });

  test('passes over a file that is missing, and watches it', async () => {
    const { config, warnings, files } = await load(`[{file: none.json}, {inline: ${catalog('m', '')}}]`);
    expect(config.modelCatalog?.providers).toHaveProperty('openai');
    expect(warnings.map(({ message }) => message)).toEqual(['there is no file none.json: its prices are left out']);
    expect(files).toContain('/etc/none.json');
  });

  test('needs one source that is there', async () => {
    await expect(load('[{file: none.json}]')).rejects.toThrow(
      'there is no file none.json, nor any other source of prices',
    );
  });

  test.each([
    [`[{inline: ${catalog('m', 'input: 2.5')}}]`, {}, 'decimal'],
    [`[{inline: ${catalog('m', 'input: "-1"')}}]`, {}, 'dollars for a million tokens'],
    [`[{inline: ${catalog('m', 'input: "0.1234567"')}}]`, {}, 'dollars for a million tokens'],
    [
      `[{inline: ${catalog('m', 'input: "1"', ', tiers: [{contextOver: 5, rates: {}}, {contextOver: 5, rates: {}}]')}}]`,
      {},
      'above the one before',
    ],
    ['[{inline: "providers: {openai: {models: {m: {price: 1}}}}"}]', {}, 'Unrecognized key'],
    ['[{file: a.json}]', { '/etc/a.json': '{"providers": ' }, 'not a catalogue of prices'],
    [
      '[{file: a.json}]',
      { '/etc/a.json': 'providers: {openai: {models: {m: {rates: {input: "x"}}}}}' },
      'providers.openai.models.m.rates.input',
    ],
    ['[{file: a.json, builtin: true}]', {}, 'takes only one'],
    ['[{}]', {}, 'exactly one of'],
  ])('refuses %s', async (text, files, why) => {
    await expect(load(text, files)).rejects.toThrow(why);
  });
});
