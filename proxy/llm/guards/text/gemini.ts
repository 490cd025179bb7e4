import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { geminiConversation, geminiTextField } from '../../formats/gemini/spoken.ts';
import { type Spoken, textsIn } from '../../formats/spoken.ts';
import { list, object, objects } from '../../json.ts';
import { fieldText, mapField, mapObject, mapObjects, mapRuns, mapText, mapTexts, type PartText } from './change.ts';
import type { FlatMessage, TextFormat, Visit } from './contract.ts';

const SEPARATOR = '\n';

/** Gemini `generateContent`; its fields are spelled in two ways. */
export const geminiText: TextFormat = {
  mapRequest(body, visit) {
    let mapped = body;
    for (const name of ['systemInstruction', 'system_instruction']) {
      mapped = mapField(mapped, name, (value) =>
        isJsonObject(value) ? mapParts(value, (part) => visit(part, 'systemPrompt'), visit) : mapSystem(value, visit),
      );
    }
    return mapField(mapped, 'contents', (contents) =>
      mapObjects(contents, (content) => mapParts(content, (part) => visit(part, 'messages'), visit)),
    );
  },
  mapResponse: (body, visit) =>
    mapField(body, 'candidates', (candidates) => mapObjects(candidates, (candidate) => mapCandidate(candidate, visit))),
  messages: (body) => geminiConversation.request(body).map(flatSpoken),
  withMessages(body, messages) {
    const [first] = messages;
    const systemAt = body['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
    const leads = first?.role === 'system';
    const others = leads ? messages.slice(1) : messages;
    const { systemInstruction: _camel, system_instruction: _snake, ...rest } = body;
    const led = leads ? { ...rest, [systemAt]: { parts: [{ text: first.content }] } } : rest;
    return { ...led, contents: contentsOf(objects(body['contents']), others) };
  },
  choices: (body) => geminiConversation.answer(body).map(flatSpoken),
  withChoices: (body, choices) => ({
    ...body,
    candidates: objects(body['candidates']).map((candidate, index) => {
      const choice = choices[index];
      const content = object(candidate['content']);
      if (choice === undefined || choice.content === flat(content)) return candidate;
      return bare({ ...candidate, content: withText(content ?? { role: 'model' }, choice.content) });
    }),
  }),
};

function mapSystem(value: JsonValue, visit: Visit): JsonValue {
  return typeof value === 'string' ? visit(value, 'systemPrompt') : value;
}

function mapThought(part: JsonObject, visit: Visit): JsonObject {
  return part['thought'] === true ? mapText(part, 'text', (thought) => visit(thought, 'reasoning')) : part;
}

function mapParts(content: JsonObject, map: (text: string) => string, visit: Visit): JsonObject {
  return mapField(content, 'parts', (parts) =>
    Array.isArray(parts)
      ? mapRuns(parts, {
          separator: SEPARATOR,
          textOf: visibleText,
          map,
          other: (part) => mapTool(part, visit),
        })
      : parts,
  );
}

function mapTool(part: JsonObject, visit: Visit): JsonObject {
  const input = (value: string): string => visit(value, 'toolInput');
  const output = (value: string): string => visit(value, 'toolOutput');
  let mapped = part;
  for (const name of ['functionCall', 'function_call'])
    mapped = mapObject(mapped, name, (call) => mapField(call, 'args', (args) => mapTexts(args, input)));
  for (const name of ['executableCode', 'executable_code'])
    mapped = mapObject(mapped, name, (code) => mapText(code, 'code', input));
  for (const name of ['functionResponse', 'function_response'])
    mapped = mapObject(mapped, name, (answer) => mapField(answer, 'response', (value) => mapTexts(value, output)));
  for (const name of ['codeExecutionResult', 'code_execution_result'])
    mapped = mapObject(mapped, name, (result) => mapText(result, 'output', output));
  return mapped;
}

function mapCandidate(candidate: JsonObject, visit: Visit): JsonObject {
  const mapped = mapObject(candidate, 'content', (content) =>
    mapField(
      mapParts(content, (part) => visit(part, 'messages'), visit),
      'parts',
      (parts) => mapObjects(parts, (part) => mapThought(part, visit)),
    ),
  );
  return mapped === candidate ? candidate : bare(mapped);
}

/** Without what would tell again what was masked. */
function bare(candidate: JsonObject): JsonObject {
  const { logprobsResult: _logprobs, ...rest } = candidate;
  return mapObject(rest, 'groundingMetadata', ({ groundingSupports: _supports, ...grounding }) => grounding);
}

function visibleText(part: JsonObject): PartText | null {
  return fieldText(part, geminiTextField(part));
}

function flatSpoken({ role = 'user', texts }: Spoken): FlatMessage {
  return { role: role === 'model' ? 'assistant' : role, content: texts.join(SEPARATOR) };
}

function flat(content: JsonObject | undefined): string {
  return textsIn(content?.['parts'], geminiTextField).join(SEPARATOR);
}

/** Images and calls of tools stay where the number of messages does. */
function contentsOf(contents: readonly JsonObject[], messages: readonly FlatMessage[]): JsonObject[] {
  return messages.map(({ role, content }, index) => {
    const before = contents.length === messages.length ? contents[index] : undefined;
    const named = role === 'assistant' ? 'model' : role;
    if (before === undefined) return { role: named, parts: [{ text: content }] };
    return content === flat(before) ? before : withText(before, content);
  });
}

/** All of the text in the place of the first; the parts that are no text stay. */
function withText(content: JsonObject, changed: string): JsonObject {
  const parts = list(content['parts']) ?? [];
  const isText = (part: JsonValue): boolean => isJsonObject(part) && visibleText(part) !== null;
  const at = parts.findIndex(isText);
  const kept = parts.filter((part) => !isText(part));
  const index = at === -1 ? kept.length : at;
  return { ...content, parts: [...kept.slice(0, index), { text: changed }, ...kept.slice(index)] };
}
