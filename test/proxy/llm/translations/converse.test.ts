import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { betasFor } from '../../../../proxy/llm/translations/converse/betas.ts';
import { Documents } from '../../../../proxy/llm/translations/converse/documents.ts';
import { SafeNames } from '../../../../proxy/llm/translations/converse/safe-names.ts';
import { NoteLines } from './recorded.ts';

describe('names', () => {
  test('that Bedrock takes stay as they are', () => {
    const names = new SafeNames('tool');
    expect(names.of('get_weather-2')).toBe('get_weather-2');
    expect(names.of('mcp.server/tool')).toBe('mcp_server_tool');
    expect(names.of('')).toBe('tool');
    expect(names.restored('mcp_server_tool')).toBe('mcp.server/tool');
    expect(names.restored('never asked')).toBe('never asked');
  });

  test('that collide or are too long get a hash of their own', () => {
    const names = new SafeNames('tool');
    expect(names.of('a.b')).toBe('a_b');
    expect(names.of('a/b')).toMatch(/^a_b_[0-9a-f]{6}$/);
    expect(names.of('x'.repeat(80))).toMatch(/^x{57}_[0-9a-f]{6}$/);
  });

  test('are allowed, unique, stable and reversible, whatever they are', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a.b', 'a/b', 'a_b', ''),
      fc.string({ minLength: 60 }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name), (all) => {
        const names = new SafeNames('tool');
        const safe = all.map((one) => names.of(one));
        for (const one of safe) expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(new Set(safe).size).toBe(all.length);
        expect(safe.map((one) => names.restored(one))).toEqual(all);
        const again = new SafeNames('tool');
        expect(all.map((one) => again.of(one))).toEqual(safe);
      }),
    );
  });
});

describe('betas', () => {
  const taken = (value: string, configured: readonly string[] | null = null) => {
    const notes = new NoteLines();
    return { taken: betasFor(Headers.from([['anthropic-beta', value]]), configured, notes), dropped: notes.dropped_ };
  };

  test('pass when Bedrock is known to take them', () => {
    expect(taken('context-1m-2025-08-07, files-api-2025-04-14,context-1m-2025-08-07')).toEqual({
      taken: ['context-1m-2025-08-07'],
      dropped: ['anthropic-beta: files-api-2025-04-14'],
    });
    expect(taken('files-api-2025-04-14').taken).toBeUndefined();
  });

  test('pass by the configured list, in which default stands for the known ones', () => {
    expect(taken('new, context-1m-2025-08-07', ['new']).taken).toEqual(['new']);
    expect(taken('new, context-1m-2025-08-07', ['new', 'default']).taken).toEqual(['new', 'context-1m-2025-08-07']);
  });
});

describe('documents', () => {
  test('have formats and names that Bedrock takes', () => {
    const documents = new Documents();
    const made = (filename: string | undefined, mediaType?: string) =>
      documents.block({ base64: 'AA==', mediaType, filename })?.['document'];
    expect(made('My  report_v2 (final).pdf')).toEqual({
      format: 'pdf',
      name: 'My report v2 (final)',
      source: { bytes: 'AA==' },
    });
    expect(made('My report v2 (final).pdf')).toMatchObject({ name: 'My report v2 (final) [2]' });
    expect(made(undefined, 'text/plain; charset=utf-8')).toMatchObject({ format: 'txt', name: 'document' });
    expect(made('a.bin', 'application/zip')).toBeUndefined();
    expect(made(`${'n'.repeat(500)}.md`)).toMatchObject({ format: 'md' });
  });
});
