import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../../src/config/index.ts';
import type { LlmRouteType } from '../../../src/config/ir/index.ts';
import type { ChatFormat } from '../../../proxy/llm/formats.ts';
import { chosenWays } from './code-ways.ts';
import { bodyColumns, columns } from './columns.ts';
import { bodyTable, type BodyWays, table, type Ways } from './table.ts';
import { configuration } from './world.ts';

describe('the table of clients and providers', () => {
  test('is what the code does', async () => {
    const { ways } = await chosenWays();
    const chats: Record<string, Ways> = {};
    const bodies: Record<string, BodyWays> = {};
    for (const { name } of columns) {
      const of = (type: LlmRouteType) => ways(name, type);
      const chat = (type: ChatFormat) => of(type)?.upstream ?? null;
      const body = (type: keyof BodyWays) => of(type)?.body ?? null;
      chats[name] = {
        completions: chat('completions'),
        messages: chat('messages'),
        responses: chat('responses'),
        generateContent: chat('generateContent'),
      };
      bodies[name] = {
        embeddings: body('embeddings'),
        rerank: body('rerank'),
        anthropicTokenCount: body('anthropicTokenCount'),
        geminiCountTokens: body('geminiCountTokens'),
      };
    }
    expect(chats).toEqual(table);
    expect(bodies).toEqual(bodyTable);
  });

  test('has a configuration that loads', async () => {
    const text = configuration(() => 1);
    const { config } = await loadConfig({ kind: 'text', text, name: 'matrix.yaml' }, { env: {} });
    expect(JSON.stringify(config)).toContain('custom-gemini');
    expect(new Set([...columns, ...bodyColumns].map(({ name }) => name)).size).toBe(
      columns.length + bodyColumns.length,
    );
  });
});
