import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { list, object, objects, text } from '../../json.ts';
import { dataUrl } from '../data-url.ts';
import type { Notes } from '../contract.ts';
import { imageOfUrl, inputOf, reasoningBlock, textBlocks, toolResult, toolUse } from '../converse/blocks.ts';
import { Documents } from '../converse/documents.ts';
import type { Turn } from '../converse/request.ts';
import { SafeNames } from '../converse/safe-names.ts';

/** The turns of a conversation. Throws an `LlmFailure` for images that cannot be sent. */
export function turns(messages: readonly JsonObject[], names: SafeNames, notes: Notes): readonly Turn[] {
  const reader = new Reader(names, notes);
  return messages.flatMap((message, index) => reader.turn(message, `messages[${index}]`));
}

class Reader {
  readonly #names: SafeNames;
  readonly #ids = new SafeNames('call');
  readonly #documents = new Documents();
  readonly #notes: Notes;

  constructor(names: SafeNames, notes: Notes) {
    this.#names = names;
    this.#notes = notes;
  }

  turn(message: JsonObject, path: string): readonly Turn[] {
    const { content } = message;
    switch (message['role']) {
      case 'system':
      case 'developer':
        return [];
      case 'assistant':
        return [{ role: 'assistant', content: this.#assistant(message, path) }];
      case 'tool':
        return [{ role: 'user', content: [this.#result(message, path)] }];
      default:
        return [{ role: 'user', content: this.#parts(content, path) }];
    }
  }

  #assistant(message: JsonObject, path: string): readonly JsonObject[] {
    return [
      ...this.#reasoning(message, path),
      ...this.#parts(message['content'], path),
      ...textBlocks(message['refusal']),
      ...objects(message['tool_calls']).map((call, index) => this.#call(call, `${path}.tool_calls[${index}]`)),
    ];
  }

  /** What is not signed would be refused. */
  #reasoning(message: JsonObject, path: string): readonly JsonObject[] {
    const thought = text(message['reasoning_content']) ?? '';
    const signature = text(message['reasoning_signature']) ?? '';
    if (thought === '') return [];
    if (signature !== '') return [reasoningBlock(thought, signature)];
    this.#notes.dropped(`${path}.reasoning_content`, 'not signed');
    return [];
  }

  #call(call: JsonObject, path: string): JsonObject {
    const custom = object(call['custom']);
    const fn = object(call['function']) ?? custom;
    const name = this.#names.of(text(fn?.['name']) ?? '');
    const input = custom === undefined ? inputOf(text(fn?.['arguments']) ?? '') : { input: custom['input'] ?? '' };
    if (input === undefined) this.#notes.dropped(`${path}.function.arguments`, 'no JSON object');
    return toolUse(this.#ids.of(text(call['id']) ?? ''), name, input);
  }

  #result(message: JsonObject, path: string): JsonObject {
    const { content } = message;
    const blocks = list(content) === undefined ? textBlocks(content) : this.#parts(content, path);
    return toolResult(this.#ids.of(text(message['tool_call_id']) ?? ''), blocks);
  }

  #parts(content: JsonValue | undefined, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return textBlocks(content);
    return objects(content).flatMap((part, index) => this.#part(part, `${path}.content[${index}]`));
  }

  #part(part: JsonObject, path: string): readonly JsonObject[] {
    switch (part['type']) {
      case 'text':
        return textBlocks(part['text']);
      case 'refusal':
        return textBlocks(part['refusal']);
      case 'image_url':
        return [imageOfUrl(text(object(part['image_url'])?.['url']) ?? '', path)];
      default: {
        const document = part['type'] === 'file' ? this.#document(object(part['file']) ?? {}) : undefined;
        if (document !== undefined) return [document];
        this.#notes.dropped(path, String(part['type']));
        return [];
      }
    }
  }

  #document(file: JsonObject): JsonObject | undefined {
    const data = dataUrl(text(file['file_data']) ?? '');
    return data && this.#documents.block({ ...data, filename: text(file['filename']) });
  }
}
