import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { decodeConfigDump } from '../../src/admin/protocol/decode-config-dump.ts';
import { decodeTraceEvent, parseTraceEvent } from '../../src/admin/protocol/decode-trace-event.ts';
import { redactEvent, redactQuery } from '../../src/admin/protocol/redact.ts';
import { backendRows } from '../../src/admin/views/backends.ts';
import { listenerRows } from '../../src/admin/views/listeners.ts';
import { policyRows } from '../../src/admin/views/policies.ts';
import { routeRows } from '../../src/admin/views/routes.ts';
import { decodeConfigStatus } from '../../src/admin/views/status.ts';
import { renderTrace } from '../../ui/text/trace.ts';
import { goldenPath } from '../golden.ts';

const dump = JSON.parse(readFileSync(goldenPath('cli/dump.json'), 'utf8')) as Record<string, unknown>;

/** Replaces one value somewhere in a document by anything. */
function mutated(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [at, ...rest] = path;
  if (at === undefined || typeof value !== 'object' || value === null) return replacement;
  const keys = Object.keys(value);
  const key = keys[at % Math.max(1, keys.length)];
  if (key === undefined) return replacement;
  const entries = Object.entries(value).map(
    ([name, inner]) => [name, name === key ? mutated(inner, rest, replacement) : inner] as const,
  );
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

describe('decoding a configuration dump', () => {
  test('anything anywhere in a dump leaves every view standing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { minLength: 2, maxLength: 12 }),
        fc.jsonValue({ maxDepth: 3 }),
        (path, replacement) => {
          const decoded = decodeConfigDump({ ...dump, ...(mutated(dump, path, replacement) as object) });
          for (const rows of [
            backendRows(decoded, true),
            listenerRows(decoded),
            policyRows(decoded),
            routeRows(decoded),
          ]) {
            expect(Array.isArray(rows)).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a value that is no dump is refused, and never crashes otherwise', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect([undefined, 'GW_NOT_A_DUMP']).toContain(codeOf(() => decodeConfigDump(value)));
      }),
    );
  });

  test('endpoint names are shortened as far as they stay clear', () => {
    const endpoints = (namespace: string, id: string): string | undefined =>
      backendRows(
        decodeConfigDump({ services: [{ name: 's', namespace, endpoints: [{ active: { [id]: { info: {} } } }] }] }),
        true,
      )[0]?.endpoint;
    expect(endpoints('shop', '//Pod/shop/cart-7')).toBe('cart-7');
    expect(endpoints('web', '//Pod/shop/cart-7')).toBe('shop/cart-7');
    expect(endpoints('x', 'Service/shop/cart')).toBe('Service/shop/cart');
  });

  test('status answers of any shape decode', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('live', 'rejected', 'diff', 'restartNeeded'), fc.jsonValue()),
        (value) => {
          expect(decodeConfigStatus(value)).toHaveProperty('live.revision');
        },
      ),
    );
  });
});

const types = [
  'requestSnapshot',
  'bodySnapshot',
  'cel',
  'routeSelection',
  'policySelection',
  'policy',
  'policyEvent',
  'authorizationResult',
  'backendCallStart',
  'backendCallResult',
  'requestFinished',
  'dropped',
  'message',
  'fromTheFuture',
];

const anyEvent = fc.record({
  eventStart: fc.jsonValue(),
  eventEnd: fc.jsonValue(),
  severity: fc.oneof(fc.constantFrom('info', 'error', 'warn', 'success'), fc.jsonValue()),
  scope: fc.jsonValue(),
  requestId: fc.jsonValue(),
  message: fc
    .tuple(
      fc.constantFrom(...types),
      fc.dictionary(
        fc.constantFrom(
          'stage',
          'requestState',
          'result',
          'selectedRoute',
          'evaluatedRoutes',
          'rejectedRoutes',
          'effectivePolicy',
          'kind',
          'details',
          'rules',
          'target',
          'status',
          'error',
          'count',
          'body',
          'text',
          'phase',
        ),
        fc.jsonValue(),
      ),
    )
    .map(([type, fields]) => ({ ...fields, type })),
});

describe('decoding trace events', () => {
  test('an event with a typed message decodes whatever its fields are, prints and redacts', () => {
    fc.assert(
      fc.property(anyEvent, (value) => {
        const event = decodeTraceEvent(value);
        expect(event?.message.type).toBe(value.message.type);
        if (event === undefined) return;
        expect(renderTrace([event, redactEvent(event)])).toContain('total');
      }),
      { numRuns: 500 },
    );
  });

  test('everything else is refused with a code', () => {
    for (const text of ['', '{', '[]', '1', 'null', '{}', '{"message":{}}', '{"message":{"type":1}}']) {
      expect(() => parseTraceEvent(text)).toThrow(/failed to decode trace event/);
    }
  });
});

describe('redaction', () => {
  const secret = 'hunter2-is-a-secret';

  test('credentials, cookies, identities, query values and bodies do not survive it', () => {
    const state = {
      request: {
        uri: `http://a/?k=${secret}`,
        pathAndQuery: `/?k=${secret}`,
        headers: { authorization: secret, Cookie: secret, 'x-api-key': [secret], accept: 'text/html' },
        body: secret,
      },
      response: { headers: { 'set-cookie': [secret] } },
      jwt: { sub: secret },
      apiKey: { key: secret },
      basicAuth: { username: secret },
    };
    const messages = [
      { type: 'requestSnapshot', stage: 'initial request', requestState: state },
      { type: 'bodySnapshot', stage: 'response', body: secret },
      { type: 'policy', kind: 'jwt', result: { type: 'apply', details: secret, snapshot: state } },
      { type: 'policyEvent', kind: 'ext_auth', details: { claims: secret } },
    ];
    for (const message of messages) {
      const text = JSON.stringify(redactEvent(decodeTraceEvent({ message }) ?? fail()));
      expect(text).not.toContain(secret);
      expect(text).toContain('<redacted>');
    }
    expect(JSON.stringify(redactEvent(decodeTraceEvent({ message: messages[0] }) ?? fail()))).toContain('text/html');
  });

  test('a query keeps its names', () => {
    expect(redactQuery('/a?page=2&key=x#y')).toBe('/a?page=<redacted>&key=<redacted>#y');
  });
});

function fail(): never {
  throw new Error('the event did not decode');
}

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
