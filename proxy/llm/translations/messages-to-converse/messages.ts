import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { badRequest } from '../../failure.ts';
import { list, object, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { blockText } from '../block-text.ts';
import { imageBlock, reasoningBlock, textBlocks, toolResult, toolUse } from '../converse/blocks.ts';
import type { MarkedCachePoints } from '../converse/cache-points.ts';
import { Documents } from '../converse/documents.ts';
import type { Turn } from '../converse/request.ts';
import { SafeNames } from '../converse/safe-names.ts';

const RESULT_PARTS = new Set(['text', 'image', 'document', 'search_result']);

export interface ReaderOptions {
  readonly tools: SafeNames;
  readonly points: MarkedCachePoints;
  readonly notes: Notes;
}

/** Reads the blocks of one request, in their order: cache points are few, and the first ones win. */
export class BlockReader {
  readonly #tools: SafeNames;
  readonly #points: MarkedCachePoints;
  readonly #notes: Notes;
  readonly #ids = new SafeNames('call');
  readonly #documents = new Documents();

  constructor({ tools, points, notes }: ReaderOptions) {
    this.#tools = tools;
    this.#points = points;
    this.#notes = notes;
  }

  system(content: JsonValue | undefined, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return textBlocks(content);
    return objects(content).flatMap((block, index) => {
      const at = `${path}[${index}]`;
      if (block['type'] !== 'text') this.#notes.dropped(at, String(block['type']));
      return this.#marked(block, block['type'] === 'text' ? textBlocks(block['text']) : [], at);
    });
  }

  /** Throws an `LlmFailure` for images that cannot be sent. */
  turn(message: JsonObject, path: string): Turn {
    const { content } = message;
    const role = message['role'] === 'assistant' ? 'assistant' : 'user';
    if (typeof content === 'string') return { role, content: textBlocks(content) };
    const blocks = objects(content).flatMap((block, index) => {
      const at = `${path}.content[${index}]`;
      return this.#marked(block, this.#block(block, at), at);
    });
    return { role, content: blocks };
  }

  /** A cache point after nothing would be refused. */
  #marked(block: JsonObject, made: readonly JsonObject[], path: string): readonly JsonObject[] {
    return made.length === 0 ? made : [...made, ...this.#points.after(block, path)];
  }

  #block(block: JsonObject, path: string): readonly JsonObject[] {
    const said = blockText(block);
    if (said !== undefined) {
      this.#notes.renamed(path, 'text');
      return textBlocks(said);
    }
    switch (block['type']) {
      case 'text':
        if (block['citations'] !== undefined && block['citations'] !== null) this.#notes.dropped(`${path}.citations`);
        return textBlocks(block['text']);
      case 'image':
        return [image(block, path)];
      case 'thinking':
        return this.#thinking(block, path);
      case 'redacted_thinking':
        return [{ reasoningContent: { redactedContent: text(block['data']) ?? '' } }];
      case 'tool_use':
        return [this.#toolUse(block, path)];
      case 'tool_result':
        return [this.#result(block, path)];
      case 'document':
        return this.#document(block, path);
      default:
        this.#notes.dropped(path, String(block['type']));
        return [];
    }
  }

  /** What is not signed would be refused. */
  #thinking(block: JsonObject, path: string): readonly JsonObject[] {
    const signature = text(block['signature']) ?? '';
    if (signature !== '') return [reasoningBlock(text(block['thinking']) ?? '', signature)];
    this.#notes.dropped(path, 'not signed');
    return [];
  }

  #toolUse(block: JsonObject, path: string): JsonObject {
    const { input } = block;
    if (input !== undefined && !isJsonObject(input)) this.#notes.dropped(`${path}.input`, 'no JSON object');
    return toolUse(this.#ids.of(text(block['id']) ?? ''), this.#tools.of(text(block['name']) ?? ''), input);
  }

  #result(block: JsonObject, path: string): JsonObject {
    const { content } = block;
    const blocks =
      list(content) === undefined
        ? textBlocks(content)
        : objects(content).flatMap((part, index) => this.#resultPart(part, `${path}.content[${index}]`));
    return toolResult(this.#ids.of(text(block['tool_use_id']) ?? ''), blocks, block['is_error'] === true);
  }

  #resultPart(part: JsonObject, path: string): readonly JsonObject[] {
    const { type } = part;
    if (RESULT_PARTS.has(String(type))) return this.#block(part, path);
    this.#notes.dropped(path, String(type));
    return [];
  }

  #document(block: JsonObject, path: string): readonly JsonObject[] {
    const source = object(block['source']);
    const data = text(source?.['data']);
    const base64 =
      source?.['type'] === 'base64'
        ? data
        : source?.['type'] === 'text' && data !== undefined
          ? Buffer.from(data).toString('base64')
          : undefined;
    const mediaType = text(source?.['media_type']);
    const made = base64 && this.#documents.block({ base64, mediaType, filename: text(block['title']) });
    if (made) return [made];
    this.#notes.dropped(path, `document of the source ${String(source?.['type'])}`);
    return [];
  }
}

function image(block: JsonObject, path: string): JsonObject {
  const source = object(block['source']);
  const mediaType = text(source?.['media_type']);
  const data = text(source?.['data']);
  if (mediaType === undefined || data === undefined)
    throw badRequest(`${path}: Bedrock takes images as base64 with a media type only`);
  return imageBlock(mediaType, data);
}
