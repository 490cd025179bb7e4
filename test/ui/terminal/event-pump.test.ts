import { expect, test } from '@jest/globals';
import { pump } from '../../../ui/terminal/event-pump.ts';

async function* numbers(count: number, error?: Error): AsyncGenerator<number> {
  for (let at = 0; at < count; at += 1) yield at;
  if (error !== undefined) throw error;
}

function collect(source: AsyncIterable<number>): Promise<{ items: number[]; batches: number; error: unknown }> {
  return new Promise((resolve) => {
    const items: number[] = [];
    let batches = 0;
    pump(source, {
      onBatch: (batch) => {
        batches += 1;
        items.push(...batch);
      },
      onEnd: (error) => resolve({ items, batches, error }),
    });
  });
}

test('hands over what comes within a frame in one batch', async () => {
  const { items, batches } = await collect(numbers(500));
  expect(items).toHaveLength(500);
  expect(batches).toBeLessThan(500);
});

test('delivers what came before the source broke', async () => {
  const broken = new Error('cut');
  const { items, error } = await collect(numbers(3, broken));
  expect(items).toEqual([0, 1, 2]);
  expect(error).toBe(broken);
});
