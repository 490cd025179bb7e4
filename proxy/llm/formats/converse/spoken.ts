import type { JsonObject } from '../../../exchange/attributes.ts';
import { object, text } from '../../json.ts';
import { type Spoken, textsIn } from '../spoken.ts';

/** What a whole answer says. */
export function converseSpoken(body: JsonObject): Spoken {
  const message = object(object(body['output'])?.['message']);
  return { role: text(message?.['role']), texts: textsIn(message?.['content'], () => 'text') };
}
