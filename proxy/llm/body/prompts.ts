import type { PromptEnrichment, PromptMessage } from '../../../src/config/ir/index.ts';
import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { list, object, text } from '../json.ts';
import type { RouteType } from '../route-type.ts';
import type { BodyChange } from '../service.ts';

type Added = (body: JsonObject, prompts: PromptEnrichment) => JsonObject;

/** Formats that have prompts, and how messages are added to theirs. One line each. */
const formats: Partial<Readonly<Record<RouteType, Added>>> = {
  completions: toCompletions,
  messages: toMessages,
  anthropicTokenCount: toMessages,
  responses: toResponses,
  generateContent: toGemini,
  geminiCountTokens: toGeminiCount,
};

/** Adds messages before and after every prompt; bodies without prompts stay as they are. Null without messages. */
export function promptChanges(prompts: PromptEnrichment | undefined, source: string): BodyChange | null {
  if (prompts === undefined || prompts.prepend.length + prompts.append.length === 0) return null;
  return (exchange, body, type) => {
    const add = formats[type];
    if (add === undefined) return body;
    const { prepend, append } = prompts;
    exchange.trace?.applied('llm', `prompts: ${prepend.length} before, ${append.length} after (from ${source})`);
    return add(body, prompts);
  };
}

/** What is there already in the middle; null for what is no list, which the service is left to refuse. */
function around<T extends JsonValue>(
  before: readonly T[],
  value: JsonValue | undefined,
  after: readonly T[],
): readonly JsonValue[] | null {
  const there = value === undefined ? [] : list(value);
  return there === undefined ? null : [...before, ...there, ...after];
}

function plain({ role, content }: PromptMessage): JsonObject {
  return { role, content };
}

function toCompletions(body: JsonObject, { prepend, append }: PromptEnrichment): JsonObject {
  const messages = around(prepend.map(plain), body['messages'], append.map(plain));
  return messages === null ? body : { ...body, messages };
}

const isSystem = ({ role }: PromptMessage): boolean => role === 'system';
const isTurn = ({ role }: PromptMessage): boolean => role !== 'system';

function toMessages(body: JsonObject, { prepend, append }: PromptEnrichment): JsonObject {
  const turns = around(prepend.filter(isTurn).map(plain), body['messages'], append.filter(isTurn).map(plain));
  if (turns === null) return body;
  const [before, after] = [prepend.filter(isSystem).map(textBlock), append.filter(isSystem).map(textBlock)];
  if (before.length + after.length === 0) return { ...body, messages: turns };
  const written = text(body['system']);
  const system = around(before, written === undefined ? body['system'] : [{ type: 'text', text: written }], after);
  return system === null ? body : { ...body, system, messages: turns };
}

function textBlock({ content }: PromptMessage): JsonObject {
  return { type: 'text', text: content };
}

/** `instructions` are the client's own. */
function toResponses(body: JsonObject, { prepend, append }: PromptEnrichment): JsonObject {
  const written = text(body['input']);
  const there = written === undefined ? body['input'] : [inputItem({ role: 'user', content: written })];
  const input = around(prepend.map(inputItem), there, append.map(inputItem));
  return input === null ? body : { ...body, input };
}

function inputItem({ role, content }: PromptMessage): JsonObject {
  if (role === 'assistant') return { role, content };
  const known = role === 'system' || role === 'developer' ? role : 'user';
  return { type: 'message', role: known, content: [{ type: 'input_text', text: content }] };
}

function toGemini(body: JsonObject, { prepend, append }: PromptEnrichment): JsonObject {
  const contents = around(prepend.filter(isTurn).map(turn), body['contents'], append.filter(isTurn).map(turn));
  if (contents === null) return body;
  const [before, after] = [prepend.filter(isSystem).map(textPart), append.filter(isSystem).map(textPart)];
  if (before.length + after.length === 0) return { ...body, contents };
  // Both spellings of protocol buffers are understood.
  const name = body['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
  const instruction = object(body[name]) ?? {};
  const parts = around(before, instruction['parts'], after);
  return parts === null ? body : { ...body, [name]: { ...instruction, parts }, contents };
}

/** A count without a whole request knows no system instruction: it is counted as a turn. */
function toGeminiCount(body: JsonObject, prompts: PromptEnrichment): JsonObject {
  const whole = object(body['generateContentRequest']);
  if (whole !== undefined) return { ...body, generateContentRequest: toGemini(whole, prompts) };
  const contents = around(prompts.prepend.map(turn), body['contents'], prompts.append.map(turn));
  return contents === null ? body : { ...body, contents };
}

function turn({ role, content }: PromptMessage): JsonObject {
  return { role: role === 'assistant' || role === 'model' ? 'model' : 'user', parts: [{ text: content }] };
}

function textPart({ content }: PromptMessage): JsonObject {
  return { text: content };
}
