import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { isMessage, responsesConversation, responsesTextField } from '../../formats/responses/spoken.ts';
import { type Spoken, textsIn } from '../../formats/spoken.ts';
import { list, text } from '../../json.ts';
import { fieldText, mapField, mapObjects, mapRuns, mapText, mapTexts, type PartText } from './change.ts';
import type { FlatMessage, TextFormat, Visit } from './contract.ts';

const SEPARATOR = '\n';
const NOT_TEXT: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'file_id',
  'image_url',
  'file_data',
  'encrypted_content',
  'status',
]);
/** What tools were called with. */
const INPUTS = ['arguments', 'input', 'code', 'action', 'operation', 'queries'];
/** What they gave. */
const OUTPUTS = ['output', 'outputs', 'results', 'tools', 'error'];
const NEVER = new Set(['reasoning', 'compaction', 'item_reference']);

/** OpenAI responses. */
export const responsesText: TextFormat = {
  mapRequest(body, visit) {
    const instructed = mapText(body, 'instructions', (part) => visit(part, 'systemPrompt'));
    return mapField(instructed, 'input', (input) => {
      if (typeof input === 'string') return visit(input, 'messages');
      return mapObjects(input, (item) => mapItem(item, visit));
    });
  },
  mapResponse: (body, visit) =>
    mapField(body, 'output', (output) =>
      mapObjects(output, (item) => (isMessage(item) ? mapMessage(item, 'messages', visit) : mapSaid(item, visit))),
    ),
  messages: (body) => responsesConversation.request(body).map((spoken) => flatSpoken(spoken, 'user')),
  withMessages(body, messages) {
    const [first] = messages;
    const leads = first !== undefined && scopeOf(first.role) === 'systemPrompt';
    const instructed = typeof body['instructions'] === 'string';
    const items = (instructed && leads ? messages.slice(1) : messages).map(inputMessage);
    if (!instructed) return { ...body, input: items };
    const { instructions: _instructions, ...rest } = body;
    return leads ? { ...rest, instructions: first.content, input: items } : { ...rest, input: items };
  },
  choices: (body) => responsesConversation.answer(body).map((spoken) => flatSpoken(spoken, 'assistant')),
  withChoices: (body, choices) => ({ ...body, output: replaced(list(body['output']) ?? [], choices) }),
};

function scopeOf(role: string | undefined): ContentScope {
  return role === 'system' || role === 'developer' ? 'systemPrompt' : 'messages';
}

function mapItem(item: JsonObject, visit: Visit): JsonObject {
  if (isMessage(item)) return mapMessage(item, scopeOf(text(item['role'])), visit);
  if (NEVER.has(text(item['type']) ?? '')) return item;
  let mapped = item;
  for (const name of INPUTS) mapped = mapDeep(mapped, name, (part) => visit(part, 'toolInput'));
  for (const name of OUTPUTS) mapped = mapOutput(mapped, name, (part) => visit(part, 'toolOutput'));
  return mapped;
}

function mapMessage(item: JsonObject, scope: ContentScope, visit: Visit): JsonObject {
  const map = (part: string): string => visit(part, scope);
  return mapField(item, 'content', (content) => {
    if (typeof content === 'string') return map(content);
    return Array.isArray(content) ? mapRuns(content, { separator: SEPARATOR, textOf: partText, map }) : content;
  });
}

/** What a model does beside talking. */
function mapSaid(item: JsonObject, visit: Visit): JsonObject {
  if (item['type'] === 'reasoning') {
    const thoughts = (parts: JsonValue): JsonValue | undefined =>
      mapObjects(parts, (part) => mapText(part, 'text', (thought) => visit(thought, 'reasoning')));
    return mapField(mapField(item, 'summary', thoughts), 'content', thoughts);
  }
  if (NEVER.has(text(item['type']) ?? '')) return item;
  let mapped = item;
  for (const name of INPUTS) mapped = mapDeep(mapped, name, (part) => visit(part, 'toolInput'));
  return mapped;
}

function mapDeep(item: JsonObject, name: string, map: (text: string) => string): JsonObject {
  return mapField(item, name, (value) => mapTexts(value, map, { except: NOT_TEXT }));
}

function mapOutput(item: JsonObject, name: string, map: (text: string) => string): JsonObject {
  return mapField(item, name, (value) =>
    Array.isArray(value)
      ? mapRuns(value, {
          separator: SEPARATOR,
          textOf: partText,
          map,
          other: (part) => {
            const mapped = mapTexts(part, map, { except: NOT_TEXT });
            return isJsonObject(mapped) ? mapped : part;
          },
        })
      : mapTexts(value, map, { except: NOT_TEXT }),
  );
}

/** The tokens with their chances would tell what was masked. */
function partText(part: JsonObject): PartText | null {
  const bare = part['logprobs'] === undefined ? part : { ...part, logprobs: [] };
  return fieldText(bare, responsesTextField(part));
}

function flatSpoken({ role, texts }: Spoken, unnamed: string): FlatMessage {
  return { role: role ?? unnamed, content: texts.join(SEPARATOR) };
}

function flat(content: JsonValue | undefined): string {
  return textsIn(content, responsesTextField).join(SEPARATOR);
}

function inputMessage({ role, content }: FlatMessage): JsonObject {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text: content }] };
}

function replaced(output: readonly JsonValue[], choices: readonly FlatMessage[]): JsonValue[] {
  let next = 0;
  return output.map((item) => {
    if (!isJsonObject(item) || !isMessage(item)) return item;
    const choice = choices[next++];
    if (choice === undefined || choice.content === flat(item['content'])) return item;
    return { ...item, content: [{ type: 'output_text', text: choice.content, annotations: [] }] };
  });
}
