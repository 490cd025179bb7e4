import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import type { Said } from '../../exchange/llm-facts.ts';
import type { UpstreamFormat } from '../formats.ts';
import { object, objects, text } from '../json.ts';

/** Reads a whole answer. */
export function contentsOf(format: UpstreamFormat, body: JsonObject): Said {
  switch (format) {
    case 'completions':
      return completions(body);
    case 'messages':
      return messages(body);
    case 'responses':
      return responses(body);
    case 'generateContent':
      return gemini(body);
    case 'converse':
      return converse(body);
  }
}

function completions(body: JsonObject): Said {
  const said = objects(body['choices']).map((choice) => object(choice['message']) ?? {});
  return {
    completion: said.map(({ content }) => joined(content)),
    toolCalls: said.flatMap((message) =>
      objects(message['tool_calls']).map(({ id, function: called }) => ({
        id: text(id) ?? '',
        name: text(object(called)?.['name']) ?? '',
        arguments: text(object(called)?.['arguments']) ?? '',
      })),
    ),
  };
}

function messages(body: JsonObject): Said {
  const blocks = objects(body['content']);
  return {
    completion: [joined(blocks)],
    toolCalls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: text(id) ?? '', name: text(name) ?? '', arguments: written(input) })),
  };
}

function responses(body: JsonObject): Said {
  const items = objects(body['output']);
  return {
    completion: [items.map(({ content }) => joined(content)).join('')],
    toolCalls: items
      .filter(({ type }) => type === 'function_call')
      .map((item) => ({
        id: text(item['call_id']) ?? text(item['id']) ?? '',
        name: text(item['name']) ?? '',
        arguments: text(item['arguments']) ?? '',
      })),
  };
}

/** Also of one event of a stream, whose parts add up. */
export function gemini(body: JsonObject): Said {
  const parts = objects(body['candidates']).map((candidate) =>
    objects(object(candidate['content'])?.['parts']).filter(({ thought }) => thought !== true),
  );
  return {
    completion: parts.map(joined),
    toolCalls: parts.flat().flatMap(({ functionCall }) => {
      const call = object(functionCall);
      if (call === undefined) return [];
      return [{ id: text(call['id']) ?? '', name: text(call['name']) ?? '', arguments: written(call['args']) }];
    }),
  };
}

function converse(body: JsonObject): Said {
  const blocks = objects(object(object(body['output'])?.['message'])?.['content']);
  return {
    completion: [joined(blocks)],
    toolCalls: blocks.flatMap(({ toolUse }) => {
      const use = object(toolUse);
      if (use === undefined) return [];
      return [{ id: text(use['toolUseId']) ?? '', name: text(use['name']) ?? '', arguments: written(use['input']) }];
    }),
  };
}

/** A text, or the texts among parts. */
function joined(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objects(content)
    .map((part) => text(part['text']) ?? '')
    .join('');
}

/** Arguments as text, whatever the service has them as. */
function written(value: JsonValue | undefined): string {
  return value === undefined ? '' : JSON.stringify(value);
}
