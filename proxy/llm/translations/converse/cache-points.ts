import type { JsonObject } from '../../../exchange/attributes.ts';
import { object, text } from '../../json.ts';
import type { Notes, PromptCaching } from '../contract.ts';
import type { ConverseParts } from './request.ts';

const CACHE_POINT: JsonObject = { cachePoint: { type: 'default' } };
/** As many as Bedrock takes in one request. */
const MAX_POINTS = 4;
/** A word is about so many tokens. */
const TOKENS_PER_WORD = 1.3;

/** Cache points where a client of Anthropic's has put its marks. */
export class MarkedCachePoints {
  readonly #notes: Notes;
  #count = 0;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** What follows a block with a mark. */
  after(block: JsonObject, path: string): readonly JsonObject[] {
    const mark = object(block['cache_control']);
    if (mark === undefined) return [];
    this.#count += 1;
    if (this.#count > MAX_POINTS) {
      this.#notes.dropped(`${path}.cache_control`, `more than ${MAX_POINTS}`);
      return [];
    }
    this.#notes.renamed(`${path}.cache_control`, 'cachePoint');
    return [mark['ttl'] === '1h' ? { cachePoint: { type: 'default', ttl: '1h' } } : CACHE_POINT];
  }
}

/** Models that cache by points; for others they are an error. */
function caches(model: string): boolean {
  if (model.includes('anthropic.claude')) return !/claude-instant|claude-v[12](?!\d)/.test(model);
  return model.includes('amazon.nova') || model.includes(':application-inference-profile/');
}

/** Puts cache points where the configured policy wants them. */
export function withCachePoints(
  parts: ConverseParts,
  model: string,
  policy: PromptCaching,
  notes: Notes,
): ConverseParts {
  if (!caches(model)) return parts;
  const { system, messages, tools } = parts;
  const at = messages.length < 2 ? -1 : Math.max(0, messages.length - 2 - policy.cacheMessageOffset);
  const ofSystem = policy.cacheSystem && system.length > 0 && estimatedTokens(system) >= policy.minTokens;
  const ofMessages = policy.cacheMessages && at >= 0;
  const ofTools = policy.cacheTools && tools.length > 0;
  if (ofSystem) notes.added('system[].cachePoint');
  if (ofMessages) notes.added(`messages[${at}].content[].cachePoint`);
  if (ofTools) notes.added('toolConfig.tools[].cachePoint');
  return {
    ...parts,
    system: ofSystem ? [...system, CACHE_POINT] : system,
    messages: ofMessages
      ? messages.map((turn, index) => (index === at ? { ...turn, content: [...turn.content, CACHE_POINT] } : turn))
      : messages,
    tools: ofTools ? [...tools, CACHE_POINT] : tools,
  };
}

function estimatedTokens(blocks: readonly JsonObject[]): number {
  const words = blocks.map((block) => (text(block['text']) ?? '').split(/\s+/).filter((word) => word !== '').length);
  return words.reduce((sum, count) => sum + count, 0) * TOKENS_PER_WORD;
}
