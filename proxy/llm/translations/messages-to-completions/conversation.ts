import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, object, objects, text } from '../../json.ts';
import { blockText } from '../block-text.ts';
import { CacheMarks } from '../cache-marks.ts';
import type { Notes } from '../contract.ts';
import { toolArguments } from '../message-answer.ts';

interface Context {
  readonly marks: CacheMarks;
  readonly notes: Notes;
}

/** The system prompt and the turns as messages of a chat completion. */
export function chatMessages(body: JsonObject, model: string, notes: Notes): readonly JsonObject[] {
  const context = { marks: new CacheMarks(model, notes), notes };
  return [
    ...systemMessage(body['system'], 'system', context),
    ...objects(body['messages']).flatMap((message, index) => turn(message, `messages[${index}]`, context)),
  ];
}

function turn({ role, content }: JsonObject, path: string, context: Context): readonly JsonObject[] {
  switch (role) {
    case 'system':
      return systemMessage(content, `${path}.content`, context);
    case 'assistant':
      return assistantMessage(content, `${path}.content`, context);
    default:
      return userMessages(content, `${path}.content`, context);
  }
}

function systemMessage(content: JsonValue | undefined, path: string, context: Context): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ role: 'system', content }];
  const parts = textParts(content, path, context);
  return parts.length === 0 ? [] : [{ role: 'system', content: parts }];
}

/** Blocks of a content; a text alone is one block. */
function blocks(content: JsonValue | undefined): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
}

function textParts(content: JsonValue | undefined, path: string, context: Context): readonly JsonObject[] {
  return blocks(content).flatMap((block, index) => {
    if (block['type'] === 'text') return [textPart(block, context)];
    const said = saidPart(block, `${path}[${index}]`, context);
    if (said !== undefined) return [said];
    context.notes.dropped(`${path}[${index}]`, String(block['type']));
    return [];
  });
}

function textPart(block: JsonObject, { marks, notes }: Context): JsonObject {
  if (objects(block['citations']).length > 0) notes.dropped('citations');
  return { type: 'text', text: text(block['text']) ?? '', ...marks.of(block) };
}

/** Results of searches, and documents that are made of texts. */
function saidPart(block: JsonObject, path: string, { marks, notes }: Context): JsonObject | undefined {
  const said = blockText(block);
  if (said === undefined) return undefined;
  notes.renamed(path, 'text');
  return { type: 'text', text: said, ...marks.of(block) };
}

// ── users ──

/** Results of tools stand before what the user says: they answer the message before. */
function userMessages(content: JsonValue | undefined, path: string, context: Context): readonly JsonObject[] {
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  blocks(content).forEach((block, index) => {
    const at = `${path}[${index}]`;
    if (block['type'] === 'tool_result') results.push(toolMessage(block, at, context));
    else parts.push(...userPart(block, at, context));
  });
  return parts.length === 0 ? results : [...results, { role: 'user', content: parts }];
}

function userPart(block: JsonObject, path: string, context: Context): readonly JsonObject[] {
  const part = saidPart(block, path, context) ?? partOf(block, context);
  if (part === undefined) context.notes.dropped(path, String(block['type']));
  return part === undefined ? [] : [part];
}

function partOf(block: JsonObject, context: Context): JsonObject | undefined {
  const source = object(block['source']);
  switch (block['type']) {
    case 'text':
      return textPart(block, context);
    case 'image':
      context.marks.ignored(block);
      return imagePart(source);
    case 'document':
      context.marks.ignored(block);
      return documentPart(block, source);
    default:
      return undefined;
  }
}

function imagePart(source: JsonObject | undefined): JsonObject | undefined {
  if (source?.['type'] === 'url') return { type: 'image_url', image_url: { url: text(source['url']) ?? '' } };
  const url = dataUrlOf(source);
  return url === undefined ? undefined : { type: 'image_url', image_url: { url } };
}

function documentPart(block: JsonObject, source: JsonObject | undefined): JsonObject | undefined {
  if (source?.['type'] === 'text') return { type: 'text', text: text(source['data']) ?? '' };
  const url = dataUrlOf(source);
  if (url === undefined) return undefined;
  return { type: 'file', file: { filename: text(block['title']) ?? 'document.pdf', file_data: url } };
}

function dataUrlOf(source: JsonObject | undefined): string | undefined {
  if (source?.['type'] !== 'base64') return undefined;
  return `data:${text(source['media_type']) ?? ''};base64,${text(source['data']) ?? ''}`;
}

function toolMessage(block: JsonObject, path: string, context: Context): JsonObject {
  if (block['is_error'] === true) context.notes.dropped(`${path}.is_error`);
  return {
    role: 'tool',
    tool_call_id: text(block['tool_use_id']) ?? '',
    content: toolContent(block, `${path}.content`, context),
  };
}

/** A mark on the whole result goes to its last text. */
function toolContent(block: JsonObject, path: string, context: Context): JsonValue {
  const { content } = block;
  const mark = context.marks.of(block);
  const marked = Object.keys(mark).length > 0;
  if (!marked && (typeof content === 'string' || content === undefined)) return content ?? '';
  const parts = textParts(content, path, context);
  if (!marked) return parts.length === 0 ? '' : parts;
  const last = parts.at(-1) ?? { type: 'text', text: '' };
  return [...parts.slice(0, -1), { ...last, ...mark }];
}

// ── assistants ──

function assistantMessage(content: JsonValue | undefined, path: string, context: Context): readonly JsonObject[] {
  const said: JsonObject[] = [];
  const calls: JsonObject[] = [];
  blocks(content).forEach((block, index) => {
    if (block['type'] === 'text') said.push(textPart(block, context));
    else if (block['type'] === 'tool_use') calls.push(toolCall(block, context));
    else context.notes.dropped(`${path}[${index}]`, String(block['type']));
  });
  if (said.length === 0 && calls.length === 0) return [];
  return [
    compact({
      role: 'assistant',
      content: said.length === 0 ? undefined : said,
      tool_calls: calls.length === 0 ? undefined : calls,
    }),
  ];
}

function toolCall(block: JsonObject, { marks }: Context): JsonObject {
  marks.ignored(block);
  return {
    id: text(block['id']) ?? '',
    type: 'function',
    function: { name: text(block['name']) ?? '', arguments: toolArguments(block['input']) },
  };
}
