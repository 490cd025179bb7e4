import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { completionsWire } from '../../formats/completions/wire.ts';
import { compact, number, object, objects, text } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { openaiError } from '../google/error.ts';
import { blockedReason, completionUsage, finishReason, responseId, toolCall, type ResponseFacts } from './response.ts';

/** Generated content, piece by piece, as chunks of a chat completion. Clients get the first candidate. */
export class CompletionChunks implements StreamTranslator {
  readonly #nowMs: number;
  #model: string;
  #id = '';
  #role: JsonObject = { role: 'assistant' };
  #calls = 0;
  #finished = false;
  #failed = false;
  #counted = false;

  constructor({ model, nowMs }: ResponseFacts) {
    this.#model = model;
    this.#nowMs = nowMs;
  }

  get complete(): boolean {
    return this.#failed || (this.#finished && this.#counted);
  }

  event(_name: string | null, data: JsonObject, out: EventWriter): void {
    if (this.#failed) return;
    if (data['error'] !== undefined) {
      this.#failed = true;
      out.event(null, openaiError(data, 502) ?? completionsWire.streamError('the upstream stream failed').data);
      return;
    }
    if (this.#id === '') this.#id = responseId(data, this.#nowMs);
    this.#model = text(data['modelVersion']) ?? this.#model;
    const usage = object(data['usageMetadata']);
    if (usage !== undefined) this.#counted = true;
    const candidates = objects(data['candidates']);
    if (candidates.length === 0) this.#withoutCandidates(data, usage, out);
    else {
      const first = candidates.find((candidate) => (number(candidate['index']) ?? 0) === 0);
      if (first !== undefined) this.#candidate(first, usage, out);
    }
  }

  end(_done: boolean, out: EventWriter): void {
    if (this.#failed) return;
    if (this.#finished) out.done();
    else out.event(null, completionsWire.streamError('the upstream stream ended before the answer was complete').data);
  }

  /** The prompt was refused, or only the counts came late. */
  #withoutCandidates(data: JsonObject, usage: JsonObject | undefined, out: EventWriter): void {
    const blocked = blockedReason(data);
    if (blocked !== undefined && !this.#finished) this.#finish(blocked, usage, out);
    else if (usage !== undefined) out.event(null, this.#chunk([], usage));
  }

  #candidate(candidate: JsonObject, usage: JsonObject | undefined, out: EventWriter): void {
    for (const part of objects(object(candidate['content'])?.['parts'])) this.#part(part, out);
    const reason = candidate['finishReason'];
    if (typeof reason === 'string' && reason !== 'FINISH_REASON_UNSPECIFIED')
      this.#finish(finishReason(reason, this.#calls > 0), usage, out);
  }

  #part(part: JsonObject, out: EventWriter): void {
    if (object(part['functionCall']) !== undefined) {
      const index = this.#calls;
      this.#calls += 1;
      this.#write(out, { tool_calls: [{ index, ...toolCall(part, `call_${this.#id}_${index}`) }] });
      return;
    }
    const said = text(part['text']) ?? '';
    if (said === '') return;
    this.#write(out, part['thought'] === true ? { reasoning_content: said } : { content: said });
  }

  #finish(reason: string, usage: JsonObject | undefined, out: EventWriter): void {
    this.#finished = true;
    out.event(null, this.#chunk([{ index: 0, delta: this.#withRole({}), finish_reason: reason }], usage));
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
      created: Math.floor(this.#nowMs / 1000),
      model: this.#model,
      choices,
      usage: usage && completionUsage(usage),
    });
  }
}
