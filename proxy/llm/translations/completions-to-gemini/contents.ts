import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { list, object, objects, parse, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { audioPart, filePart, imagePart } from './media.ts';
import { signatureIn } from './thought-ids.ts';

const FILLER: JsonObject = { text: ' ' };

interface Content {
  readonly role: 'user' | 'model';
  /** Answers of tools never share a content with anything else. */
  readonly answers: boolean;
  readonly parts: JsonObject[];
}

/** The turns of a conversation. Throws an `LlmFailure` for images that cannot be sent. */
export function contents(messages: readonly JsonObject[], notes: Notes): readonly JsonObject[] {
  const turns = new Turns(notes);
  for (const [index, message] of messages.entries()) turns.add(message, `messages[${index}]`);
  return turns.done();
}

class Turns {
  readonly #notes: Notes;
  readonly #contents: Content[] = [];
  /** Names of the tools that calls named, by the ids of the calls. */
  readonly #names = new Map<string, string>();
  /** Places of the calls of the last turn of the model. */
  #order = new Map<string, number>();
  /** Answers that wait for the others of their turn. */
  #answers: { readonly id: string; readonly part: JsonObject }[] = [];

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  add(message: JsonObject, path: string): void {
    const { role, content } = message;
    if (role === 'system' || role === 'developer') return;
    if (role === 'tool' || role === 'function') {
      this.#answer(message, path);
      return;
    }
    this.#settle();
    if (role === 'assistant') {
      const parts = [...this.#parts(content, path), ...textParts(message['refusal']), ...this.#calls(message, path)];
      if (parts.length > 0) this.#push('model', parts);
    } else this.#push('user', this.#parts(content, path));
  }

  done(): readonly JsonObject[] {
    this.#settle();
    if (this.#contents.length === 0) this.#push('user', []);
    return this.#contents.map(({ role, answers, parts }) => ({ role, parts: filled(role, answers, parts) }));
  }

  #push(role: Content['role'], parts: readonly JsonObject[], answers = false): void {
    const last = this.#contents.at(-1);
    if (last?.role === role && last.answers === answers) last.parts.push(...parts);
    else this.#contents.push({ role, answers, parts: [...parts] });
  }

  /** In the order of the calls, whatever order the answers come in. */
  #settle(): void {
    if (this.#answers.length === 0) return;
    const place = ({ id }: { readonly id: string }) => this.#order.get(id) ?? this.#order.size;
    const sorted = this.#answers.toSorted((left, right) => place(left) - place(right));
    this.#push(
      'user',
      sorted.map(({ part }) => part),
      true,
    );
    this.#answers = [];
  }

  #answer(message: JsonObject, path: string): void {
    const id = text(message['tool_call_id']) ?? '';
    const name = this.#names.get(id) ?? text(message['name']) ?? '';
    for (const [index, part] of objects(message['content']).entries())
      if (text(part['text']) === undefined) this.#notes.dropped(`${path}.content[${index}]`, String(part['type']));
    this.#answers.push({
      id,
      part: { functionResponse: { name, response: { content: answerText(message['content']) } } },
    });
  }

  #calls(message: JsonObject, path: string): readonly JsonObject[] {
    const legacy = object(message['function_call']);
    const calls = [...objects(message['tool_calls']), ...(legacy === undefined ? [] : [{ function: legacy }])];
    this.#order = new Map(calls.map((call, index) => [text(call['id']) ?? '', index]));
    return calls.map((call, index) => this.#call(call, `${path}.tool_calls[${index}]`));
  }

  #call(call: JsonObject, path: string): JsonObject {
    const id = text(call['id']) ?? '';
    const custom = object(call['custom']);
    const fn = object(call['function']) ?? custom;
    const name = text(fn?.['name']) ?? '';
    this.#names.set(id, name);
    const source = text(fn?.['arguments']) ?? '';
    const parsed = custom === undefined ? parse(source) : { input: custom['input'] ?? '' };
    if (!isJsonObject(parsed) && source !== '') this.#notes.dropped(`${path}.function.arguments`, 'no JSON object');
    const signature = signatureIn(id);
    return {
      functionCall: { name, args: isJsonObject(parsed) ? parsed : {} },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
  }

  #parts(content: JsonValue | undefined, path: string): readonly JsonObject[] {
    if (typeof content === 'string') return textParts(content);
    return objects(content).flatMap((part, index) => this.#part(part, `${path}.content[${index}]`));
  }

  #part(part: JsonObject, path: string): readonly JsonObject[] {
    switch (part['type']) {
      case 'text':
        return textParts(part['text']);
      case 'refusal':
        return textParts(part['refusal']);
      case 'image_url':
        return [imagePart(part, path)];
      default: {
        const made =
          part['type'] === 'input_audio' ? audioPart(part) : part['type'] === 'file' ? filePart(part) : undefined;
        if (made === undefined) this.#notes.dropped(path, String(part['type']));
        return made === undefined ? [] : [made];
      }
    }
  }
}

function textParts(value: JsonValue | undefined): readonly JsonObject[] {
  return typeof value === 'string' && value !== '' ? [{ text: value }] : [];
}

function answerText(content: JsonValue | undefined): string {
  if (list(content) === undefined) return text(content) ?? '';
  return objects(content)
    .flatMap((part) => text(part['text']) ?? [])
    .join('\n');
}

/** Gemini wants a text in what a user says. */
function filled(role: Content['role'], answers: boolean, parts: readonly JsonObject[]): readonly JsonObject[] {
  const needs = role === 'user' && !answers && !parts.some((part) => part['text'] !== undefined);
  return needs ? [...parts, FILLER] : parts;
}
