import { isJsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { parse } from '../../json.ts';

/**
 * Masks the arguments of a call, which are JSON as a rule: where a mask in the text would break them (in the place of a
 * number), each value is masked by itself.
 */
export function jsonMask(text: string, mask: (text: string) => string): string {
  const masked = mask(text);
  // What is written with escapes only shows in the values.
  const plain = !text.includes('\\');
  if (plain && (masked === text || parse(masked) !== undefined)) return masked;
  const value = parse(text);
  // A value by itself is no list of arguments.
  if (!isJsonObject(value) && !Array.isArray(value)) return masked;
  const rewritten = JSON.stringify(maskValue(value, mask));
  if (masked === text && rewritten === JSON.stringify(value)) return text;
  // What is only found across values is masked all the same.
  return mask(rewritten);
}

function maskValue(value: JsonValue, mask: (text: string) => string): JsonValue {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number') {
    const masked = mask(String(value));
    return masked === String(value) ? value : masked;
  }
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [mask(name), maskValue(field, mask)]));
}
