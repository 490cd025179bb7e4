import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { compact, list, object, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { dataUrl } from '../data-url.ts';
import { toolInput } from '../message-answer.ts';

export interface TurnContext {
  readonly notes: Notes;
  /** Whether the model is to think: only then it takes back what it thought before. */
  readonly thoughts: boolean;
  /** Ids of calls: those of other services may have characters that Anthropic refuses. */
  readonly ids: SafeNames;
}

/** A message of a chat as one of Anthropic's; none where nothing is left of it. */
export function turn(message: JsonObject, path: string, context: TurnContext): readonly JsonObject[] {
  const { notes } = context;
  const content = message['content'];
  if (message['name'] !== undefined && message['role'] !== 'system') notes.dropped(`${path}.name`);
  switch (message['role']) {
    case 'system':
    case 'developer':
      return [];
    case 'assistant':
      if (object(message['function_call']) !== undefined) notes.dropped(`${path}.function_call`);
      if (object(message['audio']) !== undefined) notes.dropped(`${path}.audio`);
      return withContent('assistant', [
        ...thought(message, path, context),
        ...parts(content, path, notes),
        ...textBlock(text(message['refusal']) ?? ''),
        ...toolUses(message, path, context),
      ]);
    case 'tool':
      return withContent('user', [toolResult(message, path, context)]);
    default:
      return withContent('user', parts(content, path, notes));
  }
}

/** Nobody but the model that signed it takes a thought back, and none without its signature. */
function thought(message: JsonObject, path: string, { notes, thoughts }: TurnContext): readonly JsonObject[] {
  const said = text(message['reasoning_content']) ?? '';
  const signature = text(message['reasoning_signature']) ?? '';
  if (said === '') return [];
  if (thoughts && signature !== '') return [{ type: 'thinking', thinking: said, signature }];
  notes.dropped(`${path}.reasoning_content`);
  return [];
}

/** A message without anything in it is none. */
function withContent(role: 'user' | 'assistant', content: readonly JsonObject[]): readonly JsonObject[] {
  return content.length === 0 ? [] : [{ role, content }];
}

function parts(content: JsonValue | undefined, path: string, notes: Notes): readonly JsonObject[] {
  if (typeof content === 'string') return textBlock(content);
  return objects(content).flatMap((part, index) => {
    switch (part['type']) {
      case 'text':
        return textBlock(text(part['text']) ?? '');
      case 'refusal':
        return textBlock(text(part['refusal']) ?? '');
      case 'image_url':
        return imageBlock(text(object(part['image_url'])?.['url']) ?? '');
      default: {
        const document = part['type'] === 'file' ? documentBlock(object(part['file']) ?? {}) : undefined;
        if (document !== undefined) return [document];
        notes.dropped(`${path}.content[${index}]`, String(part['type']));
        return [];
      }
    }
  });
}

/** A file that comes with its bytes, of the kinds that Anthropic reads; undefined for others. */
function documentBlock(file: JsonObject): JsonObject | undefined {
  const data = dataUrl(text(file['file_data']) ?? '');
  if (data === undefined) return undefined;
  const { mediaType, base64 } = data;
  const title = text(file['filename']);
  if (mediaType === 'application/pdf')
    return compact({ type: 'document', source: { type: 'base64', media_type: mediaType, data: base64 }, title });
  if (mediaType !== 'text/plain') return undefined;
  const plain = Buffer.from(base64, 'base64').toString('utf8');
  return compact({ type: 'document', source: { type: 'text', media_type: mediaType, data: plain }, title });
}

function textBlock(value: string): readonly JsonObject[] {
  return value.trim() === '' ? [] : [{ type: 'text', text: value }];
}

function imageBlock(url: string): readonly JsonObject[] {
  const data = dataUrl(url);
  const source =
    data === undefined ? { type: 'url', url } : { type: 'base64', media_type: data.mediaType, data: data.base64 };
  return [{ type: 'image', source }];
}

function toolUses(message: JsonObject, path: string, { notes, ids }: TurnContext): readonly JsonObject[] {
  return objects(message['tool_calls']).map((call, index) => {
    const custom = object(call['custom']);
    const fn = object(call['function']) ?? custom;
    const said = custom === undefined ? toolInput(text(fn?.['arguments']) ?? '') : (custom['input'] ?? '');
    // Anthropic takes nothing but objects.
    const input = isJsonObject(said) && custom === undefined ? said : { input: said };
    if (input !== said) notes.renamed(`${path}.tool_calls[${index}]`, 'input.input, since it is no JSON object');
    return { type: 'tool_use', id: ids.of(text(call['id']) ?? ''), name: text(fn?.['name']) ?? '', input };
  });
}

function toolResult(message: JsonObject, path: string, { notes, ids }: TurnContext): JsonObject {
  const { content } = message;
  noteOthers(content, `${path}.content`, notes);
  const result =
    list(content) === undefined
      ? (text(content) ?? '')
      : objects(content).flatMap((part) => textBlock(text(part['text']) ?? ''));
  return { type: 'tool_result', tool_use_id: ids.of(text(message['tool_call_id']) ?? ''), content: result };
}

/** Where only texts have a place. */
export function noteOthers(content: JsonValue | undefined, path: string, notes: Notes): void {
  objects(content).forEach((part, index) => {
    if (text(part['text']) === undefined) notes.dropped(`${path}[${index}]`, String(part['type']));
  });
}
