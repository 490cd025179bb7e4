import { describe, expect, test } from '@jest/globals';

import { createExpressions } from '../../../proxy/expression/expressions.ts';
import { AccessLog } from '../../../proxy/telemetry/access-log.ts';
import { FieldSet } from '../../../proxy/telemetry/field-set.ts';
import { finishedExchange } from './context.ts';

const expressions = createExpressions();

function fieldSet(add: Readonly<Record<string, string>>, remove: readonly string[] = []): FieldSet {
  return FieldSet.compile({ add: Object.entries(add), remove }, { where: 'test', expressions });
}

function added(add: Readonly<Record<string, string>>, context = finishedExchange()) {
  return Object.fromEntries(fieldSet(add).additions(context));
}

describe('added fields', () => {
  test('keep the kind of their value', () => {
    expect(
      added({
        text: 'request.method',
        int: 'response.code',
        double: '0.5',
        yes: 'response.code >= 500',
        list: '["a", 1]',
        map: '{"k": {"n": 1}}',
        time: 'duration("90s")',
        bytes: 'b"hi"',
      }),
    ).toEqual({
      text: 'GET',
      int: 503,
      double: 0.5,
      yes: true,
      list: ['a', 1],
      map: { k: { n: 1 } },
      time: '90s',
      bytes: 'aGk=',
    });
  });

  test('are left out when they are null or fail', () => {
    expect(added({ none: 'null', missing: 'jwt.sub', wrong: '1 + "a"', zero: '1 / 0', kept: '"yes"' })).toEqual({
      kept: 'yes',
    });
  });

  test('expand what is flattened, one level or all', () => {
    const exchange = finishedExchange({ claims: { sub: 'alice', realm: { roles: ['a', 'b'] } } });
    expect(added({ jwt: 'flatten(jwt)' }, exchange)).toMatchObject({
      'jwt.sub': 'alice',
      'jwt.realm': { roles: ['a', 'b'] },
    });
    expect(added({ jwt: 'flattenRecursive(jwt)' }, exchange)).toMatchObject({
      'jwt.sub': 'alice',
      'jwt.realm.roles.0': 'a',
      'jwt.realm.roles.1': 'b',
    });
    expect(added({ l: 'flatten(["x", "y"])' })).toEqual({ 'l.0': 'x', 'l.1': 'y' });
    expect(added({ l: 'flatten(jwt)' })).toEqual({});
  });

  test('never become more than 256 by flattening', () => {
    const claims = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`c${index}`, { a: index, b: index }]),
    );
    const fields = fieldSet({ all: 'flattenRecursive(jwt)', last: '"here"' }).additions(finishedExchange({ claims }));
    expect(fields).toHaveLength(257);
    expect(fields.at(-1)).toEqual(['last', 'here']);
  });
});

describe('default fields', () => {
  const record = { method: 'GET', path: '/cart', status: 200, durationMs: 3, error: '' } as const;

  test('are left out when they are removed, or have another value', () => {
    const fields = fieldSet({ 'http.path': 'request.path', 'http.status': 'null' }, ['duration']);
    expect(fields.attributes(record, finishedExchange())).toEqual([
      ['http.method', 'GET'],
      ['http.path', '/cart'],
    ]);
    expect([...fields.hidden].toSorted()).toEqual(['duration', 'http.path', 'http.status']);
  });
});

describe('a line of the access log', () => {
  function line(format: 'text' | 'json', additions: readonly (readonly [string, never])[]): string {
    const lines: string[] = [];
    const log = new AccessLog({ format, write: (each) => void lines.push(each), now: () => 0 });
    log.setLevel({ info: true, debug: false });
    log.write({ method: 'GET', durationMs: 1 }, additions);
    return lines.join('');
  }

  // `as`: one list for values of every kind.
  const values = [
    ['team', 'red blue'],
    ['n', 1.5],
    ['map', { a: [1, 'x'] }],
    ['evil key\nforged', 'x'],
    ['a=b', 'c'],
    ['__proto__', 'y'],
  ] as unknown as readonly (readonly [string, never])[];

  test('has additions behind the default fields, none of which can forge another', () => {
    expect(line('text', values)).toBe(
      '1970-01-01T00:00:00.000000Z\tinfo\trequest http.method=GET duration=1ms team="red blue" n=1.5 ' +
        'map="{\\"a\\":[1,\\"x\\"]}" "evil key\\nforged"=x "a=b"=c __proto__=y\n',
    );
  });

  test('has them as JSON with their structure', () => {
    expect(Object.entries(JSON.parse(line('json', values)) as object).slice(3)).toEqual([
      ['http.method', 'GET'],
      ['duration', '1ms'],
      ...values,
    ]);
  });
});
