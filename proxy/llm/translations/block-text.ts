import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { object, objects, text } from '../json.ts';

/**
 * What a search result of Anthropic's, or a document that is made of blocks, says to a model that knows of neither: its title,
 * where it is from, and its texts. Undefined for other blocks, and where there is no text.
 */
export function blockText(block: JsonObject): string | undefined {
  const source = object(block['source']);
  const content =
    block['type'] === 'search_result'
      ? block['content']
      : block['type'] === 'document' && source?.['type'] === 'content'
        ? source['content']
        : undefined;
  const said = textsOf(content);
  if (said.length === 0) return undefined;
  return [text(block['title']), text(block['source']), ...said].filter((line) => line !== undefined).join('\n');
}

function textsOf(content: JsonValue | undefined): readonly string[] {
  const texts = typeof content === 'string' ? [content] : objects(content).map((part) => text(part['text']) ?? '');
  return texts.filter((each) => each.trim() !== '');
}
