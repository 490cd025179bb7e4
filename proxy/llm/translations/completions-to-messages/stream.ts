import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { completionsWire } from '../../formats/completions/wire.ts';
import { compact, number, object, text } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { newId } from '../ids.ts';
import { serviceError } from '../service-error.ts';
import { completionUsage, finishReason, type CompletionOptions } from './response.ts';

interface OpenTool {
  /** Among the calls of the answer. */
  readonly index: number;
  /** What the block was opened with; none is what follows in parts. */
  readonly input: JsonObject;
  hasArguments: boolean;
}

/** Types of errors that clients of OpenAI know, too. */
const SHARED_TYPES = new Set(['invalid_request_error', 'authentication_error', 'not_found_error', 'rate_limit_error']);

/** The events of a message as chunks of a chat completion. */
export class CompletionChunks implements StreamTranslator {
  readonly #createdS: number;
  #model: string;
  #id = '';
  #usage: JsonObject = {};
  #role: JsonObject = { role: 'assistant' };
  #state: 'open' | 'stopped' | 'failed' = 'open';
  /** By the index of its block. */
  readonly #tools = new Map<number, OpenTool>();

  constructor({ model, nowMs }: CompletionOptions) {
    this.#model = model;
    this.#createdS = Math.floor(nowMs / 1000);
  }

  get complete(): boolean {
    return this.#state !== 'open';
  }

  event(_name: string | null, data: JsonObject, out: EventWriter): void {
    if (this.#state === 'failed') return;
    switch (data['type']) {
      case 'message_start':
        this.#start(object(data['message']) ?? {});
        return;
      case 'content_block_start':
        this.#open(data, out);
        return;
      case 'content_block_delta':
        this.#delta(data, out);
        return;
      case 'content_block_stop':
        this.#close(data, out);
        return;
      case 'message_delta':
        this.#finish(data, out);
        return;
      case 'error':
        this.#fail(data, out);
        return;
      default:
    }
  }

  end(done: boolean, out: EventWriter): void {
    if (this.#state === 'failed') return;
    if (this.#state === 'stopped' || done) out.done();
    else
      this.#failWith(completionsWire.streamError('the upstream stream ended before the answer was complete').data, out);
  }

  /** Anthropic's word for the error stands in `code`, as in errors that are no streams. */
  #fail(data: JsonObject, out: EventWriter): void {
    const { message, type } = serviceError(JSON.stringify(data)) ?? { message: 'the service failed' };
    const known = type !== undefined && SHARED_TYPES.has(type);
    const error = { message, type: known ? type : 'server_error', param: null, code: type ?? null };
    this.#failWith({ error }, out);
  }

  #failWith(error: JsonObject, out: EventWriter): void {
    this.#state = 'failed';
    out.event(null, error);
  }

  #start(message: JsonObject): void {
    this.#id = text(message['id']) ?? '';
    this.#model = text(message['model']) ?? this.#model;
    this.#usage = object(message['usage']) ?? {};
  }

  #open(data: JsonObject, out: EventWriter): void {
    const block = object(data['content_block']);
    if (block?.['type'] === 'text') this.#write(out, { content: text(block['text']) ?? '' });
    if (block?.['type'] !== 'tool_use') return;
    const tool = { index: this.#tools.size, input: object(block['input']) ?? {}, hasArguments: false };
    this.#tools.set(number(data['index']) ?? 0, tool);
    const call = {
      index: tool.index,
      id: text(block['id']) ?? newId('call_'),
      type: 'function',
      function: { name: text(block['name']) ?? '' },
    };
    this.#write(out, { tool_calls: [call] });
  }

  #delta(data: JsonObject, out: EventWriter): void {
    const delta = object(data['delta']);
    switch (delta?.['type']) {
      case 'text_delta':
        this.#write(out, { content: text(delta['text']) ?? '' });
        return;
      case 'thinking_delta':
        this.#write(out, { reasoning_content: text(delta['thinking']) ?? '' });
        return;
      case 'signature_delta':
        this.#write(out, { reasoning_signature: text(delta['signature']) ?? '' });
        return;
      case 'input_json_delta':
        this.#arguments(this.#tools.get(number(data['index']) ?? 0), text(delta['partial_json']) ?? '', out);
        return;
      default:
    }
  }

  #arguments(tool: OpenTool | undefined, part: string, out: EventWriter): void {
    if (tool === undefined || part === '') return;
    tool.hasArguments = true;
    this.#write(out, { tool_calls: [{ index: tool.index, function: { arguments: part } }] });
  }

  /** Clients parse the arguments: none at all would be no JSON. */
  #close(data: JsonObject, out: EventWriter): void {
    const tool = this.#tools.get(number(data['index']) ?? 0);
    if (tool?.hasArguments === false) this.#arguments(tool, JSON.stringify(tool.input), out);
  }

  #finish(data: JsonObject, out: EventWriter): void {
    const stop = object(data['delta'])?.['stop_reason'];
    this.#usage = { ...this.#usage, ...told(object(data['usage'])) };
    const stopped = typeof stop === 'string';
    if (stopped) this.#state = 'stopped';
    const choices = stopped ? [{ index: 0, delta: this.#withRole({}), finish_reason: finishReason(stop) }] : [];
    out.event(null, this.#chunk(choices, completionUsage(this.#usage)));
  }

  /** Nothing is no chunk. */
  #write(out: EventWriter, delta: JsonObject): void {
    if (Object.values(delta).every((value) => value === '')) return;
    out.event(null, this.#chunk([{ index: 0, delta: this.#withRole(delta), finish_reason: null }]));
  }

  /** The role stands on the first chunk. */
  #withRole(delta: JsonObject): JsonObject {
    const role = this.#role;
    this.#role = {};
    return { ...role, ...delta };
  }

  #chunk(choices: readonly JsonValue[], usage?: JsonObject): JsonObject {
    if (this.#id === '') this.#id = newId('chatcmpl-');
    return compact({
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#createdS,
      model: this.#model,
      choices,
      usage,
    });
  }
}

/** Numbers that are not told again hold as they were. */
function told(usage: JsonObject | undefined): JsonObject {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null));
}
