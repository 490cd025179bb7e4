import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../proxy/exchange/headers.ts';
import { QueuedHeaders } from '../../../proxy/exchange/queued-headers.ts';

function merged(queue: (queued: QueuedHeaders) => void, response: readonly (readonly [string, string])[] = []) {
  const queued = new QueuedHeaders();
  queue(queued);
  const headers = Headers.from(response);
  queued.mergeInto(headers);
  return [...headers].map(([name, value]) => `${name}: ${value}`);
}

describe('queued headers', () => {
  test('replace those of the response, and keep every value that was added', () => {
    const lines = merged(
      (queued) => {
        queued.add('x-a', '1');
        queued.add('x-a', '2');
      },
      [
        ['x-a', 'upstream'],
        ['x-b', 'kept'],
      ],
    );
    expect(lines).toEqual(['x-b: kept', 'x-a: 1', 'x-a: 2']);
  });

  test('that are set leave nothing of what was queued before', () => {
    const lines = merged((queued) => {
      queued.add('x-a', '1');
      queued.set('x-a', '2');
    });
    expect(lines).toEqual(['x-a: 2']);
  });

  test('that are dropped leave the response as it is', () => {
    const lines = merged(
      (queued) => {
        queued.set('x-a', '1');
        queued.drop('x-a');
      },
      [['x-a', 'upstream']],
    );
    expect(lines).toEqual(['x-a: upstream']);
  });

  test('that are defaults stand back behind the response', () => {
    const queue = (queued: QueuedHeaders): void => {
      queued.addDefault('x-a', '1');
      queued.addDefault('x-a', '2');
    };
    expect(merged(queue)).toEqual(['x-a: 1']);
    expect(merged(queue, [['x-a', 'upstream']])).toEqual(['x-a: upstream']);
  });

  test.each([
    [[], 'vary: Origin'],
    [['Accept'], 'vary: Accept, Origin'],
    [['Accept', 'Cookie'], 'vary: Accept, Cookie, Origin'],
    [['Accept,origin'], 'vary: Accept,origin'],
    [['*'], 'vary: *'],
    [[''], 'vary: Origin'],
  ])('that are items join the list %p', (values, expected) => {
    const lines = merged(
      (queued) => {
        queued.addItem('vary', 'Origin');
        queued.addItem('vary', 'Origin');
      },
      values.map((value) => ['vary', value] as const),
    );
    expect(lines).toEqual([expected]);
  });
});

describe('queued headers of policy services', () => {
  test('stand beside those of the response', () => {
    const lines = merged((queued) => queued.addBeside('set-cookie', 'b=2'), [['set-cookie', 'a=1']]);
    expect(lines).toEqual(['set-cookie: a=1', 'set-cookie: b=2']);
  });

  test('correct what is there, and add nothing', () => {
    const lines = merged(
      (queued) => {
        queued.addIfPresent('server', 'gateway');
        queued.addIfPresent('x-none', '1');
      },
      [['server', 'upstream']],
    );
    expect(lines).toEqual(['server: gateway']);
  });
});
