import type { JsonObject } from '../../../src/shared/json.ts';
import { stepForm } from '../../../ui/form/model.ts';
import type { FormEffect } from '../../../ui/form/commands.ts';
import { initialForm, type FormOptions, type FormState } from '../../../ui/form/state.ts';

export const orderSchema: JsonObject = {
  type: 'object',
  properties: {
    item: { type: 'string', enum: ['kettle', 'teapot', 'cup'], description: 'What it is.' },
    count: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 1,
      description: 'How many; more than 10 have to be confirmed.',
    },
    express: { type: 'boolean', default: false, title: 'Express', description: 'Deliver tomorrow.' },
    note: { type: 'string', maxLength: 20, description: 'メモ: what whoever packs the things should know of them' },
    weight: { type: 'number', exclusiveMinimum: 0 },
    gift: {
      type: 'object',
      required: ['to'],
      properties: { to: { type: 'string' } },
      description: 'Wrap it up for somebody.',
    },
    colours: { type: 'array', items: { enum: ['red', 'blue'] } },
    a_rather_long_name_for_an_argument: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['item', 'count'],
};

export function formOf(options: Partial<FormOptions> = {}, [columns, rows] = [80, 24]): FormState {
  const form = {
    title: 'shop_order',
    message: 'Order something.',
    schema: orderSchema,
    given: {},
    verb: 'call',
    declinable: false,
    ...options,
  };
  return initialForm(form, { columns: columns ?? 80, rows: rows ?? 24 });
}

/** Keys by their names; a word of several letters that is no key is typed. */
export function press(state: FormState, ...keys: readonly string[]): { state: FormState; effect?: FormEffect } {
  let last: { state: FormState; effect?: FormEffect } = { state };
  for (const name of keys)
    for (const each of NAMED.test(name) ? [name] : name)
      last = stepForm(last.state, {
        kind: 'key',
        key: { name: each === ' ' ? 'space' : each, text: NAMED.test(each) ? '' : each },
      });
  return last;
}

const NAMED = /^(enter|tab|shift-tab|up|down|left|right|home|end|backspace|delete|esc|ctrl-\w)$/;
