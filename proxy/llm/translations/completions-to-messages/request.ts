import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { bool, compact, list, number, object, objects, parse, text } from '../../json.ts';
import { joinedText } from '../../formats/completions/text.ts';
import type { Notes } from '../contract.ts';
import { thinkingBudget } from '../thinking.ts';
import { dataUrl } from '../data-url.ts';

/** What Anthropic wants at least. */
const DEFAULT_MAX_TOKENS = 4096;

/** Fields that have a place in the other format, whatever it is called. */
const CARRIED = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'stream',
  'stream_options',
  'user',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'response_format',
]);

/** A chat completion as a request for a message. */
export function messagesRequest(body: JsonObject, model: string, notes: Notes): JsonObject {
  for (const field of Object.keys(body)) if (!CARRIED.has(field)) notes.dropped(field);
  const maxTokens = number(body['max_completion_tokens']) ?? number(body['max_tokens']) ?? DEFAULT_MAX_TOKENS;
  const system = systemText(objects(body['messages']));
  const format = outputFormat(object(body['response_format']));
  return compact({
    model,
    system: system === '' ? undefined : system,
    messages: objects(body['messages']).flatMap((message, index) => turn(message, `messages[${index}]`, notes)),
    max_tokens: maxTokens,
    temperature: body['temperature'],
    top_p: body['top_p'],
    stop_sequences: stopSequences(body['stop']),
    stream: bool(body['stream']),
    metadata: typeof body['user'] === 'string' ? { user_id: body['user'] } : undefined,
    tools: body['tools'] === undefined ? undefined : tools(objects(body['tools']), notes),
    tool_choice: toolChoice(body),
    thinking: thinking(text(body['reasoning_effort']), maxTokens),
    output_config: format && { format },
  });
}

function systemText(messages: readonly JsonObject[]): string {
  return messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => joinedText(content, '\n'))
    .filter((part) => part !== '')
    .join('\n');
}

// ── messages ──

function turn(message: JsonObject, path: string, notes: Notes): readonly JsonObject[] {
  switch (message['role']) {
    case 'system':
    case 'developer':
      return [];
    case 'assistant':
      return withContent('assistant', [
        ...parts(message['content'], path, notes),
        ...refusal(message),
        ...toolUses(message),
      ]);
    case 'tool':
      return withContent('user', [toolResult(message)]);
    case 'function':
      return withContent('user', parts(message['content'], path, notes));
    default:
      return withContent('user', parts(message['content'], path, notes));
  }
}

/** A message without anything in it is none. */
function withContent(role: 'user' | 'assistant', content: readonly JsonObject[]): readonly JsonObject[] {
  return content.length === 0 ? [] : [{ role, content }];
}

function parts(content: JsonValue | undefined, path: string, notes: Notes): readonly JsonObject[] {
  if (typeof content === 'string') return textBlock(content);
  return objects(content).flatMap((part, index) => {
    switch (part['type']) {
      case 'text':
        return textBlock(text(part['text']) ?? '');
      case 'refusal':
        return textBlock(text(part['refusal']) ?? '');
      case 'image_url':
        return imageBlock(text(object(part['image_url'])?.['url']) ?? '');
      default:
        notes.dropped(`${path}.content[${index}]`, String(part['type']));
        return [];
    }
  });
}

function textBlock(value: string): readonly JsonObject[] {
  return value.trim() === '' ? [] : [{ type: 'text', text: value }];
}

function imageBlock(url: string): readonly JsonObject[] {
  const data = dataUrl(url);
  const source =
    data === undefined ? { type: 'url', url } : { type: 'base64', media_type: data.mediaType, data: data.base64 };
  return [{ type: 'image', source }];
}

function refusal({ refusal: said }: JsonObject): readonly JsonObject[] {
  return textBlock(text(said) ?? '');
}

function toolUses(message: JsonObject): readonly JsonObject[] {
  return objects(message['tool_calls']).map((call) => {
    const fn = object(call['function']) ?? object(call['custom']);
    const source = text(fn?.['arguments']) ?? text(fn?.['input']) ?? '';
    return { type: 'tool_use', id: text(call['id']) ?? '', name: text(fn?.['name']) ?? '', input: argumentsOf(source) };
  });
}

/** What is no JSON stays the text that it is. */
function argumentsOf(source: string): JsonValue {
  return source === '' ? {} : (parse(source) ?? source);
}

function toolResult(message: JsonObject): JsonObject {
  const { content } = message;
  const result =
    list(content) === undefined
      ? (text(content) ?? '')
      : objects(content).flatMap((part) => textBlock(text(part['text']) ?? ''));
  return { type: 'tool_result', tool_use_id: text(message['tool_call_id']) ?? '', content: result };
}

// ── settings ──

function tools(declared: readonly JsonObject[], notes: Notes): readonly JsonObject[] {
  return declared.flatMap((tool, index) => {
    const fn = object(tool['function']);
    if (tool['type'] !== 'function' || fn === undefined) {
      notes.dropped(`tools[${index}]`, String(tool['type']));
      return [];
    }
    if (fn['strict'] !== undefined) notes.dropped(`tools[${index}].function.strict`);
    return [
      compact({
        name: fn['name'],
        description: fn['description'],
        input_schema: fn['parameters'] ?? { type: 'object' },
      }),
    ];
  });
}

function toolChoice(body: JsonObject): JsonObject | undefined {
  const parallel = bool(body['parallel_tool_calls']);
  const disable = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  const choice = body['tool_choice'];
  if (choice === undefined || choice === null) {
    return parallel === undefined || objects(body['tools']).length === 0 ? undefined : { type: 'auto', ...disable };
  }
  if (choice === 'none') return { type: 'none' };
  if (choice === 'required') return { type: 'any', ...disable };
  const name = text(object(object(choice)?.['function'])?.['name']);
  return name === undefined ? { type: 'auto', ...disable } : { type: 'tool', name, ...disable };
}

function stopSequences(stop: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (typeof stop === 'string') return [stop];
  return list(stop);
}

/** Only as much as leaves room for an answer, and none when that is too little to be allowed. */
function thinking(effort: string | undefined, maxTokens: number): JsonObject | undefined {
  const budget = Math.min(thinkingBudget(effort) ?? 0, maxTokens - 1);
  return budget < 1024 ? undefined : { type: 'enabled', budget_tokens: budget };
}

function outputFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (format?.['type'] === 'json_object')
    return { type: 'json_schema', schema: { type: 'object', additionalProperties: true } };
  if (format?.['type'] !== 'json_schema') return undefined;
  return compact({ type: 'json_schema', schema: object(format['json_schema'])?.['schema'] });
}
