import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts';
import { check } from '../../../ui/form/check.ts';
import { formRows } from '../../../ui/form/draw.ts';
import { fieldsOf } from '../../../ui/form/fields.ts';
import { problemOf } from '../../../ui/form/state.ts';
import { formOf, press } from './form.ts';

function checked(schema: JsonObject, text: string, required: readonly string[] = []) {
  const [field] = fieldsOf({ properties: { x: schema }, required });
  if (field === undefined) throw new Error('no field');
  return check(field, text);
}

describe('a form', () => {
  test('begins with what was given, then with defaults, at the first field that is missing', () => {
    const { focused, lines } = formOf({ given: { count: 7 } });
    expect([focused, ...lines.slice(0, 4).map(({ text }) => text)]).toEqual([0, '', '7', 'false', '']);
    expect(formOf({ given: { item: 'cup', count: 500 } }).focused).toBe(1);
  });

  test('is sent with everything that stands in it, and nothing that does not', () => {
    const { effect } = press(formOf({ given: { other: 1 } }), 'c', 'tab', '2', 'tab', ' ', 'enter');
    expect(effect).toEqual({ kind: 'send', values: { other: 1, item: 'cup', count: 12, express: true } });
  });

  test('is not sent as long as something is wrong, says what, and goes there', () => {
    const { state, effect } = press(formOf(), 'tab', 'ctrl-u', 'enter');
    expect([effect, state.focused, problemOf(state, 0), problemOf(state, 1)]).toEqual([
      undefined,
      0,
      'is needed',
      'is needed',
    ]);
    const typed = press(formOf(), 'tab', 'x').state;
    expect(problemOf(typed, 1)).toBe('is a number');
    expect(problemOf(typed, 0)).toBeUndefined();
  });

  test('is edited where the cursor is', () => {
    const { state } = press(
      formOf({ given: { note: '日本' } }),
      'tab',
      'tab',
      'tab',
      'left',
      'x',
      'home',
      'ctrl-d',
      'end',
      '!',
    );
    expect(state.lines[3]).toEqual({ text: 'x本!', at: 3 });
    expect(press(state, 'ctrl-w', 'left').state.lines[3]).toEqual({ text: '', at: 0 });
  });

  test('goes through choices by arrows, blanks and letters, and back to none', () => {
    const start = formOf();
    expect(press(start, 'right').state.lines[0]?.text).toBe('kettle');
    expect(press(start, 'left').state.lines[0]?.text).toBe('cup');
    expect(press(start, 't').state.lines[0]?.text).toBe('teapot');
    expect(press(start, 't', 'backspace').state.lines[0]?.text).toBe('');
  });

  test.each([
    ['esc', 'cancel'],
    ['ctrl-c', 'interrupt'],
    ['ctrl-z', 'suspend'],
  ])('%s is %s', (key, kind) => expect(press(formOf(), key).effect).toEqual({ kind }));

  test('is declined only where somebody takes that for an answer', () => {
    expect(press(formOf(), 'ctrl-x').effect).toBeUndefined();
    expect(press(formOf({ declinable: true }), 'ctrl-x').effect).toEqual({ kind: 'decline' });
  });
});

describe('a field', () => {
  const cases: readonly (readonly [JsonObject, string, JsonValue | undefined | Error])[] = [
    [{ type: 'integer' }, '1.5', new Error('is a whole number')],
    [{ type: 'integer', minimum: 2 }, '1', new Error('is at least 2')],
    [{ type: 'number', maximum: 2 }, '3', new Error('is at most 2')],
    [{ type: 'number', exclusiveMinimum: 0 }, '0', new Error('is more than 0')],
    [{ type: 'number' }, '-1e3', -1000],
    [{ type: 'string', minLength: 2 }, 'a', new Error('has at least 2 characters')],
    [{ type: 'string', maxLength: 2 }, '日本', '日本'],
    [{ type: 'boolean' }, 'yes', new Error('is true or false')],
    [{ type: 'object', required: ['to'] }, '{"from": 1}', new Error('has no "to"')],
    [{ type: 'object' }, '[]', new Error('is an object, such as {"a": 1}')],
    [{ type: 'object' }, '{', new Error('is no JSON')],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '["a", "c"]', new Error('has items of a, b')],
    [{ type: 'array' }, '[1]', [1]],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'null', null],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, '3', 3],
    [
      {
        oneOf: [
          { const: 1, title: 'one' },
          { const: 2, title: 'two' },
        ],
      },
      'two',
      2,
    ],
    [{ enum: ['r', 'b'], enumNames: ['red', 'blue'] }, 'blue', 'b'],
    [{ enum: [1, 2] }, '3', new Error('is one of 1, 2')],
    [{}, 'a word', 'a word'],
    [{}, '{"a":1}', { a: 1 }],
    [{ type: 'string' }, '', undefined],
  ];
  test.each(cases)('of %j with %j', (schema, text, expected) => {
    const wanted =
      expected instanceof Error ? { kind: 'problem', text: expected.message } : { kind: 'value', value: expected };
    expect(checked(schema, text)).toEqual(wanted);
  });

  test('follows references within the schema', () => {
    const [field] = fieldsOf({
      properties: { x: { $ref: '#/$defs/Size' } },
      $defs: { Size: { type: 'string', enum: ['s', 'l'] } },
    });
    expect(field).toMatchObject({ kind: 'choice', choices: [{ value: 's' }, { value: 'l' }] });
  });

  test('is drawn whatever a schema looks like and whatever is typed', () => {
    const names = ['type', 'enum', 'anyOf', 'oneOf', '$ref', 'title', 'default', 'minimum', 'items', 'required'];
    const schemas = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
    fc.assert(
      fc.property(fc.dictionary(fc.string(), schemas), fc.string(), (properties, text) => {
        // `as`: JSON.
        const schema = { properties, required: ['x'] } as JsonObject;
        const { state } = press(formOf({ schema }, [40, 10]), ...text, 'tab', 'enter');
        expect(formRows(state).length).toBeLessThanOrEqual(10);
      }),
    );
  });
});
