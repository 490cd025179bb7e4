import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { decisionOf } from '../../../../proxy/policy/ext-authz/check-response.ts';
import { type Allowed, carryOut } from '../../../../proxy/policy/ext-authz/decision.ts';
import type { HeaderValueOption } from '../../../../proxy/services/messages/headers.ts';
import { untraced } from '../../exchange/build.ts';

function option(key: string, value: string, rest: Partial<HeaderValueOption> = {}): HeaderValueOption {
  return { header: { key, value }, ...rest };
}

function requestAfter(headers: readonly HeaderValueOption[], before: readonly (readonly [string, string])[] = []) {
  const exchange = untraced({ headers: Headers.from(before), target: '/a?b=1' });
  carryOut(decisionOf({ okResponse: { headers } }), exchange);
  return exchange.request;
}

describe('headers that a service adds to a request', () => {
  const before = [['x-a', 'client']] as const;
  const lines = (headers: readonly HeaderValueOption[]) => [...requestAfter(headers, before).headers];

  test('overwrite unless told otherwise', () => {
    expect(lines([option('X-A', 'service')])).toEqual([['x-a', 'service']]);
    expect(lines([option('x-a', 'service', { appendAction: 'APPEND_IF_EXISTS_OR_ADD' })])).toEqual([
      ['x-a', 'service'],
    ]);
  });

  test('are appended when the older flag says so, or an unknown action', () => {
    const both = [
      ['x-a', 'client'],
      ['x-a', 'service'],
    ];
    expect(lines([option('x-a', 'service', { append: { value: true } })])).toEqual(both);
    expect(lines([option('x-a', 'service', { appendAction: 9 })])).toEqual(both);
  });

  test('follow an action before the older flag', () => {
    expect(lines([option('x-a', 'b', { append: { value: true }, appendAction: 'ADD_IF_ABSENT' })])).toEqual([
      ['x-a', 'client'],
    ]);
    expect(lines([option('x-b', 'b', { appendAction: 'ADD_IF_ABSENT' })]).at(-1)).toEqual(['x-b', 'b']);
    expect(lines([option('x-b', 'b', { appendAction: 'OVERWRITE_IF_EXISTS' })])).toEqual([['x-a', 'client']]);
    expect(lines([option('x-a', 'b', { appendAction: 'OVERWRITE_IF_EXISTS' })])).toEqual([['x-a', 'b']]);
    expect(lines([option('x-a', 'b', { appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' })])).toEqual([['x-a', 'b']]);
  });

  test('are skipped when empty, unless they are to be kept', () => {
    expect(lines([option('x-a', '')])).toEqual([['x-a', 'client']]);
    expect(lines([option('x-a', '', { keepEmptyValue: true })])).toEqual([['x-a', '']]);
  });

  test('cannot break out of their line, nor touch the framing', () => {
    const hostile = [
      option('x-b', 'a\r\nx-evil: 1'),
      option('x-c\r\nx-evil', '1'),
      option('x d', '1'),
      option('content-length', '5'),
      option('Transfer-Encoding', 'chunked'),
      option('connection', 'x-a'),
      option('', 'x'),
    ];
    expect(lines(hostile)).toEqual([['x-a', 'client']]);
  });

  test('are bytes, whether they come as text or raw', () => {
    const { headers } = requestAfter([
      option('x-text', 'é'),
      { header: { key: 'x-raw', rawValue: Buffer.from([0xe9]) } },
      option('x-wide', '\u010a'),
    ]);
    expect(headers.get('x-text')).toBe('\u00c3\u00a9');
    expect(headers.get('x-raw')).toBe('\u00e9');
    expect(headers.get('x-wide')).toBe('\u00c4\u008a');
  });

  test('change the parts of the request line that they name, when those stay valid', () => {
    const changed = requestAfter([
      option('host', 'other.test:8080'),
      option(':path', '/x?y'),
      option(':method', 'PUT'),
    ]);
    expect(changed).toMatchObject({ authority: 'other.test:8080', target: '/x?y', method: 'PUT' });
    const kept = requestAfter([option('host', 'a b'), option(':path', 'x y'), option(':method', 'CONNECT')]);
    expect(kept).toMatchObject({ authority: 'shop.test', target: '/a?b=1', method: 'GET' });
    expect([...kept.headers]).toEqual([]);
  });
});

describe('an allowed request', () => {
  test('loses headers and parameters before it gets others, but neither host nor pseudo-headers', () => {
    const exchange = untraced({
      headers: Headers.from([
        ['authorization', 'Basic x'],
        ['x-a', '1'],
      ]),
      target: '/p?secret=1&keep=2&old=3',
    });
    const decision = decisionOf({
      okResponse: {
        headersToRemove: ['Authorization', 'host', ':path', 'content-length'],
        headers: [option('x-user', 'alice')],
        queryParametersToRemove: ['secret'],
        queryParametersToSet: [{ key: 'old', value: 'a&b' }, { key: 'new' }],
      },
    });
    expect(carryOut(decision, exchange).kind).toBe('next');
    expect([...exchange.request.headers]).toEqual([
      ['x-a', '1'],
      ['x-user', 'alice'],
    ]);
    expect(exchange.request.target).toBe('/p?keep=2&old=a%26b&new=');
    expect(exchange.request.authority).toBe('shop.test');
  });

  test('leaves metadata for later policies, beside what an earlier one has left', () => {
    const exchange = untraced();
    carryOut(decisionOf({ dynamicMetadata: { tier: 'gold', id: 1 } }), exchange);
    carryOut(
      decisionOf({ okResponse: { dynamicMetadata: { id: 2, old: true } }, dynamicMetadata: { id: 3 } }),
      exchange,
    );
    expect(exchange.attributes.extauthz).toEqual({ tier: 'gold', id: 3, old: true });
  });

  test('may be decided without a word', () => {
    expect((decisionOf({}) as Allowed).kind).toBe('allowed');
    expect(decisionOf({ status: null, deniedResponse: { status: { code: 401 } } }).kind).toBe('allowed');
    expect(decisionOf({ status: { code: 0 }, deniedResponse: { status: { code: 401 } } }).kind).toBe('allowed');
  });

  test('queues headers for whatever response there will be', () => {
    const exchange = untraced();
    const responseHeadersToAdd = [
      option('set-cookie', 'a=1'),
      option('set-cookie', 'b=2'),
      option('x-beside', 'service', { append: { value: true } }),
      option('x-absent', 'service', { appendAction: 'ADD_IF_ABSENT' }),
      option('x-there', 'service', { appendAction: 'OVERWRITE_IF_EXISTS' }),
      option('x-none', 'service', { appendAction: 'OVERWRITE_IF_EXISTS' }),
    ];
    carryOut(decisionOf({ okResponse: { responseHeadersToAdd } }), exchange);
    const headers = Headers.from(['x-beside', 'x-absent', 'x-there'].map((name) => [name, 'upstream'] as const));
    exchange.mergeQueued({ status: 200, headers, body: exchange.request.body });
    expect([...headers]).toEqual([
      ['x-beside', 'upstream'],
      ['x-absent', 'upstream'],
      ['x-there', 'service'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['x-beside', 'service'],
    ]);
  });
});

describe('a denied request', () => {
  const refusalOf = (response: Parameters<typeof decisionOf>[0]) => {
    const outcome = carryOut(decisionOf(response), untraced());
    if (outcome.kind !== 'fail') throw new Error(outcome.kind);
    return outcome.refusal;
  };

  test('is answered with what the service has written', () => {
    const refusal = refusalOf({
      status: { code: 16 },
      deniedResponse: {
        status: { code: 401 },
        headers: [option('www-authenticate', 'Basic'), option('set-cookie', 'a=1'), option('set-cookie', 'b=2')],
        body: '{"who":"you"}',
      },
    });
    expect(refusal).toMatchObject({ status: 401, reason: 'ExtAuth' });
    expect(Buffer.from(refusal.body ?? []).toString()).toBe('{"who":"you"}');
    expect([...(refusal.headers ?? [])]).toEqual([
      ['www-authenticate', 'Basic'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]);
  });

  test.each([
    [{ status: { code: 7 } }, 403],
    [{ status: { code: 7 }, okResponse: {} }, 403],
    [{ status: { code: 7 }, deniedResponse: {} }, 403],
    [{ status: { code: 7 }, deniedResponse: { status: { code: 0 } } }, 403],
    [{ status: { code: 7 }, deniedResponse: { status: { code: 100 } } }, 403],
    [{ status: { code: 7 }, deniedResponse: { status: { code: 9999 } } }, 403],
    [{ status: { code: 7 }, deniedResponse: { status: { code: 503 } } }, 503],
  ])('by %j gets %i', (response, status) => {
    expect(refusalOf(response).status).toBe(status);
  });
});
