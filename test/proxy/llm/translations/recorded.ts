import { Headers } from '../../../../proxy/exchange/headers.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import type {
  BodyTranslation,
  Notes,
  RequestFacts,
  TranslatedBody,
  Translation,
} from '../../../../proxy/llm/translations/contract.ts';

/** Notes of one translation, as lines. */
export class NoteLines implements Notes {
  readonly dropped_: string[] = [];
  readonly changed: string[] = [];

  dropped(path: string): void {
    this.dropped_.push(path);
  }

  renamed(path: string, to: string): void {
    this.changed.push(`${path} → ${to}`);
  }

  added(path: string): void {
    this.changed.push(`+ ${path}`);
  }
}

export type Facts = Partial<Omit<RequestFacts, 'headers'>> & { readonly headers?: Readonly<Record<string, string>> };

export interface Begun<T extends TranslatedBody> {
  readonly call: T;
  readonly body: JsonObject;
  readonly dropped: readonly string[];
  readonly changed: readonly string[];
}

/** Translates one request. */
export function begin<T extends Translation | BodyTranslation>(
  translation: T,
  body: JsonObject,
  { headers = {}, ...facts }: Facts = {},
): Begun<ReturnType<T['begin']>> {
  const notes = new NoteLines();
  const call = translation.begin(
    body,
    {
      model: 'anthropic.claude-sonnet-4',
      streaming: false,
      promptCaching: null,
      guardrail: null,
      region: 'eu-west-1',
      betas: null,
      headers: Headers.from(Object.entries(headers)),
      ...facts,
    },
    notes,
  ) as ReturnType<T['begin']>; // what `begin` of that translation returns
  return { call, body: call.body, dropped: notes.dropped_, changed: notes.changed };
}

export interface Written {
  readonly name: string | null;
  readonly data: JsonObject;
}

/** What a client gets for the events of a service; `[DONE]` is the name of an event without data. */
export function streamed(
  call: TranslatedBody,
  events: readonly (readonly [name: string | null, data: JsonObject])[],
  { end = true }: { readonly end?: boolean } = {},
): readonly Written[] {
  const written: Written[] = [];
  const out = {
    event: (name: string | null, data: JsonObject) => void written.push({ name, data }),
    done: () => void written.push({ name: '[DONE]', data: {} }),
  };
  const translator = call.stream?.();
  for (const [name, data] of events) translator?.event(name, data, out);
  if (end) translator?.end(false, out);
  return written;
}

/** The only choice of each chunk of a chat completion: its delta, and what ended it. */
export function deltas(written: readonly Written[]): readonly unknown[] {
  return written.map(({ name, data }) => {
    if (name === '[DONE]') return name;
    if (data['error'] !== undefined) return { error: data['error'] };
    const choices = data['choices'] as readonly JsonObject[]; // of a chunk
    const usage = data['usage'] === undefined ? {} : { usage: data['usage'] };
    const [choice] = choices;
    if (choice === undefined) return usage;
    const finish = choice['finish_reason'] === null ? {} : { finish: choice['finish_reason'] };
    return { ...(choice['delta'] as JsonObject), ...finish, ...usage }; // of a choice
  });
}

/** Undefined for what is refused; anything else that is thrown is a bug. */
export function unlessRefused<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof LlmFailure) return undefined;
    throw error;
  }
}
