import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import type { PromptMessageFacts } from '../../exchange/llm-facts.ts';
import { list, object, objects, text } from '../json.ts';
import type { RouteType } from '../route-type.ts';

/** The conversation that a client sent, for expressions: who said what, parts that are no text left out. */
export function promptOf(type: RouteType, body: JsonObject): readonly PromptMessageFacts[] {
  switch (type) {
    case 'messages':
    case 'anthropicTokenCount':
      return [...said('system', body['system']), ...conversation(body['messages'])];
    case 'responses':
      return [...said('system', body['instructions']), ...input(body['input'])];
    case 'generateContent':
    case 'geminiCountTokens':
      return [
        ...said('system', object(body['systemInstruction'])?.['parts']),
        ...objects(body['contents']).flatMap(({ role, parts }) => said(text(role) ?? 'user', parts)),
      ];
    case 'embeddings':
      return input(body['input']);
    default:
      return conversation(body['messages']);
  }
}

function conversation(messages: JsonValue | undefined): PromptMessageFacts[] {
  return objects(messages).map(({ role, content }) => ({ role: text(role) ?? '', content: textOf(content) }));
}

/** A text, several of them, or messages among other items. */
function input(value: JsonValue | undefined): PromptMessageFacts[] {
  if (typeof value === 'string') return [{ role: 'user', content: value }];
  return (list(value) ?? []).flatMap((item) => {
    if (typeof item === 'string') return [{ role: 'user', content: item }];
    const { role, content } = object(item) ?? {};
    return typeof role === 'string' ? [{ role, content: textOf(content) }] : [];
  });
}

function said(role: string, content: JsonValue | undefined): PromptMessageFacts[] {
  return content === undefined ? [] : [{ role, content: textOf(content) }];
}

/** The texts of a content, whether it is one or a list of parts. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .flatMap((part) => text(part['text']) ?? [])
    .join('\n');
}
