import { asObject, asText, isObject, type JsonObject } from '../admin/protocol/lenient.ts';
import { ChatDraft, type ChatMessage } from './answer.ts';
import type { ChatReading } from './formats/contract.ts';
import { chatReadings } from './formats/registry.ts';

/** Puts a message together from a whole answer or from the events of a stream, whichever format they are in. */
export class ChatReader {
  readonly #draft = new ChatDraft();
  #format: ChatReading | undefined;

  /** Text that has come so far. */
  get text(): string {
    return this.#draft.text;
  }

  get reasoning(): string {
    return this.#draft.reasoning;
  }

  get isEmpty(): boolean {
    return this.#draft.isEmpty;
  }

  get message(): ChatMessage {
    return this.#draft.message;
  }

  whole(body: JsonObject): void {
    formatOf(body)?.whole(body, this.#draft);
    this.#fault(body);
  }

  /** The data of one event; what is no JSON object tells nothing. */
  event(data: string): void {
    const parsed = parseObject(data);
    if (parsed === undefined) return;
    this.#format ??= formatOf(parsed);
    this.#format?.event(parsed, this.#draft);
    this.#fault(parsed);
  }

  #fault(data: JsonObject): void {
    if (data['error'] !== undefined && data['error'] !== null) this.#draft.error = faultText(data) ?? 'unknown error';
    else if (data['type'] === 'error') this.#draft.error = asText(data['message']) ?? 'unknown error';
  }
}

/** What an error body says, in any of the formats; undefined when it is none. */
export function faultText(body: JsonObject): string | undefined {
  const { error } = body;
  if (typeof error === 'string') return error;
  return asText(asObject(error)['message']) ?? asText(body['message']) ?? asText(body['Message']);
}

export function parseObject(text: string): JsonObject | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Other text than JSON, or cut off.
    return undefined;
  }
}

function formatOf(data: JsonObject): ChatReading | undefined {
  return chatReadings.find((format) => format.owns(data));
}
