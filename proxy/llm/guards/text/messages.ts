import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { messagesConversation, messagesTextField } from '../../formats/messages/spoken.ts';
import { list, text } from '../../json.ts';
import { fieldText, mapField, mapObject, mapObjects, mapRuns, mapText, mapTexts, type PartText } from './change.ts';
import type { FlatMessage, TextFormat, Visit } from './contract.ts';

/** Fields of results of tools that nobody reads as a text. */
const NOT_TEXT: ReadonlySet<string> = new Set([
  'type',
  'id',
  'tool_use_id',
  'file_id',
  'media_type',
  'data',
  'encrypted_content',
  'signature',
  'url',
]);

/** Anthropic messages. */
export const messagesText: TextFormat = {
  mapRequest(body, visit) {
    const system = mapField(body, 'system', (value) => mapSystem(value, visit));
    return mapField(system, 'messages', (messages) => mapObjects(messages, (message) => mapMessage(message, visit)));
  },
  mapResponse: (body, visit) =>
    mapField(body, 'content', (content) =>
      Array.isArray(content)
        ? mapRuns(content, {
            separator: ' ',
            textOf: textBlock,
            map: (joined) => visit(joined, 'messages'),
            other: (block) => mapSaid(block, visit),
          })
        : content,
    ),
  messages(body) {
    const leads = body['system'] !== undefined;
    return messagesConversation.request(body).map(({ role, texts }, index) => ({
      role: role ?? 'user',
      content: texts.join(leads && index === 0 ? '\n' : ' '),
    }));
  },
  withMessages(body, messages) {
    const [first] = messages;
    const { system: _system, ...rest } = body;
    const led = first?.role === 'system' ? { ...rest, system: first.content } : rest;
    const others = first?.role === 'system' ? messages.slice(1) : messages;
    return { ...led, messages: others.map(({ role, content }) => ({ role, content })) };
  },
  choices: (body) =>
    messagesConversation
      .answer(body)
      .flatMap(({ role, texts }) => texts.map((content) => ({ role: role ?? 'assistant', content }))),
  withChoices: (body, choices) => ({ ...body, content: replaced(list(body['content']) ?? [], choices) }),
};

function mapSystem(system: JsonValue, visit: Visit): JsonValue {
  const map = (joined: string): string => visit(joined, 'systemPrompt');
  if (typeof system === 'string') return map(system);
  return Array.isArray(system) ? mapRuns(system, { separator: '\n', textOf: textBlock, map }) : system;
}

function mapMessage(message: JsonObject, visit: Visit): JsonObject {
  const scope = text(message['role']) === 'system' ? 'systemPrompt' : 'messages';
  return mapField(message, 'content', (content) => mapContent(content, scope, visit));
}

function mapContent(content: JsonValue, scope: ContentScope, visit: Visit): JsonValue {
  const map = (joined: string): string => visit(joined, scope);
  if (typeof content === 'string') return map(content);
  if (!Array.isArray(content)) return content;
  const other = (block: JsonObject): JsonObject => mapBlock(block, scope, visit);
  return mapRuns(content, { separator: ' ', textOf: textBlock, map, other });
}

/** What a model does beside talking. */
function mapSaid(block: JsonObject, visit: Visit): JsonObject {
  switch (block['type']) {
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return mapBlock(block, 'messages', visit);
    case 'thinking':
      return mapText(block, 'thinking', (thought) => visit(thought, 'reasoning'));
    default:
      return block;
  }
}

/** `scope` is that of the message, or of the result of a tool around the block. */
function mapBlock(block: JsonObject, scope: ContentScope, visit: Visit): JsonObject {
  const type = text(block['type']) ?? '';
  const map = (part: string): string => visit(part, scope);
  switch (type) {
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return mapField(block, 'input', (input) => mapTexts(input, (part) => visit(part, 'toolInput')));
    // What the service has searched is encrypted.
    case 'web_search_tool_result':
      return block;
    case 'document':
      return mapDocument(block, scope, visit);
    case 'search_result':
      return mapField(mapText(block, 'title', map), 'content', (content) => mapContent(content, scope, visit));
    case 'compaction':
      return mapField(block, 'content', (content) => mapContent(content, scope, visit));
    case 'mid_conv_system':
      return mapField(block, 'content', (content) => mapContent(content, 'systemPrompt', visit));
    default:
      return type.endsWith('tool_result') ? mapField(block, 'content', (content) => mapResult(content, visit)) : block;
  }
}

function mapResult(content: JsonValue, visit: Visit): JsonValue {
  if (typeof content === 'string' || Array.isArray(content)) return mapContent(content, 'toolOutput', visit);
  return mapTexts(content, (part) => visit(part, 'toolOutput'), { except: NOT_TEXT });
}

function mapDocument(block: JsonObject, scope: ContentScope, visit: Visit): JsonObject {
  const map = (part: string): string => visit(part, scope);
  const source = mapObject(block, 'source', (inner) => {
    if (inner['type'] === 'text') return mapText(inner, 'data', map);
    return inner['type'] === 'content'
      ? mapField(inner, 'content', (content) => mapContent(content, scope, visit))
      : inner;
  });
  return mapText(mapText(source, 'title', map), 'context', map);
}

function textBlock(block: JsonObject): PartText | null {
  return fieldText(block, messagesTextField(block));
}

function replaced(content: readonly JsonValue[], choices: readonly FlatMessage[]): JsonValue[] {
  let next = 0;
  return content.map((block) => {
    const part = isJsonObject(block) ? textBlock(block) : null;
    if (part === null) return block;
    const choice = choices[next++];
    return choice === undefined || choice.content === part.text ? block : part.with(choice.content);
  });
}
