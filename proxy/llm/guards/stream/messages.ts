import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import type { EventTexts, Reading, Scopes, StreamEvent } from './contract.ts';

/** How the text of a block comes. */
interface BlockText {
  readonly scope: ContentScope;
  /** Type of its deltas, and their field. */
  readonly delta: string;
  readonly field: string;
}

const SAID: BlockText = { scope: 'messages', delta: 'text_delta', field: 'text' };
const THOUGHT: BlockText = { scope: 'reasoning', delta: 'thinking_delta', field: 'thinking' };
const CALLED: BlockText = { scope: 'toolInput', delta: 'input_json_delta', field: 'partial_json' };
const ALL = [SAID, THOUGHT, CALLED] as const;

/** Anthropic messages: one text for each block. */
export class MessagesEvents implements EventTexts {
  readonly #scopes: Scopes;
  readonly #open = new Map<number, BlockText>();

  constructor(scopes: Scopes) {
    this.#scopes = scopes;
  }

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    const index = number(data['index']) ?? 0;
    switch (data['type']) {
      case 'content_block_start':
        return this.#start(event, index);
      case 'content_block_delta':
        return this.#delta(event, index);
      case 'content_block_stop':
        return this.#stop(event, index);
      case 'message_delta':
      case 'message_stop':
      case 'error':
        return this.#end(event);
      default:
        return null;
    }
  }

  finish(): Reading | null {
    return this.#end(null);
  }

  blocked(message: string): StreamEvent {
    const error = { type: 'guardrail_blocked', code: 'guardrail_intervention', message };
    return { name: 'error', data: { type: 'error', error } };
  }

  #start(event: StreamEvent, index: number): Reading | null {
    const { data } = event;
    const block = object(data['content_block']);
    const kind = block === undefined ? undefined : kindOf(block);
    if (block === undefined || kind === undefined || !this.#scopes.has(kind.scope)) return null;
    this.#open.set(index, kind);
    if (kind === CALLED) return calledAtOnce(event, { index, block });
    const begun = text(block[kind.field]) ?? '';
    if (begun === '') return null;
    return {
      pieces: [{ channel: String(index), scope: kind.scope, text: begun, final: false }],
      write: ([may = '']) =>
        may === begun ? [event] : [{ ...event, data: { ...data, content_block: { ...block, [kind.field]: may } } }],
    };
  }

  #delta(event: StreamEvent, index: number): Reading | null {
    const { data } = event;
    const delta = object(data['delta']) ?? {};
    const kind = ALL.find(({ field }) => typeof delta[field] === 'string');
    const added = kind && text(delta[kind.field]);
    if (kind === undefined || added === undefined || !this.#scopes.has(kind.scope)) return null;
    this.#open.set(index, kind);
    return {
      pieces: [{ channel: String(index), scope: kind.scope, text: added, final: false }],
      write: ([may = '']) => {
        if (may === added) return [event];
        return may === '' ? [] : [{ ...event, data: { ...data, delta: { ...delta, [kind.field]: may } } }];
      },
    };
  }

  #stop(event: StreamEvent, index: number): Reading | null {
    const kind = this.#open.get(index);
    if (kind === undefined) return null;
    this.#open.delete(index);
    return ending([[index, kind]], event);
  }

  #end(event: StreamEvent | null): Reading | null {
    if (this.#open.size === 0) return null;
    const open = [...this.#open];
    this.#open.clear();
    return ending(open, event);
  }
}

function kindOf({ type }: JsonObject): BlockText | undefined {
  switch (type) {
    case 'text':
      return SAID;
    case 'thinking':
      return THOUGHT;
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return CALLED;
    default:
      return undefined;
  }
}

/** Services that have no fragments tell the arguments where the call begins: they follow as a fragment. */
function calledAtOnce(
  event: StreamEvent,
  { index, block }: { readonly index: number; readonly block: JsonObject },
): Reading | null {
  const input = object(block['input']) ?? {};
  if (Object.keys(input).length === 0) return null;
  const begun = { ...event, data: { ...event.data, content_block: { ...block, input: {} } } };
  return {
    pieces: [{ channel: String(index), scope: CALLED.scope, text: JSON.stringify(input), final: false }],
    write: ([may = '']) => [begun, ...restOf(index, CALLED, may)],
  };
}

type Open = readonly (readonly [index: number, kind: BlockText])[];

/** What was held back of the texts that end, and then the event that ends them. */
function ending(open: Open, event: StreamEvent | null): Reading {
  return {
    pieces: open.map(([index, { scope }]) => ({ channel: String(index), scope, text: '', final: true })),
    write: (released) => [
      ...open.flatMap(([index, kind], at) => restOf(index, kind, released[at] ?? '')),
      ...(event === null ? [] : [event]),
    ],
  };
}

function restOf(index: number, { delta: type, field }: BlockText, rest: string): StreamEvent[] {
  if (rest === '') return [];
  const data: JsonObject = { type: 'content_block_delta', index, delta: { type, [field]: rest } };
  return [{ name: 'content_block_delta', data }];
}
