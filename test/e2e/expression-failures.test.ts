/** What happens at each place that an expression may stand at when it fails there. */
import { afterEach, describe, expect, test } from '@jest/globals';

import { read, section, table } from '../docs/markdown.ts';
import { changes } from './expression-failures/changes.ts';
import { decisions } from './expression-failures/decisions.ts';
import { models } from './expression-failures/models.ts';
import { services } from './expression-failures/services.ts';
import { telemetry } from './expression-failures/telemetry.ts';
import { type Row, World } from './expression-failures/world.ts';
import { Cleanup } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const rows: readonly Row[] = [...decisions, ...changes, ...models, ...services, ...telemetry];

test('docs/cel.md has a line for each place', () => {
  const listed = table(section(read('docs/cel.md'), 'When one fails'));
  const bare = (text: string): string => text.replaceAll('`', '');
  expect(listed).toEqual(rows.map(({ site, takes, effect }) => [site, takes, effect].map(bare)));
});

describe.each(rows.map((row) => [row.site, row] as const))('%s', (_, row) => {
  test.each(row.failing)(`${row.effect}: %s`, async (expression) => {
    expect(await row.run(expression, new World(cleanup))).toEqual(row.failed);
  });

  test(`and else: ${row.works[0]}`, async () => {
    const [expression, seen] = row.works;
    expect(await row.run(expression, new World(cleanup))).toEqual(seen);
  });
});
