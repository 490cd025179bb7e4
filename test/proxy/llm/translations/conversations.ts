import fc from 'fast-check';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';

/** One conversation, apart from any format; every text and every call is unlike all others. */
export type Turn =
  | { readonly kind: 'system'; readonly texts: readonly string[] }
  | { readonly kind: 'user'; readonly texts: readonly string[] }
  | { readonly kind: 'assistant'; readonly texts: readonly string[]; readonly calls: readonly Call[] };

export interface Call {
  readonly id: string;
  readonly input: JsonObject;
  readonly result: string;
}

const raw = fc.array(
  fc.record({
    kind: fc.constantFrom('user' as const, 'assistant' as const),
    texts: fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 1, maxLength: 3 }),
    calls: fc.array(fc.record({ input: fc.dictionary(fc.string(), fc.jsonValue()), result: fc.string() }), {
      maxLength: 3,
    }),
  }),
  { minLength: 1, maxLength: 8 },
);

/** Marked texts, so that each can be found again, in its place. */
export const conversations: fc.Arbitrary<readonly Turn[]> = raw.map((turns) => {
  let mark = 0;
  const marked = (text: string) => `⟨${mark++}⟩${text}`;
  return turns.map(({ kind, texts, calls }): Turn => {
    const said = texts.map(marked);
    if (kind === 'user') return { kind, texts: said };
    return {
      kind,
      texts: said,
      calls: calls.map(({ input, result }) => ({
        id: `call_${mark}`,
        // `as`: what fast-check makes is JSON.
        input: JSON.parse(JSON.stringify({ mark: marked('input'), ...input })) as JsonObject,
        result: marked(result),
      })),
    };
  });
});

/** The marks in a text, in their order. */
export function marksIn(value: unknown): readonly string[] {
  return [...JSON.stringify(value).matchAll(/⟨\d+⟩/g)].map(([mark]) => mark);
}

export function asCompletions(turns: readonly Turn[]): JsonObject {
  return {
    model: 'm',
    messages: turns.flatMap((turn): JsonObject[] => {
      const content = turn.texts.map((text) => ({ type: 'text', text }));
      if (turn.kind !== 'assistant') return [{ role: turn.kind, content }];
      const calls = turn.calls.map(({ id, input }) => ({
        id,
        type: 'function',
        function: { name: 'tool', arguments: JSON.stringify(input) },
      }));
      return [
        { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
        ...turn.calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ];
    }),
  };
}

export function asMessages(turns: readonly Turn[]): JsonObject {
  return {
    model: 'm',
    max_tokens: 10,
    messages: turns.flatMap((turn): JsonObject[] => {
      const content = turn.texts.map((text) => ({ type: 'text', text }));
      if (turn.kind !== 'assistant') return [{ role: turn.kind, content }];
      const uses = turn.calls.map(({ id, input }) => ({ type: 'tool_use', id, name: 'tool', input }));
      const results = turn.calls.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result }));
      const answer = { role: 'assistant', content: [...content, ...uses] };
      return results.length === 0 ? [answer] : [answer, { role: 'user', content: results }];
    }),
  };
}

export function asResponses(turns: readonly Turn[]): JsonObject {
  return {
    model: 'm',
    input: turns.flatMap((turn): JsonObject[] => {
      const type = turn.kind === 'assistant' ? 'output_text' : 'input_text';
      const message = { type: 'message', role: turn.kind, content: turn.texts.map((text) => ({ type, text })) };
      if (turn.kind !== 'assistant') return [message];
      return [
        message,
        ...turn.calls.map(({ id, input }) => ({
          type: 'function_call',
          call_id: id,
          name: 'tool',
          arguments: JSON.stringify(input),
        })),
        ...turn.calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ];
    }),
  };
}
