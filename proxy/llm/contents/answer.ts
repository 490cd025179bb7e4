import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import type { Said, ToolCallFacts } from '../../exchange/llm-facts.ts';
import type { UpstreamFormat } from '../formats.ts';
import { completionsConversation } from '../formats/completions/spoken.ts';
import { converseSpoken } from '../formats/converse/spoken.ts';
import { geminiConversation } from '../formats/gemini/spoken.ts';
import { messagesConversation } from '../formats/messages/spoken.ts';
import { responsesConversation } from '../formats/responses/spoken.ts';
import type { Spoken } from '../formats/spoken.ts';
import { object, objects, text } from '../json.ts';

/** Reads a whole answer. */
export function contentsOf(format: UpstreamFormat, body: JsonObject): Said {
  switch (format) {
    case 'completions':
      return { completion: alternatives(completionsConversation.answer(body)), toolCalls: completionsCalls(body) };
    case 'messages':
      return { completion: alternatives(messagesConversation.answer(body)), toolCalls: messagesCalls(body) };
    case 'responses':
      // Its messages follow each other.
      return {
        completion: [alternatives(responsesConversation.answer(body)).join('')],
        toolCalls: responsesCalls(body),
      };
    case 'generateContent':
      return geminiContents(body);
    case 'converse':
      return { completion: alternatives([converseSpoken(body)]), toolCalls: converseCalls(body) };
  }
}

/** Also of one event of a stream, whose parts add up. */
export function geminiContents(body: JsonObject): Said {
  return { completion: alternatives(geminiConversation.answer(body)), toolCalls: geminiCalls(body) };
}

function alternatives(spoken: readonly Spoken[]): readonly string[] {
  return spoken.map(({ texts }) => texts.join(''));
}

function completionsCalls(body: JsonObject): ToolCallFacts[] {
  return objects(body['choices'])
    .flatMap((choice) => objects(object(choice['message'])?.['tool_calls']))
    .map(({ id, function: called }) => ({
      id: text(id) ?? '',
      name: text(object(called)?.['name']) ?? '',
      arguments: text(object(called)?.['arguments']) ?? '',
    }));
}

function messagesCalls(body: JsonObject): ToolCallFacts[] {
  return objects(body['content'])
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id: text(id) ?? '', name: text(name) ?? '', arguments: written(input) }));
}

function responsesCalls(body: JsonObject): ToolCallFacts[] {
  return objects(body['output'])
    .filter(({ type }) => type === 'function_call')
    .map((item) => ({
      id: text(item['call_id']) ?? text(item['id']) ?? '',
      name: text(item['name']) ?? '',
      arguments: text(item['arguments']) ?? '',
    }));
}

function geminiCalls(body: JsonObject): ToolCallFacts[] {
  const parts = objects(body['candidates']).flatMap((candidate) => objects(object(candidate['content'])?.['parts']));
  return parts.flatMap(({ functionCall, thought }) => {
    const call = thought === true ? undefined : object(functionCall);
    if (call === undefined) return [];
    return [{ id: text(call['id']) ?? '', name: text(call['name']) ?? '', arguments: written(call['args']) }];
  });
}

function converseCalls(body: JsonObject): ToolCallFacts[] {
  return objects(object(object(body['output'])?.['message'])?.['content']).flatMap(({ toolUse }) => {
    const use = object(toolUse);
    if (use === undefined) return [];
    return [{ id: text(use['toolUseId']) ?? '', name: text(use['name']) ?? '', arguments: written(use['input']) }];
  });
}

/** Arguments as text, whatever the service has them as. */
function written(value: JsonValue | undefined): string {
  return value === undefined ? '' : JSON.stringify(value);
}
