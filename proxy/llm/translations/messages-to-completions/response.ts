import type { JsonObject } from '../../../exchange/attributes.ts';
import { contentText, thoughtIn } from '../../formats/completions/text.ts';
import { badResponse } from '../../failure.ts';
import { object, objects, text } from '../../json.ts';
import { newId } from '../ids.ts';
import { messageOf, messageUsage, toolInput } from '../message-answer.ts';

const STOP_REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    function_call: 'tool_use',
    content_filter: 'refusal',
  }),
);

export interface Finished {
  readonly finish: string | null;
  readonly withCalls: boolean;
  /** The model said that it would not. */
  readonly refused: boolean;
}

/** Some services say `stop` after calls and refusals too; a client would not run the ones, and take the others for answers. */
export function stopReason({ finish, withCalls, refused }: Finished): string {
  const reason = (finish === null ? undefined : STOP_REASONS.get(finish)) ?? 'end_turn';
  if (reason !== 'end_turn') return reason;
  return refused ? 'refusal' : withCalls ? 'tool_use' : reason;
}

export interface MessageOptions {
  /** Of the request, where the answer names none. */
  readonly model: string;
  /** Whether the client asked to see thoughts. */
  readonly thoughts: boolean;
}

/** A chat completion as a message. */
export function messageFrom(body: JsonObject, { model, thoughts }: MessageOptions): JsonObject {
  const choice = objects(body['choices'])[0];
  const said = object(choice?.['message']);
  if (choice === undefined || said === undefined) throw badResponse('the chat completion has no choices');
  const calls = toolUses(said);
  return messageOf({
    id: text(body['id']),
    model: text(body['model']) ?? model,
    content: [...(thoughts ? thinking(thoughtIn(said)) : []), ...texts(said), ...calls],
    stopReason: stopReason({
      finish: text(choice['finish_reason']) ?? null,
      withCalls: calls.length > 0,
      refused: (text(said['refusal']) ?? '') !== '',
    }),
    usage: messageUsage(object(body['usage']), 'completions'),
  });
}

function thinking(thought: string): readonly JsonObject[] {
  return thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature: '' }];
}

function texts({ content, refusal }: JsonObject): readonly JsonObject[] {
  const said = contentText(content);
  const refused = text(refusal) ?? '';
  return [
    ...(said === undefined || (said === '' && refused !== '') ? [] : [{ type: 'text', text: said }]),
    ...(refused === '' ? [] : [{ type: 'text', text: refused }]),
  ];
}

function toolUses(said: JsonObject): readonly JsonObject[] {
  const calls = objects(said['tool_calls']).flatMap((call) => {
    const fn = object(call['function']);
    return fn === undefined ? [] : [toolUse(text(call['id']), fn)];
  });
  const legacy = object(said['function_call']);
  return legacy === undefined ? calls : [...calls, toolUse(undefined, legacy)];
}

function toolUse(id: string | undefined, fn: JsonObject): JsonObject {
  return {
    type: 'tool_use',
    id: id === undefined || id === '' ? newId('toolu_') : id,
    name: text(fn['name']) ?? '',
    input: toolInput(text(fn['arguments']) ?? ''),
  };
}
