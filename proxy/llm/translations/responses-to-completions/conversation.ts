import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';

/** Instructions and input items as messages of a chat completion, in their order. */
export function chatMessages(body: JsonObject, notes: Notes): readonly JsonObject[] {
  const conversation = new Conversation(notes);
  const instructions = text(body['instructions']);
  if (instructions !== undefined && instructions !== '') {
    notes.renamed('instructions', 'messages');
    conversation.add({ role: 'developer', content: instructions });
  }
  const { input } = body;
  if (typeof input === 'string') conversation.add({ role: 'user', content: input });
  else objects(input).forEach((item, index) => conversation.take(item, `input[${index}]`));
  return conversation.messages;
}

class Conversation {
  readonly messages: JsonObject[] = [];
  readonly #notes: Notes;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  add(message: JsonObject): void {
    this.messages.push(message);
  }

  take(item: JsonObject, path: string): void {
    switch (item['type'] ?? 'message') {
      case 'message':
        this.#message(item, path);
        return;
      case 'function_call':
        this.#call(item, text(item['arguments']) ?? '');
        return;
      case 'custom_tool_call':
        this.#call(item, JSON.stringify(text(item['input']) ?? ''));
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#output(item, path);
        return;
      default:
        this.#notes.dropped(path, String(item['type']));
    }
  }

  #message(item: JsonObject, path: string): void {
    const role = roleOf(item);
    const content = `${path}.content`;
    if (role === 'assistant') {
      const said = assistantText(item['content']);
      if (said !== '') this.add({ role, content: said });
      return;
    }
    const { content: told } = item;
    const parts = typeof told === 'string' ? told : this.#parts(told, { path: content, images: role === 'user' });
    if (parts.length > 0) this.add({ role, content: parts });
  }

  /** Calls that follow one another are one turn. */
  #call(item: JsonObject, source: string): void {
    const call = {
      id: text(item['call_id']) ?? text(item['id']) ?? '',
      type: 'function',
      function: { name: text(item['name']) ?? '', arguments: source },
    };
    const last = this.messages.at(-1);
    const calls = last?.['role'] === 'assistant' ? objects(last['tool_calls']) : [];
    if (last !== undefined && calls.length > 0) {
      this.messages[this.messages.length - 1] = { ...last, tool_calls: [...calls, call] };
    } else {
      this.add({ role: 'assistant', tool_calls: [call] });
    }
  }

  #output(item: JsonObject, path: string): void {
    const { output } = item;
    const content =
      typeof output === 'string' ? output : this.#parts(output, { path: `${path}.output`, images: false });
    this.add({
      role: 'tool',
      tool_call_id: text(item['call_id']) ?? text(item['id']) ?? '',
      content: content.length === 0 ? '' : content,
    });
  }

  #parts(
    content: JsonValue | undefined,
    { path, images }: { readonly path: string; readonly images: boolean },
  ): readonly JsonObject[] {
    return objects(content).flatMap((part, index) => {
      const made = partOf(part, images);
      if (made === undefined) this.#notes.dropped(`${path}[${index}]`, String(part['type']));
      return made === undefined ? [] : [made];
    });
  }
}

/** Messages without a type tell no system from developers. */
function roleOf({ type, role }: JsonObject): string {
  if (role === 'assistant') return 'assistant';
  if (role === 'developer') return 'developer';
  if (role === 'system') return type === undefined || type === null ? 'developer' : 'system';
  return 'user';
}

function assistantText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .flatMap((part) => text(part['text']) ?? text(part['refusal']) ?? [])
    .join('\n');
}

/** Images and files have a place with users alone. */
function partOf(part: JsonObject, images: boolean): JsonObject | undefined {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: text(part['text']) ?? '' };
    case 'input_image':
      return images ? imagePart(part) : undefined;
    case 'input_file':
      return images ? filePart(part) : undefined;
    default:
      return undefined;
  }
}

function imagePart(part: JsonObject): JsonObject | undefined {
  const url = text(part['image_url']);
  if (url === undefined) return undefined;
  return { type: 'image_url', image_url: compact({ url, detail: text(part['detail']) }) };
}

function filePart(part: JsonObject): JsonObject | undefined {
  const file = compact({
    filename: text(part['filename']),
    file_data: text(part['file_data']),
    file_id: text(part['file_id']),
  });
  return file['file_data'] === undefined && file['file_id'] === undefined ? undefined : { type: 'file', file };
}
