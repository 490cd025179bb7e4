import { setImmediate } from 'node:timers/promises';

import type { JsonObject } from '../../exchange/attributes.ts';
import type { RouteType } from '../route-type.ts';
import { type Count, encodingOf, loadEncoding } from './encoding.ts';
import { pieces } from './pieces.ts';
import { messageTexts } from './texts.ts';

/** Tokens that a message takes beside its texts: what frames it, and its role. */
const MESSAGE = 4;
/** Tokens that the answer begins with. */
const ANSWER = 3;
/** Characters after which others get their turn. */
const TURN = 16_384;

/** Counts the tokens of a request here, without asking anybody. Throws an `LlmFailure` for models of unknown encoding. */
export async function countTokens(model: string, body: JsonObject, type: RouteType): Promise<number> {
  const encoding = encodingOf(model);
  const count = await loadEncoding(encoding);
  const messages = messageTexts(body, type);
  return (await countTexts(messages.flat(), count)) + messages.length * MESSAGE + ANSWER;
}

async function countTexts(texts: readonly string[], count: Count): Promise<number> {
  let tokens = 0;
  let characters = 0;
  for (const text of texts) {
    for (const piece of pieces(text)) {
      tokens += count(piece);
      characters += piece.length;
      if (characters < TURN) continue;
      characters = 0;
      await setImmediate();
    }
  }
  return tokens;
}
