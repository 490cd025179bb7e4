import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { list, objects, text } from '../../json.ts';
import { joinedText } from '../../formats/completions/text.ts';
import type { Notes } from '../contract.ts';
import { imageOfUrl, inputOf, reasoningBlock, textBlocks, toolResult, toolUse } from '../converse/blocks.ts';
import { Documents } from '../converse/documents.ts';
import type { Turn } from '../converse/request.ts';
import { SafeNames } from '../converse/safe-names.ts';
import { dataUrl } from '../data-url.ts';
import { signatureOf } from '../response-body.ts';

export interface Conversation {
  readonly system: readonly JsonObject[];
  readonly turns: readonly Turn[];
}

/** Instructions and input. Throws an `LlmFailure` for images that cannot be sent. */
export function conversation(body: JsonObject, tools: SafeNames, notes: Notes): Conversation {
  const reader = new ItemReader(tools, notes);
  const { input } = body;
  if (typeof input === 'string') reader.take({ role: 'user', content: input }, 'input');
  else for (const [index, item] of objects(input).entries()) reader.take(item, `input[${index}]`);
  return { system: [...textBlocks(body['instructions']), ...reader.system], turns: reader.turns };
}

class ItemReader {
  readonly system: JsonObject[] = [];
  readonly turns: Turn[] = [];
  readonly #tools: SafeNames;
  readonly #notes: Notes;
  readonly #ids = new SafeNames('call');
  readonly #documents = new Documents();
  /** Calls that could not be sent, whose outputs would refer to nothing. */
  readonly #skipped = new Set<string>();

  constructor(tools: SafeNames, notes: Notes) {
    this.#tools = tools;
    this.#notes = notes;
  }

  take(item: JsonObject, path: string): void {
    switch (item['type'] ?? 'message') {
      case 'message':
        this.#message(item, path);
        return;
      case 'function_call':
        this.#call(item, inputOf(text(item['arguments']) ?? ''), path);
        return;
      case 'custom_tool_call':
        this.#call(item, { input: text(item['input']) ?? '' }, path);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#output(item, path);
        return;
      case 'reasoning':
        this.#reasoning(item, path);
        return;
      default:
        this.#notes.dropped(path, String(item['type']));
    }
  }

  /** Only what Bedrock has signed, it takes back. */
  #reasoning(item: JsonObject, path: string): void {
    const signature = signatureOf(item);
    const thought = joinedText(item['summary'], '\n');
    if (signature === undefined || thought === '') this.#notes.dropped(path, 'not signed');
    else this.turns.push({ role: 'assistant', content: [reasoningBlock(thought, signature)] });
  }

  #message({ role, content }: JsonObject, path: string): void {
    if (role === 'system' || role === 'developer') {
      this.system.push(...textBlocks(joinedText(content, '\n')));
      return;
    }
    const images = role !== 'assistant';
    this.turns.push({ role: images ? 'user' : 'assistant', content: this.#parts(content, `${path}.content`, images) });
  }

  #call(item: JsonObject, input: JsonObject | undefined, path: string): void {
    const id = idOf(item);
    if (input === undefined) {
      this.#skipped.add(id);
      this.#notes.dropped(path, 'its arguments are no JSON object');
      return;
    }
    const name = this.#tools.of(text(item['name']) ?? '');
    this.turns.push({ role: 'assistant', content: [toolUse(this.#ids.of(id), name, input)] });
  }

  #output(item: JsonObject, path: string): void {
    const id = idOf(item);
    if (this.#skipped.has(id)) {
      this.#notes.dropped(path, 'its call could not be sent');
      return;
    }
    const content = this.#parts(item['output'], `${path}.output`, true);
    this.turns.push({ role: 'user', content: [toolResult(this.#ids.of(id), content)] });
  }

  #parts(content: JsonValue | undefined, path: string, images: boolean): readonly JsonObject[] {
    if (list(content) === undefined) return textBlocks(content);
    return objects(content).flatMap((part, index) => this.#part(part, `${path}[${index}]`, images));
  }

  #part(part: JsonObject, path: string, images: boolean): readonly JsonObject[] {
    switch (part['type']) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return textBlocks(part['text']);
      case 'refusal':
        return textBlocks(part['refusal']);
      case 'input_image':
        if (images) return [imageOfUrl(text(part['image_url']) ?? '', path)];
        break;
      case 'input_file': {
        const document = images ? this.#document(part) : undefined;
        if (document !== undefined) return [document];
        break;
      }
      default:
    }
    this.#notes.dropped(path, String(part['type']));
    return [];
  }

  /** By its bytes, which stand in a data URL or alone. */
  #document(part: JsonObject): JsonObject | undefined {
    const source = text(part['file_data']) ?? text(part['file_url']) ?? '';
    const data =
      dataUrl(source) ?? (source === text(part['file_data']) ? { base64: source, mediaType: '' } : undefined);
    if (data === undefined || data.base64 === '' || data.base64.startsWith('data:')) return undefined;
    return this.#documents.block({ ...data, filename: text(part['filename']) });
  }
}

function idOf(item: JsonObject): string {
  return text(item['call_id']) ?? text(item['id']) ?? '';
}
