import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { cases, type Cell } from './cases.ts';
import type { ChatClient } from './client.ts';
import { type Column, columns } from './columns.ts';
import { wayOf } from './table.ts';
import { startWorld, type World } from './world.ts';
import { failures } from './failures.ts';

/** Every case of every provider, with one client. */
export function tryEverything(client: ChatClient, only: readonly Column[] = columns): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  beforeEach(() => world.clear());
  afterAll(() => world.close());

  describe.each(only.map((column) => ({ column, name: column.name })))('$name', ({ column }) => {
    const upstream = client.format === 'converse' ? 'converse' : wayOf(column.name, client.format);
    const cell = (stream: boolean): Omit<Cell, 'upstream'> => ({
      world,
      client,
      chat: client.at(world.url),
      column,
      stream,
    });

    if (upstream === null) {
      test.each([false, true])('is refused in the words of the client (stream: %s)', async (stream) => {
        const { chat } = cell(stream);
        const failure = await failureOf(client, () => chat.ask(column.name, { prompt: 'hello', stream }));
        expect(failure).toMatchObject({ status: 400, kind: client.errors[400] });
        expect(failure.message).toMatch(/unsupported conversion: \S+ cannot take \w+ requests/);
        expect(world.providerOf(column).requests).toEqual([]);
      });
      return;
    }

    const runs = cases.flatMap(({ name, modes, run }) =>
      modes.map((mode) => ({ title: mode === 'stream' ? `${name}, streamed` : name, mode, run })),
    );
    test.each(runs)('$title', async ({ mode, run }) => {
      await run({ ...cell(mode === 'stream'), upstream });
      world.check();
    });

    test.each(failures)('$name', async ({ run }) => {
      await run({ ...cell(true), upstream });
      world.check();
    });
  });
}

/** What the library makes of an error. */
async function failureOf(client: ChatClient, call: () => Promise<unknown>) {
  try {
    await call();
  } catch (error) {
    return client.failure(error);
  }
  throw new Error('the call succeeded');
}
