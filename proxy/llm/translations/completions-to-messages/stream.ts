import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, number, object, text } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { completionUsage, finishReason } from './response.ts';

interface OpenTool {
  /** Among the calls of the answer. */
  readonly index: number;
  hasArguments: boolean;
}

/** The events of a message as chunks of a chat completion. */
export class CompletionChunks implements StreamTranslator {
  readonly #createdS: number;
  #id = '';
  #model = '';
  #usage: JsonObject = {};
  #role: JsonObject = { role: 'assistant' };
  /** By the index of its block. */
  readonly #tools = new Map<number, OpenTool>();

  constructor(nowMs: number) {
    this.#createdS = Math.floor(nowMs / 1000);
  }

  event(_name: string | null, data: JsonObject, out: EventWriter): void {
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
      default:
    }
  }

  end(_done: boolean, out: EventWriter): void {
    out.done();
  }

  #start(message: JsonObject): void {
    this.#id = text(message['id']) ?? '';
    this.#model = text(message['model']) ?? '';
    this.#usage = object(message['usage']) ?? {};
  }

  #open(data: JsonObject, out: EventWriter): void {
    const block = object(data['content_block']);
    if (block?.['type'] !== 'tool_use') return;
    const tool = { index: this.#tools.size, hasArguments: false };
    this.#tools.set(number(data['index']) ?? 0, tool);
    const call = {
      index: tool.index,
      id: block['id'] ?? '',
      type: 'function',
      function: { name: block['name'] ?? '' },
    };
    this.#write(out, { tool_calls: [call] });
  }

  #delta(data: JsonObject, out: EventWriter): void {
    const delta = object(data['delta']);
    switch (delta?.['type']) {
      case 'text_delta':
        this.#write(out, { content: delta['text'] ?? '' });
        return;
      case 'thinking_delta':
        this.#write(out, { reasoning_content: delta['thinking'] ?? '' });
        return;
      case 'input_json_delta':
        this.#arguments(data, text(delta['partial_json']) ?? '', out);
        return;
      default:
    }
  }

  #arguments(data: JsonObject, part: string, out: EventWriter): void {
    const tool = this.#tools.get(number(data['index']) ?? 0);
    if (tool === undefined || part === '') return;
    tool.hasArguments = true;
    this.#write(out, { tool_calls: [{ index: tool.index, function: { arguments: part } }] });
  }

  /** Clients parse the arguments: none at all would be no JSON. */
  #close(data: JsonObject, out: EventWriter): void {
    const tool = this.#tools.get(number(data['index']) ?? 0);
    if (tool === undefined || tool.hasArguments) return;
    tool.hasArguments = true;
    this.#write(out, { tool_calls: [{ index: tool.index, function: { arguments: '{}' } }] });
  }

  #finish(data: JsonObject, out: EventWriter): void {
    const stop = object(data['delta'])?.['stop_reason'];
    const usage = { ...this.#usage, ...object(data['usage']) };
    const stopped = typeof stop === 'string';
    const choices = stopped ? [{ index: 0, delta: this.#withRole({}), finish_reason: finishReason(stop) }] : [];
    out.event(null, this.#chunk(choices, completionUsage(usage)));
  }

  #write(out: EventWriter, delta: JsonObject): void {
    out.event(null, this.#chunk([{ index: 0, delta: this.#withRole(delta), finish_reason: null }]));
  }

  /** The role stands on the first chunk. */
  #withRole(delta: JsonObject): JsonObject {
    const role = this.#role;
    this.#role = {};
    return { ...role, ...delta };
  }

  #chunk(choices: readonly JsonValue[], usage?: JsonObject): JsonObject {
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
