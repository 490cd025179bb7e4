import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import type { Translation } from '../../../../proxy/llm/translations/contract.ts';
import { messagesToCompletions } from '../../../../proxy/llm/translations/messages-to-completions/index.ts';
import { messagesToResponses } from '../../../../proxy/llm/translations/messages-to-responses/index.ts';
import { responsesToCompletions } from '../../../../proxy/llm/translations/responses-to-completions/index.ts';
import { golden, goldenPath } from '../../../golden.ts';
import { translated } from './events.ts';
import { begin, KeptNotes } from './notes.ts';
import { chatStream, messageStream, responseStream } from './upstream-streams.ts';

/**
 * Pairs of files under test/golden/llm/<from>-to-<to>: `request-*.in.json` with what the service gets and what was
 * reported, `response-*.in.json` with what the client gets. `UPDATE_GOLDEN=1` records.
 */
const folders: readonly (readonly [Translation, readonly JsonObject[]])[] = [
  [completionsToMessages, messageStream],
  [messagesToCompletions, chatStream],
  [messagesToResponses, responseStream],
  [responsesToCompletions, chatStream],
];

describe.each(folders.map(([translation, stream]) => ({ translation, stream, pair: pairOf(translation) })))(
  'chats in $pair',
  ({ translation, stream, pair }) => {
    test.each(inputs(pair, 'request'))('%s', (file) => {
      const body = read(pair, file);
      const before = JSON.stringify(body);
      const notes = new KeptNotes();
      const call = begin(translation, body, { notes });
      expect(JSON.stringify(body)).toBe(before);
      expectGolden(pair, file, { body: call.body, notes: notes.lines });
    });

    test.each(inputs(pair, 'response'))('%s', (file) => {
      expectGolden(pair, file, begin(translation, { model: 'asked' }).response(read(pair, file)));
    });

    test('a stream', () => {
      expectGolden(pair, 'stream.in.json', translated(begin(translation, { model: 'asked' }).stream(), stream, 'done'));
    });
  },
);

function pairOf({ from, to }: Translation): string {
  return `${from}-to-${to}`;
}

function inputs(pair: string, kind: string): readonly string[] {
  return readdirSync(goldenPath(`llm/${pair}`)).filter((file) => file.startsWith(kind) && file.endsWith('.in.json'));
}

function read(pair: string, file: string): JsonObject {
  return JSON.parse(readFileSync(goldenPath(`llm/${pair}/${file}`), 'utf8')) as JsonObject;
}

/** Ids and times of the gateway's own are different each time. */
function expectGolden(pair: string, file: string, made: unknown): void {
  const text = `${JSON.stringify(made, null, 2)}\n`
    .replaceAll(/"(msg|fc|resp|rs|call|toolu)_[0-9a-f]{16}"/g, '"$1_0123456789abcdef"')
    .replaceAll(/"(created|created_at)": \d+/g, '"$1": 1');
  expect(text).toBe(golden(`llm/${pair}/${file.replace('.in.json', '.out.json')}`, text));
}
