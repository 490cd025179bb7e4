import { expect } from '@jest/globals';

import type { Cell } from './cases.ts';
import type { Failure } from './client.ts';

/** How long to wait for what must come. */
const PATIENCE_MS = 3000;

/** What goes wrong, and how the user of a client learns of it. */
export const failures: readonly { readonly name: string; run(cell: Cell): Promise<void> }[] = [
  ...[400, 401, 429, 500].flatMap((status) =>
    [false, true].map((stream) => ({
      name: `error ${status}${stream ? ', streamed' : ''}`,
      run: (cell: Cell) => refusedWith(cell, { status, stream }),
    })),
  ),
  {
    name: 'a provider that dies in the middle of a stream',
    async run(cell) {
      const { text, failure } = await readToTheEnd(cell, '@count 5\n@die');
      expect([text, failure]).toEqual(['1 ', expect.anything()]);
    },
  },
  {
    name: 'a provider that reports an error in the middle of a stream',
    async run(cell) {
      const { text, failure } = await readToTheEnd(cell, '@count 5\n@stream-error');
      expect([text, failure?.message]).toEqual(['1 ', expect.stringContaining('simulated stream error')]);
    },
  },
  {
    name: 'a provider that dies before its answer is complete',
    async run(cell) {
      const { client, chat, column } = cell;
      const failure = await failureOf(cell, () => chat.ask(column.name, { prompt: '@say hello\n@die', stream: false }));
      if (client.opaque === undefined) expect(failure).toMatchObject({ status: 502, kind: client.errors[500] });
    },
  },
  {
    name: 'a page of HTML instead of an answer',
    async run(cell) {
      const { client, chat, column } = cell;
      const failure = await failureOf(cell, () => chat.ask(column.name, { prompt: '@html', stream: false }));
      if (client.opaque === undefined) expect(failure).toMatchObject({ status: 502, kind: client.errors[500] });
    },
  },
  {
    name: 'a client that leaves in the middle of a stream',
    async run({ chat, column, world }) {
      const leaving = new AbortController();
      const read = async (): Promise<string> => {
        let text = '';
        for await (const piece of await chat.pieces(column.name, '@count 100000\n@pause', leaving.signal)) {
          text += piece;
          leaving.abort();
        }
        return text;
      };
      // Libraries end their streams, or throw.
      const text = await read().catch(() => '1 ');
      expect(text).toBe('1 ');
      const provider = world.providerOf(column);
      const giveUpAt = performance.now() + PATIENCE_MS;
      while (provider.open > 0 && performance.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(provider.open).toBe(0);
    },
  },
];

async function failureOf({ client }: Cell, call: () => Promise<unknown>): Promise<Failure> {
  try {
    await call();
  } catch (error) {
    return client.failure(error);
  }
  throw new Error('the call succeeded');
}

/** What was read, and what the library then threw. */
async function readToTheEnd(
  { client, chat, column }: Cell,
  prompt: string,
): Promise<{ readonly text: string; readonly failure: Failure | null }> {
  let text = '';
  try {
    for await (const piece of await chat.pieces(column.name, prompt, new AbortController().signal)) text += piece;
  } catch (error) {
    return { text, failure: client.failure(error) };
  }
  return { text, failure: null };
}

interface Refused {
  readonly status: number;
  readonly stream: boolean;
}

async function refusedWith(cell: Cell, { status, stream }: Refused): Promise<void> {
  const { client, chat, column } = cell;
  const prompt = `@error ${status} retry-after: 7`;
  const failure = await failureOf(cell, () => chat.ask(column.name, { prompt, stream }));
  expect(failure).toMatchObject({ status, kind: client.errors[status] });
  expect(failure.message).toContain(`simulated error ${status}`);
  if (client.lacks?.has('retryAfter') !== true) expect(failure.retryAfter).toBe('7');
}
