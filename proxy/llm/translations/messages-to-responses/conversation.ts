import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { badRequest, type LlmFailure } from '../../failure.ts';
import { list, object, objects, text } from '../../json.ts';
import type { CacheMarks } from '../cache-marks.ts';
import type { Notes } from '../contract.ts';
import { newId } from '../ids.ts';
import { toolArguments } from '../message-answer.ts';

export interface Context {
  readonly marks: CacheMarks;
  readonly notes: Notes;
}

/** Turns as input items, in their order: what is said is gathered until a call, or the result of one, comes between. */
export function inputItems(messages: readonly JsonObject[], context: Context): readonly JsonObject[] {
  return messages.flatMap(({ role, content }, index) => {
    const path = `messages[${index}].content`;
    switch (role) {
      case 'system':
        return [systemItem(blocks(content), context.marks)];
      case 'assistant':
        return gathered(blocks(content), assistantMessage, (block, at) => assistantBlock(block, `${path}[${at}]`));
      default:
        return gathered(blocks(content), userMessage, (block, at) => userBlock(block, `${path}[${at}]`, context));
    }
  });
}

export function systemItem(texts: readonly JsonObject[], marks: CacheMarks): JsonObject {
  return { type: 'message', role: 'system', content: texts.map((block) => inputText(block, marks)) };
}

/** Either a part of a message, or an item of its own. */
type Placed = { readonly part: JsonObject } | { readonly item: JsonObject };

function gathered(
  from: readonly JsonObject[],
  message: (parts: readonly JsonObject[]) => JsonObject,
  place: (block: JsonObject, index: number) => Placed,
): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let parts: JsonObject[] = [];
  const flush = () => {
    if (parts.length > 0) items.push(message(parts));
    parts = [];
  };
  from.forEach((block, index) => {
    const placed = place(block, index);
    if ('part' in placed) {
      parts.push(placed.part);
      return;
    }
    flush();
    items.push(placed.item);
  });
  flush();
  return items;
}

function userMessage(content: readonly JsonObject[]): JsonObject {
  return { type: 'message', role: 'user', content };
}

function assistantMessage(content: readonly JsonObject[]): JsonObject {
  return { type: 'message', id: newId('msg_'), role: 'assistant', status: 'completed', content };
}

/** Blocks of a content; a text alone is one block. */
function blocks(content: JsonValue | undefined): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
}

function assistantBlock(block: JsonObject, path: string): Placed {
  switch (block['type']) {
    case 'text':
      return { part: { type: 'output_text', text: uncited(block, path), annotations: [] } };
    case 'tool_use':
      return { item: functionCall(block) };
    default:
      throw unsupported(block, path);
  }
}

function functionCall(block: JsonObject): JsonObject {
  return {
    type: 'function_call',
    id: newId('fc_'),
    call_id: text(block['id']) ?? '',
    name: text(block['name']) ?? '',
    arguments: toolArguments(block['input']),
    status: 'completed',
  };
}

function userBlock(block: JsonObject, path: string, context: Context): Placed {
  switch (block['type']) {
    case 'text':
      uncited(block, path);
      return { part: inputText(block, context.marks) };
    case 'image':
      context.marks.ignored(block);
      return { part: inputImage(block, path) };
    case 'tool_result':
      return { item: functionOutput(block, path, context) };
    default:
      throw unsupported(block, path);
  }
}

function inputText(block: JsonObject, marks: CacheMarks): JsonObject {
  return { type: 'input_text', text: text(block['text']) ?? '', ...marks.of(block) };
}

function inputImage(block: JsonObject, path: string): JsonObject {
  const source = object(block['source']);
  switch (source?.['type']) {
    case 'base64': {
      const url = `data:${text(source['media_type']) ?? ''};base64,${text(source['data']) ?? ''}`;
      return { type: 'input_image', image_url: url, detail: 'auto' };
    }
    case 'url':
      return { type: 'input_image', image_url: text(source['url']) ?? '', detail: 'auto' };
    case 'file':
      return { type: 'input_image', file_id: text(source['file_id']) ?? '', detail: 'auto' };
    default:
      throw unsupported(block, path);
  }
}

function functionOutput(block: JsonObject, path: string, { marks }: Context): JsonObject {
  return {
    type: 'function_call_output',
    call_id: text(block['tool_use_id']) ?? '',
    output: output(block, path, marks),
    status: block['is_error'] === true ? 'incomplete' : 'completed',
  };
}

/** Texts are one; marks and images need parts. */
function output(block: JsonObject, path: string, marks: CacheMarks): JsonValue {
  const parts = blocks(block['content']).map((part, index) => outputPart(part, `${path}.content[${index}]`, marks));
  const mark = marks.of(block);
  if (Object.keys(mark).length > 0) {
    const last = parts.findLastIndex(({ type }) => type === 'input_text');
    if (last === -1) return [...parts, { type: 'input_text', text: '', ...mark }];
    return parts.map((part, index) => (index === last ? { ...part, ...mark } : part));
  }
  const plain = parts.every((part) => part['type'] === 'input_text' && part['prompt_cache_breakpoint'] === undefined);
  return plain ? parts.map((part) => text(part['text']) ?? '').join('\n') : parts;
}

function outputPart(part: JsonObject, path: string, marks: CacheMarks): JsonObject {
  if (part['type'] === 'image') return inputImage(part, path);
  if (part['type'] !== 'text') throw unsupported(part, path);
  uncited(part, path);
  return inputText(part, marks);
}

function uncited(block: JsonObject, path: string): string {
  if ((list(block['citations']) ?? []).length > 0) throw badRequest(`unsupported conversion: citations at ${path}`);
  return text(block['text']) ?? '';
}

function unsupported(block: JsonObject, path: string): LlmFailure {
  return badRequest(`unsupported conversion: ${String(block['type'])} at ${path}`);
}
