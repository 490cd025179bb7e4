import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { completionsWire } from '../../formats/completions/wire.ts';
import { compact } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { converseEvent, type ConverseEvent } from '../converse/stream-events.ts';
import { completionId, completionUsage, finishReason, type AnswerFacts } from './response.ts';

interface OpenTool {
  /** Among the calls of the answer. */
  readonly index: number;
  hasArguments: boolean;
}

/** The events of an answer as chunks of a chat completion. */
export class CompletionChunks implements StreamTranslator {
  readonly #facts: AnswerFacts;
  #role: JsonObject = { role: 'assistant' };
  #stopped = false;
  #counted = false;
  /** By the index of its block. */
  readonly #calls = new Map<number, OpenTool>();

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  get complete(): boolean {
    return this.#stopped && this.#counted;
  }

  event(name: string | null, data: JsonObject, out: EventWriter): void {
    const event = converseEvent(name, data, this.#facts.tools);
    if (event !== null) this.#take(event, out);
  }

  end(_done: boolean, out: EventWriter): void {
    if (this.#stopped) out.done();
    else out.event(null, completionsWire.streamError('the upstream stream ended before the answer was complete').data);
  }

  #take(event: ConverseEvent, out: EventWriter): void {
    switch (event.kind) {
      case 'start':
        if (this.#role['role'] !== undefined) this.#write(out, { content: '' });
        return;
      case 'text':
        this.#write(out, { content: event.text });
        return;
      case 'reasoning':
        this.#write(out, { reasoning_content: event.text });
        return;
      case 'signature':
        this.#write(out, { reasoning_signature: event.signature });
        return;
      case 'redacted':
        this.#write(out, { reasoning_content: '[REDACTED]' });
        return;
      case 'tool':
      case 'input':
      case 'close':
        this.#tool(event, out);
        return;
      case 'stop':
        this.#stopped = true;
        this.#chunk(out, [{ index: 0, delta: this.#withRole({}), finish_reason: finishReason(event.reason) }]);
        return;
      case 'usage':
        this.#counted = true;
        this.#chunk(out, [], completionUsage(event.usage));
        return;
    }
  }

  #tool(event: ConverseEvent & { readonly kind: 'tool' | 'input' | 'close' }, out: EventWriter): void {
    if (event.kind === 'tool') {
      const index = this.#calls.size;
      this.#calls.set(event.block, { index, hasArguments: false });
      const fn = { name: event.name, arguments: '' };
      this.#write(out, { tool_calls: [{ index, id: event.id, type: 'function', function: fn }] });
      return;
    }
    const call = this.#calls.get(event.block);
    if (call === undefined) return;
    // Clients parse the arguments: none at all would be no JSON.
    const part = event.kind === 'input' ? event.json : call.hasArguments ? '' : '{}';
    if (part === '') return;
    call.hasArguments = true;
    this.#write(out, { tool_calls: [{ index: call.index, function: { arguments: part } }] });
  }

  #write(out: EventWriter, delta: JsonObject): void {
    this.#chunk(out, [{ index: 0, delta: this.#withRole(delta), finish_reason: null }]);
  }

  /** The role stands on the first chunk. */
  #withRole(delta: JsonObject): JsonObject {
    const role = this.#role;
    this.#role = {};
    return { ...role, ...delta };
  }

  #chunk(out: EventWriter, choices: readonly JsonValue[], usage?: JsonObject): void {
    const { model, nowMs } = this.#facts;
    const created = Math.floor(nowMs / 1000);
    out.event(
      null,
      compact({ id: completionId(nowMs), object: 'chat.completion.chunk', created, model, choices, usage }),
    );
  }
}
