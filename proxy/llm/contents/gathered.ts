import type { JsonObject } from '../../exchange/attributes.ts';
import type { Said, ToolCallFacts } from '../../exchange/llm-facts.ts';
import type { UpstreamFormat } from '../formats.ts';
import { number, object, objects, text } from '../json.ts';
import { contentsOf, geminiContents } from './answer.ts';

/** Characters that are kept of one answer; what comes beyond is left out. */
const MAX_LENGTH = 1024 * 1024;

/** Puts together what a streamed answer says, for expressions. */
export class GatheredContents implements Said {
  readonly #format: UpstreamFormat;
  readonly #texts = new Map<number, string>();
  /** By choice and place, in the order of their beginnings. */
  readonly #calls = new Map<string, ToolCallFacts>();
  #left = MAX_LENGTH;
  /** Some services send the whole answer at the end. */
  #whole: Said | null = null;

  constructor(format: UpstreamFormat) {
    this.#format = format;
  }

  get completion(): readonly string[] {
    return this.#whole?.completion ?? [...this.#texts.values()];
  }

  get toolCalls(): readonly ToolCallFacts[] {
    return this.#whole?.toolCalls ?? [...this.#calls.values()];
  }

  event(name: string | null, data: JsonObject): void {
    switch (this.#format) {
      case 'completions':
        for (const choice of objects(data['choices'])) this.#choice(choice);
        return;
      case 'messages':
        return this.#block(data);
      case 'responses':
        return this.#response(data);
      case 'generateContent':
        return this.#parts(data);
      case 'converse':
        return this.#converse(name, data);
    }
  }

  #choice(choice: JsonObject): void {
    const index = number(choice['index']) ?? 0;
    const delta = object(choice['delta']);
    this.#text(index, text(delta?.['content']));
    for (const call of objects(delta?.['tool_calls'])) {
      const called = object(call['function']);
      this.#call(`${index}.${number(call['index']) ?? text(call['id']) ?? 0}`, {
        id: text(call['id']),
        name: text(called?.['name']),
        arguments: text(called?.['arguments']),
      });
    }
  }

  #block(data: JsonObject): void {
    const place = String(number(data['index']) ?? 0);
    const begun = object(data['content_block']);
    if (begun?.['type'] === 'tool_use') this.#call(place, { id: text(begun['id']), name: text(begun['name']) });
    if (begun?.['type'] === 'text') this.#text(0, text(begun['text']));
    const delta = object(data['delta']);
    if (delta?.['type'] === 'text_delta') this.#text(0, text(delta['text']));
    if (delta?.['type'] === 'input_json_delta') this.#call(place, { arguments: text(delta['partial_json']) });
  }

  #response(data: JsonObject): void {
    const whole = object(data['response']);
    if (whole !== undefined && objects(whole['output']).length > 0) this.#whole = contentsOf('responses', whole);
    if (data['type'] === 'response.output_text.delta' || data['type'] === 'response.refusal.delta')
      this.#text(0, text(data['delta']));
    const item = data['type'] === 'response.output_item.done' ? object(data['item']) : undefined;
    for (const call of contentsOf('responses', { output: item === undefined ? [] : [item] }).toolCalls)
      this.#call(call.id, call);
  }

  #parts(data: JsonObject): void {
    const { completion, toolCalls } = geminiContents(data);
    for (const [index, said] of completion.entries()) this.#text(index, said);
    for (const call of toolCalls) this.#call(`${this.#calls.size}`, call);
  }

  #converse(name: string | null, data: JsonObject): void {
    const place = String(number(data['contentBlockIndex']) ?? 0);
    if (name === 'contentBlockStart') {
      const use = object(object(data['start'])?.['toolUse']);
      if (use !== undefined) this.#call(place, { id: text(use['toolUseId']), name: text(use['name']) });
    }
    if (name !== 'contentBlockDelta') return;
    const delta = object(data['delta']);
    this.#text(0, text(delta?.['text']));
    const input = text(object(delta?.['toolUse'])?.['input']);
    if (input !== undefined) this.#call(place, { arguments: input });
  }

  #text(index: number, more: string | undefined): void {
    const said = this.#texts.get(index) ?? '';
    this.#texts.set(index, said + this.#taken(more ?? ''));
  }

  #call(place: string, more: Partial<Record<keyof ToolCallFacts, string | undefined>>): void {
    const known = this.#calls.get(place);
    this.#calls.set(place, {
      id: known?.id || (more.id ?? ''),
      name: known?.name || (more.name ?? ''),
      arguments: (known?.arguments ?? '') + this.#taken(more.arguments ?? ''),
    });
  }

  #taken(more: string): string {
    const taken = more.length > this.#left ? more.slice(0, this.#left) : more;
    this.#left -= taken.length;
    return taken;
  }
}
