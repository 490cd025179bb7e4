import { describe, expect, test } from '@jest/globals';

import { formModel, withFormModel } from '../../../../proxy/llm/models/form.ts';

const TYPE = 'multipart/form-data; boundary="b-1"';

function form(...parts: readonly string[]): Uint8Array {
  return Buffer.from(`${parts.map((part) => `--b-1\r\n${part}\r\n`).join('')}--b-1--\r\n`);
}

const field = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
const file = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"; filename="model"\r\nContent-Type: image/png\r\n\r\n${value}`;

describe('the model of a form', () => {
  test.each([
    ['a text among files', form(file('image', 'x'), field('prompt', 'p'), field('model', 'm')), 'm'],
    ['the first of two', form(field('model', 'a'), field('model', 'b')), 'a'],
  ])('is %s', async (_what, bytes, model) => {
    expect(await formModel(bytes, TYPE)).toEqual({ kind: 'model', model });
  });

  test.each([
    ['missing', form(field('prompt', 'p'))],
    ['file', form(file('model', 'm'))],
    ['invalid', form(field('model', 'm'.repeat(5000)))],
    ['invalid', Buffer.from('--b-1\r\nContent-Disp')],
    ['invalid', Buffer.from('--b-1\r\nContent-Disposition: form-data; name="image"; filename="i"\r\n\r\nabc')],
  ])('is %s where no text says it', async (kind, bytes) => {
    expect(await formModel(bytes, TYPE)).toEqual({ kind });
  });

  test('is replaced in its part, and nothing else changes', async () => {
    const bytes = form(
      file('image', 'name="model"\r\n\r\nx'),
      field('prompt', 'model'),
      field('model', 'm'),
      field('n', '1'),
    );
    const changed = withFormModel(bytes, TYPE, 'gpt-image-1');
    expect(Buffer.from(changed).toString()).toBe(
      Buffer.from(bytes).toString().replace('name="model"\r\n\r\nm\r\n', 'name="model"\r\n\r\ngpt-image-1\r\n'),
    );
    expect(await formModel(changed, TYPE)).toEqual({ kind: 'model', model: 'gpt-image-1' });
    expect(withFormModel(form(field('n', '1')), TYPE, 'x')).toEqual(form(field('n', '1')));
  });
});
