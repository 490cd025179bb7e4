import type { JsonObject } from '../../exchange/attributes.ts';
import type { Notes } from './contract.ts';
import { takesBreakpoints } from './gpt.ts';

/** What stands for `cache_control` on a part. */
const BREAKPOINT = { prompt_cache_breakpoint: { mode: 'explicit' } } as const;

/** Anthropic's marks for the prompt cache, for one request to OpenAI: breakpoints for models that take them, nothing for others. */
export class CacheMarks {
  readonly #notes: Notes;
  readonly #taken: boolean;
  #told = false;

  constructor(model: string, notes: Notes) {
    this.#notes = notes;
    this.#taken = takesBreakpoints(model);
  }

  /** Fields to add to the part that is made of a block. */
  of(block: JsonObject): JsonObject {
    if (!marked(block)) return {};
    this.#tell();
    return this.#taken ? BREAKPOINT : {};
  }

  /** Where no part can have one: images, tools. */
  ignored(block: JsonObject): void {
    if (marked(block)) this.#notes.dropped('cache_control', 'on a block that cannot have it');
  }

  #tell(): void {
    if (this.#told) return;
    this.#told = true;
    if (this.#taken) this.#notes.renamed('cache_control', 'prompt_cache_breakpoint');
    else this.#notes.dropped('cache_control', 'the model caches by itself');
  }
}

export function marked(block: JsonObject): boolean {
  return block['cache_control'] !== undefined && block['cache_control'] !== null;
}
