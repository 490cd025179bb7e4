import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { completionsConversation, completionsTextField } from '../../formats/completions/spoken.ts';
import { type Spoken, textsIn } from '../../formats/spoken.ts';
import { object, objects, text } from '../../json.ts';
import { fieldText, mapField, mapObject, mapObjects, mapRuns, mapText, type PartText } from './change.ts';
import type { FlatMessage, TextFormat, Visit } from './contract.ts';

const SEPARATOR = ' ';

/** OpenAI chat completions. */
export const completionsText: TextFormat = {
  mapRequest: (body, visit) =>
    mapField(body, 'messages', (messages) => mapObjects(messages, (message) => mapMessage(message, visit))),
  mapResponse: (body, visit) =>
    mapField(body, 'choices', (choices) => mapObjects(choices, (choice) => mapChoice(choice, visit))),
  messages: (body) => completionsConversation.request(body).map((spoken) => flatSpoken(spoken, 'user')),
  withMessages: (body, messages) => ({ ...body, messages: messages.map(({ role, content }) => ({ role, content })) }),
  choices: (body) => completionsConversation.answer(body).map((spoken) => flatSpoken(spoken, 'assistant')),
  withChoices: (body, choices) => ({ ...body, choices: replaced(objects(body['choices']), choices) }),
};

function mapMessage(message: JsonObject, visit: Visit): JsonObject {
  return mapSaid(message, scopeOf(text(message['role'])), visit);
}

/** Text and calls of tools. */
function mapSaid(message: JsonObject, scope: ContentScope, visit: Visit): JsonObject {
  const content = mapField(message, 'content', (value) => mapContent(value, scope, visit));
  const called = mapField(content, 'tool_calls', (calls) =>
    mapObjects(calls, (call) => mapCall(call, (argument) => visit(argument, 'toolInput'))),
  );
  return mapObject(called, 'function_call', (call) =>
    mapText(call, 'arguments', (argument) => visit(argument, 'toolInput')),
  );
}

function mapCall(call: JsonObject, map: (text: string) => string): JsonObject {
  const named = mapObject(call, 'function', (called) => mapText(called, 'arguments', map));
  return mapObject(named, 'custom', (called) => mapText(called, 'input', map));
}

function scopeOf(role: string | undefined): ContentScope {
  if (role === 'system' || role === 'developer') return 'systemPrompt';
  return role === 'tool' || role === 'function' ? 'toolOutput' : 'messages';
}

function mapContent(content: JsonValue, scope: ContentScope, visit: Visit): JsonValue {
  if (typeof content === 'string') return visit(content, scope);
  if (!Array.isArray(content)) return content;
  return mapRuns(content, { separator: SEPARATOR, textOf: partText, map: (joined) => visit(joined, scope) });
}

function partText(part: JsonObject): PartText | null {
  return fieldText(part, completionsTextField(part));
}

/** The tokens with their chances would tell what was masked. */
function mapChoice(choice: JsonObject, visit: Visit): JsonObject {
  const mapped = mapObject(choice, 'message', (message) => mapAnswer(message, visit));
  return mapped === choice || !isJsonObject(choice['logprobs']) ? mapped : { ...mapped, logprobs: null };
}

/** Services have different names for what a model thinks. */
const REASONING = ['reasoning_content', 'reasoning'] as const;

function mapAnswer(message: JsonObject, visit: Visit): JsonObject {
  let mapped = mapText(mapSaid(message, 'messages', visit), 'refusal', (refusal) => visit(refusal, 'messages'));
  for (const name of REASONING) mapped = mapText(mapped, name, (thought) => visit(thought, 'reasoning'));
  return mapField(mapped, 'reasoning_details', (details) =>
    mapObjects(details, (detail) => {
      const shown = mapText(detail, 'text', (thought) => visit(thought, 'reasoning'));
      return mapText(shown, 'summary', (thought) => visit(thought, 'reasoning'));
    }),
  );
}

function flatSpoken({ role, texts }: Spoken, unnamed: string): FlatMessage {
  return { role: role ?? unnamed, content: texts.join(SEPARATOR) };
}

function flatContent(content: JsonValue | undefined): string {
  return textsIn(content, completionsTextField).join(SEPARATOR);
}

function replaced(choices: readonly JsonObject[], texts: readonly FlatMessage[]): JsonObject[] {
  return choices.map((choice, index) => {
    const content = texts[index]?.content ?? '';
    const message = object(choice['message']) ?? {};
    if (content === flatContent(message['content'])) return choice;
    const logprobs = isJsonObject(choice['logprobs']) ? { logprobs: null } : {};
    return { ...choice, ...logprobs, message: { ...message, content } };
  });
}
